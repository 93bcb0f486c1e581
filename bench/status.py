"""`lumen status` on 10,000 memories, as a process from start to end.

Twice: when the log has to be read anew, and when a process before has left its index. Against the start of Python, the
import of three libraries, and the simplest program that reads the same lines.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.measure import Contender, Cost, child, clean_environment, medians
from bench.table import Row

LIBRARIES: Final = "import typer, rich, pydantic"
NAIVE: Final = (
    "import json, sys; print(sum(len(json.loads(line)) for name in sys.argv[1:] for line in open(name, 'rb')))"
)
AT_MOST: Final = 2.0


def measure(home: Path, log: Sequence[Path], compiled: Path) -> list[Row]:
    environment = clean_environment(compiled, LUMEN_HOME=str(home))

    def python(*arguments: str) -> Cost:
        return child([sys.executable, *arguments], environment)

    def without_index() -> Cost:
        shutil.rmtree(home / "data" / "index", ignore_errors=True)
        return python("-m", "lumen", "status")

    anew, again = "lumen status, log read anew", "lumen status, with its index"
    costs = medians(
        [
            Contender("pass", lambda: python("-c", "pass")),
            Contender("import", lambda: python("-c", LIBRARIES)),
            Contender("naive", lambda: python("-c", NAIVE, *map(str, log))),
            Contender(anew, without_index),
            Contender(again, lambda: python("-m", "lumen", "status")),
        ]
    )
    return [
        row
        for name in (anew, again)
        for row in (
            Row(name, costs[name], f'python -c "{LIBRARIES}"', costs["import"], at_most=AT_MOST),
            Row(name, costs[name], "a loop of json.loads over the same lines", costs["naive"]),
            Row(name, costs[name], "python -c pass", costs["pass"]),
        )
    ]

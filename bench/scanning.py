"""Reading the log, per line: with every check of the record, against bare parsers on the same lines."""

import json
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from bench.life import MEMORIES
from bench.measure import Contender, here, medians
from bench.table import Row
from lumen.clock import SystemClock
from lumen.record.files import Files
from lumen.record.fold import Fold
from lumen.record.journal import Journal


def measure(home: Path, log: Sequence[Path]) -> list[Row]:
    journal = Journal(Files(home / "data"), SystemClock())

    def fold() -> None:
        folded = Fold()
        for item in journal.scan():
            folded.take(item)

    scan, folding = "scan of the log, per line", "scan and fold, per line"
    costs = medians(
        [
            Contender(scan, lambda: here(lambda: deque(journal.scan(), maxlen=0))),
            Contender(folding, lambda: here(fold)),
            Contender("json.loads", lambda: here(lambda: _parse(log, json.loads))),
            Contender("orjson.loads", lambda: here(lambda: _parse(log, orjson.loads))),
        ]
    )
    pairs = ((scan, "json.loads"), (scan, "orjson.loads"), (folding, "json.loads"))
    return [Row(one, costs[one], other, costs[other], each=MEMORIES) for one, other in pairs]


def _parse(log: Sequence[Path], loads: Callable[[bytes], object]) -> None:
    for path in log:
        with path.open("rb") as lines:
            for line in lines:
                loads(line)

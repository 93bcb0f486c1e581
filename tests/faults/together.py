"""Processes that work on one instance at the same time. Run as a program, one role each:

    python -m tests.faults.together append HOME NAME COUNT     appends memories, prints the token of each when it stands
    python -m tests.faults.together forget HOME STOP COUNT     has appended memories forgotten, prints each token
    python -m tests.faults.together change HOME NAME COUNT     reweights a value, moves a goal, prints what it set last
    python -m tests.faults.together read HOME STOP             reads values.json over and over, prints how often

STOP is a file: its appearance ends the role. An error ends a role with a traceback, which the tests take as a failure.
"""

import json
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from lumen.app import Instance
from lumen.errors import RecordBusy
from lumen.instance import find
from lumen.record.goals import GoalStatus

T = TypeVar("T")
MARK: Final = "|"


def opened(home: str) -> Instance:
    return Instance(find(Path(home), working_folder=Path(home)))


def append(home: str, name: str, count: str) -> None:
    lumen = opened(home)
    memory = lumen.person_grant().memory
    drawn = random.Random(name)
    for number in range(int(count)):
        token = f"{name}.{number}{MARK}"
        size = drawn.choice((10, 100, 1_000)) if number % 25 else drawn.choice((20_000, 80_000))
        memory.remember("external", "together", token + "x" * drawn.randint(0, size))
        print(token, flush=True)
    lumen.close()


def forget(home: str, stop: str, count: str) -> None:
    """Picks among the newest lines of the log. When the appenders are done it goes on to half of its number."""
    lumen = opened(home)
    grant = lumen.person_grant()
    drawn = random.Random(count)
    done = 0
    while done < int(count) and (done < int(count) // 2 or not Path(stop).exists()):
        mine = [line for line in grant.memory.recent(200) if line.situation == "together"]
        if not mine:
            continue
        done += 1
        line = drawn.choice(mine)
        patient(partial(grant.memory.forget, line.id, because="asked to"))
        print(line.description.partition(MARK)[0] + MARK, flush=True)
    lumen.close()


def change(home: str, name: str, count: str) -> None:
    lumen = opened(home)
    person = lumen.person_grant()
    statuses: Sequence[GoalStatus] = ("working", "done", "todo")
    last: tuple[float, GoalStatus] = (0.0, "todo")
    changes = 0
    for number in range(int(count)):
        last = weight, status = round((number % 97 + 1) / 100, 2), statuses[number % 3]
        because = f"{name}, round {number}"
        edits = (
            partial(person.values.reweight, name, weight, because=because),
            partial(person.goals.restate, f"goal {name}", status, because=because),
        )
        changes += sum(patient(edit) is not None for edit in edits)
    lumen.close()
    print(json.dumps({"name": name, "weight": last[0], "status": last[1], "changes": changes}))


def read(home: str, stop: str) -> None:
    names: set[str] = set()
    count = 0
    while not Path(stop).exists() or count == 0:
        values = json.loads((Path(home) / "data" / "values.json").read_bytes())
        found = {value["name"] for value in values}
        assert names <= found, f"{names - found} are gone"
        names = found
        count += 1
    print(count)


def patient(do: Callable[[], T]) -> T:
    """A busy record says so after some seconds, and nothing is changed then: the only error that is tried again."""
    while True:
        try:
            return do()
        except RecordBusy:
            continue


def main(arguments: Sequence[str]) -> None:
    role, *rest = arguments
    match role:
        case "append":
            append(*rest)
        case "forget":
            forget(*rest)
        case "change":
            change(*rest)
        case "read":
            read(*rest)
        case _:
            raise SystemExit(f"no such role: {role}")


if __name__ == "__main__":
    main(sys.argv[1:])

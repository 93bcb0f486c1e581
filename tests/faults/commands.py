"""The commands that are killed and made to fail, and what must be true of the instance after each of them.

Either the change stands, then its event and its reason are in the log; or it does not, then there is no such event.
Nothing in between, nothing left open, and the chains verify.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lumen.app import Instance
from lumen.instance import find
from lumen.record.documents import differences, is_state_file
from tests.faults.sample import SECRET, Sample
from tests.faults.straced import Lumen
from tests.processes import ok

REASON = "because of the campaign"
SOUL = "# Nova\n\nOntology: rewritten under fire\n"


@dataclass(frozen=True)
class Command:
    """`stands` tells from the opened instance whether what was asked for is so."""

    name: str
    arguments: Callable[[Sample], Sequence[str]]
    event: str
    stands: Callable[[Instance], bool]


def _weight_of_care(lumen: Instance) -> float:
    return next(value.weight for value in lumen.person_grant().values.all() if value.name == "care")


def _raw(lumen: Instance) -> bytes:
    files = [path for path in lumen.place.data.rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files)


def _soul_file(sample: Sample) -> str:
    path = sample.home.parent / "rewritten.md"
    path.write_text(SOUL, encoding="utf-8")
    return str(path)


COMMANDS = [
    Command(
        "values set",
        lambda sample: ("values", "set", "care", "0.9", "--because", REASON),
        "change",
        lambda lumen: _weight_of_care(lumen) == 0.9,
    ),
    Command(
        "goals add",
        lambda sample: ("goals", "add", "survive", "0.6", "--because", REASON),
        "change",
        lambda lumen: any(goal.name == "survive" for goal in lumen.person_grant().goals.all()),
    ),
    Command(
        "soul edit",
        lambda sample: ("soul", "edit", "--file", _soul_file(sample), "--because", REASON),
        "change",
        lambda lumen: lumen.person_grant().soul.read().text == SOUL,
    ),
    Command(
        "memory forget",
        lambda sample: ("memory", "forget", sample.secret, "--because", REASON, "--yes"),
        "forget",
        lambda lumen: _raw(lumen).count(SECRET.encode()) == 2,  # of a blob, its line has the beginning too
    ),
    Command(
        "memory forget, with a blob",
        lambda sample: ("memory", "forget", sample.large_secret, "--because", REASON, "--yes"),
        "forget",
        lambda lumen: _raw(lumen).count(SECRET.encode()) == 1,
    ),
]


def check_recovery(command: Command, lumen: Lumen) -> bool:
    """Open the instance as the next command does, and see that all is well. Says whether the change stands."""
    assert ok("status", "--json", home=lumen.home).json()["problems"] == []
    assert ok("verify", "--json", home=lumen.home).json()["holds"]
    opened = Instance(find(lumen.home, working_folder=lumen.home))
    try:
        assert not opened.needs_reconciling(), "what the first command found is dealt with"
        check_fold(opened)
        stands = command.stands(opened)
        assert stands == has_reason(opened, command), "a change and its reason stand together, or neither does"
    finally:
        opened.close()
    assert not leftovers(lumen.home / "data")
    return stands


def has_reason(lumen: Instance, command: Command) -> bool:
    return any(line.event == command.event and REASON in line.description for line in lumen.memory().all())


def check_fold(lumen: Instance) -> None:
    """The files are what the log adds up to, and nothing is open."""
    fold = lumen.reader.fold()
    assert not fold.open_changes
    assert not fold.open_forgets
    assert not fold.open_intents
    states = lumen._record.states
    for name in states.names():
        assert is_state_file(name)
        assert not differences(fold.entries(name), states.entries(name)), f"{name} is not what the log adds up to"


def leftovers(data: Path) -> list[Path]:
    """Temporary files of writers that died. Those in run/ are of no consequence: that folder may be deleted."""
    return [path for path in data.rglob("*.tmp") if path.parent.name != "run"]

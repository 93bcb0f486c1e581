"""Fills a small disk again and again, and says what became of the record. Run as a program inside a mount of its own.

    python -m tests.faults.filling FOLDER FILLS SEED

Each round: keep a reserve, append entries of random length until there is no space left, try once more, free some
space, open the record anew and append again. Every entry whose append returned counts as acknowledged. Prints JSON;
judges nothing.
"""

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from lumen.audit.verify import verify
from lumen.clock import SystemClock
from lumen.errors import RecordFull
from lumen.record.files import Files
from lumen.record.journal import Journal
from lumen.record.line import Line, Unreadable

BALLAST_BYTES: Final = 192 * 1024
MARK: Final = "|"


@dataclass
class Report:
    fills: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    unreadable: int = 0
    recorded: int = 0  # rounds that left a disk_full line by the kernel
    recovered: int = 0  # rounds after which an entry could be appended again
    faults: list[str] = field(default_factory=list)


def run(folder: Path, files_type: type[Files], fills: int, seed: int) -> Report:
    report = Report()
    for number in range(fills):
        data = folder / "data"
        (data / "memory").mkdir(parents=True)
        (data / "run").mkdir()
        _fill_once(data, files_type, Random(f"{seed}.{number}"), report)
        _remove(folder)
    return report


def _fill_once(data: Path, files_type: type[Files], random: Random, report: Report) -> None:
    ballast = data.parent / "ballast"
    ballast.write_bytes(b"\0" * BALLAST_BYTES)
    journal = Journal(files_type(data), SystemClock())
    journal.reserve.keep()
    acknowledged = _fill(journal, random)
    acknowledged += _fill(journal, random)  # a second time, when the reserve is spent already
    report.fills += 1
    ballast.unlink()
    later = Journal(Files(data), SystemClock())
    later.append("self", "filling", f"afterwards{MARK}")
    report.recovered += 1
    acknowledged.append("afterwards")
    _read_back(later, acknowledged, report)


def _fill(journal: Journal, random: Random) -> list[str]:
    """Appends until the disk is full; says what was acknowledged until then."""
    acknowledged: list[str] = []
    while True:
        token = f"t{random.getrandbits(64):016x}"
        limit = random.choices((200, 3_000, 40_000, 90_000), weights=(10, 20, 60, 10))[0]
        try:
            journal.append("external", "filling", token + MARK + "x" * random.randint(0, limit))
        except RecordFull:
            return acknowledged
        acknowledged.append(token)


def _read_back(journal: Journal, acknowledged: list[str], report: Report) -> None:
    items = list(journal.scan())
    lines = [journal.whole(item) for item in items if isinstance(item, Line)]
    found = Counter(line.description.partition(MARK)[0] for line in lines)
    report.acknowledged += len(acknowledged)
    report.lost += sum(found[token] == 0 for token in acknowledged)
    report.doubled += sum(found[token] > 1 for token in acknowledged)
    report.unreadable += sum(isinstance(item, Unreadable) for item in items)
    report.recorded += any(line.event == "disk_full" and line.author == "kernel" for line in lines)
    report.faults += [fault.text for fault in verify(items, has_blob=journal.has_blob).faults]


def _remove(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def main(arguments: list[str]) -> None:
    folder, fills, seed = arguments
    print(json.dumps(asdict(run(Path(folder), Files, int(fills), int(seed)))))


if __name__ == "__main__":
    main(sys.argv[1:])

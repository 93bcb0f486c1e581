"""A durable append, against the bare system calls for the same bytes, and against not waiting for the disk at all."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bench.measure import Contender, here, medians
from bench.table import Row
from lumen.clock import HeldClock
from lumen.record.files import Files
from lumen.record.journal import Journal

ENTRIES: Final = 100
DAYS: Final = 300
_TEXT: Final = "The town was quiet when we came back, and nobody had seen the light in the window before. " * 3


def measure(folder: Path) -> list[Row]:
    clock = HeldClock(datetime(2026, 11, 18, 12, tzinfo=UTC))
    journal = Journal(Files(folder / "journal"), clock)
    lines = _same_bytes(folder / "model", clock)
    bare, plain = _descriptor(folder / "bare"), _descriptor(folder / "plain")
    durable, synced, unsynced = "durable append", "os.write + os.fdatasync of the same bytes", "os.write, never synced"
    lazy, crowded = "append with durable=False", f"append with durable=False, {DAYS} day files"
    old = Journal(Files(_long_lived(folder / "old")), clock)
    costs = medians(
        [
            Contender(durable, lambda: here(_appending(journal, durable=True))),
            Contender(synced, lambda: here(lambda: _write_all(bare, lines, is_synced=True))),
            Contender(lazy, lambda: here(_appending(journal, durable=False))),
            Contender(crowded, lambda: here(_appending(old, durable=False))),
            Contender(unsynced, lambda: here(lambda: _write_all(plain, lines, is_synced=False))),
        ]
    )
    os.close(bare)
    os.close(plain)
    pairs = ((durable, synced), (durable, unsynced), (lazy, unsynced), (crowded, lazy))
    return [Row(one, costs[one], other, costs[other], each=ENTRIES, shows_wall=True) for one, other in pairs]


def _appending(journal: Journal, *, durable: bool) -> Callable[[], None]:
    def work() -> None:
        for _ in range(ENTRIES):
            journal.append("external", "chat", _TEXT, durable=durable)

    return work


def _same_bytes(folder: Path, clock: HeldClock) -> list[bytes]:
    model = Journal(Files(folder), clock)
    _appending(model, durable=False)()
    return [
        line for path in (folder / "memory").rglob("*.jsonl") for line in path.read_bytes().splitlines(keepends=True)
    ]


def _long_lived(data: Path) -> Path:
    """A data folder with a file for each day of most of a year."""
    year = data / "memory" / "2026"
    year.mkdir(parents=True)
    for day in range(DAYS):
        (year / f"{datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day):%Y-%m-%d}.jsonl").touch()
    return data


def _descriptor(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _write_all(fd: int, lines: Sequence[bytes], *, is_synced: bool) -> None:
    for line in lines:
        os.write(fd, line)
        if is_synced:
            os.fdatasync(fd)

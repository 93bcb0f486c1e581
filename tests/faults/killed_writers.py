"""Writers that are killed at random, and one who starts them again. Run as a program: it forks, so it has no threads.

    python -m tests.faults.killed_writers DATA journal|plain WRITERS ENTRIES SEED

Each writer is a process with a journal of its own on the one data folder. It says "+token" on a pipe only after append
has returned: that is the acknowledgement. Writers die in two ways, drawn from the seed: in the middle of a write of
their own (see dying_files.py), or by a kill -9 from outside at any instant. Each dead one is replaced until all its
entries are acknowledged. What was acknowledged, and how many died, is printed as JSON.

It judges nothing; the tests do.
"""

import json
import os
import select
import signal
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Final, Literal

from lumen.clock import SystemClock
from lumen.record.journal import Journal
from tests.faults.dying_files import DyingFiles, PlainFiles

Protocol = Literal["journal", "plain"]
MARK: Final = "|"  # ends the token, before the padding


@dataclass
class Report:
    acknowledged: list[str] = field(default_factory=list)
    killed: int = 0  # from outside
    died_in_a_write: int = 0
    failed: int = 0  # ended by an exception: never expected


@dataclass
class Slot:
    """One of the writers, through all its lives."""

    name: str
    left: int
    lives: int = 0
    process: int = 0
    dies_in_a_write: bool = False
    is_killed: bool = False


class Campaign:
    def __init__(self, data: Path, protocol: Protocol, writers: int, entries: int, seed: int) -> None:
        self._data = data
        self._protocol: Protocol = protocol
        self._entries = entries
        self._random = Random(seed)
        self._slots = {f"w{number}": Slot(f"w{number}", entries) for number in range(writers)}
        self._from_writers, self._to_us = os.pipe()
        os.set_blocking(self._from_writers, False)
        self._unread = b""
        self._report = Report()
        self._acknowledged_until_kill = 0

    def run(self) -> Report:
        self._plan_kill()
        while running := self._running():
            select.select([self._from_writers], [], [], 0.05)
            self._read_acknowledgements()
            if len(self._report.acknowledged) >= self._acknowledged_until_kill:
                self._kill(self._random.choice(running))
                self._plan_kill()
            for slot in running:
                self._bury(slot)
        self._read_acknowledgements()
        return self._report

    def _running(self) -> list[Slot]:
        for slot in self._slots.values():
            if not slot.process and slot.left > 0:
                self._start(slot)
        return [slot for slot in self._slots.values() if slot.process]

    def _start(self, slot: Slot) -> None:
        slot.lives += 1
        slot.is_killed = False
        slot.dies_in_a_write = self._random.random() < 0.5 or slot.lives == 1
        dies_at = self._random.randint(1, max(2, min(40, self._entries // 3))) if slot.dies_in_a_write else None
        share, seed = self._random.random(), self._random.getrandbits(32)
        process = os.fork()
        if process == 0:
            kind = DyingFiles if self._protocol == "journal" else PlainFiles
            files = kind(self._data, dies_at=dies_at, share=share)
            _write_entries(Journal(files, SystemClock()), slot, Random(seed), self._to_us)
        slot.process = process

    def _kill(self, slot: Slot) -> None:
        time.sleep(self._random.random() * 0.003)
        os.kill(slot.process, signal.SIGKILL)
        slot.is_killed = True

    def _plan_kill(self) -> None:
        self._acknowledged_until_kill = len(self._report.acknowledged) + self._random.randint(1, min(90, self._entries))

    def _bury(self, slot: Slot) -> None:
        process, status = os.waitpid(slot.process, os.WNOHANG)
        if not process:
            return
        slot.process = 0
        if not os.WIFSIGNALED(status):
            self._report.failed += os.WEXITSTATUS(status) != 0
        elif slot.is_killed:
            self._report.killed += 1
        else:
            self._report.died_in_a_write += 1
        self._read_acknowledgements()

    def _read_acknowledgements(self) -> None:
        try:
            while chunk := os.read(self._from_writers, 65536):
                self._unread += chunk
        except BlockingIOError:
            pass
        *tokens, self._unread = self._unread.split(b"\n")
        for token in tokens:
            text = token.decode("ascii").removeprefix("+")
            self._slots[text.partition(".")[0]].left -= 1
            self._report.acknowledged.append(text)


def _write_entries(journal: Journal, slot: Slot, random: Random, pipe: int) -> None:
    """The life of one writer process. It never returns."""
    try:
        for number in range(1, slot.left + 1):
            token = f"{slot.name}.{slot.lives}.{number}"
            journal.append("self", "under fire", token + MARK + _padding(random))
            os.write(pipe, f"+{token}\n".encode("ascii"))
        os._exit(0)
    except BaseException as problem:
        os.write(sys.stderr.fileno(), f"{slot.name}: {problem!r}\n".encode())
        os._exit(1)


def _padding(random: Random) -> str:
    """Mostly short, sometimes some pages, now and then so long that it goes to a blob."""
    limit = random.choices((400, 4_000, 30_000, 100_000), weights=(800, 150, 45, 5))[0]
    return chr(random.choice((0x78, 0xE9, 0x1F600, 0x22))) * random.randint(0, limit // 6)


def main(arguments: list[str]) -> None:
    data, protocol, writers, entries, seed = arguments
    chosen: Protocol = "journal" if protocol == "journal" else "plain"
    report = Campaign(Path(data), chosen, int(writers), int(entries), int(seed)).run()
    print(json.dumps(asdict(report)))


if __name__ == "__main__":
    main(sys.argv[1:])

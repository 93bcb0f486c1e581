"""The record under every history the machine can think of; and three weaker designs, which must fail under it."""

import hashlib
import os

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from lumen.record.documents import differences, read_entries, with_changes
from lumen.record.files import DayFile
from lumen.record.fold import Fold
from lumen.record.journal import Cursor
from lumen.record.line import Line
from lumen.record.record import Record
from lumen.record.state_files import Finding, StateFiles
from tests.faults.histories import Histories, MortalFiles, Process

COUNT = int(os.environ.get("LUMEN_HISTORIES") or os.environ.get("LUMEN_FAULT_COUNT", "100"))
SHARDS = 4
pytestmark = pytest.mark.faults


def run(machine: type[Histories], *, count: int, shard: int, phases: tuple[Phase, ...]) -> None:
    seeded = seed(int(os.environ.get("LUMEN_FAULT_SEED", "0")) * SHARDS + shard)(machine)
    run_state_machine_as_test(
        seeded,
        settings=settings(
            max_examples=count,
            stateful_step_count=25,
            deadline=None,
            database=None,
            print_blob=False,
            report_multiple_bugs=False,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("shard", range(SHARDS))
def test_in_every_history_file_and_fold_and_expectation_are_the_same(shard: int) -> None:
    run(Histories, count=max(1, COUNT // SHARDS), shard=shard, phases=(Phase.generate, Phase.shrink))


class PlainFiles(MortalFiles):
    """Control: one write, and no look back."""

    def append(self, name: str, line: bytes, *, durable: bool = True) -> int:
        fd = self._open_for_append(name)
        try:
            written = self._write(fd, line + b"\n")
            return os.lseek(fd, 0, os.SEEK_CUR) - written
        finally:
            os.close(fd)


class PlainAppend(Histories):
    files_type = PlainFiles


class LogWins(StateFiles):
    """Control: the log is the truth, and a file that says otherwise is put right."""

    def settle(self, name: str, fold: Fold) -> list[Finding]:
        for change in [change for change in fold.open_changes.values() if change.file == name]:
            self._finish(change)
        raw = self._files.read(name)
        known = self._follower.catch_up().entries(name)
        try:
            deltas = differences(read_entries(name, raw), known)
        except ValueError:
            raw, deltas = None, differences({}, known)
        if deltas:
            self._files.replace(name, with_changes(name, raw, deltas))
        return []


class LogIsTruth(Histories):
    def make_record(self, files: MortalFiles) -> Record:
        record = Record(files, self.clock)
        record.states = LogWins(files, record.presence, record.journal, record.follower)
        return record


class RawByteChain(Histories):
    """Control: each line is chained by the hash of its bytes, taken when it was first seen."""

    def __init__(self) -> None:
        super().__init__()
        self.hashes: dict[str, str] = {}

    def chains_hold(self, fresh: Process) -> None:
        for file in fresh.files.days():
            self.bytes_are_the_same(fresh, file)

    def bytes_are_the_same(self, fresh: Process, file: DayFile) -> None:
        raw = fresh.files.read(file.path) or b""
        for item in fresh.record.journal.scan_day(file, Cursor()):
            if isinstance(item, Line) and item.place:
                digest = hashlib.sha256(raw[item.place.offset : item.place.offset + item.place.length]).hexdigest()
                assert self.hashes.setdefault(item.id, digest) == digest, "the raw bytes of a line have changed"


@pytest.mark.parametrize(
    ("control", "complaint"),
    [
        (PlainAppend, "an acknowledged line is lost|a line of the same writer is missing|does not begin where"),
        (LogIsTruth, "is not among"),
        (RawByteChain, "the raw bytes of a line have changed"),
    ],
)
def test_the_machine_catches_a_weaker_design(control: type[Histories], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        run(control, count=1000, shard=0, phases=(Phase.generate,))

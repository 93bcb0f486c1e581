"""Several processes on one instance at once: appending, forgetting, changing, reading, copying. Nothing is lost.

LUMEN_FAULT_COUNT says how much each of them does. The roles are in together.py.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lumen.app import Instance
from lumen.audit.verify import Verdict
from lumen.clock import SystemClock
from lumen.instance import copy_data
from lumen.record.files import Files
from lumen.record.journal import Journal
from tests.faults.commands import check_fold
from tests.faults.counts import COUNT, PATIENCE
from tests.faults.together import MARK
from tests.house.repository import ROOT
from tests.instances import made, opened

pytestmark = pytest.mark.faults
APPENDERS = 4
CHANGERS = 8
READERS = 2


def start(role: str, home: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.faults.together", role, str(home), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> list[str]:
    """What a role printed. It must have ended well."""
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out.splitlines()


def check_chains(lumen: Instance) -> None:
    verdict = lumen.verify()
    assert verdict.holds, verdict.faults[:3]
    assert verdict.torn == 0, "every line is whole"


def test_forgetting_beside_four_appenders_tears_nothing_and_leaves_no_trace(tmp_path: Path) -> None:
    home, stop = made(tmp_path / "home"), tmp_path / "stop"
    appenders = [start("append", home, f"a{number}", max(30, COUNT // 2)) for number in range(APPENDERS)]
    forgetter = start("forget", home, stop, max(8, COUNT // 20))
    appended = {token for process in appenders for token in said(process)}
    stop.touch()
    forgotten = set(said(forgetter))
    assert forgotten
    with opened(home) as lumen:
        check_chains(lumen)
        lines = [line for line in lumen.memory().all() if line.situation == "together" or line.is_forgotten]
        found = Counter(line.description.partition(MARK)[0] + MARK for line in lines if not line.is_forgotten)
        assert set(found) == appended - forgotten
        assert set(found.values()) == {1}
        assert sum(line.is_forgotten for line in lines) == len(forgotten)
        check_fold(lumen)
    raw = b"".join(path.read_bytes() for path in (home / "data").rglob("*") if path.is_file())
    assert not [token for token in forgotten if token.encode() in raw]
    print(f"{len(appended)} appended, {len(forgotten)} of them forgotten")


def test_eight_processes_changing_values_and_goals_lose_no_update_and_readers_see_whole_files(tmp_path: Path) -> None:
    home, stop = made(tmp_path / "home"), tmp_path / "stop"
    names = [f"v{number}" for number in range(CHANGERS)]
    with opened(home) as lumen:
        person = lumen.person_grant()
        for name in names:
            person.values.add(name, 0.99, because="to be changed")
            person.goals.add(f"goal {name}", 0.5, because="to be moved")
    readers = [start("read", home, stop) for _ in range(READERS)]
    changers = [start("change", home, name, max(3, COUNT // 25)) for name in names]
    reports = [json.loads(said(process)[0]) for process in changers]
    stop.touch()
    reads = [int(said(process)[0]) for process in readers]
    with opened(home) as lumen:
        assert not lumen.needs_reconciling(), "nobody's change was taken for a person's hand"
        check_fold(lumen)
        check_chains(lumen)
        person = lumen.person_grant()
        weights = {value.name: value.weight for value in person.values.all()}
        statuses = {goal.name: goal.status for goal in person.goals.all()}
        events = Counter(line.event for line in lumen.memory().all())
    assert weights == {report["name"]: report["weight"] for report in reports}
    assert statuses == {f"goal {report['name']}": report["status"] for report in reports}
    assert events["change"] == events["applied"] == sum(report["changes"] for report in reports) + 2 * CHANGERS
    assert events["adopted"] == 0
    print(f"{sum(report['changes'] for report in reports)} changes by {CHANGERS} processes, {sum(reads)} reads")


def test_a_copy_of_a_living_data_folder_verifies(tmp_path: Path) -> None:
    home, copy = made(tmp_path / "home"), tmp_path / "copy"
    appenders = [start("append", home, f"a{number}", max(30, COUNT // 2)) for number in range(APPENDERS)]
    copies = 0
    while any(process.poll() is None for process in appenders) or copies == 0:
        copy.mkdir()
        copy_data(home / "data", copy / "data")
        with opened(copy) as lumen:
            verdict = lumen.verify()
            assert verdict.holds, verdict.faults[:3]
        shutil.rmtree(copy)
        copies += 1
    appended = {token for process in appenders for token in said(process)}
    with opened(home) as lumen:
        check_chains(lumen)
        assert {line.description.partition(MARK)[0] + MARK for line in lumen.memory().all()} == appended
    print(f"{copies} copies of a log that grew to {len(appended)} memories")


class HalvingFiles(Files):
    """Writes over a line in two halves, as a reader may see it happen; in between, somebody else gets a turn."""

    def __init__(self, root: Path, in_between: Callable[[], None]) -> None:
        super().__init__(root)
        self._in_between = in_between

    def _write_at(self, fd: int, content: bytes, offset: int) -> int:
        written = super()._write_at(fd, content[: len(content) // 2], offset)
        self._in_between()
        return written + super()._write_at(fd, content[written:], offset + written)


def test_verifying_in_the_middle_of_a_forgetting_raises_no_false_alarm(tmp_path: Path) -> None:
    home = made(tmp_path / "home")
    verdicts: list[Verdict] = []
    verifying = threading.Thread(target=lambda: verdicts.append(verified(home)))

    def begin_to_verify() -> None:
        verifying.start()
        verifying.join(timeout=0.5)  # it may end now, or wait until the line is whole again

    with opened(home) as lumen:
        first, *_ = [lumen.person_grant().memory.remember("external", "s", f"text {number}") for number in range(3)]
        other = Instance(lumen.place, files=HalvingFiles(lumen.place.data, begin_to_verify))
        other.person_grant().memory.forget(first.id, because="asked to")
        other.close()
    verifying.join()
    assert [verdict.faults for verdict in verdicts] == [[]]


def verified(home: Path) -> Verdict:
    with opened(home) as lumen:
        return lumen.verify()


class InterruptedFiles(Files):
    """Just before a file is put in its place, somebody else gets a turn."""

    def __init__(self, root: Path, before_rename: Callable[[], None]) -> None:
        super().__init__(root)
        self._before_rename = before_rename

    def _rename(self, source: Path, target: Path) -> None:
        self._before_rename()
        super()._rename(source, target)


def tidy_up(lumen: Instance) -> None:
    asyncio.run(lumen.reconcile())


def test_a_large_append_goes_through_while_another_process_tidies_up(tmp_path: Path) -> None:
    home = made(tmp_path / "home")
    with opened(home) as lumen, opened(home) as other:
        files = InterruptedFiles(lumen.place.data, lambda: tidy_up(other))
        line = Journal(files, SystemClock()).append("external", "chat", "x" * 70_000)
        assert line.id in {found.id for found in lumen.memory().all()}

"""Kill -9 at random instants: what was acknowledged is there once, and the chains raise no false alarm.

The control in the same run writes with the same journal and dies in the same ways, but appends plainly (one write, no
look back). It must lose acknowledged entries: the fragment of a dead writer swallows the next entry. See dying_files.py
for the fault and killed_writers.py for the harness. 16 writers with LUMEN_FAULT_COUNT entries each.
"""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from lumen.audit.verify import Verdict, verify
from lumen.clock import SystemClock
from lumen.record.files import Files
from lumen.record.fold import Fold
from lumen.record.journal import Journal
from lumen.record.line import Line
from tests.faults.counts import COUNT, PATIENCE, SEED
from tests.faults.killed_writers import MARK, Protocol, Report
from tests.house.repository import ROOT

pytestmark = pytest.mark.faults
WRITERS = 16


@dataclass(frozen=True)
class Found:
    """What a reader finds after the campaign."""

    tokens: Counter[str]
    unreadable: int
    verdict: Verdict


def run(data: Path, protocol: Protocol) -> Report:
    (data / "memory").mkdir(parents=True)
    command = [sys.executable, "-m", "tests.faults.killed_writers", data, protocol, WRITERS, max(6, COUNT), SEED]
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    report = Report(**json.loads(done.stdout))
    assert report.failed == 0, done.stderr
    assert len(report.acknowledged) >= WRITERS * max(6, COUNT)
    assert len(set(report.acknowledged)) == len(report.acknowledged)
    assert report.killed > 0
    assert report.died_in_a_write >= WRITERS // 2
    return report


def read(data: Path) -> Found:
    journal = Journal(Files(data), SystemClock())
    lines = [journal.whole(item) for item in journal.scan() if isinstance(item, Line)]
    fold = Fold()
    for item in journal.scan():
        fold.take(item)
    return Found(
        Counter(line.description.partition(MARK)[0] for line in lines),
        fold.unreadable.total() + len(fold.unfinished),
        verify(journal.scan(), has_blob=journal.has_blob),
    )


def tell(report: Report, found: Found) -> None:
    """The figures of this run, for `pytest -rP`."""
    lost = sum(found.tokens[token] == 0 for token in report.acknowledged)
    print(
        f"{len(report.acknowledged)} acknowledged, {report.killed} killed from outside, {report.died_in_a_write} died "
        f"in a write, {found.unreadable} unreadable lines, {lost} lost, {len(found.verdict.faults)} alarms"
    )


def test_nothing_acknowledged_is_lost_when_sixteen_writers_are_killed(tmp_path: Path) -> None:
    report = run(tmp_path / "data", "journal")
    found = read(tmp_path / "data")
    assert not [token for token in report.acknowledged if found.tokens[token] != 1]
    assert set(found.tokens.values()) == {1}, "what nobody acknowledged is there at most once"
    assert found.verdict.holds, found.verdict.faults[:5]
    assert 0 < found.unreadable <= report.killed + report.died_in_a_write
    assert found.verdict.torn == found.unreadable
    tell(report, found)


def test_a_plain_append_loses_acknowledged_entries_under_the_same_kills(tmp_path: Path) -> None:
    report = run(tmp_path / "data", "plain")
    found = read(tmp_path / "data")
    assert [token for token in report.acknowledged if found.tokens[token] == 0]
    tell(report, found)

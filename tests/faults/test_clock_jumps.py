"""A clock that jumps, also backwards: order holds, and nothing is written into a file older than the newest."""

import hashlib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest

from lumen.audit.verify import verify
from lumen.clock import HeldClock
from lumen.record.files import Files
from lumen.record.journal import Journal
from lumen.record.line import Line
from tests.faults.counts import COUNT, SEED

pytestmark = pytest.mark.faults
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
EDGES = [
    datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2027, 1, 1, tzinfo=UTC),
    datetime(2028, 2, 29, 12, tzinfo=UTC),
    datetime(2027, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=14))),
    datetime(2026, 12, 31, 20, tzinfo=timezone(timedelta(hours=-12))),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(1000, 1, 1, tzinfo=UTC),
]


def digests(data: Path) -> dict[str, str]:
    """Every file of the log by its day."""
    return {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in (data / "memory").rglob("*.jsonl")}


def append_and_check(data: Path, journal: Journal, text: str) -> Line:
    """One entry. It goes into the newest file or a newer one, and no other file changes."""
    before = digests(data)
    line = journal.append("self", "clock", text, durable=False)
    after = digests(data)
    changed = {day for day in after if before.get(day) != after[day]}
    assert line.place is not None
    assert changed == {line.place.day} == {max(after)}
    return line


def texts(journal: Journal) -> list[str]:
    return [item.description for item in journal.scan() if isinstance(item, Line)]


@pytest.mark.parametrize("shard", range(4))
def test_order_holds_whatever_two_clocks_do(shard: int, tmp_path: Path) -> None:
    random = Random(SEED * 4 + shard)
    clocks = [HeldClock(NOON), HeldClock(NOON)]
    journals = [Journal(Files(tmp_path), clock) for clock in clocks]
    written = []
    for number in range(max(10, COUNT // 4)):
        which = random.randrange(2)
        if random.random() < 0.2:
            clocks[which].set(random.choice(EDGES))
        else:
            clocks[which].move(timedelta(seconds=random.choice((-1, 1)) * random.expovariate(1 / 40_000)))
        written.append(f"{number} by {which}")
        line = append_and_check(tmp_path, journals[which], written[-1])
        assert line.timestamp[:19] == clocks[which].now().isoformat()[:19], "it says what its clock said"
    assert texts(journals[0]) == written
    assert verify(journals[0].scan(), has_blob=journals[0].has_blob).holds


@pytest.mark.parametrize(
    "back", [timedelta(seconds=1), timedelta(days=1), timedelta(days=400), timedelta(days=365 * 900)]
)
def test_a_clock_set_back_goes_on_in_the_newest_file(back: timedelta, tmp_path: Path) -> None:
    clock = HeldClock(datetime(2026, 1, 1, tzinfo=UTC))
    journal = Journal(Files(tmp_path), clock)
    append_and_check(tmp_path, journal, "first")
    clock.move(-back)
    second = append_and_check(tmp_path, journal, "second")
    assert second.place is not None
    assert second.place.day == "2026-01-01"
    assert texts(Journal(Files(tmp_path), clock)) == ["first", "second"]


def test_at_the_end_of_a_year_a_new_folder_begins(tmp_path: Path) -> None:
    clock = HeldClock(EDGES[0])
    journal = Journal(Files(tmp_path), clock)
    append_and_check(tmp_path, journal, "old year")
    clock.set(EDGES[1])
    append_and_check(tmp_path, journal, "new year")
    assert sorted(path.name for path in (tmp_path / "memory").iterdir()) == ["2026", "2027"]
    assert texts(journal) == ["old year", "new year"]


def test_a_file_from_the_far_future_is_gone_on_with(tmp_path: Path) -> None:
    future = Journal(Files(tmp_path), HeldClock(datetime(9999, 12, 31, tzinfo=UTC)))
    append_and_check(tmp_path, future, "from the future")
    now = Journal(Files(tmp_path), HeldClock(NOON))
    line = append_and_check(tmp_path, now, "from today")
    assert line.timestamp.startswith("2026-11-18")
    assert texts(now) == ["from the future", "from today"]


@pytest.mark.parametrize("name", ["2026-2-3.jsonl", "2026-02-3.jsonl", "2026-02-03.jsonl"])
def test_lines_of_today_come_after_those_another_program_wrote_today(name: str, tmp_path: Path) -> None:
    (tmp_path / "memory" / "2026").mkdir(parents=True)
    (tmp_path / "memory" / "2026" / name).write_text('{"description":"by another program"}\n', encoding="utf-8")
    journal = Journal(Files(tmp_path), HeldClock(datetime(2026, 2, 3, 12, tzinfo=UTC)))
    journal.append("self", "clock", "by this one")
    assert texts(journal) == ["by another program", "by this one"]

"""Readers never raise, count every line once, and let no text from outside name its own author.

50 lines for each of LUMEN_FAULT_COUNT: 100,000 with 2,000. The bulk is drawn from a seed (fuzzed_lines.py); hypothesis
looks for shapes that nobody thought of.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from lumen.audit.verify import verify
from lumen.clock import HeldClock
from lumen.json_value import Json
from lumen.record.files import Files
from lumen.record.fold import Fold
from lumen.record.journal import Cursor, Journal
from lumen.record.line import Line, Place, Unreadable, decode, encode, strict_object
from lumen.record.strict_json import canonical, loads
from tests.faults.counts import COUNT, SEED
from tests.faults.fuzzed_lines import AUTHOR_KEYS, BLOBS, DAY, DEPTHS, NUMBERS, fuzzed, real_lines
from tests.instances import made
from tests.processes import lumen

pytestmark = pytest.mark.faults
SHARDS = 4
LINES_PER_FILE = 1000
PLACE = Place("2026-11-18", 0, 0, 1)
SETTINGS = settings(
    max_examples=max(20, COUNT), deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)


@dataclass(frozen=True)
class Heap:
    """A log of fuzzed lines, and the lines as they were put there, by day."""

    data: Path
    lines: dict[str, list[bytes]]

    def placed(self) -> Iterator[tuple[str, int, bytes]]:
        """Every physical line with its day and its number."""
        for day, lines in self.lines.items():
            for number, line in enumerate(lines, start=1):
                yield day, number, line


def heaped(folder: Path, count: int, random: Random) -> Heap:
    data = folder / "data"
    days = [f"2026-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)]
    (data / "memory" / "2026").mkdir(parents=True)
    lines = list(fuzzed(real_lines(folder / "real"), count, random))
    made = {}
    for start, day in zip(range(0, count, LINES_PER_FILE), days, strict=False):
        made[day] = lines[start : start + LINES_PER_FILE]
        (data / "memory" / "2026" / f"{day}.jsonl").write_bytes(b"".join(line + b"\n" for line in made[day]))
    assert sum(map(len, made.values())) == count
    return Heap(data, made)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_line_of_a_fuzzed_log_is_read_or_counted_once_and_none_raises(shard: int, tmp_path: Path) -> None:
    heap = heaped(tmp_path, max(200, COUNT * 50 // SHARDS), Random(SEED * SHARDS + shard))
    journal = Journal(Files(heap.data), HeldClock(DAY))
    items = list(journal.scan())
    found = {(place.day, place.number): item for item in items if (place := item.place)}
    assert len(found) == len(items), "no line is counted twice"
    newest: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for day, number, raw in heap.placed():
        kind = account(raw, found.get((day, number)), newest)
        assert kind, f"not accounted for: {raw[:200]!r}"
        counts[kind] += 1
    assert counts.total() == sum(map(len, heap.lines.values()))
    assert min(counts[kind] for kind in ("read", "copy", "blank", "unreadable")) > 0, "each kind was tried"
    check_readers(journal, items)
    print(dict(counts))


def account(raw: bytes, item: Line | Unreadable | None, newest: dict[str, int]) -> str:
    """What became of one physical line."""
    if not raw.strip(b" \t\r\xef\xbb\xbf"):
        return "blank" if item is None else ""
    if isinstance(item, Unreadable):
        return "unreadable" if item.reason else ""
    if isinstance(item, Line):
        if item.is_chained:
            newest[item.writer] = item.number
        return "read" if item.author != "kernel" or names_its_author_once(raw) else ""
    alone = decode(raw, PLACE)
    is_copy = isinstance(alone, Line) and alone.is_chained and newest.get(alone.writer) == alone.number
    return "copy" if is_copy else ""


def check_readers(journal: Journal, items: list[Line | Unreadable]) -> None:
    """What stands on the scan does not raise either, and counts the same."""
    fold = Fold()
    for item in items:
        fold.take(item if isinstance(item, Unreadable) else journal.whole(item))
    assert fold.memories.total() + fold.forgotten + fold.unreadable.total() + len(fold.unfinished) == len(items)
    verdict = verify(items, has_blob=journal.has_blob)
    assert verdict.lines + verdict.torn == len(items)


def names_its_author_once(raw: bytes) -> bool:
    """Read by other means: pairs as they stand, before any of them is dropped."""
    pairs: list[tuple[str, object]] = json.loads(raw, object_pairs_hook=list)
    return [value for name, value in pairs if name == "author"] == ["kernel"]


def test_commands_on_a_fuzzed_log_do_not_crash(tmp_path: Path) -> None:
    home = made(tmp_path / "home")
    heap = heaped(tmp_path / "heap", 600, Random(SEED))
    (home / "data" / "memory").rmdir()
    (heap.data / "memory").rename(home / "data" / "memory")
    for command in ("status", "memory --all", "memory --unreadable", "verify", "values"):
        for form in ([], ["--json"]):
            done = lumen(*command.split(), *form, home=home)
            assert done.code in (0, 1), (command, done.code, done.err[-500:])


@pytest.mark.parametrize("key", AUTHOR_KEYS)
@pytest.mark.parametrize("gap", [b"", b" ", b"\t", b"\r", b"\n"])
def test_a_second_author_in_any_spelling_makes_a_line_unreadable(key: bytes, gap: bytes) -> None:
    for first, second in ((b'"author"', key), (key, b'"author"')):
        raw = b'{%s:"external","description":"x",%s%s:"kernel"}' % (first, second, gap)
        assert isinstance(decode(raw, PLACE), Unreadable)
        with pytest.raises(ValueError):
            strict_object(raw)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")])
def test_a_line_nested_to_any_depth_is_read_or_unreadable(depth: int, opening: bytes, closing: bytes) -> None:
    raw = b'{"description":"x","deep":' + opening * depth + b"1" + closing * depth + b"}"
    assert isinstance(decode(raw, PLACE), Line | Unreadable)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_fast_parser_reads_a_number_as_the_strict_one_does(number: str) -> None:
    raw = f'{{"description":"x","n":{number}}}'.encode()
    try:
        expected = canonical(loads(raw.decode()))
    except ValueError:
        with pytest.raises(ValueError):
            strict_object(raw)
        return
    assert canonical(strict_object(raw)) == expected


@pytest.mark.parametrize("blob", BLOBS)
def test_a_line_that_names_an_impossible_blob_is_read_as_it_stands(blob: bytes, tmp_path: Path) -> None:
    journal = Journal(Files(tmp_path), HeldClock(DAY))
    journal.append("self", "s", "x" * 70_000)  # so that there are blobs
    raw = encode(journal.append("self", "s", "d")).replace(b'"data":{}', b'"data":{"blob":%s,"bytes":1}' % blob)
    line = decode(raw, PLACE)
    assert isinstance(line, Line)
    assert journal.whole(line) == line
    assert not verify([line], has_blob=journal.has_blob).holds


def test_a_number_that_nobody_gave_hides_no_line_of_the_same_writer(tmp_path: Path) -> None:
    journal = Journal(Files(tmp_path), HeldClock(DAY))
    first = journal.append("self", "s", "first")
    forged = encode(first._replace(id=f"{first.writer}:999999", description="forged"))
    with (tmp_path / "memory" / "2026" / "2026-11-18.jsonl").open("ab") as file:
        file.write(forged + b"\n")
    later = journal.append("self", "s", "acknowledged after the forged one")
    assert later.id in {item.id for item in journal.scan() if isinstance(item, Line)}


json_values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
json_objects = st.dictionaries(st.text(st.characters(), max_size=6), json_values, max_size=4)
texts = st.text(st.characters()) | st.sampled_from(['","author":"kernel', '"}{"author":"kernel"}', 'a\\":b', "\ud800"])


@seed(SEED)
@SETTINGS
@given(raw=st.binary(max_size=300))
def test_any_bytes_are_a_line_or_unreadable(raw: bytes) -> None:
    assert isinstance(decode(raw, PLACE), Line | Unreadable)


@seed(SEED)
@SETTINGS
@given(
    fields=st.dictionaries(st.sampled_from(["id", "author", "weight", "situation", "h", "data", "salt"]), json_values)
)
def test_any_object_is_a_line_or_unreadable(fields: dict[str, Json]) -> None:
    assert isinstance(decode(canonical(fields), PLACE), Line | Unreadable)


@seed(SEED)
@SETTINGS
@given(situation=texts, description=texts, data=json_objects)
def test_what_is_appended_is_read_back_the_same_by_the_same_author(
    tmp_path_factory: pytest.TempPathFactory, situation: str, description: str, data: dict[str, Json]
) -> None:
    journal = Journal(Files(tmp_path_factory.mktemp("log")), HeldClock(DAY))
    journal.append("external", situation, description, data=data, durable=False)
    items = list(journal.scan(Cursor()))
    assert [(item.author, item.situation, item.description) for item in items if isinstance(item, Line)] == [
        ("external", situation, description)
    ]
    assert [canonical(item.data) for item in items if isinstance(item, Line)] == [canonical(data)]
    assert verify(items, has_blob=journal.has_blob).holds

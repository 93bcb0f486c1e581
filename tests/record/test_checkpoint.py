"""A kept fold is a convenience: it is never believed against the log."""

import os
import shutil
from pathlib import Path

import pytest

from lumen.clock import SystemClock
from lumen.record import checkpoint
from lumen.record.files import Files
from lumen.record.record import Record


@pytest.fixture
def root(tmp_path: Path) -> Path:
    record = opened(tmp_path)
    for number in range(20):
        record.journal.append("external" if number % 2 else "self", "s", f"words {number}")
    record.fold()
    record.follower.keep(after=0)
    assert checkpoint.load(record.files) is not None
    return tmp_path


def opened(root: Path) -> Record:
    return Record(Files(root), SystemClock())


def log_of(root: Path) -> Path:
    [path] = (root / "memory").rglob("*.jsonl")
    return path


def test_a_kept_fold_is_where_reading_goes_on(root: Path) -> None:
    opened(root).journal.append("goal", "s", "one more")
    fold = opened(root).fold()
    assert (fold.memories["self"], fold.memories["external"], fold.memories["goal"]) == (10, 10, 1)


@pytest.mark.parametrize("damage", [b"", b"{}", b"x" * 64 + b"\n{}", b"\xff\xfe"])
def test_a_damaged_one_is_as_good_as_none(root: Path, damage: bytes) -> None:
    (root / checkpoint.NAME).write_bytes(damage)
    assert checkpoint.load(Files(root)) is None
    assert opened(root).fold().memories.total() == 20


def test_one_bent_byte_anywhere_is_noticed(root: Path) -> None:
    raw = (root / checkpoint.NAME).read_bytes()
    for at in range(0, len(raw), 7):
        bent = bytearray(raw)
        bent[at] ^= 1
        (root / checkpoint.NAME).write_bytes(bytes(bent))
        assert checkpoint.load(Files(root)) is None


def test_a_log_that_was_put_in_place_of_the_other_is_read_anew(root: Path) -> None:
    path = log_of(root)
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    path.write_bytes(b"".join(lines[:5]))
    assert opened(root).fold().memories.total() == 5


def test_a_log_that_was_cut_in_place_is_read_anew(root: Path) -> None:
    path = log_of(root)
    lines = path.read_bytes().splitlines(keepends=True)
    os.truncate(path, len(b"".join(lines[:7])))
    assert opened(root).fold().memories.total() == 7


def test_a_log_that_was_changed_in_place_and_grew_is_read_anew(root: Path) -> None:
    path = log_of(root)
    raw = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(raw.rfind(b'"self"'))
        file.write(b'"SELF"')
    opened(root).journal.append("goal", "s", "one more")
    fold = opened(root).fold()
    assert (fold.memories["self"], fold.memories["goal"]) == (9, 1)


def test_an_older_day_that_appears_is_counted(root: Path) -> None:
    older = root / "memory" / "2020"
    older.mkdir()
    shutil.copy(log_of(root), older / "2020-01-01.jsonl")
    (older / "2020-01-01.jsonl").write_bytes(b'{"author":"goal","description":"long ago"}\n')
    assert opened(root).fold().memories["goal"] == 1


def test_no_words_of_a_memory_are_kept(root: Path) -> None:
    assert b"words" not in (root / checkpoint.NAME).read_bytes()

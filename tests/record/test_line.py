"""The frozen shape of a line: known bytes and hashes, and a reader that cannot be fooled or broken."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumen.clock import SystemClock
from lumen.record.files import Files
from lumen.record.journal import Journal
from lumen.record.line import Line, Place, Unreadable, commitment, decode, emptied, encode, link, sealed, strict_object

ADR = Path(__file__).parents[2] / "docs" / "decisions" / "0001-the-line-format.md"
HERE = Place("2026-11-18", 0, 0, 1)
FIRST = Line(
    id="6f1c2b1e-0d3a-4c57-9a52-5d1f0c9b7e11:1",
    timestamp="2026-11-18T07:34:00.120Z",
    author="external",
    weight=0.5,
    situation="chat",
    description="Hello",
    salt="00112233445566778899aabbccddeeff",
)


def test_the_format_is_frozen_to_the_byte() -> None:
    assert encode(sealed(FIRST)) == (
        b'{"id":"6f1c2b1e-0d3a-4c57-9a52-5d1f0c9b7e11:1","timestamp":"2026-11-18T07:34:00.120Z","author":"external",'
        b'"weight":0.5,"situation":"chat","description":"Hello","turn":null,"event":"memory","data":{},'
        b'"salt":"00112233445566778899aabbccddeeff",'
        b'"c":"694e55db2e9a5d4cddd7beab38f9eeab491d5a5497b30be3f868921e37abe621","prev":"",'
        b'"h":"17d46de44a5f1b460255905ee39cf18b28468faf2d498cfed827ef029e39ec37"}'
    )


def test_the_check_in_the_decision_agrees_with_a_real_log(tmp_path: Path) -> None:
    journal = Journal(Files(tmp_path), SystemClock())
    for number in range(5):
        journal.append("external", "chat", f"line {number} \ud800 ü \n end", data={"n": number, "f": 1e-7})
    [script] = re.findall(r"```python\n(.*?)```", ADR.read_text(encoding="utf-8"), re.DOTALL)
    days = [str(path) for path in (tmp_path / "memory").rglob("*.jsonl")]
    done = subprocess.run([sys.executable, "-c", script, *days], capture_output=True, text=True, check=True)
    assert done.stdout == "5 lines in 1 chains, 0 faults\n"


def test_an_emptied_line_keeps_its_link_and_loses_its_content() -> None:
    line = sealed(FIRST._replace(data={"secret": "words"}))
    left = emptied(line)
    assert link(left) == line.h
    assert (left.situation, left.description, left.data, left.salt, left.c) == ("", "", {}, "", line.c)


@given(
    st.text(), st.text(), st.dictionaries(st.text(), st.integers() | st.floats(allow_nan=False, allow_infinity=False))
)
def test_what_is_written_is_read_back_and_still_commits(situation: str, text: str, data: dict[str, float]) -> None:
    line = sealed(FIRST._replace(situation=situation, description=text, data=data))
    raw = encode(line)
    assert b"\n" not in raw
    read = decode(raw, HERE)
    assert isinstance(read, Line)
    assert read._replace(place=None) == line
    assert (commitment(read.salt, read.situation, read.description, read.data), link(read)) == (line.c, line.h)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.sampled_from([None, 1]), st.booleans())
def test_every_object_is_read_as_the_standard_library_reads_it(
    value: dict[str, object], indent: int | None, is_ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError:
        raw = json.dumps(value).encode()
    assert strict_object(raw) == json.loads(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"author":"external","author":"kernel"}',
        b'{"author":"external","auth\\u006fr":"kernel"}',
        b'{"author":"external","author" :"kernel"}',
        b'{"author":"external","author":"kernel","a\\\\":1}',
        b'{"author":"external","author":"kernel","x" :1}',
        b'{"author":"external","author":"kernel","x"\t:1}',
        b'{"a":{"author":"external","author":"kernel"}}',
        b'{"a":[[{"author":"external","author":"kernel"}]]}',
        b'{"a":"\\":","author":"external","author":"kernel"}',
    ],
)
def test_a_key_that_stands_twice_is_never_believed(raw: bytes) -> None:
    with pytest.raises(ValueError, match="stands twice"):
        strict_object(raw)


@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_at_all_make_the_reader_raise(raw: bytes) -> None:
    assert isinstance(decode(raw, HERE), Line | Unreadable)


@given(st.data())
def test_a_line_that_was_cut_or_bent_is_unreadable_or_shows_it(data: st.DataObject) -> None:
    raw = bytearray(encode(sealed(FIRST._replace(description="some words"))))
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != raw[at]))
    read = decode(bytes(raw), HERE)
    if isinstance(read, Line) and read.is_chained:
        is_same = commitment(read.salt, read.situation, read.description, read.data) == read.c and link(read) == read.h
        assert not is_same

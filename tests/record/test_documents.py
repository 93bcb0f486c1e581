"""State files: one entry changed, everything else kept."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumen.json_value import Json
from lumen.record.documents import (
    SOUL,
    SOUL_KEY,
    VALUES,
    Delta,
    Key,
    NotADocument,
    differences,
    line_of,
    read_entries,
    same,
    with_changes,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ENTRY = st.fixed_dictionaries(
    {"name": st.sampled_from(["care", "truth", "ü", ""])}, optional={"weight": JSON, "note": JSON}
)
LISTS = st.lists(ENTRY | JSON.filter(lambda value: value is not None), max_size=6)
FILES = LISTS | st.dictionaries(st.text(max_size=6), JSON, max_size=3).flatmap(
    lambda around: LISTS.map(lambda entries: {**around, "values": entries})
)


@given(FILES)
def test_a_change_keeps_every_other_entry_and_field(document: object) -> None:
    raw = json.dumps(document).encode()
    before = read_entries(VALUES, raw)
    new: dict[str, Json] = {"name": "new one", "weight": 0.5}
    after = read_entries(VALUES, with_changes(VALUES, raw, [Delta(Key("new one", 0), None, new)]))
    assert after.pop(Key("new one", 0)) == new
    assert differences(before, after) == []


@given(FILES, FILES)
def test_differences_lead_from_one_file_to_the_other(one: object, other: object) -> None:
    raw = json.dumps(one).encode()
    target = read_entries(VALUES, json.dumps(other).encode())
    found = read_entries(VALUES, with_changes(VALUES, raw, differences(read_entries(VALUES, raw), target)))
    named = {key: entry for key, entry in target.items() if key.name is not None and entry is not None}
    assert differences(named, {key: entry for key, entry in found.items() if key.name is not None}) == []


@pytest.mark.parametrize(
    "raw", [b"{", b"[1,]", b"\xff", b'[{"name":"a","name":"b"}]', b"[NaN]", b"[1e999]", b"3", b'"x"', b"null"]
)
def test_what_is_no_list_of_entries_is_refused_with_a_reason(raw: bytes) -> None:
    with pytest.raises(NotADocument) as refused:
        read_entries(VALUES, raw)
    assert str(refused.value)


def test_text_with_lone_surrogates_survives_a_rewrite() -> None:
    raw = b'[{"name": "a", "note": "\\ud800"}]'
    rewritten = with_changes(VALUES, raw, [Delta(Key("b", 0), None, {"name": "b"})])
    assert json.loads(rewritten)[0] == {"name": "a", "note": "\ud800"}


def test_numbers_are_the_same_when_they_are_equal_and_truth_is_no_number() -> None:
    assert same(1, 1.0)
    assert not same(1, True)
    assert not same([{"a": 1}], [{"a": False}])


def test_the_line_of_a_field_is_its_own_and_not_a_neighbours() -> None:
    raw = b'[\n  {"name": "weight",\n   "note": {"weight": 1},\n   "weight": 7},\n  {"name": "b",\n   "weight": 8}\n]\n'
    assert line_of(VALUES, raw, Key("weight", 0), "weight") == 4
    assert line_of(VALUES, raw, Key("b", 0), "weight") == 6
    assert line_of(VALUES, raw, Key("b", 0), "status") == 5


def test_a_soul_is_one_entry_and_an_empty_one_none() -> None:
    assert read_entries(SOUL, b"") == {}
    assert read_entries(SOUL, b"# Wren\n") == {SOUL_KEY: "# Wren\n"}
    assert with_changes(SOUL, b"# Wren\n", [Delta(SOUL_KEY, "# Wren\n", "# Other\n")]) == b"# Other\n"

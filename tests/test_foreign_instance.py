"""An instance from elsewhere opens: every command reads it, every command extends it, and nothing of it is lost."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.foreign_shapes import DAY, LINES, SHAPES, VALUES, Shape, as_json, log, memory
from tests.instances import tree
from tests.processes import Done, lumen, ok

LOOKING = (("status",), ("memory", "--all"), ("values",), ("goals",), ("soul",), ("skills",), ("verify",))
BECAUSE = ("--because", "it is extended")
NEW_SOUL = "# Another\n"
IMPORTED = '{"timestamp":"2026-01-01T00:00:00","author":"self","weight":0.5,"situation":"s","description":"imported"}\n'


@dataclass(frozen=True, slots=True)
class Story:
    """What happened to a folder of one shape: every command looked, every command extended it, two looked again."""

    shape: Shape
    built: Mapping[str, bytes]
    looked: Mapping[str, bytes]
    extended: Mapping[str, bytes]
    changed: Mapping[str, Mapping[str, Any]]
    texts: Sequence[Done]
    seen: Mapping[str, Any]
    verdict: Mapping[str, Any]
    last: Mapping[str, Any]
    left: Mapping[str, bytes]
    lines: Sequence[Mapping[str, Any]]


@pytest.fixture(
    scope="module",  # and one worker for each shape, with --dist loadgroup: its story is told once
    params=[pytest.param(shape, id=shape.name, marks=pytest.mark.xdist_group(shape.name)) for shape in SHAPES],
)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Story:
    shape: Shape = request.param
    home = shape.build(tmp_path_factory.mktemp("foreign") / "vega")
    built = files_of(home)
    texts = [lumen(*command, home=home) for command in LOOKING]
    seen = {command[0]: ok(*command, "--json", home=home).json() for command in LOOKING}
    looked = files_of(home)
    changed = extend(shape, home)
    extended = files_of(home)
    verdict = ok("verify", "--json", home=home).json()
    last = ok("status", "--json", home=home).json()
    lines = ok("memory", "--all", "--json", home=home).json()
    return Story(shape, built, looked, extended, changed, texts, seen, verdict, last, left=files_of(home), lines=lines)


def test_every_command_that_looks_works(story: Story) -> None:
    assert [done.code for done in story.texts] == [0] * len(LOOKING)
    assert all(done.out for done in story.texts)


def test_the_soul_values_and_goals_it_holds_are_seen(story: Story) -> None:
    assert story.seen["soul"]["name"] == story.shape.soul
    assert [value["name"] for value in story.seen["values"]] == list(story.shape.values)
    assert [goal["name"] for goal in story.seen["goals"]] == list(story.shape.goals)


def test_every_memory_it_holds_is_seen(story: Story) -> None:
    assert sum(len(str(line.get("h", ""))) < 64 for line in story.seen["memory"]) == story.shape.memories


def test_only_what_is_no_memory_counts_as_unreadable(story: Story) -> None:
    assert sum(story.seen["status"]["unreadable"].values()) == story.shape.unreadable


def test_looking_adds_lines_and_changes_nothing_else(story: Story) -> None:
    assert_kept(story.built, story.looked, changed={})


def test_extending_it_by_every_command_loses_no_field_and_no_line(story: Story) -> None:
    assert_kept(story.built, story.extended, story.changed)


def test_after_extending_it_the_record_holds(story: Story) -> None:
    assert (story.verdict["holds"], story.verdict["findings"]) == (True, [])


def test_a_second_look_finds_nothing_new(story: Story) -> None:
    assert story.last["findings"] == []
    assert story.left == story.extended


def test_the_soul_it_had_is_still_in_the_log_after_it_was_rewritten(story: Story) -> None:
    [change] = [
        line
        for line in story.lines
        if line.get("event") == "change" and line["data"]["file"] == "soul.md" and "h" in line
    ]
    before = story.shape.files.get("soul.md", b"").decode("utf-8-sig")
    assert (change["data"]["changes"][0]["before"] or "") == before


def test_a_person_can_have_a_foreign_memory_forgotten(tmp_path: Path) -> None:
    shape = Shape("", {DAY: log(LINES[0], memory("secret", password="hunter2"), LINES[2]), "values.json": b"[]"}, 3)
    home = shape.build(tmp_path / "vega")
    path = home / "data" / DAY
    before = path.read_bytes().splitlines()
    ok("memory", "forget", "2025-03-04#2", "--yes", *BECAUSE, home=home)
    after = path.read_bytes().splitlines()
    assert (after[0], after[2], len(after[1])) == (before[0], before[2], len(before[1]))
    assert b"secret" not in after[1]
    assert b"hunter2" not in after[1]
    assert ok("verify", "--json", home=home).json()["holds"] is True


def test_the_id_that_json_shows_can_be_forgotten(tmp_path: Path) -> None:
    home = Shape("", {DAY: log(memory("secret", id="m-1")), "values.json": b"[]"}, 1).build(tmp_path / "vega")
    shown = ok("memory", "--json", "--date", "2025-03-04", home=home).json()[0]
    ok("memory", "forget", shown["id"], "--yes", *BECAUSE, home=home)
    assert b"secret" not in (home / "data" / DAY).read_bytes()


def test_an_entry_without_a_weight_is_named_with_its_own_line(tmp_path: Path) -> None:
    values = b'[\n  {"name": "a"},\n  {"name": "b", "weight": 0.5}\n]\n'
    home = Shape("", {"values.json": values, DAY: log(*LINES)}, 3).build(tmp_path / "vega")
    [problem] = ok("status", "--json", home=home).json()["problems"]
    assert problem.startswith("data/values.json, line 2: a: ")


def test_a_file_that_is_no_list_refuses_changes_and_stays_as_it_is(tmp_path: Path) -> None:
    home = Shape("", {"values.json": b"null\n", DAY: log(*LINES)}, 3).build(tmp_path / "vega")
    done = lumen("values", "add", "x", "0.5", *BECAUSE, home=home)
    assert (done.code, "data/values.json" in done.err) == (3, True)
    assert (home / "data" / "values.json").read_bytes() == b"null\n"
    ok("values", home=home)
    ok("status", home=home)


def test_numbers_keep_their_value_when_a_file_is_rewritten(tmp_path: Path) -> None:
    raw = b'[{"name": "care", "weight": 0.5, "big": 123456789012345678901234567890, "small": 1e-7, "one": 1.0}]'
    home = Shape("", {"values.json": raw, DAY: log(*LINES)}, 3).build(tmp_path / "vega")
    ok("values", "set", "care", "0.6", *BECAUSE, home=home)
    [entry] = json.loads((home / "data" / "values.json").read_bytes())
    assert (entry["big"], entry["small"], entry["one"]) == (123456789012345678901234567890, 1e-7, 1.0)


def test_a_goal_that_stands_twice_is_left_to_a_person(tmp_path: Path) -> None:
    twice = as_json([{"name": "walk", "weight": 0.4, "n": 1}, {"name": "walk", "weight": 0.5, "n": 2}])
    home = Shape("", {"goals/2025.json": twice, "values.json": as_json(VALUES)}, 0).build(tmp_path / "vega")
    done = lumen("goals", "set", "walk", "--weight", "0.1", *BECAUSE, home=home)
    assert (done.code, "more than one goal named walk" in done.err) == (1, True)
    assert (home / "data" / "goals" / "2025.json").read_bytes() == twice


def extend(shape: Shape, home: Path) -> Mapping[str, Mapping[str, Any]]:
    """Every command that writes, once; what was changed of the original is given back."""
    lines = home.parent / "more.jsonl"
    lines.write_text(IMPORTED, encoding="utf-8")
    soul = home.parent / "soul.md"
    soul.write_text(NEW_SOUL, encoding="utf-8")
    commands: list[Sequence[str]] = [
        ("values", "add", "new value", "0.4"),
        ("values", "set", "new value", "0.45"),
        ("values", "retire", "new value"),
        ("values", "restore", "new value"),
        ("goals", "add", "new goal", "0.4"),
        ("goals", "set", "new goal", "--status", "working", "--weight", "0.1"),
        ("goals", "add", "new perpetual goal", "0.4", "--perpetual"),
        ("soul", "edit", "--file", str(soul)),
    ]
    changed: dict[str, dict[str, Any]] = {}
    if shape.value:
        commands += [("values", "set", shape.value, "0.77"), ("values", "retire", shape.value)]
        changed[shape.value] = {"weight": 0.77, "status": "deprecated"}
    if shape.goal:
        commands += [("goals", "set", shape.goal, "--weight", "0.77", "--status", "done")]
        changed[shape.goal] = {"weight": 0.77, "status": "done"}
    for command in commands:
        ok(*command, *BECAUSE, home=home)
    ok("memory", "import", str(lines), home=home)
    [imported] = [line for line in _lines(ok("memory", "--all", "--json", home=home)) if "imported" in line["data"]]
    ok("memory", "forget", imported["id"], "--yes", *BECAUSE, home=home)
    return changed


def _lines(done: Done) -> list[dict[str, Any]]:
    return [{"data": {}, **line} if isinstance(line.get("data", {}), dict) else {"data": {}} for line in done.json()]


def files_of(home: Path) -> dict[str, bytes]:
    return tree(home, without=("run",))


def assert_kept(
    before: Mapping[str, bytes], after: Mapping[str, bytes], changed: Mapping[str, Mapping[str, Any]]
) -> None:
    """No file, no line and no field of before is missing after."""
    for name, raw in before.items():
        found = after[name]
        if name.endswith(".jsonl"):
            assert found.startswith(raw), name
        elif name.endswith("soul.md"):
            assert found == (NEW_SOUL.encode() if found != raw else raw)
        elif found != raw:
            assert_entries_kept(name, loaded(raw), loaded(found), changed)


def assert_entries_kept(name: str, before: Any, after: Any, changed: Mapping[str, Mapping[str, Any]]) -> None:
    if isinstance(before, dict):
        holder = next(
            (field for field, value in before.items() if isinstance(value, list) and field != "sources"), None
        )
        for field, value in before.items():
            if field == holder:
                assert_entries_kept(name, value, after[field], changed)
            else:
                assert after.get(field) == value, f"{name}: {field}"
        return
    if isinstance(after, dict):
        pytest.fail(f"{name}: a list became an object")
    for old, new in zip(before, after, strict=False):
        named = old.get("name") if isinstance(old, dict) else None
        expected = {**old, **changed[named]} if isinstance(named, str) and named in changed else old
        assert new == expected, name
    assert len(after) >= len(before)


def loaded(raw: bytes) -> Any:
    return json.loads(raw.decode("utf-8-sig")) if raw.strip() else []

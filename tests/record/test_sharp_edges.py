"""Corners that a careful reader cut themselves on once."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lumen.app import Instance
from lumen.clock import SystemClock
from lumen.errors import RecordFull, Refused
from lumen.instance import Place
from lumen.record.files import Files
from lumen.record.goals import Goal
from lumen.record.line import Line


@pytest.fixture
def lumen(tmp_path: Path) -> Iterator[Instance]:
    data = tmp_path / "data"
    for folder in (data / "goals", data / "memory", tmp_path / "skills"):
        folder.mkdir(parents=True)
    (data / "values.json").write_bytes(b"[]\n")
    (data / "soul.md").write_bytes(b"")
    instance = Instance(Place(tmp_path, data, tmp_path / "skills"), clock=SystemClock())
    yield instance
    instance.close()


def raw_log(lumen: Instance) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((lumen.place.data / "memory").rglob("*.jsonl")))


def test_forgetting_a_line_leaves_one_that_cites_it_whole(lumen: Instance) -> None:
    person = lumen.person_grant()
    cited = person.memory.remember("external", "s", "SECRET")
    source = {"id": cited.id, "timestamp": cited.timestamp, "words": "kept"}
    line = {"timestamp": "2026-01-01T00:00:00", "author": "external", "description": "cites", "source": source}
    list(person.importer.run([json.dumps(line).encode()], "f"))
    person.memory.forget(cited.id, because="asked to")
    assert b"SECRET" not in raw_log(lumen)
    assert b"kept" in raw_log(lumen)
    assert lumen.verify().holds


def test_forgetting_a_line_that_holds_another_ones_shape_leaves_nothing(lumen: Instance) -> None:
    person = lumen.person_grant()
    other = person.memory.remember("external", "s", "other")
    source = {"id": other.id, "timestamp": other.timestamp, "words": "SECRET"}
    line = {"timestamp": "2026-01-01T00:00:00", "author": "external", "description": "x", "source": source}
    list(person.importer.run([json.dumps(line).encode()], "f"))
    [imported] = [found for found in person.memory.all() if "imported" in found.data]
    person.memory.forget(imported.id, because="asked to")
    assert b"SECRET" not in raw_log(lumen)
    assert lumen.verify().holds


def test_a_goal_that_is_gone_cannot_be_started(lumen: Instance) -> None:
    lumen.person_grant().goals.add("walk", 0.5, because="so")
    [goal] = lumen.action_grant().goals.open()
    assert isinstance(goal, Goal)
    (lumen.place.data / f"goals/{goal.year}.json").write_bytes(b"[]\n")
    with pytest.raises(Refused, match="not in goals"):
        lumen.action_grant().goals.start(goal, because="so")
    assert lumen.problems() == []


def test_a_missing_skill_can_be_missed_again(lumen: Instance) -> None:
    goals = lumen.action_grant().goals
    assert goals.open_skill_gap("weather", weight=0.6, because="asked for rain")
    assert goals.open_skill_gap("weather", weight=0.6, because="asked again") is None
    [goal] = goals.open()
    goals.finish(goal, because="done")
    assert goals.open_skill_gap("weather", weight=0.7, because="it broke")
    assert [(goal.name, goal.weight) for goal in goals.open()] == [("Author the skill weather", 0.7)]


@pytest.mark.parametrize("text", ["hi \ud800", "\udfff"])
def test_a_soul_that_no_file_can_hold_is_refused(lumen: Instance, text: str) -> None:
    with pytest.raises(Refused):
        lumen.reflection_grant().soul.rewrite(text, because="so")
    assert lumen.problems() == []


@pytest.mark.parametrize("text", ["\n", "  \n\t", "\ufeff# Wren\n", "# Wren\n"])
def test_after_any_rewrite_of_the_soul_there_is_nothing_left_to_settle(lumen: Instance, text: str) -> None:
    lumen.reflection_grant().soul.rewrite("# Before\n", because="so")
    lumen.reflection_grant().soul.rewrite(text, because="so")
    assert not lumen.needs_reconciling()


def test_a_soul_is_not_written_over_one_that_the_editor_never_saw(lumen: Instance) -> None:
    soul = lumen.person_grant().soul
    soul.rewrite("# One\n", because="so")
    with pytest.raises(Refused, match="meanwhile"):
        soul.rewrite("# Two\n", because="so", instead_of="# Other\n")
    assert soul.read().text == "# One\n"


def test_a_forged_copy_of_a_line_is_a_fault(lumen: Instance) -> None:
    line = lumen.person_grant().memory.remember("self", "s", "true")
    [path] = (lumen.place.data / "memory").rglob("*.jsonl")
    forged = {**json.loads(path.read_bytes().splitlines()[-1]), "description": "false", "h": "0" * 64}
    later = path.with_name("2099-01-01.jsonl").parent.parent / "2099" / "2099-01-01.jsonl"
    later.parent.mkdir()
    later.write_bytes(json.dumps(forged, separators=(",", ":")).encode() + b"\n")
    assert line.id == forged["id"]
    assert not lumen.verify().holds


class FullLog(Files):
    """A disk on which a blob still finds room, and the line after it no more."""

    def append(self, name: str, line: bytes, *, durable: bool = True) -> int:
        raise RecordFull("No space left.")


def test_a_large_memory_that_found_no_room_leaves_no_words_behind(lumen: Instance) -> None:
    full = Instance(lumen.place, files=FullLog(lumen.place.data))
    with pytest.raises(RecordFull):
        full.person_grant().memory.remember("external", "s", "SECRET" * 20_000)
    assert list((lumen.place.data / "blobs").iterdir()) == []


def test_a_large_memory_is_imported_once(lumen: Instance) -> None:
    line = json.dumps({"timestamp": "2026-01-01T00:00:00", "description": "d" * 70_000}).encode()
    importer = lumen.person_grant().importer
    *_, first = importer.run([line], "f")
    *_, second = importer.run([line], "f")
    assert (first.imported, second.imported, second.known) == (1, 0, 1)


def test_an_integer_beyond_every_float_stays_what_it_is_in_a_kept_fold(lumen: Instance) -> None:
    (lumen.place.data / "values.json").write_text('[{"name": "a", "weight": 0.5, "n": 123456789012345678901234567890}]')
    lumen.upkeep_grant().record.reconcile()
    for number in range(250):
        lumen.person_grant().memory.remember("self", "s", f"{number}")
    lumen.reader.fold()
    lumen.close()
    assert not Instance(lumen.place).needs_reconciling()


def test_a_value_nested_without_end_is_an_unreadable_file_and_no_crash(lumen: Instance) -> None:
    deep = "[" * 480 + "]" * 480
    (lumen.place.data / "values.json").write_text(f'[{{"name": "a", "weight": 0.5, "deep": {deep}}}]')
    assert ["nested more than" in problem for problem in lumen.problems()] == [True]


def test_threads_of_one_process_share_one_chain(lumen: Instance) -> None:
    memory = lumen.person_grant().memory
    lines: list[Line] = []
    threads = [
        threading.Thread(target=lambda: lines.extend(memory.remember("self", "s", "x") for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({line.id for line in lines}) == 200
    assert {line.id for line in lines} <= {line.id for line in memory.all()}
    assert lumen.verify().holds


def test_chains_in_another_order_are_a_fault(lumen: Instance) -> None:
    for weight in (0.1, 0.6, 0.9):
        writer = Instance(lumen.place)
        values = writer.person_grant().values
        (values.reweight if values.all() else values.add)("care", weight, because="so")
        writer.close()
    [path] = (lumen.place.data / "memory").rglob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    assert lumen.verify().holds
    path.write_bytes(b"".join([*lines[:2], *lines[4:], *lines[2:4]]))
    assert [fault.kind for fault in Instance(lumen.place).verify().faults] == ["order", "order"]

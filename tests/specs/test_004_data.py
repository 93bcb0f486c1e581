"""Specification 004: data structures, goal year partitioning, concurrency and version control."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lumen.app import Instance
from lumen.errors import Refused
from lumen.record.goals import STATUSES as GOAL_STATUSES
from lumen.record.goals import Goal, PerpetualGoal
from lumen.record.line import AUTHORS
from lumen.record.state_files import Change
from lumen.record.values import STATUSES as VALUE_STATUSES
from tests.house.repository import ROOT
from tests.instances import MORNING, events, lived_in, log_of, made, opened, store, stored, tree, write_log
from tests.processes import git, ok, program

FIVE = ("timestamp", "author", "weight", "situation", "description")
LAST_YEAR = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
NEXT_YEAR = datetime(2027, 1, 1, 0, 0, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lived_in(tmp_path_factory.mktemp("data") / "nova")


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "nova")


# --- Self, Values, Goals ------------------------------------------------------------------------------------------


def test_the_self_is_a_markdown_file_with_name_and_ontology(home: Path) -> None:
    """004, Self: "data/soul.md" and "Markdown. Name, ontology, identity narrative." """
    text = "# Nova\n\n## Ontology\n\nA process that\nremembers.\n\n## Story\n\nI was made in autumn.\n"
    (home / "data" / "soul.md").write_text(text, encoding="utf-8")
    with opened(home, MORNING) as instance:
        soul = instance.explore_grant().soul.read()
    assert (soul.text, soul.name, soul.ontology) == (text, "Nova", "A process that remembers.")


def test_a_value_has_a_name_a_weight_and_a_status(home: Path) -> None:
    """004, Values: `"name": "string", "weight": 0.0-1.0, "status": "active | deprecated"` in data/values.json."""
    assert stored(home, "values.json") == [
        {"name": "care", "weight": 0.8, "status": "active"},
        {"name": "truth", "weight": 0.6, "status": "active"},
    ]


def test_a_value_is_active_or_deprecated(home: Path) -> None:
    """004, Values: `"status": "active | deprecated"`."""
    assert VALUE_STATUSES == ("active", "deprecated")
    with opened(home, MORNING) as instance:
        instance.reflection_grant().values.retire("truth", because="it ended")
        assert [value.name for value in instance.action_grant().values.active()] == ["care"]
    assert stored(home, "values.json")[1] == {"name": "truth", "weight": 0.6, "status": "deprecated"}


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0, 0, 1])
def test_a_weight_from_0_to_1_is_stored(home: Path, weight: float) -> None:
    """004, Values and Goals: `"weight": 0.0-1.0`."""
    with opened(home, MORNING) as instance:
        grant = instance.reflection_grant()
        grant.values.reweight("care", weight, because="so")
        grant.goals.reweight("learn the town", weight, because="so")
        grant.memory.remember("self", "s", "d", weight=weight)
    assert stored(home, "values.json")[0]["weight"] == weight
    assert stored(home, "goals/2026.json")[0]["weight"] == weight
    assert log_of(home)[-1]["weight"] == weight


@pytest.mark.parametrize("weight", [-0.01, 1.01, 7, float("nan"), float("inf"), True])
def test_a_weight_outside_0_to_1_is_refused_everywhere(home: Path, weight: float) -> None:
    """004, Values, Goals and Memory: `"weight": 0.0-1.0`."""
    before = tree(home / "data")
    with opened(home, MORNING) as instance:
        reflection, action = instance.reflection_grant(), instance.action_grant()
        acts: list[Callable[[], object]] = [
            lambda: reflection.values.reweight("care", weight, because="so"),
            lambda: reflection.values.add("new", weight, because="so"),
            lambda: reflection.goals.reweight("learn the town", weight, because="so"),
            lambda: reflection.goals.add("new", weight, because="so"),
            lambda: reflection.memory.remember("self", "s", "d", weight=weight),
            lambda: action.goals.open_skill_gap("x", weight=weight, because="so"),
        ]
        for act in acts:
            with pytest.raises(Refused, match="from 0 to 1"):
                act()
    assert tree(home / "data") == before


def test_a_goal_has_a_name_a_weight_and_a_status_in_the_file_of_its_year(home: Path) -> None:
    """004, Goals: "data/goals/[year].json" and `"status": "todo | working | done | perpetual"`."""
    assert stored(home, "goals/2026.json") == [
        {"name": "learn the town", "weight": 0.5, "status": "todo"},
        {"name": "stay curious", "weight": 0.7, "status": "perpetual"},
    ]


def test_a_goal_has_one_of_the_four_statuses_or_is_deprecated() -> None:
    """004, Goals: `"status": "todo | working | done | perpetual"`, and "gets deprecated", which design.md 4 adds."""
    assert GOAL_STATUSES == ("todo", "working", "done", "perpetual", "deprecated")


def test_the_action_loop_moves_a_goal_from_todo_to_working_to_done(home: Path) -> None:
    """004, Goals: "Status written by action loop (todo → working → done)." """
    with opened(home, MORNING) as instance:
        goals = instance.action_grant().goals
        seen = [goals.open()[0].status]
        goals.start(goals.open()[0], because="its turn")
        seen.append(goals.open()[0].status)
        goals.finish(goals.open()[0], because="reached")
        assert goals.open() == []
    assert [*seen, stored(home, "goals/2026.json")[0]["status"]] == ["todo", "working", "done"]


@pytest.mark.parametrize("status", ["working", "done", "deprecated", "perpetual"])
def test_the_action_loop_moves_no_goal_backwards(home: Path, status: str) -> None:
    """004, Goals: "todo → working → done" has one direction."""
    store(home, "goals/2026.json", [{"name": "learn the town", "weight": 0.5, "status": status}])
    with opened(home, MORNING) as instance:
        stale = Goal("learn the town", 0.5, "todo", 2026)
        with pytest.raises(Refused):
            instance.action_grant().goals.start(stale, because="again")
    assert stored(home, "goals/2026.json")[0]["status"] == status


def test_reflection_makes_a_goal_perpetual_ordinary_again_and_deprecated(home: Path) -> None:
    """004, Goals: "if a goal becomes perpetual, stops being perpetual, or gets deprecated"."""
    with opened(home, MORNING) as instance:
        goals = instance.reflection_grant().goals
        kinds: list[type] = []
        for status in ("perpetual", "todo", "deprecated"):
            goals.restate("learn the town", status, because="I changed")
            kinds.append(next(type(goal) for goal in goals.all() if goal.name == "learn the town"))
        assert kinds == [PerpetualGoal, Goal, Goal]
        assert [goal.name for goal in goals.active()] == ["stay curious"]


# --- Skills -------------------------------------------------------------------------------------------------------


def test_a_skill_is_a_folder_with_a_main_py(home: Path) -> None:
    """004, Skills: "Each skill is its own directory with a required main.py entry point." """
    (home / "skills" / "unfinished").mkdir()
    (home / "skills" / "a_file.py").write_text("print(1)\n", encoding="utf-8")
    with opened(home, MORNING) as instance:
        skills = instance.explore_grant().skills
        shipped = [("chat", True), ("files", True), ("recall", True)]
        assert [(skill.name, skill.has_main) for skill in skills.all()] == [*shipped, ("unfinished", False)]
        assert skills.invocable("chat").main == home / "skills" / "chat" / "main.py"
        with pytest.raises(Refused, match=r"no skill named unfinished with a main\.py"):
            skills.invocable("unfinished")


def test_a_skill_without_a_main_py_is_not_created(home: Path) -> None:
    """004, Skills: "a required main.py entry point"."""
    before = tree(home)
    with opened(home, MORNING) as instance, pytest.raises(Refused, match=r"needs a main\.py"):
        instance.action_grant().skills.create("empty", {"other.py": ""}, because="so")
    assert tree(home) == before


def test_a_skill_may_hold_several_files_in_any_language(home: Path) -> None:
    """004, Skills: "Skills may contain multiple source files, use any language"."""
    files = {"main.py": "print(1)\n", "lib/tool.sh": "echo 1\n", "notes.md": "# How\n"}
    with opened(home, MORNING) as instance:
        instance.action_grant().skills.create("weather", files, because="it was wanted")
    assert {name: text.encode() for name, text in files.items()} == tree(home / "skills" / "weather")


def test_the_shipped_chat_skill_answers_help(home: Path) -> None:
    """004, Skills: "Every skill must implement `--help` to describe its capabilities"."""
    done = program([sys.executable, str(home / "skills" / "chat" / "main.py"), "--help"], folder=home)
    assert done.code == 0
    assert len(done.out.split()) > 5


# --- Memory -------------------------------------------------------------------------------------------------------


def test_a_memory_is_a_line_in_the_file_of_its_day(home: Path) -> None:
    """004, Memory: "data/memory/[year]/[year]-[month]-[day].jsonl"."""
    assert sorted(tree(home / "data" / "memory")) == ["2026/2026-11-18.jsonl"]


def test_every_line_has_the_five_fields_of_a_memory(home: Path) -> None:
    """004, Memory: `"timestamp"`, `"author"`, `"weight"`, `"situation"`, `"description"`, kernel lines included."""
    lines = log_of(home)
    assert len(lines) > 10
    for line in lines:
        assert set(FIVE) <= set(line)
        assert datetime.fromisoformat(line["timestamp"]).tzinfo is not None
        assert line["author"] in AUTHORS
        assert 0 <= line["weight"] <= 1
        assert isinstance(line["situation"], str)
        assert isinstance(line["description"], str)


def test_the_authors_are_self_kernel_goal_and_external() -> None:
    """004, Memory: `"author": "self | kernel | goal | external"`."""
    assert AUTHORS == ("self", "kernel", "goal", "external")


def test_a_timestamp_is_iso_8601(home: Path) -> None:
    """004, Memory: `"timestamp": "ISO 8601"`."""
    assert {line["timestamp"] for line in log_of(home)} == {"2026-11-18T07:30:00.000Z"}


def test_every_step_the_kernel_ran_has_a_memory_that_proves_it(home: Path) -> None:
    """004, Memory, kernel: "If the kernel ran a step, there is a memory proving it." """
    ok("values", "set", "care", "0.9", "--because", "it grew", home=home)
    [intent], [outcome] = events(home, "intent"), events(home, "outcome")
    assert (intent["author"], outcome["author"]) == ("kernel", "kernel")
    assert (intent["data"]["step"], outcome["data"]["result"]) == ("values set", "done")


@pytest.mark.parametrize("field", ["description", "situation", "author", "weight", "timestamp", "data", "turn"])
def test_a_kernel_line_that_was_modified_after_writing_is_found(home: Path, field: str) -> None:
    """004, Memory, kernel: "The system cannot skip these entries and cannot modify them after writing." """
    path = next((home / "data" / "memory").glob("*/*.jsonl"))
    lines = log_of(home)
    target = next(line for line in lines if line["author"] == "kernel")
    target[field] = {"weight": 0.1, "author": "self", "data": {"other": 1}}.get(field, "changed")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with opened(home, MORNING) as instance:
        assert target["id"] in " ".join(fault.text for fault in instance.verify().faults)


def test_a_kernel_line_that_was_taken_out_is_found(home: Path) -> None:
    """004, Memory, kernel: "The system cannot skip these entries"."""
    path = next((home / "data" / "memory").glob("*/*.jsonl"))
    lines = log_of(home)
    lines.remove(next(line for line in lines if line["author"] == "kernel"))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with opened(home, MORNING) as instance:
        assert [fault.kind for fault in instance.verify().faults if fault.kind == "chain"]


@pytest.mark.parametrize(
    "change",
    [
        lambda instance: instance.reflection_grant().values.reweight("care", 0.1, because="the reason"),
        lambda instance: instance.reflection_grant().values.add("play", 0.1, because="the reason"),
        lambda instance: instance.reflection_grant().values.retire("care", because="the reason"),
        lambda instance: instance.reflection_grant().goals.add("swim", 0.1, because="the reason"),
        lambda instance: instance.reflection_grant().goals.reweight("learn the town", 0.1, because="the reason"),
        lambda instance: instance.reflection_grant().goals.restate("stay curious", "done", because="the reason"),
        lambda instance: instance.reflection_grant().soul.rewrite("# Nova the second", because="the reason"),
    ],
    ids=["reweight", "add a value", "retire", "add a goal", "reweight a goal", "restate a goal", "rewrite the soul"],
)
def test_every_change_of_the_self_has_a_self_memory_with_its_reason(
    home: Path, change: Callable[[Instance], Change | None]
) -> None:
    """004, Memory, self: "Every value reweight, goal change, or identity update has a corresponding self-authored
    memory explaining the rationale."
    """
    with opened(home, MORNING) as instance:
        done = change(instance)
    assert done is not None
    [memory] = [line for line in log_of(home) if line["data"].get("change") == done.id and line["event"] == "memory"]
    assert memory["author"] == "self"
    assert "the reason" in memory["description"]


def test_every_change_is_traceable_with_before_and_after(home: Path) -> None:
    """004, EVOLVE: "Kernel logs: which files were modified, before and after states (author: kernel)." """
    with opened(home, MORNING) as instance:
        instance.reflection_grant().values.reweight("care", 0.1, because="so")
    change = events(home, "change")[-1]
    assert change["author"] == "kernel"
    assert change["data"]["file"] == "values.json"
    assert [(entry["before"]["weight"], entry["after"]["weight"]) for entry in change["data"]["changes"]] == [
        (0.8, 0.1)
    ]


def test_a_goal_memory_can_be_logged_by_the_loop_that_selects_it(home: Path) -> None:
    """004, Memory, goal: "Logged when the internal loop selects a goal to pursue." """
    with opened(home, MORNING) as instance:
        instance.action_grant(turn="turn-7").memory.remember("goal", "cycle", "the town")
    assert (log_of(home)[-1]["author"], log_of(home)[-1]["turn"]) == ("goal", "turn-7")


def test_what_comes_from_a_person_is_an_external_memory(home: Path) -> None:
    """004, Memory, external: "Logged when input arrives from outside the system." """
    ok("values", "set", "care", "0.9", "--because", "I ask you to", home=home)
    [change] = [line for line in events(home, "change") if "I ask you to" in line["description"]]
    assert change["author"] == "external"


def test_memory_is_both_experience_and_audit_log(home: Path) -> None:
    """004, Memory: "Memory is both experiential memory and audit log." """
    assert {line["author"] for line in log_of(home)} == set(AUTHORS)


def test_a_yearly_summary_is_neither_a_day_nor_touched(home: Path) -> None:
    """004, Memory summarization: "yearly summaries in data/memory/[year]/summary.md"."""
    summary = home / "data" / "memory" / "2026" / "summary.md"
    summary.write_text("# 2026\n\nA quiet year.\n", encoding="utf-8")
    total = ok("status", "--json", home=home).json()["memories"]["total"]
    assert total == len(log_of(home))
    assert summary.read_text(encoding="utf-8") == "# 2026\n\nA quiet year.\n"


# --- Goal year partitioning ---------------------------------------------------------------------------------------


def test_the_current_date_says_into_which_file_a_new_goal_goes(home: Path) -> None:
    """004, Goal Year Partitioning: "it uses the current date to determine which file"."""
    for at in (LAST_YEAR, NEXT_YEAR):
        with opened(home, at) as instance:
            instance.reflection_grant().goals.add(f"goal of {at.year}", 0.5, because="so")
    assert [stored(home, f"goals/{year}.json")[0]["name"] for year in (2025, 2027)] == ["goal of 2025", "goal of 2027"]


def test_no_trigger_is_needed_for_a_new_year(tmp_path: Path) -> None:
    """004, Goal Year Partitioning: "no explicit trigger creates a new year file"."""
    home = made(tmp_path / "nova")
    assert list((home / "data" / "goals").iterdir()) == []
    with opened(home, NEXT_YEAR) as instance:
        assert instance.look().goals == []
        assert list((home / "data" / "goals").iterdir()) == []
        instance.action_grant().goals.open_skill_gap("weather", weight=0.5, because="wanted")
    assert [path.name for path in (home / "data" / "goals").iterdir()] == ["2027.json"]


def test_all_years_are_read(home: Path) -> None:
    """004, Goal Year Partitioning: "the kernel reads all year files when loading goals, not just the current year"."""
    store(home, "goals/2019.json", [{"name": "see the sea", "weight": 0.9, "status": "perpetual"}])
    store(home, "goals/2031.json", [{"name": "rest", "weight": 0.1, "status": "todo"}])
    with opened(home, MORNING) as instance:
        goals = instance.explore_grant().goals.all()
    assert [(goal.name, goal.year) for goal in goals] == [
        ("see the sea", 2019),
        ("stay curious", 2026),
        ("learn the town", 2026),
        ("rest", 2031),
    ]


def test_a_goal_is_changed_in_the_year_it_was_created_in(home: Path) -> None:
    """004, Goal Year Partitioning: "persist by existing in the year they were created"."""
    with opened(home, NEXT_YEAR) as instance:
        goals = instance.action_grant().goals
        goals.start(goals.open()[0], because="its turn")
        instance.reflection_grant().goals.reweight("stay curious", 0.9, because="so")
    assert sorted(tree(home / "data" / "goals")) == ["2026.json"]
    assert [(goal["weight"], goal["status"]) for goal in stored(home, "goals/2026.json")] == [
        (0.5, "working"),
        (0.9, "perpetual"),
    ]


# --- Concurrency --------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from tests.instances import opened
with opened(Path(sys.argv[1])) as instance:
    grant = instance.reflection_grant()
    for number in range({count}):
        {act}
"""


def together(home: Path, act: str, *, count: int, writers: int = 4) -> None:
    """Several processes do the same at once."""
    command = [sys.executable, "-c", WRITER.format(count=count, act=act), str(home)]
    started = [subprocess.Popen([*command, str(writer)], cwd=ROOT) for writer in range(writers)]
    assert [process.wait(timeout=60) for process in started] == [0] * writers


def test_concurrent_writes_are_interleaved_and_intact(home: Path) -> None:
    """004, Concurrency: "concurrent writes produce interleaved but intact entries"."""
    together(home, "grant.memory.remember('self', sys.argv[2], str(number) * 500)", count=60)
    once = {line["id"]: line for line in log_of(home)}.values()
    for writer in range(4):
        mine = [line["description"] for line in once if line["situation"] == str(writer)]
        assert mine == [str(number) * 500 for number in range(60)]
    with opened(home) as instance:
        assert instance.verify().holds


def test_changes_of_different_values_by_different_processes_all_stay(home: Path) -> None:
    """004, Concurrency: "Race conditions on memory writes, goal status changes, and values.json are allowed": none
    loses another's entry here.
    """
    together(home, "grant.values.add(f'{sys.argv[2]}-{number}', 0.5, because='so')", count=5)
    assert len(stored(home, "values.json")) == 2 + 4 * 5


def test_of_two_changes_of_one_value_the_last_wins(home: Path) -> None:
    """004, Concurrency: "For values.json and goals, last-write-wins." """
    with opened(home, MORNING) as one, opened(home, MORNING) as other:
        first, second = one.reflection_grant().values, other.reflection_grant().values
        first.reweight("care", 0.1, because="first")
        second.reweight("care", 0.2, because="second")
        first.reweight("care", 0.3, because="last")
        assert [value.weight for value in second.all() if value.name == "care"] == [0.3]
    assert stored(home, "values.json")[0]["weight"] == 0.3


def test_memory_is_only_appended_to(home: Path) -> None:
    """004, Concurrency: "Memory is append-only JSONL"."""
    path = next((home / "data" / "memory").glob("*/*.jsonl"))
    before = path.read_bytes()
    with opened(home, MORNING) as instance:
        instance.reflection_grant().values.reweight("care", 0.1, because="so")
        instance.explore_grant().memory.remember("self", "s", "d")
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes()) > len(before)


# --- Version control ----------------------------------------------------------------------------------------------


def test_the_kernel_does_not_commit(home: Path) -> None:
    """004, Version Control: "The user commits changes manually — the kernel does not auto-commit." """
    git(home, "add", "-A")
    git(home, "commit", "-qm", "born")
    ok("values", "set", "care", "0.1", "--because", "so", home=home)
    ok("status", home=home)
    assert git(home, "rev-list", "--count", "--all").strip() == "1"
    assert "data/values.json" in git(home, "status", "--porcelain")


def test_git_history_enables_recovery(home: Path) -> None:
    """004, Version Control: "if a reflection produces a bad identity change, git history enables recovery"."""
    git(home, "add", "-A")
    git(home, "commit", "-qm", "good")
    with opened(home) as instance:
        instance.reflection_grant().soul.rewrite("# Somebody else", because="a bad idea")
    git(home, "checkout", "--", "data/soul.md")
    assert ok("status", "--json", home=home).json()["soul"]["name"] == "Nova"
    assert ok("verify", "--json", home=home).json()["holds"] is True
    assert "a bad idea" in json.dumps(log_of(home))


def test_a_change_of_one_value_is_one_line_in_the_diff(home: Path) -> None:
    """004, Version Control: "the full history of self-modification is preserved and diffable"."""
    git(home, "add", "-A")
    git(home, "commit", "-qm", "born")
    with opened(home) as instance:
        instance.reflection_grant().values.reweight("care", 0.1, because="so")
    assert git(home, "diff", "--numstat", "--", "data/values.json").split()[:2] == ["1", "1"]


def test_what_is_derived_or_secret_stays_out_of_git(home: Path) -> None:
    """004, Version Control: "a git repository for rollback and audit" holds the record, and nothing transient."""
    for name in ("data/run/x", "data/index/x", ".env", "secrets/key", "a.key"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("x", encoding="utf-8")
    git(home, "add", "-A")
    kept = git(home, "ls-files").split()
    assert not [name for name in kept if re.search(r"data/(run|index)/|\.env|secrets|\.key", name)]
    assert {"data/soul.md", "data/values.json", "data/goals/2026.json", "lumen.toml"} <= set(kept)


# --- Written by others --------------------------------------------------------------------------------------------


def test_a_log_with_nothing_but_the_five_fields_is_a_memory(tmp_path: Path) -> None:
    """004, Memory: a line needs "timestamp", "author", "weight", "situation" and "description" and nothing else."""
    home = made(tmp_path / "nova")
    memory = dict(zip(FIVE, ("2026-02-14T09:00:00", "goal", 0.25, "cycle", "I chose"), strict=True))
    path = write_log(home, "2026-02-14", memory)
    before = path.read_bytes()
    [shown] = ok("memory", "--json", "--date", "2026-02-14", home=home).json()
    assert {name: shown[name] for name in FIVE} == memory
    assert path.read_bytes() == before

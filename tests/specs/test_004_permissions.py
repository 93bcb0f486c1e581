"""Specification 004, write permissions: every cell of its table against what the grants really can."""

import re
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lumen.app import Instance
from lumen.record.goals import GoalsReader, PerpetualGoal
from lumen.record.line import AUTHORS
from lumen.record.values import ValuesReader
from tests.house.repository import ROOT
from tests.instances import MORNING, lived_in, opened, tree
from tests.specs.forbidden import ALLOWED, FORBIDDEN, Forbidden
from tests.specs.permission_table import (
    EXCEPTIONS,
    LOOPS,
    acts,
    disagreements,
    parsed,
    public,
    specification,
    written,
)

CELLS = [(row, loop) for row in written() for loop in LOOPS]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    home = lived_in(tmp_path_factory.mktemp("permissions") / "nova")
    with opened(home, MORNING) as instance:
        yield instance


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says about all forbidden acts, and about the allowed ones, in one run."""
    folder = tmp_path_factory.mktemp("forbidden")
    for act in (*FORBIDDEN, ALLOWED):
        (folder / act.file_name).write_text(act.module, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *sorted(folder.glob("*.py"))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 1, checked.stdout + checked.stderr
    return checked.stdout


def grants_of(instance: Instance) -> dict[str, object]:
    grants = (instance.action_grant(), instance.explore_grant(), instance.reflection_grant())
    return dict(zip(LOOPS, grants, strict=True))


def errors_in(report: str, act: Forbidden) -> list[str]:
    """The codes of the errors that mypy found in one file."""
    return re.findall(rf"{re.escape(act.file_name)}:\d+: error: .*\[([a-z-]+)\]$", report, re.MULTILINE)


def test_the_table_has_seven_rows_and_three_loops() -> None:
    """004, Write Permissions Summary: "| File | Action Loop | Explore Loop | Reflection Loop |"."""
    assert len(CELLS) == 21


def test_the_copied_table_is_the_one_of_the_specification() -> None:
    """004, Write Permissions Summary, compared cell by cell when the specification lies beside the project."""
    original = specification()
    text = original.read_text(encoding="utf-8") if original else _markdown(written())
    assert parsed(text) == written()


@pytest.mark.parametrize(("row", "loop"), CELLS)
def test_the_grant_can_what_the_cell_says_and_nothing_else(instance: Instance, row: str, loop: str) -> None:
    """004, Write Permissions Summary: one cell of the table."""
    assert not [found for found in disagreements(written(), grants_of(instance)) if found.startswith(f"{row}, {loop}:")]


def test_the_table_and_the_grants_agree_as_a_whole(instance: Instance) -> None:
    """004, Key Design Constraint: "The kernel enforces the sequencing and write permissions above"."""
    assert not disagreements(written(), grants_of(instance))


@pytest.mark.parametrize(("row", "loop"), CELLS)
@pytest.mark.parametrize("cell", ["read", "read + write", "read + invoke", "write"])
def test_a_wrong_cell_would_be_found(instance: Instance, row: str, loop: str, cell: str) -> None:
    """004, Write Permissions Summary: the comparison is no formality, whichever cell is wrong."""
    table = deepcopy(written())
    is_right = acts(table[row][loop]) == acts(cell)
    table[row][loop] = cell
    assert bool(disagreements(table, grants_of(instance))) != is_right


@pytest.mark.parametrize("name", ["reweight", "overwrite"])
def test_a_reader_that_learns_to_write_would_be_found(instance: Instance, name: str) -> None:
    """004, Values: "Written by reflection loop only." A method by a known or an unknown name would both show."""
    taught = type("TaughtReader", (ValuesReader,), {name: lambda self: None})
    grants = grants_of(instance)
    action = instance.action_grant()
    grants["Action Loop"] = SimpleNamespace(
        soul=action.soul,
        values=taught(object()),
        goals=action.goals,
        skills=action.skills,
        memory=action.memory,
    )
    try:
        found = disagreements(written(), grants)
    except AssertionError as unknown:
        found = [str(unknown)]
    assert found


def test_a_grant_with_one_thing_more_would_be_found(instance: Instance) -> None:
    """004, Write Permissions Summary: what a loop holds is the table's rows and nothing beside them."""
    grants: dict[str, object] = {**grants_of(instance), "Explore Loop": instance.person_grant()}
    with pytest.raises(AssertionError, match="the grant of the Explore Loop holds"):
        disagreements(written(), grants)


def test_the_one_exception_is_a_goal_for_a_missing_skill(instance: Instance) -> None:
    """004, DECIDE: "If ability is lacking (A = 0), create a new goal to author a skill that fills the gap." """
    assert sorted(EXCEPTIONS) == [("Action Loop", "goals", "open_skill_gap")]
    assert "open_skill_gap" in public(instance.action_grant().goals)
    assert "open_skill_gap" not in public(instance.explore_grant().goals) | public(instance.reflection_grant().goals)


def test_reflection_reads_no_kernel_line(tmp_path: Path) -> None:
    """004, Memory: "But the reflection loop does not read them — kernel memories are below consciousness." """
    with opened(lived_in(tmp_path / "nova"), MORNING) as instance:
        assert any(line.author == "kernel" for line in instance.memory().all())
        seen = instance.reflection_grant().memory
        assert {line.author for line in seen.all()} == set(AUTHORS) - {"kernel"}
        assert {line.author for line in seen.recent(1000)} == set(AUTHORS) - {"kernel"}


def test_a_kernel_line_stays_unseen_however_many_are_asked_for(tmp_path: Path) -> None:
    """004, REVIEW: "Load recent memories (author: self, goal, external — exclude kernel)"."""
    with opened(lived_in(tmp_path / "nova"), MORNING) as instance:
        seen = instance.reflection_grant().memory
        assert all(line.author != "kernel" for count in range(40) for line in seen.recent(count))
        assert len(seen.recent(3)) == 3


@pytest.mark.parametrize("act", FORBIDDEN, ids=lambda act: act.name)
def test_the_type_checker_rejects_the_forbidden_act(mypy: str, act: Forbidden) -> None:
    """004, Write Permissions Summary: what a loop may not do is not there to be called."""
    assert act.error in errors_in(mypy, act)


def test_the_type_checker_accepts_what_is_allowed(mypy: str) -> None:
    """004, Write Permissions Summary: the acts that the table does grant."""
    assert errors_in(mypy, ALLOWED) == []
    assert ALLOWED.file_name not in mypy


@pytest.mark.parametrize("act", FORBIDDEN, ids=lambda act: act.name)
def test_the_forbidden_act_fails_when_it_runs_and_changes_no_byte(instance: Instance, act: Forbidden) -> None:
    """004, Key Design Constraint: "It cannot change how thinking happens." """
    before = tree(instance.place.home)
    with pytest.raises(act.raised):
        execute(act, instance)
    assert tree(instance.place.home) == before


def test_what_is_allowed_runs(tmp_path: Path) -> None:
    """004, Write Permissions Summary: "read + write" is a promise as well."""
    with opened(lived_in(tmp_path / "nova"), MORNING) as instance:
        before = tree(instance.place.home)
        execute(ALLOWED, instance)
        assert tree(instance.place.home) != before


@pytest.mark.parametrize("because", ["", "   ", "\n"])
def test_an_empty_reason_is_no_reason(instance: Instance, because: str) -> None:
    """004, EVOLVE: "For each change, log: what triggered it, what changed, why"."""
    act = Forbidden("", f'lumen.reflection_grant().values.reweight("care", 0.1, because={because!r})', "", Exception)
    before = tree(instance.place.home)
    with pytest.raises(Exception, match="needs a reason"):
        execute(act, instance)
    assert tree(instance.place.home) == before


def test_a_perpetual_goal_dressed_as_another_cannot_be_finished(instance: Instance) -> None:
    """004, Goals: "Perpetual goals never complete"."""
    act = Forbidden(
        "",
        "from lumen.record.goals import Goal\n"
        'goal = Goal("stay curious", 0.7, "working", 2026)\n'
        'lumen.action_grant().goals.finish(goal, because="so")',
        "",
        Exception,
    )
    files = {name: raw for name, raw in tree(instance.place.data).items() if not name.startswith("run/")}
    with pytest.raises(Exception, match="perpetual"):
        execute(act, instance)
    assert files == {name: raw for name, raw in tree(instance.place.data).items() if not name.startswith("run/")}


def test_a_goal_that_is_read_as_perpetual_is_a_type_of_its_own(instance: Instance) -> None:
    """004, Goals: "Perpetual goals never complete — they drive the explore loop." """
    goals: GoalsReader = instance.explore_grant().goals
    assert [type(goal) for goal in goals.perpetual()] == [PerpetualGoal]
    assert [goal.name for goal in goals.perpetual()] == ["stay curious"]


def execute(act: Forbidden, instance: Instance) -> None:
    """Run the code as a loop would, on a real instance."""
    names: dict[str, Any] = {}
    exec(compile(act.module, act.file_name, "exec"), names)
    names["act"](instance)


def _markdown(table: dict[str, dict[str, str]]) -> str:
    lines = [f"| {row} | {' | '.join(cells.values())} |" for row, cells in table.items()]
    return "\n".join([f"| File | {' | '.join(LOOPS)} |", "|---|---|---|---|", *lines])

"""The thin gate: shipped skills are cleared, anything else waits for a yes that is bound to exactly that."""

import asyncio
from pathlib import Path

import pytest

from lumen.cortex.clearance import Blocked, ClearedAction, Confirmation, NeedsConfirmation, Verdict
from lumen.cortex.cortex import Cortex
from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record.skills import SHIPPED, SkillsInvoker
from lumen.turn import Action


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for name in (*SHIPPED, "weather"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text("print('{}')\n", encoding="utf-8")
    return tmp_path


def proposed(shelf: Path, action: Action, confirmation: Confirmation | None = None) -> Verdict:
    return asyncio.run(Cortex(SkillsInvoker(shelf)).propose(action, confirmation))


def yes_to(shelf: Path, action: Action) -> Confirmation:
    return Confirmation("3fa2:1", action.sha256, SkillsInvoker(shelf).invocable(action.skill).sha256)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_skill_is_cleared(shelf: Path, name: str) -> None:
    verdict = proposed(shelf, Action(name, {"text": "hello"}))
    assert isinstance(verdict, ClearedAction)
    assert verdict.skill.name == name


def test_any_other_skill_needs_a_yes(shelf: Path) -> None:
    verdict = proposed(shelf, Action("weather", {"place": "Oslo"}))
    assert isinstance(verdict, NeedsConfirmation)
    assert "unknown action type" in verdict.reasons[0]


@pytest.mark.parametrize("name", ["absent", "../chat", "/etc/passwd", "chat\x00", "CHAT", "", "con", "chat/../weather"])
def test_what_is_not_on_the_shelf_is_blocked(shelf: Path, name: str) -> None:
    assert isinstance(proposed(shelf, Action(name, {})), Blocked)


def deep(levels: int) -> Json:
    return [deep(levels - 1)] if levels else 1


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "x" * 300_000, deep(40), {"a": [float("-inf")]}],
    ids=["nan", "inf", "long", "deep", "inside"],
)
def test_parameters_that_are_no_plain_json_are_blocked(shelf: Path, value: Json) -> None:
    assert isinstance(proposed(shelf, Action("chat", {"text": value})), Blocked)


def test_a_yes_clears_exactly_what_was_asked(shelf: Path) -> None:
    action = Action("weather", {"place": "Oslo"})
    verdict = proposed(shelf, action, yes_to(shelf, action))
    assert isinstance(verdict, ClearedAction)
    assert "3fa2:1" in verdict.because


def test_a_yes_to_other_parameters_is_no_yes(shelf: Path) -> None:
    confirmation = yes_to(shelf, Action("weather", {"place": "Oslo"}))
    assert isinstance(proposed(shelf, Action("weather", {"place": "Rome"}), confirmation), NeedsConfirmation)


def test_a_yes_to_code_that_changed_since_is_no_yes(shelf: Path) -> None:
    action = Action("weather", {"place": "Oslo"})
    confirmation = yes_to(shelf, action)
    (shelf / "weather" / "main.py").write_text("import os\n", encoding="utf-8")
    verdict = proposed(shelf, action, confirmation)
    assert isinstance(verdict, NeedsConfirmation)
    assert "changed since" in verdict.reasons[0]


def test_a_yes_does_not_put_a_skill_on_the_shelf(shelf: Path) -> None:
    action = Action("absent", {})
    assert isinstance(proposed(shelf, action, Confirmation("x", action.sha256, "")), Blocked)


def test_nobody_else_can_make_a_cleared_action(shelf: Path) -> None:
    skill = SkillsInvoker(shelf).invocable("weather")
    with pytest.raises(Refused, match="cleared by the cortex alone"):
        ClearedAction(Action("weather", {}), skill, "I say so", object())
    with pytest.raises(TypeError):
        ClearedAction(Action("weather", {}), skill, "I say so")  # type: ignore[call-arg]

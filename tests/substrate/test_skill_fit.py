"""Which skill a request gets, with the help of the shipped skills as they say it themselves."""

import subprocess
import sys
from functools import cache

import pytest

from lumen.json_value import Json
from lumen.questions import SkillView
from lumen.substrate.phrases import phrases
from lumen.substrate.skill_fit import SkillFit
from tests.house.repository import ROOT
from tests.substrate.reflex_questions import asked, candidates, embedder


@cache
def shipped() -> tuple[SkillView, ...]:
    return tuple(SkillView(name, _help(name)) for name in ("chat", "files", "recall"))


def _help(name: str) -> str:
    program = ROOT / "lumen/skills" / name / "main.py"
    return subprocess.run([sys.executable, program, "--help"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("said", "skill", "given"),
    [
        ("Read notes.txt to me", "files", {"path": "notes.txt", "do": "read"}),
        ("List the folder /srv/notes", "files", {"path": "/srv/notes", "do": "list"}),
        ("Can you show me /srv/notes/boiler.txt", "files", {"path": "/srv/notes/boiler.txt"}),
        ("find files about tax in ~/papers", "files", {"path": "~/papers", "do": "find", "query": "tax"}),
        ("Look up what I said about Marta", "recall", {"query": "Marta"}),
        ("Please search your memory for bees", "recall", {"query": "bees"}),
    ],
)
def test_a_request_gets_the_skill_that_does_it(said: str, skill: str, given: dict[str, Json]) -> None:
    first = candidates(asked(said, skills=shipped()))[0]
    assert (first.action.skill, first.action.parameters) == (skill, given)


@pytest.mark.parametrize(
    "said",
    [
        "Delete boiler.txt",
        "Rename a.txt to b.txt",
        "Summarize report.pdf",
        "Send an email to Marta",
        "Book a flight to Oslo",
        "Set a timer for ten minutes",
    ],
)
def test_a_skill_that_does_something_else_is_never_used(said: str) -> None:
    fit = SkillFit(embedder(), phrases().vocabulary(), phrases())
    assert fit.fitting(said, shipped()) == []


def test_a_question_about_a_path_looks_there_before_it_looks_back() -> None:
    kinds = [each.kind for each in candidates(asked("What is in ~/notes/todo.md?", skills=shipped()))]
    assert kinds[:2] == ["files:request", "chat:question"]


def test_a_question_without_a_path_is_answered_from_memory() -> None:
    assert candidates(asked("Where does Marta live?", skills=shipped()))[0].kind == "chat:question"

"""Questions for the mind `reflex` to be asked in tests, and its answers to them."""

import asyncio
from functools import cache

from lumen.questions import (
    GoalView,
    MemoryView,
    RecordCounts,
    SkillView,
    SoulView,
    Tally,
    ThinkQuestion,
    Utterance,
    ValueView,
)
from lumen.substrate.embed_static import StaticEmbedder
from lumen.substrate.reflex import Reflex
from lumen.turn import Candidate

NOW = "2026-11-18T12:00:00.000Z"
FILES = SkillView(
    "files",
    "usage: files [-h]\n\nLook at files and folders: read a file, list a folder.\n\noptions:\n  -h, --help  this\n\n"
    'Input (stdin): one JSON object {"path": "..."}. Output (stdout): one JSON object {"ok": true}.',
)
SEARCH = SkillView(
    "search",
    'Search the notes for words.\n\nInput (stdin): one JSON object {"query": "...", "limit": "a number (optional)"}.',
)


@cache
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@cache
def reflex() -> Reflex:
    return Reflex(embedder())


def memory(
    text: str, number: int = 1, *, who: str = "chat with Ann", day: int = 1, author: str = "external"
) -> MemoryView:
    time_ = f"2026-11-{day:02}T08:00:00.000Z"
    return MemoryView(f"aaaaaaaaaaaa:{number}", f"aaaaaaaa:{number}", time_, author, who, text, 0.5, 0.1, True)


def asked(
    text: str,
    *memories: MemoryView,
    speaker: str = "Ann",
    skills: tuple[SkillView, ...] = (),
    goal: GoalView | None = None,
    tallies: tuple[Tally, ...] = (),
    goals: tuple[GoalView, ...] = (GoalView("learn Portuguese", 0.7, "working"),),
) -> ThinkQuestion:
    return ThinkQuestion(
        now=NOW,
        said=None if goal else Utterance(text, speaker, "bbbbbbbbbbbb:9", NOW),
        goal=goal,
        soul=SoulView("Lumen", "A keeper of records.", "# Lumen\n\nA keeper of records. It likes order."),
        values=(ValueView("honesty", 0.9), ValueView("care", 0.6)),
        goals=goals,
        memories=memories,
        skills=(SkillView("chat", "Say a text."), *skills),
        tallies=tallies,
        counts=RecordCounts(12, (("external", 7), ("self", 5)), "2026-11-01", "2026-11-18"),
    )


def candidates(question: ThinkQuestion) -> tuple[Candidate, ...]:
    return asyncio.run(reflex().judge(question)).candidates


def said(candidate: Candidate) -> str:
    text = candidate.action.parameters["text"]
    assert isinstance(text, str)
    return text


def reply(question: ThinkQuestion) -> str:
    return said(candidates(question)[0])


KEY = memory("The spare key is with Marta.", 12, day=3)

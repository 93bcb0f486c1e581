"""One question of each type, as a small instance would ask it."""

from dataclasses import replace
from typing import Final

from lumen.questions import (
    DecideQuestion,
    GoalView,
    MemoryView,
    RecordCounts,
    RecordQuestion,
    SkillView,
    SoulView,
    Tally,
    ThinkQuestion,
    Utterance,
    ValueView,
)
from lumen.turn import Action, Candidate, Outcome, Prediction, SkillResult

VALUES: Final = (ValueView("care", 0.8), ValueView("honesty", 0.65))
GOALS: Final = (GoalView("learn Ada's habits", 0.7, "perpetual"), GoalView('plan the "harbour" trip', 0.5, "working"))
LONG_ID: Final = "3fa2c1d09b7e4a51b0c6d8e2f4a61357"

THINK: Final = ThinkQuestion(
    now="2026-11-18T09:00:00Z",
    said=Utterance("What tea do I like?", "Ada", f"{LONG_ID}:40", "2026-11-18T09:00:00Z"),
    goal=None,
    soul=SoulView("Nova", "a record that acts", "# Nova\n\nOntology: a record that acts.\n\nI began in November."),
    values=VALUES,
    goals=GOALS,
    memories=(
        MemoryView(
            id=f"{LONG_ID}:12",
            short_id="3fa2c1d0:12",
            timestamp="2026-11-03T10:00:00Z",
            author="external",
            situation="chat with Ada",
            description="I like green tea best.",
            weight=0.5,
            similarity=0.83,
            is_recent=False,
        ),
        MemoryView(
            id=f"{LONG_ID}:39",
            short_id="3fa2c1d0:39",
            timestamp="2026-11-17T21:00:00Z",
            author="self",
            situation="reply",
            description="I wished Ada a good night.",
            weight=0.4,
            similarity=0.1,
            is_recent=True,
        ),
    ),
    skills=(SkillView("chat", 'usage: chat\n\nSay a text to the person.\nInput: {"text": "what to say"}'),),
    tallies=(Tally("chat:answer", 12, 0.25), Tally("chat:clarify", 2, -0.1)),
    counts=RecordCounts(41, (("external", 20), ("self", 21)), "2026-11-01", "2026-11-18"),
)
THINK_ALONE: Final = replace(THINK, said=None, goal=GOALS[1], memories=(), tallies=(), skills=())

ANSWER: Final = Candidate(
    name="answer",
    action=Action("chat", {"text": "You told me that you like green tea best."}),
    kind="chat:answer",
    intention="Give Ada what she asked for.",
    prediction=Prediction("Ada sees that I remember.", 0.6),
    cites=(f"{LONG_ID}:12",),
    stored="You told me [3fa2c1d0:12].",
)
CLARIFY: Final = replace(ANSWER, name="ask back", kind="chat:clarify", cites=(), goal=GOALS[0].name)

DECIDE: Final = DecideQuestion(
    situation="Ada asks which tea she likes.", candidates=(ANSWER, CLARIFY), values=VALUES, goals=GOALS
)

RECORD: Final = RecordQuestion(
    action=ANSWER.action,
    kind="chat:answer",
    prediction=ANSWER.prediction,
    result=SkillResult(True, {"ok": True, "said": "You told me ..."}, '{"ok": true}\n', 0, 41, "bubblewrap"),
    answered_to="What tea do I like?",
)
RECORD_AGAIN: Final = replace(
    RECORD,
    next_said=Utterance("Thanks, exactly.", "Ada", f"{LONG_ID}:44", "2026-11-18T09:01:00Z"),
    before=Outcome("The reply was delivered.", 0.1),
)

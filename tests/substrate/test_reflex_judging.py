"""The mind `reflex` after thinking: which values it sees served, how it judges an outcome, and what it refuses."""

import asyncio

import pytest

from lumen.errors import Refused
from lumen.questions import DecideQuestion, GoalView, Question, RecordQuestion, Utterance, ValueView
from lumen.turn import Action, Candidate, Outcome, Prediction, SkillResult
from tests.substrate.reflex_questions import KEY, NOW, asked, candidates, reflex


def decided(*found: Candidate, values: tuple[ValueView, ...]) -> dict[str, tuple[str, ...]]:
    question = DecideQuestion("A person asked.", found, values, (GoalView("learn Portuguese", 0.7, "working"),))
    judgement = asyncio.run(reflex().judge(question))
    assert judgement.preference == tuple(each.name for each in found)
    return {each.candidate: each.values for each in judgement.alignments}


def test_the_first_reply_serves_a_value_and_the_fallback_never_outbids_it() -> None:
    found = candidates(asked("Where is the spare key?", KEY))
    aligned = decided(*found, values=(ValueView("honesty", 0.9), ValueView("care", 0.6), ValueView("beauty", 0.2)))
    assert aligned["say:question"]
    assert aligned["say:cannot"] == aligned["say:question"]


def test_without_values_nothing_is_aligned() -> None:
    assert set(decided(*candidates(asked("Hello")), values=()).values()) == {()}


BEFORE = Outcome("It ran as intended.", 0.3)


def recorded(result: SkillResult | None, next_said: str | None = None) -> float:
    words = Utterance(next_said, "Ann", "c:1", NOW) if next_said else None
    question = RecordQuestion(
        Action("chat", {"text": "Noted."}),
        "chat:question",
        Prediction("", 0.2),
        result,
        "Where is the spare key?",
        words,
        BEFORE if words else None,
    )
    return asyncio.run(reflex().judge(question)).score


@pytest.mark.parametrize(
    ("result", "score"),
    [
        (SkillResult(True, {}, "", 0, 1, "none"), 0.3),
        (SkillResult(False, {}, "", 1, 1, "none"), -0.5),
        (SkillResult(False, {}, "", None, 1, "none", is_timeout=True), -0.8),
        (None, -0.2),
    ],
)
def test_an_outcome_follows_from_how_the_skill_ended(result: SkillResult | None, score: float) -> None:
    assert recorded(result) == score


@pytest.mark.parametrize(
    ("words", "score"),
    [("Thanks!", 0.9), ("No, it is with Ben.", -0.7), ("where is the spare key", -0.5), ("I had soup today.", 0.3)],
)
def test_the_next_words_amend_the_outcome(words: str, score: float) -> None:
    assert recorded(None, words) == score


class OtherQuestion(Question[str]):
    step = "evolve"
    answer = str


def test_a_step_without_an_answer_is_refused() -> None:
    with pytest.raises(Refused, match="evolve"):
        asyncio.run(reflex().judge(OtherQuestion()))


def test_it_spends_nothing() -> None:
    assert (reflex().name, reflex().usage.calls) == ("reflex", 0)

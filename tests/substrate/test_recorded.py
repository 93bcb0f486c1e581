"""What was recorded is said again, letter by letter and bit by bit."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumen.errors import InstanceError, StepFailed
from lumen.questions import Judgement, Question, Thought, Utterance, ValueView
from lumen.substrate.answers import read_answer
from lumen.substrate.recorded import Recording, Replay, question_sha256
from lumen.substrate.scripted import Scripted
from lumen.turn import Action, Alignment, Candidate, Outcome, Prediction, Usage
from tests.substrate.sample_questions import ANSWER, DECIDE, RECORD, RECORD_AGAIN, THINK, THINK_ALONE

T = TypeVar("T")


class Listed:
    """A mind with its answers in a list. Each costs one call more than the one before."""

    def __init__(self, answers: Sequence[object]) -> None:
        self._answers = list(answers)
        self._given = 0
        self.usage = Usage()

    @property
    def name(self) -> str:
        return "listed"

    async def judge(self, question: Question[T]) -> T:
        self._given += 1
        self.usage = Usage(self.usage.calls + self._given, self.usage.tokens_in + 10, self.usage.tokens_out + 3)
        return read_answer(question, self._answers.pop(0))


def judged(mind: Listed | Recording | Replay | Scripted, questions: Sequence[Question[Any]]) -> list[Any]:
    async def ask() -> list[Any]:
        return [await mind.judge(question) for question in questions]

    return asyncio.run(ask())


def recorded(path: Path, questions: Sequence[Question[Any]], answers: Sequence[object]) -> Path:
    assert judged(Recording(Listed(answers), path), questions) == list(answers)
    return path


finite = st.floats(allow_nan=False, allow_infinity=False)
scores = st.floats(-1, 1)
words = st.text(max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
actions = st.builds(Action, words, st.dictionaries(words, json_values, max_size=3))
predictions = st.builds(Prediction, words, scores)
candidates = st.builds(
    Candidate,
    name=words,
    action=actions,
    kind=words,
    intention=words,
    prediction=predictions,
    goal=st.none() | words,
    cites=st.lists(words, max_size=3).map(tuple),
    stored=words,
)
thoughts = st.builds(Thought, words, st.lists(candidates, max_size=3).map(tuple))
names = st.lists(words, max_size=3).map(tuple)
judgements = st.builds(
    Judgement, st.lists(st.builds(Alignment, words, names, st.none() | words), max_size=3).map(tuple), names
)
outcomes = st.builds(Outcome, words, scores)

weighed = st.lists(st.builds(ValueView, words, finite), max_size=3).map(tuple)
utterances = st.builds(Utterance, words, words, words, words)
think_questions = st.builds(
    lambda now, said, values: replace(THINK, now=now, said=said, values=values), words, st.none() | utterances, weighed
)
decide_questions = st.builds(
    lambda situation, listed: replace(DECIDE, situation=situation, candidates=tuple(listed)),
    words,
    st.lists(candidates, max_size=2),
)
record_questions = st.builds(
    lambda action, before, said: replace(RECORD, action=action, before=before, next_said=said),
    actions,
    st.none() | outcomes,
    st.none() | utterances,
)
exchanges = st.lists(
    st.tuples(think_questions, thoughts)
    | st.tuples(decide_questions, judgements)
    | st.tuples(record_questions, outcomes),
    max_size=5,
)


@settings(deadline=None, max_examples=60)
@given(exchanges)
def test_every_recorded_question_gets_its_answer_again_exactly(pairs: list[tuple[Question[Any], object]]) -> None:
    questions, answers = [question for question, _ in pairs], [answer for _, answer in pairs]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "recording.jsonl"
        path.touch()
        replay = Replay(recorded(path, questions, answers))
        again = judged(replay, questions)
    assert again == answers
    assert repr(again) == repr(answers)  # also the sign of zero, and 1 against 1.0 against True
    assert replay.usage == Usage(sum(range(len(pairs) + 1)), 10 * len(pairs), 3 * len(pairs))


@settings(deadline=None, max_examples=60)
@given(exchanges)
def test_different_questions_are_recognised_in_any_order(pairs: list[tuple[Question[Any], object]]) -> None:
    apart = {question_sha256(question): (question, answer) for question, answer in pairs}
    questions, answers = [pair[0] for pair in apart.values()], [pair[1] for pair in apart.values()]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "recording.jsonl"
        path.touch()
        assert judged(Replay(recorded(path, questions, answers)), questions[::-1]) == answers[::-1]


def test_the_same_question_gets_its_answers_in_their_order(tmp_path: Path) -> None:
    answers = [Outcome("one", 0.1), Outcome("two", 0.2)]
    replay = Replay(recorded(tmp_path / "r", [RECORD, RECORD], answers))
    assert judged(replay, [RECORD, RECORD]) == answers
    with pytest.raises(StepFailed, match="step record was recorded 2 times, and asked once more"):
        judged(replay, [RECORD])


def test_a_question_that_was_never_recorded_is_named_with_what_differs(tmp_path: Path) -> None:
    replay = Replay(recorded(tmp_path / "r", [RECORD, RECORD_AGAIN], [Outcome("a", 0.0), Outcome("b", 0.0)]))
    other = replace(RECORD_AGAIN, answered_to="something else")
    with pytest.raises(StepFailed, match=r"step record was never recorded: the nearest one differs in answered_to\."):
        judged(replay, [other])
    with pytest.raises(StepFailed, match="step decide was never recorded: no question of this step was"):
        judged(replay, [DECIDE])


def test_a_loose_replay_takes_the_next_unused_answer_of_the_step(tmp_path: Path) -> None:
    answers = [Outcome("one", 0.1), Outcome("two", 0.2), Outcome("three", 0.3)]
    replay = Replay(recorded(tmp_path / "r", [RECORD, RECORD_AGAIN, replace(RECORD, kind="k")], answers), strict=False)
    moved = replace(RECORD, answered_to="at another time")
    assert judged(replay, [RECORD_AGAIN, moved, moved]) == [answers[1], answers[0], answers[2]]
    with pytest.raises(StepFailed, match="never recorded"):
        judged(replay, [moved])


def test_a_recording_costs_what_its_mind_costs_and_has_its_name(tmp_path: Path) -> None:
    mind = Listed([Outcome("a", 0.0), Outcome("b", 0.0)])
    recording = Recording(mind, tmp_path / "r")
    judged(recording, [RECORD, RECORD])
    assert (recording.name, recording.usage) == ("listed", Usage(3, 20, 6))
    lines = [json.loads(line) for line in (tmp_path / "r").read_text(encoding="utf-8").splitlines()]
    assert [line["usage"]["calls"] for line in lines] == [1, 2]
    assert {line["question"] for line in lines} == {question_sha256(RECORD)}


def test_a_recording_holds_no_text_of_a_question(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r", [THINK], [Thought("She asks.", (replace(ANSWER, stored=""),))])
    text = path.read_text(encoding="utf-8")
    assert THINK.memories[1].description not in text
    assert "What tea" not in text


def test_what_a_mind_fails_at_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(StepFailed):
        judged(Recording(Scripted({}), tmp_path / "r"), [RECORD])
    assert not (tmp_path / "r").exists()


def test_a_recording_goes_on_where_another_ended(tmp_path: Path) -> None:
    recorded(tmp_path / "r", [RECORD], [Outcome("a", 0.0)])
    recorded(tmp_path / "r", [RECORD_AGAIN], [Outcome("b", 0.0)])
    assert judged(Replay(tmp_path / "r"), [RECORD_AGAIN, RECORD]) == [Outcome("b", 0.0), Outcome("a", 0.0)]


def test_a_torn_last_line_counts_for_nothing(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r", [RECORD, RECORD_AGAIN], [Outcome("a", 0.0), Outcome("b", 0.0)])
    path.write_bytes(path.read_bytes()[:-20])
    assert judged(Replay(path), [RECORD]) == [Outcome("a", 0.0)]
    with pytest.raises(StepFailed, match="never recorded"):
        judged(Replay(path), [RECORD_AGAIN])


def test_after_a_torn_line_the_next_one_stands_on_its_own(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(b'{"step": "re')
    recorded(path, [RECORD], [Outcome("a", 0.0)])
    with pytest.raises(InstanceError, match="line 1, is not a line of a recording"):
        Replay(path)
    path.write_bytes(path.read_bytes().partition(b"\n")[2])
    assert judged(Replay(path), [RECORD]) == [Outcome("a", 0.0)]


@pytest.mark.parametrize("line", [b"", b"{}", b"[1]", b"\xff", b'{"step": "record", "question": 3}', b'{"a": NaN}'])
def test_a_broken_line_is_an_error_with_its_number(tmp_path: Path, line: bytes) -> None:
    path = recorded(tmp_path / "r", [RECORD], [Outcome("a", 0.0)])
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(InstanceError, match="line 2, is not a line of a recording"):
        Replay(path)


def test_an_answer_changed_by_hand_into_nonsense_is_refused(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r", [RECORD], [Outcome("a", 0.5)])
    path.write_bytes(path.read_bytes().replace(b"0.5", b"5.5"))
    with pytest.raises(StepFailed, match="line 1: the answer to the step record does not fit: score"):
        judged(Replay(path), [RECORD])


def test_a_file_that_cannot_be_used_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match="gone cannot be read"):
        Replay(tmp_path / "gone")
    with pytest.raises(InstanceError, match="cannot be written"):
        judged(Recording(Listed([Outcome("a", 0.0)]), tmp_path), [RECORD])


def test_the_hash_of_a_question_hangs_on_every_field() -> None:
    asked: list[Question[Any]] = [THINK, THINK_ALONE, DECIDE, RECORD, RECORD_AGAIN]
    assert len(set(map(question_sha256, asked))) == 5
    assert question_sha256(THINK) == question_sha256(replace(THINK))

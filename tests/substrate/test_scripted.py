"""A mind that says what it was given to say."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from lumen.errors import InstanceError, StepFailed
from lumen.questions import Judgement, Thought
from lumen.substrate.scripted import Scripted
from lumen.turn import Alignment, Outcome, Usage
from tests.substrate.sample_questions import DECIDE, RECORD, THINK, THINK_ALONE

REPLY: dict[str, Any] = {
    "situation": "Ada greets.",
    "candidates": [
        {
            "name": "answer",
            "action": {"skill": "chat", "parameters": {"text": "You said: {said}", "tone": ["warm", 1, None]}},
            "kind": "chat:answer",
            "intention": "Be kind.",
            "prediction": {"words": "Ada is glad.", "score": 0.5},
        }
    ],
}


def test_answers_come_in_the_order_of_their_step() -> None:
    mind = Scripted(
        {
            "record": [{"words": "first", "score": 0.1}, {"words": "second", "score": -1}],
            "decide": [{"alignments": [{"candidate": "answer", "values": ["care"]}], "preference": ["answer"]}],
        }
    )

    async def play() -> list[object]:
        return [await mind.judge(RECORD), await mind.judge(DECIDE), await mind.judge(RECORD)]

    assert asyncio.run(play()) == [
        Outcome("first", 0.1),
        Judgement((Alignment("answer", ("care",)),), ("answer",)),
        Outcome("second", -1.0),
    ]
    assert (mind.name, mind.usage) == ("scripted", Usage())


def test_an_answer_may_repeat_what_the_person_said() -> None:
    thought = asyncio.run(Scripted({"think": [REPLY]}).judge(THINK))
    assert isinstance(thought, Thought)
    assert THINK.said is not None
    assert thought.candidates[0].action.parameters["text"] == f"You said: {THINK.said.text}"
    assert thought.candidates[0].action.parameters["tone"] == ["warm", 1, None]


def test_in_a_turn_that_no_person_began_nothing_was_said() -> None:
    thought = asyncio.run(Scripted({"think": [REPLY]}).judge(THINK_ALONE))
    assert thought.candidates[0].action.parameters["text"] == "You said: "


def test_a_script_that_has_run_out_says_how_many_answers_it_had() -> None:
    mind = Scripted({"record": [{"words": "only", "score": 0}]})
    asyncio.run(mind.judge(RECORD))
    with pytest.raises(StepFailed, match="has 1 answers to the step record, and one more"):
        asyncio.run(mind.judge(RECORD))
    with pytest.raises(StepFailed, match="has 0 answers to the step decide"):
        asyncio.run(mind.judge(DECIDE))


@pytest.mark.parametrize(
    "answer", [{}, {"words": "x"}, {"words": "x", "score": 2}, {"words": 3, "score": 0}, {"words": "x", "score": "nan"}]
)
def test_an_answer_of_the_wrong_shape_is_refused_with_its_place(answer: dict[str, Any]) -> None:
    with pytest.raises(StepFailed, match=r"answer to the step record does not fit: (words|score)"):
        asyncio.run(Scripted({"record": [answer]}).judge(RECORD))


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"record": [{"words": "gut, schön", "score": 1}]}), encoding="utf-8")
    assert asyncio.run(Scripted.from_file(path).judge(RECORD)) == Outcome("gut, schön", 1.0)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"think": {}}', b'{"think": [1]}', b'{"think": "ab"}', b"\xff", b'{"a":[],"a":[]}']
)
def test_a_broken_file_is_an_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(content)
    with pytest.raises(InstanceError, match=r"script\.json"):
        Scripted.from_file(path)


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match=r"gone\.json cannot be read"):
        Scripted.from_file(tmp_path / "gone.json")

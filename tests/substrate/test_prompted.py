"""A mind that asks a model: over real HTTP, with the prompts as they are shipped."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lumen.errors import StepFailed
from lumen.kernel.prompting import Prompts
from lumen.questions import Judgement, Question, Thought
from lumen.substrate.openai_compatible import OpenAICompatible
from lumen.substrate.prompted import LONGEST_NAME, LONGEST_TEXT, PromptedMind, strict_schema
from lumen.turn import Alignment, Outcome, Usage
from tests.substrate.model_server import ModelServer, Reaction, says
from tests.substrate.sample_questions import DECIDE, GOALS, LONG_ID, RECORD, THINK, THINK_ALONE


def candidate(**other: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": "answer",
        "action": {"skill": "chat", "parameters_json": json.dumps({"text": "Green tea."})},
        "kind": "chat:answer",
        "intention": "Tell her.",
        "prediction": {"words": "She is glad.", "score": 0.4},
        "goal": None,
        "cites": ["3fa2c1d0:12"],
        "stored": "[3fa2c1d0:12]",
    }
    return made | other


def thought(*candidates: dict[str, Any]) -> dict[str, Any]:
    return {"situation": "Ada asks.", "candidates": list(candidates)}


def answers(value: Any) -> Reaction:
    return says(value if isinstance(value, str) else json.dumps(value))


async def asked(url: str, question: Question[Any]) -> Any:
    model = OpenAICompatible(url, "tiny", key=None, seconds=10)
    try:
        return await PromptedMind(model, Prompts().render).judge(question)
    finally:
        await model.close()


def judged(question: Question[Any], *plan: Reaction) -> tuple[Any, ModelServer]:
    with ModelServer(*plan) as server:
        return asyncio.run(asked(server.url, question)), server


def thought_of(*candidates: dict[str, Any], question: Question[Any] = THINK) -> Thought:
    made, server = judged(question, answers(thought(*candidates)))
    assert isinstance(made, Thought)
    assert len(server.requests) == 1
    return made


def refused(question: Question[Any], value: Any) -> str:
    """The problem that the model is told when it is asked once more; then it answers the same, and that is the end."""
    with ModelServer(answers(value)) as server, pytest.raises(StepFailed, match="could not be used, twice") as caught:
        asyncio.run(asked(server.url, question))
    first, second = server.requests
    assert first.system == second.system
    assert second.user.startswith(first.user.rstrip())
    problem = second.user.removeprefix(first.user.rstrip()).strip()
    assert problem.startswith("<problem>\n")
    assert problem.endswith("\n</problem>")
    told = problem.removeprefix("<problem>\n").removesuffix("\n</problem>")
    assert told in str(caught.value)
    return told


def test_a_thought_comes_back_typed_with_its_parameters_opened() -> None:
    made = thought_of(candidate())
    [only] = made.candidates
    assert only.action.parameters == {"text": "Green tea."}
    assert only.prediction.score == 0.4
    assert only.cites == (f"{LONG_ID}:12",)
    assert only.stored == "[3fa2c1d0:12]"


def test_a_judgement_and_an_outcome_come_back_typed() -> None:
    wanted = {
        "alignments": [{"candidate": "answer", "values": ["care", "honesty"], "goal": GOALS[1].name}],
        "preference": ["ask back", "answer"],
    }
    made, _ = judged(DECIDE, answers(wanted))
    assert made == Judgement((Alignment("answer", ("care", "honesty"), GOALS[1].name),), ("ask back", "answer"))
    assert judged(RECORD, answers({"words": "She smiled.", "score": -0.25}))[0] == Outcome("She smiled.", -0.25)


def test_the_model_gets_the_rendered_prompt_and_the_schema_of_the_step() -> None:
    _, server = judged(THINK, answers(thought(candidate())))
    prompt = Prompts().render(THINK)
    [request] = server.requests
    assert (request.system, request.user) == (prompt.system, prompt.user)
    shape = request.body["response_format"]["json_schema"]
    assert shape == {"name": "think", "strict": True, "schema": strict_schema(Thought)}


def objects_in(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for each in schema for found in objects_in(each)]
    if not isinstance(schema, dict):
        return []
    inner = [found for each in schema.values() for found in objects_in(each)]
    return [schema, *inner] if "type" in schema and isinstance(schema["type"], str) else inner


@pytest.mark.parametrize("answer", [Thought, Judgement, Outcome])
def test_a_strict_schema_closes_every_object_and_bounds_every_text_and_list(answer: type) -> None:
    schema = strict_schema(answer)
    nodes = objects_in(schema)
    assert nodes
    for node in nodes:
        if node["type"] == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        if node["type"] == "string":
            assert 0 < node["maxLength"] <= LONGEST_TEXT
        if node["type"] == "array":
            assert node["maxItems"] >= node["minItems"] >= 0
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "default" not in text


def test_the_schema_of_a_thought_asks_for_one_to_six_candidates_with_scores_from_minus_one_to_one() -> None:
    schema: Any = strict_schema(Thought)
    listed = schema["properties"]["candidates"]
    assert (listed["minItems"], listed["maxItems"]) == (1, 6)
    score = listed["items"]["properties"]["prediction"]["properties"]["score"]
    assert score == {"type": "number", "minimum": -1.0, "maximum": 1.0}
    assert listed["items"]["properties"]["goal"] == {"anyOf": [{"type": "string", "maxLength": 4000}, {"type": "null"}]}
    assert list(listed["items"]["properties"]["action"]["properties"]) == ["skill", "parameters_json"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (" ", "not JSON"),
        ("I would rather not.", "not JSON"),
        ('{"situation": "Ada', "not JSON"),
        ("{]}", "not JSON"),
        ([], "the answer is not an object"),
        ({}, "situation: Field required"),
        (thought(), "candidates has 0 items; from 1 to 6"),
        (thought(*[candidate()] * 7), "candidates has 7 items"),
        (thought(candidate(name="n" * (LONGEST_NAME + 1))), "name has 121 characters"),
        (thought(candidate(intention=3)), "intention: Input should be a valid string"),
        (thought(candidate(prediction={"words": "w", "score": 1.01})), "score: Input should be less than or equal"),
        (thought(candidate(prediction={"words": "w", "score": "nan"})), "score"),
        (json.dumps(thought(candidate(prediction={"words": "w", "score": float("nan")}))), "NaN is not a number"),
        (json.dumps(thought(candidate(prediction={"words": "w", "score": float("inf")}))), "Infinity"),
        (thought(candidate(prediction={"words": "w" * 4001, "score": 0})), "words has 4001 characters"),
        (thought(candidate(action={"skill": "chat", "parameters_json": "{"})), "parameters_json is not JSON"),
        (thought(candidate(action={"skill": "chat", "parameters_json": "[1]"})), "not a JSON object"),
        (thought(candidate(action={"skill": "chat", "parameters_json": " " * (LONGEST_TEXT + 1)})), "16001 characters"),
        (thought(candidate(action={"skill": "chat"})), "parameters: Field required"),
        (thought(candidate(action={"skill": "chat", "parameters_json": '{"text": " "}'})), "without {"),
        (thought(candidate(), candidate(action={"skill": "chat", "parameters_json": "{}"})), "candidate number 2"),
        (thought(candidate(cites="3fa2c1d0:12")), "cites is not a list"),
        (thought(candidate(cites=["x"] * 33)), "cites has 33 items"),
        (thought(candidate(action={"skill": "chat", "parameters_json": '{"text": "a", "text": "b"}'})), "stands twice"),
        ("[" * 5000, "not JSON"),
    ],
)
def test_an_answer_that_cannot_be_used_is_asked_for_once_more_with_the_problem(value: Any, told: str) -> None:
    assert told in refused(THINK, value)


def test_a_second_answer_that_is_right_is_taken_and_both_are_paid_for() -> None:
    made, server = judged(THINK, answers({"wrong": True}), answers(thought(candidate())))
    assert [each.name for each in made.candidates] == ["answer"]
    assert len(server.requests) == 2
    assert "<problem>" not in server.requests[0].user


def test_what_the_model_spends_is_what_the_mind_spends() -> None:
    async def ask(url: str) -> tuple[str, Usage]:
        model = OpenAICompatible(url, "tiny", key=None, seconds=10)
        mind = PromptedMind(model, Prompts().render)
        await mind.judge(RECORD)
        await model.close()
        return mind.name, mind.usage

    with ModelServer(answers("no"), answers({"words": "w", "score": 0})) as server:
        assert asyncio.run(ask(server.url)) == ("tiny", Usage(2, 200, 40))


@pytest.mark.parametrize("frame", ["```json\n{}\n```", "Here it is:\n{}", "<think>hm</think>{}", "{}\n\nDone."])
def test_words_around_the_json_are_passed_over(frame: str) -> None:
    text = frame.replace("{}", json.dumps({"words": "w {curly}", "score": 0.5}))
    assert judged(RECORD, answers(text))[0] == Outcome("w {curly}", 0.5)


def test_parameters_given_as_an_object_are_taken_too() -> None:
    made = thought_of(candidate(action={"skill": "chat", "parameters": {"text": "Hi.", "tone": [1, 0.5, None, True]}}))
    assert made.candidates[0].action.parameters == {"text": "Hi.", "tone": [1, 0.5, None, True]}


def test_names_are_made_unique_and_never_blank() -> None:
    listed = [candidate(name=name) for name in ("answer", "answer", " answer ", "answer 2", "", " ")]
    assert [each.name for each in thought_of(*listed).candidates] == [
        "answer",
        "answer 2",
        "answer 3",
        "answer 2 2",
        "candidate",
        "candidate 2",
    ]


def test_a_citation_is_an_id_that_was_offered_or_it_is_dropped() -> None:
    cites = ["[3fa2c1d0:12]", "memory 3fa2c1d0:39", f"{LONG_ID}:12", f"{LONG_ID}:40", "ffffffff:1", "", "3fa2c1d0"]
    [made] = thought_of(candidate(cites=cites)).candidates
    assert made.cites == (f"{LONG_ID}:12", f"{LONG_ID}:39", f"{LONG_ID}:40")


def test_a_goal_is_one_that_was_offered_or_none() -> None:
    named, invented = candidate(goal=GOALS[0].name), candidate(goal="rule the world")
    assert [each.goal for each in thought_of(named, invented).candidates] == [GOALS[0].name, None]
    alone = replace(THINK_ALONE, goals=())
    assert thought_of(candidate(goal=GOALS[1].name), question=alone).candidates[0].goal == GOALS[1].name


def test_a_reply_without_quotations_is_stored_as_it_is() -> None:
    assert thought_of(candidate(stored="")).candidates[0].stored == "Green tea."


def test_another_skill_needs_no_text_and_stores_none() -> None:
    [made] = thought_of(candidate(action={"skill": "look", "parameters_json": "{}"}, stored="")).candidates
    assert (made.action.parameters, made.stored) == ({}, "")


def test_an_alignment_holds_only_names_that_were_offered_once_per_candidate() -> None:
    wanted = {
        "alignments": [
            {"candidate": "nobody", "values": ["care"], "goal": None},
            {"candidate": "ask back", "values": ["greed", "care", "care", "Care"], "goal": "rule"},
            {"candidate": "ask back", "values": ["honesty"], "goal": None},
        ],
        "preference": ["nobody", "answer", "answer"],
    }
    made, _ = judged(DECIDE, answers(wanted))
    assert made == Judgement((Alignment("ask back", ("care",), None),), ("answer",))


def test_the_mind_does_not_know_the_kernel() -> None:
    folder = Path(__file__).parents[2] / "lumen" / "substrate"
    assert not [path.name for path in folder.glob("*.py") if "lumen.kernel" in path.read_text(encoding="utf-8")]

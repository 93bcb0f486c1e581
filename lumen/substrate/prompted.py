"""A mind that asks a language model: a rendered prompt and a schema go out, a typed answer comes back.

A model that is held to a schema knows no open objects: what is one in an answer (the parameters of an action) travels
as a string of JSON, under its name with `_json` behind it. What comes back is bounded, checked, and put in order:
names made unique, citations and names that were never offered dropped. One answer that cannot be used is asked for
again, with the problem told; the second is the last.

Refuses to know how prompts are written, which model answers, and what is done with the answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Protocol, TypeVar

from lumen.errors import StepFailed
from lumen.json_value import Json
from lumen.ports import ChatModel
from lumen.questions import DecideQuestion, Judgement, Question, ThinkQuestion, Thought
from lumen.record.strict_json import loads
from lumen.substrate.answers import adapter_for, read_answer
from lumen.turn import Alignment, Candidate, Usage

T = TypeVar("T")
Shape = Mapping[str, Any]  # a JSON schema

ATTEMPTS: Final = 2
LONGEST_PROBLEM: Final = 500
LONGEST_NAME: Final = 120
LONGEST_WORDS: Final = 4_000
LONGEST_TEXT: Final = 16_000
LENGTHS: Final = {
    "name": LONGEST_NAME,
    "kind": LONGEST_NAME,
    "skill": LONGEST_NAME,
    "candidate": LONGEST_NAME,
    "stored": LONGEST_TEXT,
}
MOST_ITEMS: Final = 32
COUNTS: Final = {"candidates": (1, 6)}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told: how to do the step, and what to do it on."""

    system: str
    user: str


class Render(Protocol):
    def __call__(self, question: Question[T], /) -> Prompt: ...


class PromptedMind:
    def __init__(self, model: ChatModel, render: Render) -> None:
        self._model = model
        self._render = render

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def usage(self) -> Usage:
        return self._model.usage

    async def judge(self, question: Question[T]) -> T:
        """Raises StepFailed when the model's answer cannot be used twice in a row, and what the model raises."""
        prompt = self._render(question)
        problem = ""
        for _ in range(ATTEMPTS):
            text = await self._model.complete(
                system=prompt.system,
                user=_with_problem(prompt.user, problem),
                schema=strict_schema(question.answer),
                schema_name=question.step,
            )
            try:
                answer = read_answer(question, read_text(question.answer, text))
                return read_answer(question, _put_in_order(question, answer))
            except ValueError as found:
                problem = str(found)[:LONGEST_PROBLEM]
        raise StepFailed(
            f"The answer of {self.name} to the step {question.step} could not be used, twice: {problem}. "
            "Try again, or name a model that follows a JSON schema under [mind] in lumen.toml."
        )


def _with_problem(user: str, problem: str) -> str:
    """What to do about it stands in the step's system.md."""
    return f"{user.rstrip()}\n\n<problem>\n{problem}\n</problem>\n" if problem else user


# --- the schema that a model is held to


@cache
def strict_schema(answer: type) -> Json:
    """The shape of an answer with every object closed, every field required, every text and list bounded."""
    return _strict(_shape_of(answer), "")


@cache
def _shape_of(answer: type) -> Shape:
    whole: Shape = adapter_for(answer).json_schema()
    return _inlined(whole, whole.get("$defs", {}))


def _inlined(shape: Shape, definitions: Mapping[str, Shape]) -> Shape:
    """Without references. An open object is left as it is: what it holds has no shape."""
    if "$ref" in shape:
        return _inlined(definitions[shape["$ref"].rpartition("/")[2]], definitions)
    made = {key: shape[key] for key in ("type", "enum", "const", "minimum", "maximum", "maxLength") if key in shape}
    if "anyOf" in shape:
        made["anyOf"] = [_inlined(each, definitions) for each in shape["anyOf"]]
    if "properties" in shape:
        made["properties"] = {name: _inlined(each, definitions) for name, each in shape["properties"].items()}
    if "items" in shape:
        made["items"] = _inlined(shape["items"], definitions)
    return made


def _strict(shape: Shape, name: str) -> Json:
    if "anyOf" in shape:
        return {"anyOf": [_strict(each, name) for each in shape["anyOf"]]}
    match shape.get("type"):
        case "object" if "properties" in shape:
            made = {_sent_as(field, each): _strict(each, field) for field, each in shape["properties"].items()}
            return {"type": "object", "properties": made, "required": list(made), "additionalProperties": False}
        case "object":
            return {"type": "string", "maxLength": LONGEST_TEXT}
        case "array":
            fewest, most = _counts(name)
            return {"type": "array", "items": _strict(shape["items"], name), "minItems": fewest, "maxItems": most}
        case "string":
            return {**shape, "maxLength": _longest(shape, name)}
        case _:
            return dict(shape)


def _is_open(shape: Shape) -> bool:
    return shape.get("type") == "object" and "properties" not in shape


def _sent_as(name: str, shape: Shape) -> str:
    return f"{name}_json" if _is_open(shape) else name


def _counts(name: str) -> tuple[int, int]:
    return COUNTS.get(name, (0, MOST_ITEMS))


def _longest(shape: Shape, name: str) -> int:
    longest: int = shape.get("maxLength", LENGTHS.get(name, LONGEST_WORDS))
    return longest


# --- from a model's text to the plain form of an answer


def read_text(answer: type, text: str) -> Json:
    """What a model wrote, within its bounds and with the open objects opened. Raises ValueError."""
    return _opened(_json_in(text), _shape_of(answer), "", "the answer")


def _json_in(text: str) -> Json:
    """The JSON of a text. Models that are held to no schema put a fence or a sentence around it."""
    try:
        return loads(text)
    except ValueError as problem:
        first, last = text.find("{"), text.rfind("}")
        inner = text[first : last + 1]
        if first < 0 or inner in ("", text):
            raise ValueError(f"the answer is not JSON: {problem}") from None
    try:
        return loads(inner)
    except ValueError as problem:
        raise ValueError(f"the answer is not JSON: {problem}") from None


def _opened(value: Json, shape: Shape, name: str, where: str) -> Json:
    if "anyOf" in shape:
        return None if value is None else _opened(value, _first_not_null(shape), name, where)
    match shape.get("type"):
        case "object":
            return _opened_object(value, shape, where)
        case "array":
            if not isinstance(value, list):
                raise ValueError(f"{where} is not a list")
            fewest, most = _counts(name)
            if not fewest <= len(value) <= most:
                raise ValueError(f"{where} has {len(value)} items; from {fewest} to {most} are allowed")
            return [_opened(each, shape["items"], name, f"{where}[{at}]") for at, each in enumerate(value)]
        case "string":
            longest = _longest(shape, name)
            if isinstance(value, str) and len(value) > longest:
                raise ValueError(f"{where} has {len(value)} characters; at most {longest} are allowed")
            return value
        case _:
            return value


def _opened_object(value: Json, shape: Shape, where: str) -> Json:
    """Fields that are missing are left to the types: some have a default."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} is not an object")
    made: dict[str, Json] = {}
    for name, each in shape["properties"].items():
        sent, here = _sent_as(name, each), f"{where}.{name}"
        if _is_open(each):
            if sent in value or name in value:
                made[name] = _open_object(value.get(sent, value.get(name)), f"{where}.{sent}")
        elif name in value:
            made[name] = _opened(value[name], each, name, here)
    return made


def _open_object(value: Json, where: str) -> Mapping[str, Json]:
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise ValueError(f"{where} has {len(value)} characters; at most {LONGEST_TEXT} are allowed")
        try:
            value = loads(value)
        except ValueError as problem:
            raise ValueError(f"{where} is not JSON: {problem}") from None
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} is not a JSON object")
    return value


def _first_not_null(shape: Shape) -> Shape:
    first: Shape = next(each for each in shape["anyOf"] if each.get("type") != "null")
    return first


# --- an answer put in order


def _put_in_order(question: object, answer: object) -> object:
    match question, answer:
        case ThinkQuestion(), Thought():
            return _thought(question, answer)
        case DecideQuestion(), Judgement():
            return _judgement(question, answer)
        case _:
            return answer


def _thought(question: ThinkQuestion, thought: Thought) -> Thought:
    """Raises ValueError for a reply without a text."""
    ids = {memory.short_id: memory.id for memory in question.memories} | {
        each.id: each.id for each in question.memories
    }
    if question.said is not None:
        ids[question.said.memory] = question.said.memory
    goals = {goal.name for goal in question.goals} | ({question.goal.name} if question.goal else set())
    candidates: list[Candidate] = []
    for number, candidate in enumerate(thought.candidates, start=1):
        text = candidate.action.parameters.get("text") if candidate.action.skill == "chat" else ""
        if not isinstance(text, str) or (candidate.action.skill == "chat" and not text.strip()):
            raise ValueError(f'candidate number {number} uses the skill chat without {{"text": "..."}}')
        ordered = replace(
            candidate,
            name=_unique(candidate.name, [each.name for each in candidates]),
            goal=candidate.goal if candidate.goal in goals else None,
            cites=tuple(dict.fromkeys(ids[each] for each in map(_bare, candidate.cites) if each in ids)),
            stored=candidate.stored if candidate.stored.strip() else text,
        )
        candidates.append(ordered)
    return replace(thought, candidates=tuple(candidates))


def _bare(cited: str) -> str:
    return cited.strip(" []").removeprefix("memory ").strip(" ,")


def _unique(name: str, taken: list[str]) -> str:
    first = name.strip() or "candidate"
    tries = [first, *(f"{first} {number}" for number in range(2, len(taken) + 3))]
    return next(each for each in tries if each not in taken)


def _judgement(question: DecideQuestion, judgement: Judgement) -> Judgement:
    """One alignment per candidate, of names that were offered: an invented value has no weight to count with."""
    candidates = [candidate.name for candidate in question.candidates]
    values = {value.name for value in question.values}
    goals = {goal.name for goal in question.goals}
    first = {each.candidate: each for each in reversed(judgement.alignments) if each.candidate in candidates}
    alignments = tuple(
        Alignment(
            candidate=name,
            values=tuple(dict.fromkeys(value for value in first[name].values if value in values)),
            goal=first[name].goal if first[name].goal in goals else None,
        )
        for name in candidates
        if name in first
    )
    preference = tuple(dict.fromkeys(name for name in judgement.preference if name in candidates))
    return Judgement(alignments, preference)

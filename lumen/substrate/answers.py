"""Answers as JSON: from what a model, a script or a recording says to the type that a question wants, and back.

Knows the shapes of dataclasses and nothing of what they mean. Raises ValueError with one short line.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from lumen.json_value import Json
from lumen.questions import Question

T = TypeVar("T")

MOST_PROBLEMS: Final = 5


@cache
def adapter_for(answer: type) -> TypeAdapter[Any]:
    """`Json` names itself, which pydantic cannot follow: inside an answer it stands for pydantic's own JSON type."""
    return _adapter(answer, JsonValue)


def _adapter(answer: type, Json: object) -> TypeAdapter[Any]:
    """TypeAdapter looks names up where it is called, so that `Json` is the argument here."""
    return TypeAdapter(answer)


def read_answer(question: Question[T], value: object) -> T:
    """The answer in the type that the question wants. An answer that has the type already comes back as it is."""
    try:
        answer: T = adapter_for(question.answer).validate_python(value)
    except ValidationError as problem:
        raise ValueError(_in_a_line(problem)) from None
    return answer


def plain(value: object) -> Json:
    """Dataclasses and tuples as objects and lists. Raises TypeError for what JSON cannot say."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _in_a_line(problem: ValidationError) -> str:
    """Where and what, without the value that was there."""
    found = problem.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{'.'.join(str(part)[:40] for part in each['loc']) or 'the answer'}: {each['msg']}" for each in found]
    more = [f"and {len(told) - MOST_PROBLEMS} more"] if len(told) > MOST_PROBLEMS else []
    return "; ".join(told[:MOST_PROBLEMS] + more)

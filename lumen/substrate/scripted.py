"""A mind that says what it was given to say: answers from a list or a file, in order, step by step.

For demonstrations and tests that need no model. It reads nothing of a question but its step, and the person's words
where an answer refers to them as {said}.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from lumen.errors import InstanceError, StepFailed
from lumen.json_value import Json
from lumen.questions import Question, ThinkQuestion
from lumen.record.strict_json import loads
from lumen.substrate.answers import read_answer
from lumen.turn import Usage

T = TypeVar("T")

SAID: Final = "{said}"


class Scripted:
    def __init__(self, answers: Mapping[str, Sequence[Mapping[str, Json]]]) -> None:
        self._counts = {step: len(listed) for step, listed in answers.items()}
        self._left: dict[str, Iterator[Mapping[str, Json]]] = {step: iter(listed) for step, listed in answers.items()}

    @classmethod
    def from_file(cls, path: Path) -> "Scripted":
        """A JSON object: step -> list of answers. Raises InstanceError."""
        try:
            script = loads(path.read_bytes().decode("utf-8"))
        except (OSError, ValueError) as problem:
            raise InstanceError(f"The script {path} cannot be read ({problem}). Correct it or name another.") from None
        return cls(_answers_in(script, path))

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def usage(self) -> Usage:
        return Usage()

    async def judge(self, question: Question[T]) -> T:
        """The next answer of the question's step. Raises StepFailed when there is none, or when it does not fit."""
        step = question.step
        answer = next(self._left.get(step, iter(())), None)
        if answer is None:
            raise StepFailed(
                f"The script has {self._counts.get(step, 0)} answers to the step {step}, and one more was asked for. "
                f"Add it to the list {step!r} of the script."
            )
        try:
            return read_answer(question, _with_said(answer, _said(question)))
        except ValueError as problem:
            raise StepFailed(
                f"The script's next answer to the step {step} does not fit: {problem}. Correct it in the script."
            ) from None


def _answers_in(script: Json, path: Path) -> dict[str, list[Mapping[str, Json]]]:
    if not isinstance(script, Mapping):
        raise InstanceError(f"The script {path} is not an object of lists: {{step: [answer, ...]}}. Correct it.")
    made: dict[str, list[Mapping[str, Json]]] = {}
    for step, listed in script.items():
        answers = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
        if not isinstance(listed, list) or len(answers) != len(listed):
            raise InstanceError(f"The script {path} has no list of objects under {step!r}. Correct it.")
        made[step] = answers
    return made


def _said(question: object) -> str:
    """Nothing in a turn that no person began."""
    return question.said.text if isinstance(question, ThinkQuestion) and question.said is not None else ""


def _with_said(value: Json, said: str) -> Json:
    if isinstance(value, str):
        return value.replace(SAID, said)
    if isinstance(value, Mapping):
        return {name: _with_said(inner, said) for name, inner in value.items()}
    if isinstance(value, Sequence):
        return [_with_said(inner, said) for inner in value]
    return value

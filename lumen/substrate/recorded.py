"""A mind that is recorded, and a mind that says again what was recorded.

One line per question, as JSON: the step, the hash of the question and of each of its fields, the answer, and what it
cost. The question itself is not written: it holds memories, which have one home. The hashes of the fields are there
to say what differs when a replay goes another way.

Refuses to know what is asked. A recording is a file that the person names, not a part of the record.
"""

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, NonNegativeInt, ValidationError

from lumen.errors import InstanceError, StepFailed
from lumen.json_value import Json
from lumen.ports import Mind
from lumen.questions import Question
from lumen.record.strict_json import canonical, loads
from lumen.substrate.answers import plain, read_answer
from lumen.turn import Usage

T = TypeVar("T")

FIELD_HASH: Final = 16


class Recording:
    """Wraps a mind. What the mind answers is written down before it is given on; what it raises is not."""

    def __init__(self, mind: Mind, path: Path) -> None:
        self._mind = mind
        self._path = path

    @property
    def name(self) -> str:
        return self._mind.name

    @property
    def usage(self) -> Usage:
        return self._mind.usage

    async def judge(self, question: Question[T]) -> T:
        """Raises what the mind raises, and InstanceError when the recording cannot be written."""
        before = self._mind.usage
        answer = await self._mind.judge(question)
        after = self._mind.usage
        line = json.dumps(
            {
                "step": question.step,
                "question": question_sha256(question),
                "fields": field_hashes(question),
                "answer": plain(answer),
                "usage": {
                    "calls": after.calls - before.calls,
                    "tokens_in": after.tokens_in - before.tokens_in,
                    "tokens_out": after.tokens_out - before.tokens_out,
                },
            },
            allow_nan=False,
        )
        try:
            _append(self._path, line.encode("ascii"))
        except OSError as problem:
            raise InstanceError(
                f"The recording {self._path} cannot be written ({problem.strerror}). Name another file."
            ) from problem
        return answer


class Replay:
    """Gives the recorded answers: to the same question the same answer, in order where it was asked more than once.

    Ids and times differ from run to run, and with them the questions. With `strict=False` a question that was never
    recorded gets the next unused answer of its step.
    """

    def __init__(self, path: Path, *, strict: bool = True) -> None:
        self._path = path
        self._is_strict = strict
        self._lines = _read(path)
        self._used: set[int] = set()
        self._by_question: defaultdict[str, deque[int]] = defaultdict(deque)
        self._by_step: defaultdict[str, deque[int]] = defaultdict(deque)
        for number, line in enumerate(self._lines):
            self._by_question[line.question].append(number)
            self._by_step[line.step].append(number)
        self._usage = Usage()

    @property
    def name(self) -> str:
        return "replay"

    @property
    def usage(self) -> Usage:
        """What the recorded mind spent on the answers that were given so far."""
        return self._usage

    async def judge(self, question: Question[T]) -> T:
        """Raises StepFailed for a question that was never recorded, or not that often."""
        number = self._next(self._by_question.get(question_sha256(question), deque()))
        if number is None and not self._is_strict:
            number = self._next(self._by_step.get(question.step, deque()))
        if number is None:
            raise StepFailed(self._missing(question))
        line = self._lines[number]
        try:
            answer = read_answer(question, line.answer)
        except ValueError as problem:
            raise StepFailed(
                f"{self._path}, line {number + 1}: the answer to the step {line.step} does not fit: {problem}. "
                "It was written by another version or changed by hand; record it again."
            ) from None
        self._used.add(number)
        spent = line.usage
        self._usage = Usage(
            self._usage.calls + spent.calls,
            self._usage.tokens_in + spent.tokens_in,
            self._usage.tokens_out + spent.tokens_out,
        )
        return answer

    def _next(self, numbers: deque[int]) -> int | None:
        while numbers and numbers[0] in self._used:
            numbers.popleft()
        return numbers[0] if numbers else None

    def _missing(self, question: Question[T]) -> str:
        step, sha256 = question.step, question_sha256(question)
        asked = sum(line.question == sha256 for line in self._lines)
        if asked:
            why = f"recorded {asked} times, and asked once more"
        else:
            why = f"never recorded: {_difference(field_hashes(question), [x for x in self._lines if x.step == step])}"
        return (
            f"{self._path}: this question of the step {step} was {why}. "
            "Record again, or replay with strict=False to take the answers of each step in order."
        )


def question_sha256(question: Question[T]) -> str:
    return hashlib.sha256(canonical([question.step, plain(question)])).hexdigest()


def field_hashes(question: Question[T]) -> dict[str, str]:
    held = plain(question)
    if not isinstance(held, Mapping):
        raise TypeError(f"{type(question).__name__} is not a dataclass")
    return {name: hashlib.sha256(canonical(value)).hexdigest()[:FIELD_HASH] for name, value in held.items()}


class _Spent(BaseModel):
    model_config = ConfigDict(frozen=True)

    calls: NonNegativeInt
    tokens_in: NonNegativeInt
    tokens_out: NonNegativeInt


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True)

    step: str
    question: str
    fields: dict[str, str]
    answer: JsonValue
    usage: _Spent


def _difference(asked: Mapping[str, str], lines: Sequence[_Line]) -> str:
    """The fields in which the nearest recorded question of the step is another one."""
    if not lines:
        return "no question of this step was"
    differing: list[list[str]] = [
        [name for name in sorted(asked.keys() | line.fields.keys()) if asked.get(name) != line.fields.get(name)]
        for line in lines
    ]
    return f"the nearest one differs in {', '.join(sorted(differing, key=len)[0])}"


def _append(path: Path, line: bytes) -> None:
    """One write. After a line that was torn, on a line of its own."""
    with path.open("a+b") as file:
        end = file.seek(0, 2)
        if end:
            file.seek(end - 1)
        gap = b"\n" if end and file.read(1) != b"\n" else b""
        file.write(gap + line + b"\n")


def _read(path: Path) -> list[_Line]:
    """Raises InstanceError. A last line without its end was torn while it was written, and counts for nothing."""
    try:
        whole = path.read_bytes()
    except OSError as problem:
        raise InstanceError(f"The recording {path} cannot be read ({problem.strerror}). Name another.") from problem
    lines: list[_Line] = []
    for number, text in enumerate(whole.split(b"\n")[:-1], start=1):
        try:
            lines.append(_Line.model_validate(_loaded(text)))
        except ValidationError as problem:
            raise _broken(path, number, f"{problem.error_count()} fields are missing or wrong") from None
        except ValueError as problem:
            raise _broken(path, number, str(problem)) from None
    return lines


def _loaded(text: bytes) -> Json:
    return loads(text.decode("utf-8"))


def _broken(path: Path, number: int, problem: str) -> InstanceError:
    return InstanceError(f"{path}, line {number}, is not a line of a recording: {problem}. Remove it or record again.")

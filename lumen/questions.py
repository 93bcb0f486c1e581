"""The questions a mind can be asked, one type per step, each with the type of its answer. A mind sees nothing else.

A question holds views of the record (names, weights, texts, ids), never the record. An answer is plain data: the
kernel checks it, counts with it, and acts on it only through the gate.
"""

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from lumen.turn import Action, Alignment, Candidate, Outcome, Prediction, SkillResult

T = TypeVar("T")


class Question(Generic[T]):
    """`step` names the prompt folder; `answer` is the type that the answer must have."""

    step: ClassVar[str]
    answer: ClassVar[type]


@dataclass(frozen=True, slots=True)
class SoulView:
    name: str
    ontology: str
    text: str


@dataclass(frozen=True, slots=True)
class ValueView:
    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class GoalView:
    name: str
    weight: float
    status: str


@dataclass(frozen=True, slots=True)
class SkillView:
    """A skill on the shelf and its own `--help`, which is text from outside."""

    name: str
    help: str


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory as it was recalled. `similarity` is 0 to 1; `is_recent` says it came by recency. Author is never kernel.

    `situation` is where it came from: "chat with NAME" for what a person said, "reply" for what the agent said.
    """

    id: str
    short_id: str
    timestamp: str
    author: str
    situation: str
    description: str
    weight: float
    similarity: float
    is_recent: bool


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a person just said, and the id of the memory that holds it."""

    text: str
    speaker: str
    memory: str
    timestamp: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How actions of one kind went so far: how many, and the mean of their outcomes."""

    kind: str
    count: int
    mean: float


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """How much there is, for questions about the self: memories by author, the first and the last day with one."""

    memories: int
    by_author: tuple[tuple[str, int], ...]
    first_day: str
    last_day: str


@dataclass(frozen=True, slots=True)
class Thought:
    """The answer to THINK: the situation in a sentence, and what could be done."""

    situation: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class ThinkQuestion(Question[Thought]):
    """What could be done now? `said` when a person spoke; else `goal` is what the cycle chose to pursue."""

    now: str
    said: Utterance | None
    goal: GoalView | None
    soul: SoulView
    values: tuple[ValueView, ...]
    goals: tuple[GoalView, ...]
    memories: tuple[MemoryView, ...]
    skills: tuple[SkillView, ...]
    tallies: tuple[Tally, ...]
    counts: RecordCounts

    step: ClassVar[str] = "think"
    answer: ClassVar[type] = Thought


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer to DECIDE: who wants what, and the mind's own order of preference, which breaks ties only."""

    alignments: tuple[Alignment, ...]
    preference: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DecideQuestion(Question[Judgement]):
    """Which values and goals does each candidate serve?"""

    situation: str
    candidates: tuple[Candidate, ...]
    values: tuple[ValueView, ...]
    goals: tuple[GoalView, ...]

    step: ClassVar[str] = "decide"
    answer: ClassVar[type] = Judgement


@dataclass(frozen=True, slots=True)
class RecordQuestion(Question[Outcome]):
    """How did it go? Asked after ACT; and again, with `next_said`, when the person's next words shed light on it.

    `answered_to` is what the person had said before the action; `before` is the outcome as it was recorded first.
    """

    action: Action
    kind: str
    prediction: Prediction
    result: SkillResult | None
    answered_to: str
    next_said: Utterance | None = None
    before: Outcome | None = None

    step: ClassVar[str] = "record"
    answer: ClassVar[type] = Outcome

"""What rooms hand each other: turns, actions, candidates, predictions, outcomes. Values without behaviour.

An outcome and its prediction are a sentence and a number from -1 (as bad as can be) to 1 (as good as can be), so that
the delta between them is signed: outcome - prediction.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from annotated_types import Interval, Len

from lumen.json_value import Json

Score = Annotated[float, Interval(ge=-1.0, le=1.0)]
Words = Annotated[str, Len(0, 4000)]
UNNAMED: Final = "person"  # who speaks when nobody said a name
TurnResult = Literal["done", "skipped", "refused", "waiting", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One pass of the action loop. `asked_by` is the person's name, or None for a turn the agent began itself."""

    id: str
    began: str
    asked_by: str | None


@dataclass(frozen=True, slots=True)
class Action:
    """A skill and what it is given. Every action is a skill; a reply is the skill `chat` with its text."""

    skill: str
    parameters: Mapping[str, Json]

    @property
    def sha256(self) -> str:
        """What a confirmation is bound to."""
        canonical = json.dumps([self.skill, self.parameters], sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Prediction:
    words: Words
    score: Score


@dataclass(frozen=True, slots=True)
class Outcome:
    words: Words
    score: Score


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that could be done now, with what would come of it.

    `kind` names the habit it belongs to (as in "chat:answer"), under which outcomes are counted. `cites` are the ids
    of the memories it rests on; `stored` is the reply as it may be kept: the same text with each quotation replaced by
    the id of what it quotes, so that recalled text is never stored twice.
    """

    name: str
    action: Action
    kind: str
    intention: Words
    prediction: Prediction
    goal: str | None = None
    cites: tuple[str, ...] = ()
    stored: str = ""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which values and which goal want a candidate."""

    candidate: str
    values: tuple[str, ...]
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class SkillResult:
    """How a skill's process ended and what it gave back. `isolation` is the level that really held."""

    is_ok: bool
    output: Mapping[str, Json]
    text: str
    exit_code: int | None
    milliseconds: int
    isolation: str
    is_truncated: bool = False
    is_timeout: bool = False
    requests: tuple[Action, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Usage:
    """What a mind spent: calls to a model, and tokens in and out."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


def new_turn(began: str, asked_by: str | None) -> Turn:
    return Turn(uuid.uuid4().hex, began, asked_by)

"""Reads `phrases.yaml`: every frame that reflex can say, and the cues by which it knows what somebody does with words.

Checks its shape when it is read. Does not know how any of it is used.
"""

import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Final, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict

from lumen.substrate.words import Vocabulary, stem

Act = Literal[
    "statement", "question", "request", "about_self", "correction", "thanks", "greeting", "closing", "distress"
]
SelfTopic = Literal["conscious", "values", "goals", "memories", "did", "skills", "works"]
FieldRole = Literal["path", "url", "number", "date", "name", "text"]


def _compiles(pattern: str) -> str:
    re.compile(pattern)
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cue(_Shape):
    """Where `at` is found, `adds` is added to the score of `act`."""

    act: Act
    adds: float
    at: Pattern


class SelfCue(_Shape):
    topic: SelfTopic
    at: Pattern


class Phrases(_Shape):
    """The whole file."""

    acts: Mapping[Act, tuple[str, ...]]
    cues: tuple[Cue, ...]
    self_topics: tuple[SelfCue, ...]
    is_asking: Pattern
    wants_several: Pattern
    wants_count: Pattern
    wants_time: Pattern
    wants_number: Pattern
    wants_name: Pattern
    has_time: Pattern
    has_number: Pattern
    corrected_rest: Pattern
    empty_words: str
    irregular_words: str
    doings: Mapping[str, tuple[str, ...]]
    fields: Mapping[FieldRole, tuple[str, ...]]
    frames: Mapping[str, str]
    situations: Mapping[str, str]
    intentions: Mapping[str, str]
    expectations: Mapping[str, str]
    outcomes: Mapping[str, str]

    def vocabulary(self) -> Vocabulary:
        pairs = (pair.partition(":") for pair in self.irregular_words.split())
        return Vocabulary(frozenset(self.empty_words.split()), {form: stem(word) for form, _, word in pairs})


_FILE: Final = "phrases.yaml"


@cache
def phrases() -> Phrases:
    """The shipped phrases, read once."""
    raw = pkgutil.get_data(__package__, _FILE)
    if raw is None:
        raise FileNotFoundError(f"{_FILE} is not beside {__name__}: install the program again")
    return Phrases.model_validate(yaml.load(raw, Loader=yaml.CSafeLoader))

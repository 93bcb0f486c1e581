"""What the inner rooms ask of the outside, as protocols. Implementations live elsewhere."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from lumen.json_value import Json

if TYPE_CHECKING:
    import numpy

    from lumen.questions import Question
    from lumen.turn import Usage

T = TypeVar("T")


class Clock(Protocol):
    """Tells the time, always in UTC. Two exist: the system's, and one that a test or a replay holds."""

    def now(self) -> datetime: ...


class Mind(Protocol):
    """Answers one typed question at a time. `usage` is what it has spent since it was made."""

    @property
    def name(self) -> str: ...

    @property
    def usage(self) -> "Usage": ...

    async def judge(self, question: "Question[T]") -> T: ...


class ChatModel(Protocol):
    """A language model: a system text and a user text in, JSON of the wanted shape out."""

    @property
    def name(self) -> str: ...

    @property
    def usage(self) -> "Usage": ...

    async def complete(self, *, system: str, user: str, schema: Json, schema_name: str) -> str: ...


class Embedder(Protocol):
    """Texts to unit vectors, one row each (float32). `name` changes whenever the vectors would."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> "numpy.ndarray": ...

"""Memories: everything in the log, seen by those who may. What a reader may not see is not read for it.

`MemoryReader` is for people and auditors. `Experience` is what the agent itself may look back on: self, goal and
external lines; the kernel's own lines are below its notice and never reach it. Writers add lines; none can write as
the kernel.
"""

from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import Final, Literal

from lumen.errors import Refused
from lumen.record.forget import Forgotten
from lumen.record.line import AUTHORS, Author, Line, Unreadable
from lumen.record.record import Record
from lumen.record.strict_json import is_number

LivedAuthor = Literal["self", "goal", "external"]
LIVED: Final[tuple[LivedAuthor, ...]] = ("self", "goal", "external")


class _Reading:
    """Lines by the authors it was made for, and no others."""

    def __init__(self, record: Record, authors: tuple[Author, ...]) -> None:
        self._record = record
        self._authors = frozenset[Author](authors)

    def _recent(self, count: int) -> list[Line]:
        newest = (line for line in self._record.journal.newest_first() if line.author in self._authors)
        return [self._record.journal.whole(line) for line in islice(newest, count)][::-1]

    def _all(self) -> Iterator[Line]:
        for item in self._record.journal.scan():
            if isinstance(item, Line) and item.author in self._authors:
                yield self._record.journal.whole(item)

    def _on(self, day: date) -> Iterator[Line]:
        wanted = day.isoformat()
        return (line for line in self._all() if (line.timestamp[:10] or (line.place and line.place.day)) == wanted)


class MemoryReader(_Reading):
    """Every line, or those of one author."""

    def __init__(self, record: Record, author: Author | None = None) -> None:
        super().__init__(record, (author,) if author else AUTHORS)

    def recent(self, count: int) -> list[Line]:
        """The newest lines, oldest of them first."""
        return self._recent(count)

    def all(self) -> Iterator[Line]:
        return self._all()

    def on(self, day: date) -> Iterator[Line]:
        return self._on(day)

    def unreadable(self) -> Iterator[Unreadable]:
        return (item for item in self._record.journal.scan() if isinstance(item, Unreadable))


class Experience(_Reading):
    """What the agent lived through. Kernel lines are not in it."""

    def __init__(self, record: Record) -> None:
        super().__init__(record, LIVED)

    def recent(self, count: int) -> list[Line]:
        return self._recent(count)

    def all(self) -> Iterator[Line]:
        return self._all()


class Remembering:
    """The hand that adds a memory. It is never the kernel's hand."""

    def __init__(self, record: Record, turn: str | None = None) -> None:
        self._writing = record
        self._turn = turn

    def remember(self, author: LivedAuthor, situation: str, description: str, *, weight: float = 0.5) -> Line:
        if author not in LIVED:
            raise Refused(f"A memory is by {', '.join(LIVED)}; {author!r} cannot be claimed.")
        if not is_number(weight) or not 0 <= weight <= 1:
            raise Refused(f"A weight is a number from 0 to 1, not {weight!r}.")
        return self._writing.journal.append(author, situation, description, weight=weight, turn=self._turn)


class MemoryWriter(MemoryReader, Remembering):
    def __init__(self, record: Record, turn: str | None = None) -> None:
        MemoryReader.__init__(self, record)
        Remembering.__init__(self, record, turn)


class ExperienceWriter(Experience, Remembering):
    def __init__(self, record: Record, turn: str | None = None) -> None:
        Experience.__init__(self, record)
        Remembering.__init__(self, record, turn)


class PersonMemory(MemoryWriter):
    """What a person may do beyond reading and adding: have something forgotten."""

    def forget(self, identity: str, *, because: str) -> Forgotten:
        return self._record.forgetting.forget(identity, because=because)

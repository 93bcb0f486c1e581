"""Recalling: the newest memories, and those most like a text. What the agent lived, never the kernel's lines.

Four signs that a memory is about a text add up to its score (`Mix` has the weights):

    words     BM25 over stems, common words left out; the best memory has 1
    meaning   cosine of the embeddings, 0 to 1
    context   after a question often stands its answer: half the score of a question goes to the memory after it, a
              tenth of any other to both its neighbours of the same day; a question itself loses a fifth
    speaker   a little for what was said by somebody whose name is in the text

Example: "What is Ana's dog called?" finds "Do you have a dog?" by its words (1.0), and by that the next memory of Ana,
"Yes, Rex!", with 0.5 + 0.1, though it shares no word with the text. The question itself is left with 0.8.

What the agent replied counts half: it was made from memories and adds none. Equal scores go by weight, then by age. The
same words in the same situation are one memory, the newest. It does not judge whether a memory answers anything.

Each call reads only what is new in the log, also what other processes wrote. When a line is forgotten, its row goes at
the next call; the vectors that are kept for the next process are written only under the lock, after one more look.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy

from lumen.errors import LumenError, RecordError
from lumen.ports import Embedder
from lumen.questions import MemoryView, RecordCounts
from lumen.record import index
from lumen.record.index import COMMON, Entry, Postings, Vectors, plain_words, stem
from lumen.record.journal import Cursor, LogWentBack
from lumen.record.line import Line
from lumen.record.memory import LIVED
from lumen.record.record import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[numpy.float32]

READ_CHARACTERS: Final = 2_000
SITUATION_CHARACTERS: Final = 200
WORTH_SAVING: Final = 256
CLOSING_SECONDS: Final = 1.0
_SATURATION, _LENGTH_MATTERS = 1.0, 0.3  # k1 and b of BM25
_AFTER_A_QUESTION, _BESIDE, _QUESTION_LOSES, _REPLY = 0.5, 0.1, 0.2, 0.5
_HALF: Final = numpy.dtype("<f2")
_SAID_BY: Final = "chat with "
_REPLIED: Final = "reply"
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mix:
    """How much each sign counts. A weight of 0 leaves it out."""

    words: float = 1.0
    meaning: float = 0.7
    context: float = 1.0
    speaker: float = 0.1


@dataclass(slots=True)
class _Row:
    """One memory. `text` is what is searched in, until that is done; `line` is kept when the content is in a blob."""

    view: MemoryView
    text: str
    mark: str
    same: list[int]  # the numbers of all rows with the same words, shared between them
    line: Line | None


@dataclass(slots=True)
class _Columns:
    """What ranking needs to know of every row, one column each."""

    is_gone: bytearray = field(default_factory=bytearray)
    is_question: bytearray = field(default_factory=bytearray)
    is_reply: bytearray = field(default_factory=bytearray)
    weight: "array[float]" = field(default_factory=lambda: array("d"))
    day: "array[int]" = field(default_factory=lambda: array("l"))
    speaker: "array[int]" = field(default_factory=lambda: array("l"))
    days: dict[str, int] = field(default_factory=dict)
    speakers: dict[frozenset[str], int] = field(default_factory=dict)

    def add(self, line: Line, *, description: str, said_by: str) -> None:
        stated = _DAY.match(line.timestamp)
        day = stated[0] if stated else line.place.day if line.place else ""
        speaker = frozenset(map(stem, plain_words(said_by)))
        self.is_gone.append(False)
        self.is_question.append("?" in description)
        self.is_reply.append(line.author == "self" and line.situation == _REPLIED)
        self.weight.append(float(line.weight))
        self.day.append(self.days.setdefault(day, len(self.days)))
        self.speaker.append(self.speakers.setdefault(speaker, len(self.speakers)))


class Recall:
    """Kept for the life of a process. Close it, so that the next one need not embed again."""

    def __init__(self, record: Record, embedder: Embedder, *, mix: Mix | None = None) -> None:
        self._record = record
        self._embedder = embedder
        self._mix = mix or Mix()
        self._start_again()

    def about(self, text: str, *, recent: int, similar: int, without: frozenset[str] = frozenset()) -> list[MemoryView]:
        """The memories most like `text`, best first; then the rest of the newest ones, newest first."""
        self._catch_up()
        barred = {number for identity in without for number in self._numbers.get(identity, ())}
        score, cosine = self._scores(text[:READ_CHARACTERS], barred)
        newest = self._first(range(len(self._rows) - 1, -1, -1), recent, barred)
        alike = self._first(self._best_first(score), similar, barred)
        numbers = dict.fromkeys([*alike, *newest])
        views = [self._view(number, float(cosine[number]), number in newest) for number in numbers]
        if self._unsaved >= WORTH_SAVING:
            self._save(seconds=0)
        return views

    def counts(self) -> RecordCounts:
        """How much was lived."""
        self._catch_up()
        lived = [number for number, is_gone in enumerate(self._columns.is_gone) if not is_gone]
        authors = Counter(self._rows[number].view.author for number in lived)
        names = list(self._columns.days)
        days = {names[self._columns.day[number]] for number in lived}
        by_author = tuple((author, authors[author]) for author in LIVED if authors[author])
        return RecordCounts(len(lived), by_author, min(days, default=""), max(days, default=""))

    def text_of(self, identity: str) -> str:
        """What a memory says; nothing when it is unknown or forgotten."""
        self._catch_up()
        return "".join(self._view(number, 0.0, False).description for number in self._numbers.get(identity, [])[-1:])

    def said_in(self, situation: str, count: int) -> list[str]:
        """The newest texts of one situation, oldest first."""
        self._catch_up()
        said = (row.view.description for row in reversed(self._rows) if row.view.situation == situation)
        return list(islice(said, count))[::-1]

    def close(self) -> None:
        """Keep the vectors for the next process. Not worth an error."""
        if self._unsaved:
            self._save(seconds=CLOSING_SECONDS)

    def _start_again(self) -> None:
        self._cursor = Cursor()
        self._rows: list[_Row] = []
        self._columns = _Columns()
        self._numbers: dict[str, list[int]] = {}
        self._same: dict[tuple[str, ...], list[int]] = {}
        self._postings = Postings()
        self._vectors: Numbers = numpy.zeros((0, 0), numpy.float32)
        self._embedded = 0
        self._unsaved = 0

    def _catch_up(self) -> None:
        try:
            self._read_on()
        except LogWentBack:
            self._start_again()
            self._read_on()

    def _read_on(self) -> None:
        for item in self._record.journal.scan(self._cursor):
            if not isinstance(item, Line) or item.is_forgotten:
                continue
            if item.is_chained and item.event in ("forget", "forgotten"):
                self._drop(str(self._record.journal.whole(item).data.get("target")))
            elif item.event == "memory" and item.author in LIVED:
                self._add(item)

    def _add(self, line: Line) -> None:
        content = self._record.journal.whole(line)
        if not (content.description.strip() or content.situation.strip()):
            return  # what is left of a forgotten line of another program
        if line.is_chained and line.id in self._numbers:
            return
        situation, description = content.situation[:SITUATION_CHARACTERS], content.description[:READ_CHARACTERS]
        said_by = situation.removeprefix(_SAID_BY) if situation.startswith(_SAID_BY) else ""
        where = said_by or ("" if situation == _REPLIED else situation)
        text = f"{where}: {description}" if where else description
        words = " ".join(plain_words(content.description)) or description
        same = self._same.setdefault((line.author, situation, index.mark(words)), [])
        same.append(len(self._rows))
        self._numbers.setdefault(line.id, []).append(len(self._rows))
        self._columns.add(line, description=description, said_by=said_by)
        view = MemoryView(
            id=line.id,
            short_id=line.short_id,
            timestamp=line.timestamp,
            author=line.author,
            situation=line.situation,
            description=line.description,
            weight=float(line.weight),
            similarity=0.0,
            is_recent=False,
        )
        self._rows.append(_Row(view, text, index.mark(text), same, line if content is not line else None))

    def _drop(self, identity: str) -> None:
        """A forgotten memory: its text and its vector go, its number stays free."""
        for number in self._numbers.pop(identity, ()):
            row = self._rows[number]
            row.view, row.text, row.line = replace(row.view, situation="", description=""), "", None
            row.same.remove(number)
            self._columns.is_gone[number] = True
            self._vectors[number : number + 1] = 0

    def _view(self, number: int, cosine: float, is_recent: bool) -> MemoryView:
        row = self._rows[number]
        content = self._record.journal.whole(row.line) if row.line else row.view
        return replace(
            row.view,
            situation=content.situation,
            description=content.description,
            similarity=min(max(cosine, 0.0), 1.0),
            is_recent=is_recent,
        )

    def _first(self, numbers: Iterable[int], count: int, barred: set[int]) -> list[int]:
        """The first of these rows, each in its newest form, and no form of one twice."""
        found: dict[int, None] = {}
        for number in numbers:
            if len(found) >= count:
                break
            if not self._columns.is_gone[number] and number not in barred:
                same = self._rows[number].same
                found[next(other for other in reversed(same) if other not in barred)] = None
        return list(found)

    def _best_first(self, score: "Numbers") -> Iterable[int]:
        order = numpy.lexsort((numpy.array(self._columns.weight), numpy.round(score, 6)))[::-1]
        return (int(number) for number in order if score[number] > 0)

    def _scores(self, text: str, barred: set[int]) -> "tuple[Numbers, Numbers]":
        """The score of each row, and its cosine."""
        columns, mix = self._columns, self._mix
        for row in self._rows[len(self._postings.lengths) :]:
            self._postings.add([stem(word) for word in plain_words(row.text)])
        telling = [word for word in text.split() if not COMMON.issuperset(plain_words(word))] or text.split()
        cosine = self._cosines(" ".join(telling))
        words = {stem(word) for part in telling for word in plain_words(part)}
        counts = numpy.logical_not(numpy.array(columns.is_gone, bool))
        counts[list(barred)] = False
        score = mix.words * self._by_words(words, counts) + mix.meaning * cosine * counts
        is_question = numpy.array(columns.is_question, bool)
        day = numpy.array(columns.day)
        lent = mix.context * score
        is_same_day = day[1:] == day[:-1]
        score = score - lent * is_question * _QUESTION_LOSES
        score[1:] += lent[:-1] * is_same_day * numpy.where(is_question[:-1], _AFTER_A_QUESTION, _BESIDE)
        score[:-1] += lent[1:] * is_same_day * _BESIDE
        named = [code for speaker, code in columns.speakers.items() if speaker and speaker <= words]
        score += mix.speaker * numpy.isin(numpy.array(columns.speaker), named)
        return score * counts * numpy.where(numpy.array(columns.is_reply, bool), _REPLY, 1), cosine

    def _by_words(self, words: set[str], counts: "NDArray[numpy.bool]") -> "Numbers":
        """BM25, as a share of the best."""
        lengths = numpy.array(self._postings.lengths, numpy.float32)
        score = numpy.zeros(len(lengths), numpy.float32)
        usual = float(lengths.mean()) if len(lengths) and lengths.any() else 1.0
        for word in sorted(words):
            numbers, times = (numpy.array(column) for column in self._postings.of(word))
            if len(numbers):
                rarity = math.log(1 + (len(lengths) - len(numbers) + 0.5) / (len(numbers) + 0.5))
                length = 1 - _LENGTH_MATTERS + _LENGTH_MATTERS * lengths[numbers] / usual
                score[numbers] += rarity * times * (_SATURATION + 1) / (times + _SATURATION * length)
        score *= counts
        best = float(score.max(initial=0.0))
        return score / best if best > 0 else score

    def _cosines(self, text: str) -> "Numbers":
        """How alike the meanings are, 0 to 1. Without an embedder that answers, nothing is alike in meaning."""
        cosine = numpy.zeros(len(self._rows), numpy.float32)
        if not self._rows:
            return cosine
        try:
            meant = _finite(self._embedder.embed([text]))[0]
            self._embed_new(len(meant))
        except LumenError:
            return cosine
        known = self._vectors[: self._embedded]
        cosine[: len(known)] = numpy.clip(known @ meant, 0, 1)
        return cosine

    def _embed_new(self, dimensions: int) -> None:
        """Vectors for the rows that have none: the first time from the file, what is not there from the embedder."""
        start, end = self._embedded, len(self._rows)
        if start == end:
            return
        if start == 0 or end > len(self._vectors):
            room = numpy.zeros((max(end, 2 * start), dimensions), numpy.float32)
            if start:
                room[:start] = self._vectors[:start]
            self._vectors = room
        missing = range(start, end) if start else self._take_kept(dimensions)
        if missing:
            made = self._embedder.embed([self._rows[number].text for number in missing])
            self._vectors[list(missing)] = _finite(made)
        self._embedded, self._unsaved = end, self._unsaved + len(missing)
        for row in self._rows[start:end]:
            row.text = ""

    def _take_kept(self, dimensions: int) -> Sequence[int]:
        """Fill in the vectors that were kept; the numbers of the rows that were not."""
        kept = index.load(self._record.files, self._embedder.name)
        if kept is None or kept.dimensions != dimensions:
            return range(len(self._rows))
        places = {entry: place for place, entry in enumerate(kept.entries)}
        found = [places.get(self._entry(number), -1) for number in range(len(self._rows))]
        known = [number for number, place in enumerate(found) if place >= 0]
        rows = _finite(numpy.frombuffer(kept.rows, _HALF).reshape(-1, dimensions))
        self._vectors[known] = rows[[found[number] for number in known]]
        return [number for number, place in enumerate(found) if place < 0]

    def _save(self, *, seconds: float) -> None:
        """Under the lock, where nobody forgets, and after reading what was forgotten. Busy: another time."""
        with suppress(RecordError), self._record.presence.lock(seconds=seconds):
            self._catch_up()
            numbers = [number for number in range(self._embedded) if not self._columns.is_gone[number]]
            if numbers:
                rows = self._vectors[numbers].astype(_HALF).tobytes()
                entries = tuple(self._entry(number) for number in numbers)
                index.save(self._record.files, Vectors(self._embedder.name, self._vectors.shape[1], entries, rows))
            self._unsaved = 0

    def _entry(self, number: int) -> Entry:
        return Entry(self._rows[number].view.id, self._rows[number].mark)


def _finite(rows: "NDArray[Any]") -> "Numbers":
    return numpy.nan_to_num(rows.astype(numpy.float32), nan=0.0, posinf=0.0, neginf=0.0)

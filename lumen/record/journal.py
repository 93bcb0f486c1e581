"""The log: lines appended without a lock, read without an exception, one chain per writer.

A writer is one process (one `Journal` object). It numbers its lines and links each to the one before. After a write
that failed, nobody can say whether the line stands, so the writer starts a new chain rather than guess.

Order is (day of the file, byte offset). A line goes into the file of today or into the newest one there is, whichever
is later: a clock that was set back neither reorders the log nor writes into the past. Days and timestamps are UTC.

What a line may not hold because it is too long goes to blobs/<sha256> first; the line keeps the beginning and the
hash. The line's own id is inside the blob, so no two lines share one, and forgetting a line can remove its blob.

This file does not know what events mean (fold.py does) nor who may write them (grants.py does).
"""

import hashlib
import os
import re
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from lumen.errors import RecordError, RecordFull
from lumen.json_value import Json
from lumen.ports import Clock
from lumen.record.files import DayFile, Files
from lumen.record.line import (
    LINE_LIMIT,
    READ_LIMIT,
    Author,
    Line,
    Place,
    Unreadable,
    decode,
    encode,
    new_salt,
    sealed,
    strict_object,
)
from lumen.record.reserve import Reserve
from lumen.record.strict_json import canonical

UNFINISHED: Final = "unfinished: no newline yet"
_KEPT_BESIDE_A_BLOB: Final = 1500
_BLOB: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_BLANK: Final = b" \t\r\xef\xbb\xbf"


@dataclass(slots=True)
class Position:
    """How far a file of the log was read, and which file that was."""

    inode: int
    offset: int
    number: int


@dataclass(slots=True)
class Cursor:
    """How far the log was read. `last` is each writer's newest number: the copy of a repaired line comes next."""

    positions: dict[str, Position] = field(default_factory=dict)
    last: dict[str, tuple[int, str]] = field(default_factory=dict)

    def has_seen(self, line: Line) -> bool:
        """Whether this line is a copy of one that was read before; otherwise it counts as read now."""
        if not line.is_chained:
            return False
        writer, _, number = line.id.partition(":")
        this = int(number), line.h
        is_copy = self.last.pop(writer, None) == this
        self.last[writer] = this
        return is_copy


class LogWentBack(Exception):
    """The log holds less than was read before: another, older file stands in its place. Readers start again."""


class Journal:
    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock
        self.reserve = Reserve(files.root)
        self._process = os.getpid()
        self._unsynced: set[str] = set()
        self._turn_taking = threading.Lock()
        self._head: Line | None = None
        self._start_chain()

    @property
    def writer(self) -> str:
        return self._writer

    @property
    def head(self) -> Line | None:
        """The last line this writer put into the log."""
        return self._head

    def append(
        self,
        author: Author,
        situation: str,
        description: str,
        *,
        weight: float = 0.5,
        event: str = "memory",
        data: Mapping[str, Json] | None = None,
        turn: str | None = None,
        timestamp: str | None = None,
        durable: bool = True,
    ) -> Line:
        """Write one line. When this returns, the line is in the log for good; when it raises, nothing was promised.

        What is returned has the whole content, also when that went to a blob.
        """
        with self._turn_taking:
            return self._append(
                Line("", timestamp or "", author, weight, situation, description, turn, event, data or {}), durable
            )

    def ready(self) -> None:
        """A child that was forked is another writer than its parent."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._start_chain()

    def _append(self, line: Line, durable: bool) -> Line:
        self.ready()
        now = self._clock.now()
        line = line._replace(
            id=f"{self._writer}:{self._count + 1}",
            timestamp=line.timestamp or stamp(now),
            salt=new_salt(),
            prev=self._head.h if self._head else "",
        )
        blob = ""
        try:
            fitted, raw = self._fitted(line)
            blob = str(fitted.data.get("blob", "")) if fitted.data is not line.data else ""
            put = self._put(fitted, raw, now, durable=durable)
            return put._replace(situation=line.situation, description=line.description, data=line.data)
        except BaseException as problem:
            self._start_chain()
            if isinstance(problem, RecordError):
                self._remove_blob(blob)
            if isinstance(problem, RecordFull):
                self._record_full_disk(now)
            raise

    def sync(self) -> None:
        """Make lines durable that were appended with `durable=False`."""
        for name in sorted(self._unsynced):
            self._files.sync(name)
            self._unsynced.discard(name)

    def scan(self, cursor: Cursor | None = None) -> Iterator[Line | Unreadable]:
        """Every line not read before, oldest first, once each. Raises LogWentBack when the log is not what was read."""
        cursor = cursor or Cursor()
        days = self._files.days()
        if missing := cursor.positions.keys() - {file.path for file in days}:
            raise LogWentBack(f"{min(missing)} is gone")
        for file in days:
            yield from self.scan_day(file, cursor)

    def scan_day(self, file: DayFile, cursor: Cursor) -> Iterator[Line | Unreadable]:
        """The lines of one file that were not read before."""
        inode, size, _ = self._files.identity(file.path)
        here = cursor.positions.setdefault(file.path, Position(inode, 0, 0))
        if here.inode != inode or size < here.offset:
            raise LogWentBack(f"{file.path} is not the file that was read before")
        if size == here.offset:
            return
        for offset, length, raw, ended in self._files.lines(file.path, offset=here.offset, limit=READ_LIMIT):
            place = Place(file.day, offset, length, here.number + 1)
            item = (
                decode(raw, place)
                if raw is not None
                else Unreadable(place, f"not readable: over {READ_LIMIT} bytes", "")
            )
            if not ended and isinstance(item, Unreadable):
                yield item._replace(reason=UNFINISHED)
                return
            here.offset, here.number = offset + length + ended, here.number + ended
            if (raw is None or raw.strip(_BLANK)) and not (isinstance(item, Line) and cursor.has_seen(item)):
                yield item

    def newest_first(self) -> Iterator[Line]:
        """Lines from the newest back, one file in memory at a time."""
        seen: set[tuple[str, str]] = set()
        for file in reversed(self._files.days()):
            lines = [item for item in self.scan_day(file, Cursor()) if isinstance(item, Line)]
            yield from (line for line in reversed(lines) if (line.id, line.h) not in seen)
            seen = {(line.id, line.h) for line in lines[:1]}

    def whole(self, line: Line) -> Line:
        """The line with what its blob holds; as it is when it has none, or when the blob is gone."""
        name = line.data.get("blob") if len(line.data) == 2 else None
        if not isinstance(name, str):
            return line
        raw = self._blob(name)
        if raw is None:
            return line
        with suppress(ValueError):
            content = strict_object(raw)
            situation, description, data = content.get("situation"), content.get("description"), content.get("data")
            if isinstance(situation, str) and isinstance(description, str) and isinstance(data, dict):
                return line._replace(situation=situation, description=description, data=data)
        return line

    def has_blob(self, name: str) -> bool:
        return self._blob(name) is not None

    def has(self, day: str, end: int, identity: str) -> bool:
        """Whether the line with this id stands before byte `end` of a day's file, as it did when it was the newest."""
        tail = self._files.read_from(day_path(day), max(0, end - LINE_LIMIT))[: min(end, LINE_LIMIT)]
        return f'"id":"{identity}"'.encode() in tail

    def _blob(self, name: str) -> bytes | None:
        """The content kept under a hash; None when it is gone or is not what the hash says."""
        raw = self._files.read(f"blobs/{name}") if _BLOB.fullmatch(name) else None
        return raw if raw is not None and hashlib.sha256(raw).hexdigest() == name else None

    def _put(self, line: Line, raw: bytes, now: datetime, *, durable: bool) -> Line:
        day = max(now.astimezone(UTC).date().isoformat(), self._files.newest_day())
        offset = self._files.append(day_path(day), raw, durable=durable)
        if not durable:
            self._unsynced.add(day_path(day))
        self._count += 1
        self._head = line._replace(place=Place(day, offset, len(raw), 0))
        return self._head

    def _fitted(self, line: Line) -> tuple[Line, bytes]:
        """The sealed line and its bytes; its content goes to a blob first when they are too many."""
        line = sealed(line)
        raw = encode(line)
        if len(raw) < LINE_LIMIT:
            return line, raw
        content = canonical(
            {"id": line.id, "situation": line.situation, "description": line.description, "data": line.data}
        )
        name = hashlib.sha256(content).hexdigest()
        self._files.replace(f"blobs/{name}", content)
        short = sealed(
            line._replace(
                situation=line.situation[:_KEPT_BESIDE_A_BLOB],
                description=line.description[:_KEPT_BESIDE_A_BLOB],
                data={"blob": name, "bytes": len(content)},
                c="",
                h="",
            )
        )
        return short, encode(short)

    def _remove_blob(self, name: str) -> None:
        """A line that was not written leaves no content behind."""
        if name:
            with suppress(RecordError):
                self._files.remove(f"blobs/{name}")

    def _record_full_disk(self, now: datetime) -> None:
        """The last thing written on a full disk, into the space that was held back for it."""
        if not self.reserve.spend():
            return
        line = sealed(
            Line(
                id=f"{self._writer}:1",
                timestamp=stamp(now),
                author="kernel",
                weight=0.5,
                situation="disk",
                description="No space left: acting stops until there is some.",
                event="disk_full",
                salt=new_salt(),
            )
        )
        with suppress(RecordError):
            self._put(line, encode(line), now, durable=True)

    def _start_chain(self) -> None:
        self._writer = str(uuid.uuid4())
        self._count = 0
        self._head = None


def day_path(day: str) -> str:
    return f"memory/{day[:4]}/{day}.jsonl"


def stamp(at: datetime) -> str:
    """A moment as every line states it: ISO 8601, UTC, milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""Forgetting: a line's content is gone, its place in the chain stays.

    1  event `forget` with the target and what will be left of it     a crash after this: the next open does the rest
    2  every copy of the line is written over in place, at the same length, with nothing but what the chain needs
    3  its blob is removed, and its rows in the files of vectors (index.py)
    4  event `forgotten`

A copy can be a whole line, or a fragment that a dying writer left inside a line nobody can read: both carry the id
first, so both are found. Appends by others go on meanwhile: they only add at the end. What cannot be reached from
here, and is said when asking: the history of git, and backups. Lines that carry a change of the self stay: without
them its state has no reason.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record import index
from lumen.record.files import Files
from lumen.record.follower import Follower
from lumen.record.journal import Cursor, Journal
from lumen.record.line import READ_LIMIT, Line, Place, Unreadable, as_fields, decode, emptied, encode_fields
from lumen.record.presence import Presence

FORGETTABLE: Final = ("memory",)
_ENTRY = re.compile(rb'\{"id":"[0-9a-f-]{36}:[0-9]+","timestamp":"')
_NOWHERE: Final = Place("", 0, 0, 0)
_LEAST: Final = b'{"description":""}'


@dataclass(frozen=True, slots=True)
class Forgotten:
    id: str
    copies: int


class Forgetting:
    def __init__(self, files: Files, presence: Presence, journal: Journal, follower: Follower) -> None:
        self._files = files
        self._presence = presence
        self._journal = journal
        self._follower = follower

    def forget(self, identity: str, *, because: str, turn: str | None = None) -> Forgotten:
        """Empty a line for good. Raises Refused when there is no such line or it may not go."""
        if not because.strip():
            raise Refused("Forgetting needs a reason. Say why with --because.")
        with self._presence.lock():
            line = self._find(identity)
            identity = line.id
            content = self._journal.whole(line)
            if line.place is None or line.is_forgotten:
                raise Refused(f"{identity} is forgotten already.")
            if content.event not in FORGETTABLE or content.data.get("change") is not None:
                raise Refused(
                    f"{identity} is the proof of a step or a change ({line.event}), without which the record could not "
                    "explain itself. Only memories can be forgotten."
                )
            left = {name: value for name, value in as_fields(emptied(line)).items() if name != "id"}
            event = self._journal.append(
                "external",
                "forget",
                f"A memory of {line.timestamp[:10]} is forgotten on request. Because: {because.strip()}",
                event="forget",
                turn=turn,
                data={
                    "target": identity,
                    "day": line.place.day,
                    "number": line.place.number,
                    "offset": line.place.offset,
                    "length": line.place.length,
                    "left": left,
                    "blob": line.data.get("blob") if len(line.data) == 2 else None,
                },
            )
            return self.finish(event)

    def finish(self, event: Line) -> Forgotten:
        """Steps 2 to 4, as often as needed: each of them may have happened before. Only under the lock."""
        target = str(event.data.get("target"))
        left = event.data.get("left")
        fields = left if isinstance(left, Mapping) else {}
        copies = self._empty_foreign(event, fields) if "#" in target else self._empty_copies(event, target, fields)
        blob = event.data.get("blob")
        if isinstance(blob, str) and blob.isalnum():
            self._files.remove(f"blobs/{blob}")
        index.forget(self._files, target)
        self._journal.append(
            "kernel",
            "forget",
            f"Emptied {copies} copies of a line.",
            event="forgotten",
            data={"forget": event.id, "target": target, "copies": copies},
            turn=event.turn,
        )
        return Forgotten(target, copies)

    def _find(self, identity: str) -> Line:
        """The line with this id, or with this short id when only one has it."""
        lines = (item for item in self._journal.scan() if isinstance(item, Line))
        found = [line for line in lines if identity in (line.id, line.short_id)]
        if not found:
            raise Refused(f"There is no memory {identity}. `lumen memory` shows their ids.")
        if len(found) > 1:
            raise Refused(f"More than one memory is called {identity}. Use the whole id: {found[0].id}, {found[1].id}.")
        return found[0]

    def _empty_copies(self, event: Line, target: str, left: Mapping[str, Json]) -> int:
        """Every whole line with this id, and every fragment of one inside a line that nobody can read."""
        mark = b'{"id":"%s","timestamp":"' % target.encode("ascii")
        remains = encode_fields({"id": target, **left})
        copies = 0
        for file in self._files.days():
            for offset, length, raw, _ in self._files.lines(file.path, limit=READ_LIMIT):
                if raw is None or mark not in raw:
                    continue
                here = (file.day, offset, length)
                was_here = here == (event.data.get("day"), event.data.get("offset"), event.data.get("length"))
                item = decode(raw, Place(file.day, offset, length, 0))
                if (isinstance(item, Line) and item.id == target) or (was_here and raw.startswith(mark)):
                    self._files.overwrite(file.path, offset, remains.ljust(length))
                    copies += 1
                elif isinstance(item, Unreadable):
                    self._files.overwrite(file.path, offset, _without_fragments(raw, mark))
                    copies += 1
        return copies

    def _empty_foreign(self, event: Line, left: Mapping[str, Json]) -> int:
        """A line of another program has no id to look for: it is where it was, or it is left alone."""
        for file in self._files.days():
            if file.day != event.data.get("day"):
                continue
            for item in self._journal.scan_day(file, Cursor()):
                if item.place and item.place.number == event.data.get("number") and not isinstance(item, Unreadable):
                    length = item.place.length
                    if item.id != event.data.get("target"):
                        return 0
                    remains = next((form for form in (encode_fields(left), _LEAST) if len(form) <= length), b"")
                    self._files.overwrite(file.path, item.place.offset, remains.ljust(length))
                    return 1
        return 0


def _without_fragments(raw: bytes, mark: bytes) -> bytes:
    """An unreadable line without what a forgotten one left in it. A whole entry that was glued to its end stays."""
    at = raw.find(mark)
    while at >= 0:
        starts = [match.start() for match in _ENTRY.finditer(raw, at + 1)]
        stop = next((start for start in starts if isinstance(decode(raw[start:], _NOWHERE), Line)), len(raw))
        raw = raw[:at] + b" " * (stop - at) + raw[stop:]
        at = raw.find(mark)
    return raw

"""A fold kept in data/index/, so that a command reads only what is new. Derived: delete it, and the log is read again.

It is believed only when every file of the log still is the one it was made from: the same inode, at least as long,
and either not touched since or with the same last bytes before the place where reading stopped. A fold with anything
open is not kept, and no text of a memory is: what is forgotten must not live on here.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from lumen import __version__
from lumen.record.documents import Key
from lumen.record.files import Files
from lumen.record.fold import Ask, Fold
from lumen.record.journal import Cursor, Position
from lumen.record.line import Line, Place, Unreadable

NAME: Final = "index/fold.json"
TAIL: Final = 4096
RECENT_WRITERS: Final = 200


def save(files: Files, fold: Fold, cursor: Cursor) -> None:
    """Keep a fold, when nothing in it is open. Of no consequence when it fails."""
    if fold.open_changes or fold.open_intents or fold.open_forgets or fold.emptied:
        return
    positions = {
        path: [here.inode, here.offset, here.number, files.identity(path).touched, _tail(files, path, here.offset)]
        for path, here in cursor.positions.items()
    }
    body = json.dumps(
        {
            "program": __version__,
            "positions": positions,
            "last": dict(list(cursor.last.items())[-RECENT_WRITERS:]),
            "state": {file: [[*key, entry] for key, entry in entries.items()] for file, entries in fold.state.items()},
            "memories": fold.memories,
            "unreadable": fold.unreadable,
            "examples": [item._replace(start="") for item in fold.examples],
            "adoptions": fold.adoptions,
            "interruptions": fold.interruptions,
            "rebuilds": fold.rebuilds,
            "asks": [[ask.line, ask.answer, ask.claim, ask.result] for ask in fold.asks.values()],
            "tallies": fold.tallies,
            "replies": fold.replies,
            "forgotten": fold.forgotten,
            "foreign": fold.foreign,
            "last_line": fold.last and fold.last._replace(situation="", description="", data={}, extra={}, salt="-"),
        }
    ).encode()
    files.note(NAME, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def load(files: Files) -> tuple[Fold, Cursor] | None:
    """The fold that was kept, or None when there is none or the log is not the one it was made from."""
    digest, _, body = (files.read(NAME) or b"").partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        kept = json.loads(body)
        if kept["program"] != __version__ or not _is_the_same_log(files, kept["positions"]):
            return None
        fold = Fold(
            state={
                file: {Key(name, nth): entry for name, nth, entry in entries} for file, entries in kept["state"].items()
            },
            memories=Counter(kept["memories"]),
            unreadable=Counter(kept["unreadable"]),
            examples=[_unreadable(fields) for fields in kept["examples"]],
            adoptions=[_line(fields) for fields in kept["adoptions"]],
            interruptions=[_line(fields) for fields in kept["interruptions"]],
            rebuilds=[_line(fields) for fields in kept["rebuilds"]],
            asks={ask.line.id: ask for ask in map(_ask, kept["asks"])},
            tallies={kind: (count, total) for kind, (count, total) in kept["tallies"].items()},
            replies={who: _line(fields) for who, fields in kept["replies"].items()},
            forgotten=kept["forgotten"],
            foreign=kept["foreign"],
            last=_line(kept["last_line"]) if kept["last_line"] else None,
        )
        positions = {path: Position(*here[:3]) for path, here in kept["positions"].items()}
        return fold, Cursor(positions, {writer: (number, h) for writer, (number, h) in kept["last"].items()})
    return None


def _is_the_same_log(files: Files, positions: Mapping[str, list[int | str]]) -> bool:
    days = {file.path: file.day for file in files.days()}
    newest = max((days.get(path, "") for path in positions), default="")
    if any(path not in positions and day < newest for path, day in days.items()):
        return False
    for path, (inode, offset, _, touched, tail) in positions.items():
        found = files.identity(path)
        if found.inode != inode or found.size < int(offset):
            return False
        if (found.size != offset or found.touched != touched) and _tail(files, path, int(offset)) != tail:
            return False
    return True


def _tail(files: Files, path: str, offset: int) -> str:
    start = max(0, offset - TAIL)
    return hashlib.sha256(files.read_from(path, start)[: offset - start]).hexdigest()


def _line(fields: Any) -> Line:
    *own, place = fields
    return Line._make((*own, Place(*place) if place else None))


def _ask(fields: Any) -> Ask:
    line, answer, claim, result = fields
    return Ask(_line(line), _line(answer) if answer else None, _line(claim) if claim else None, result)


def _unreadable(fields: Any) -> Unreadable:
    place, reason, start = fields
    return Unreadable(Place(*place), reason, start)

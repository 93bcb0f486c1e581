"""One line of the log: its frozen shape, its commitments, and a reader that never raises.

Every line has the five fields of a memory, and beside them what makes it provable:

    id        "<boot uuid>:<number>"   one writer's lines, counted from 1
    timestamp author weight situation description
    turn      the turn it belongs to, or null
    event     what kind of line: "memory", "intent", "outcome", "change", ... (see fold.py)
    data      an object: ids and numbers that belong to the event
    salt      32 hexadecimal digits, random
    c         commitment to the content  = sha256("lumen.c.1\\n" salt "\\n" canonical [situation, description, data])
    prev      h of this writer's previous line, "" for its first
    h         sha256("lumen.h.1\\n" canonical {every field but situation, description, data, salt, h})

"canonical" is JSON with sorted keys, no white space, ASCII only, no NaN. The chain runs over h, and h covers the
content only through c. So a line can be emptied later (situation, description, data and salt gone, c kept) and the
chain still verifies, while nobody can guess the content from c without the salt.

Example: {"id":"6f1c...:1","timestamp":"2026-11-18T07:34:00.120Z","author":"external","weight":0.5,"situation":
"chat","description":"Hello","turn":null,"event":"memory","data":{},"salt":"9a..","c":"77..","prev":"","h":"b0.."}

This file does not know where lines are kept. Lines of other programs (five fields, no id, other fields beside them) are
read too: what they lack is filled in, what they have more is kept in `extra`. Their authors are what they state, since
nothing better is known; an event is only what this program wrote. What is hostile or torn comes back as `Unreadable`.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeGuard

import orjson

from lumen.json_value import Json
from lumen.record.strict_json import DEPTH_LIMIT, canonical, is_number, loads

Author = Literal["self", "kernel", "goal", "external"]
AUTHORS: Final[tuple[Author, ...]] = ("self", "kernel", "goal", "external")

LINE_LIMIT: Final = 64 * 1024
READ_LIMIT: Final = 1024 * 1024
UNSTATED_WEIGHT: Final = 0.5

_NOTHING: Final[Mapping[str, Json]] = {}
_COMMITTED: Final = ("situation", "description", "data", "salt")
_FIVE: Final = ("timestamp", "author", "weight", "situation", "description")
_OWN: Final = ("id", *_FIVE, "turn", "event", "data", "salt", "c", "prev", "h")
_KINDS: Final = [
    [str, str, str, weight, str, str, turn, str, dict, str, str, str, str]
    for weight in (float, int)
    for turn in (type(None), str)
]  # of the fields in _OWN
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:[1-9][0-9]{0,17}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_EXACT: Final = float(2**63)
_SPOILT: Final = 2**40
_SPACE_BEFORE_COLON = re.compile(rb'"[ \t\r\n]+:')


class Place(NamedTuple):
    """Where a line stands: the day of its file, its first byte, its length without the newline, its number from 1."""

    day: str
    offset: int
    length: int
    number: int


class Line(NamedTuple):
    """A line that could be read. `id` is made from its place when another program wrote it."""

    id: str
    timestamp: str
    author: Author
    weight: float
    situation: str
    description: str
    turn: str | None = None
    event: str = "memory"
    data: Mapping[str, Json] = _NOTHING
    salt: str = ""
    c: str = ""
    prev: str = ""
    h: str = ""
    extra: Mapping[str, Json] = _NOTHING
    place: Place | None = None

    @property
    def is_chained(self) -> bool:
        return self.h != ""

    @property
    def is_forgotten(self) -> bool:
        return self.is_chained and self.salt == ""

    @property
    def writer(self) -> str:
        return self.id.partition(":")[0]

    @property
    def short_id(self) -> str:
        """Enough of the id for a person to type."""
        return f"{self.id[:8]}:{self.number}" if self.is_chained else self.id

    @property
    def number(self) -> int:
        """Which of its writer's lines it is."""
        return int(self.id.partition(":")[2])


class Unreadable(NamedTuple):
    """A line that is kept, skipped, counted and shown, but never believed."""

    place: Place
    reason: str
    start: str


def new_salt() -> str:
    return os.urandom(16).hex()


def commitment(salt: str, situation: str, description: str, data: Mapping[str, Json]) -> str:
    content = canonical([situation, description, data])
    return hashlib.sha256(b"lumen.c.1\n" + salt.encode("ascii") + b"\n" + content).hexdigest()


def link(line: Line) -> str:
    """The hash that the next line of this writer names. Fields that nobody here writes are covered as well."""
    covered = {name: value for name, value in as_fields(line).items() if name not in _COMMITTED and name != "h"}
    return hashlib.sha256(b"lumen.h.1\n" + canonical(covered)).hexdigest()


def sealed(line: Line) -> Line:
    """The line with its commitment and its link filled in."""
    line = line._replace(c=commitment(line.salt, line.situation, line.description, line.data))
    return line._replace(h=link(line))


def emptied(line: Line) -> Line:
    """What is left of a forgotten line: everything but its content."""
    extra = line.extra if line.is_chained else _NOTHING
    return line._replace(situation="", description="", data={}, salt="", extra=extra)


def as_fields(line: Line) -> dict[str, Json]:
    """The JSON object of a line, the id first, so that even a fragment says whose it was."""
    if not line.is_chained and not line.c:
        own: dict[str, Json] = {
            "timestamp": line.timestamp,
            "author": line.author,
            "weight": line.weight,
            "situation": line.situation,
            "description": line.description,
        }
    else:
        own = {
            "id": line.id,
            "timestamp": line.timestamp,
            "author": line.author,
            "weight": line.weight,
            "situation": line.situation,
            "description": line.description,
            "turn": line.turn,
            "event": line.event,
            "data": line.data,
            "salt": line.salt,
            "c": line.c,
            "prev": line.prev,
            "h": line.h,
        }
    return {**own, **line.extra}


def encode(line: Line) -> bytes:
    return encode_fields(as_fields(line))


def encode_fields(fields: Mapping[str, Json]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")


def decode(raw: bytes, place: Place) -> Line | Unreadable:
    """One physical line, without its newline. Never raises, whatever the bytes are."""
    try:
        fields = strict_object(raw)
    except ValueError as problem:
        torn = "torn" if raw[:1] == b"{" and not raw.rstrip().endswith(b"}") else f"not readable: {problem}"
        return Unreadable(place, torn, _start(raw))
    identity = fields.get("id")
    if isinstance(identity, str) and _ID.fullmatch(identity) and isinstance(fields.get("h"), str):
        return _own_line(fields, place, raw)
    return _foreign_line(fields, place, raw)


def strict_object(raw: bytes) -> dict[str, Json]:
    """Parse one JSON object: no duplicate keys, no NaN or Infinity, no number beyond a float. Raises ValueError.

    The fast parser keeps the last of two equal keys, which would let outside text name its own author. In compact
    JSON every key ends in `":`, and inside a string those two bytes need a backslash before them. So when no `\":`
    and no white space before a colon occurs, counting `":` counts the keys, and a duplicate shows as one key too few.
    Integers beyond 64 bits it would round. In every case of doubt the careful parser decides.
    """
    try:
        value = orjson.loads(raw)
        keys = _count_keys(value)
    except (orjson.JSONDecodeError, RecursionError):
        value, keys = None, 0
    if (
        type(value) is dict
        and b'\\":' not in raw
        and raw.count(b'":') == keys
        and not ((b'" ' in raw or b'"\t' in raw or b'"\r' in raw or b'"\n' in raw) and _SPACE_BEFORE_COLON.search(raw))
    ):
        return value
    value = loads(raw.decode("utf-8-sig"))
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def is_author(value: object) -> TypeGuard[Author]:
    return value in AUTHORS


def _own_line(fields: Mapping[str, Json], place: Place, raw: bytes) -> Line | Unreadable:
    """A line of this program, every field of the kind it must be. Every line passes here: the form is for speed."""
    try:
        own = [fields[name] for name in _OWN]
    except KeyError:
        own = []
    if list(map(type, own)) in _KINDS:
        line = Line._make((*own, _NOTHING, place))
        if line.author in AUTHORS and 0 <= line.weight <= 1 and _HASH.fullmatch(line.h) and line.salt.isascii():
            if len(fields) == len(_OWN):
                return line
            return line._replace(extra={name: value for name, value in fields.items() if name not in _OWN})
    return Unreadable(place, "not readable: it has an id of this program but not its fields", _start(raw))


def _foreign_line(fields: Mapping[str, Json], place: Place, raw: bytes) -> Line | Unreadable:
    """A memory by another program: its five fields, loosely; the rest is kept as it is."""
    situation, description = fields.get("situation"), fields.get("description")
    if not isinstance(situation, str) and not isinstance(description, str):
        return Unreadable(place, "not a memory: neither situation nor description", _start(raw))
    author, weight, timestamp = fields.get("author"), fields.get("weight"), fields.get("timestamp")
    return Line(
        id=f"{place.day}#{place.number}",
        timestamp=timestamp if isinstance(timestamp, str) else place.day,
        author=author if is_author(author) else "external",
        weight=float(min(max(weight, 0.0), 1.0)) if is_number(weight) else UNSTATED_WEIGHT,
        situation=situation if isinstance(situation, str) else "",
        description=description if isinstance(description, str) else "",
        extra={name: value for name, value in fields.items() if name not in _FIVE},
        place=place,
    )


def _count_keys(value: Any, levels: int = DEPTH_LIMIT) -> int:
    """Keys of objects at every depth. What the careful parser must look at spoils the count: too deep, or a float that
    may be an integer which was rounded."""
    kind = type(value)
    if kind is dict or kind is list:
        if levels == 0:
            return _SPOILT
        count = len(value) if kind is dict else 0
        for inner in value.values() if kind is dict else value:
            if type(inner) is not str:
                count += _count_keys(inner, levels - 1)
        return count
    return _SPOILT if kind is float and not -_EXACT < value < _EXACT else 0


def _start(raw: bytes) -> str:
    return raw[:80].decode("utf-8", "replace")

"""What the state files say, as entries with keys, and how one entry is changed while all the rest is kept. Pure.

values.json and goals/<year>.json are lists of objects with a name. A person edits them, and other programs write
them: fields nobody here knows, an object around the list, entries without a name, two entries with one name. All of
it is kept.

    Key("care", 0)    the first entry named care; Key("care", 1) the second one
    Key("", 2)        the third entry that has no name
    Key(None, 0)      what stands around the list, when the file is an object

soul.md is one entry, its whole text, under Key("soul", 0). A blank file has no entries. The order of entries and the
white space around them are the writer's own taste: they are kept as far as possible and never count as a change.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from lumen.json_value import Json
from lumen.record.strict_json import loads

SOUL: Final = "soul.md"
VALUES: Final = "values.json"
_GOALS = re.compile(r"goals/\d{4}\.json", re.ASCII)


class Key(NamedTuple):
    name: str | None
    nth: int


@dataclass(frozen=True, slots=True)
class Delta:
    """One entry before and after. None: it was not there, or is not there any more."""

    key: Key
    before: Json
    after: Json


class NotADocument(ValueError):
    """The bytes are not what this file should hold. The message names the line."""


Entries = Mapping[Key, Json]
SOUL_KEY: Final = Key("soul", 0)


def is_state_file(name: str) -> bool:
    return name in (SOUL, VALUES) or _GOALS.fullmatch(name) is not None


def goals_file(year: int) -> str:
    return f"goals/{year:04d}.json"


def read_entries(name: str, raw: bytes | None) -> dict[Key, Json]:
    """What a state file holds. Raises NotADocument."""
    text = _text(raw)
    if name == SOUL:
        return {SOUL_KEY: text} if text.strip() else {}
    return {key: entry for key, entry, _ in _located(name, text)}


def line_of(name: str, raw: bytes | None, key: Key, field: str) -> int:
    """The line on which a field of an entry stands, or else the entry itself; 1 when it cannot be told."""
    text = _text(raw)
    start = next((start for found, _, start in _located(name, text) if found == key), 0)
    return text.count("\n", 0, _fields_at(text, start).get(field, start)) + 1


def with_changes(name: str, raw: bytes | None, deltas: Iterable[Delta]) -> bytes:
    """The file with some entries changed. What is not named stays as it is. Raises NotADocument."""
    changes = {delta.key: delta.after for delta in deltas}
    if name == SOUL:
        after = changes.get(SOUL_KEY, _text(raw))
        return after.encode("utf-8", "replace") if isinstance(after, str) else b""
    text = _text(raw)
    around = _loads(text) if text.strip() else []
    present = {key: entry for key, entry, _ in _located(name, text)}
    entries = [
        changes.get(key, entry)
        for key, entry in present.items()
        if key.name is not None and not (key in changes and changes[key] is None)
    ]
    entries += [
        after for key, after in changes.items() if key not in present and key.name is not None and after is not None
    ]
    rest = changes.get(Key(None, 0), present.get(Key(None, 0)))
    if isinstance(rest, Mapping):
        holder = _holder(name, around) if isinstance(around, Mapping) else None
        free = (
            field
            for field in (_default_holder(name), "entries", f"{_default_holder(name)} of lumen")
            if field not in rest
        )
        return _dumps({**rest, holder or next(free): entries})
    return _dumps(entries)


def differences(known: Entries, found: Entries) -> list[Delta]:
    """What must be changed to get from the known entries to those that were found."""
    keys = [*known, *(key for key in found if key not in known)]
    return [
        Delta(key, known.get(key), found.get(key)) for key in keys if not same(known.get(key), found.get(key))
    ]  # fmt: skip


def same(one: Json, other: Json) -> bool:
    """Equal as JSON: 1 and 1.0 are, true and 1 are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same(left, right) for left, right in zip(one, other, strict=True))
    return one == other


def delta_to_json(delta: Delta) -> Json:
    return {"name": delta.key.name, "nth": delta.key.nth, "before": delta.before, "after": delta.after}


def deltas_from_json(changes: Json) -> list[Delta]:
    """The deltas a line names; what is not one is passed over."""
    if not isinstance(changes, list):
        return []
    return [
        Delta(Key(name, nth), change.get("before"), change.get("after"))
        for change in changes
        if isinstance(change, Mapping)
        and (isinstance(name := change.get("name"), str) or name is None)
        and isinstance(nth := change.get("nth"), int)
    ]


def describe(name: str, delta: Delta) -> str:
    """One change in words: `care: weight 0.5 -> 0.7`."""
    if name == SOUL:
        before, after = (len(text) if isinstance(text, str) else 0 for text in (delta.before, delta.after))
        return f"the soul is rewritten ({before} -> {after} characters)"
    label = delta.key.name if delta.key.name else ("the file around the list" if delta.key.name is None else "an entry")
    if delta.before is None:
        return f"{label}: added ({_brief(delta.after)})"
    if delta.after is None:
        return f"{label}: removed (was {_brief(delta.before)})"
    if isinstance(delta.before, Mapping) and isinstance(delta.after, Mapping):
        fields = [*delta.before, *(field for field in delta.after if field not in delta.before)]
        changed = [
            f"{field} {_brief(delta.before.get(field))} -> {_brief(delta.after.get(field))}"
            for field in fields
            if not same(delta.before.get(field), delta.after.get(field))
        ]
        return f"{label}: {', '.join(changed)}"
    return f"{label}: {_brief(delta.before)} -> {_brief(delta.after)}"


def _located(name: str, text: str) -> list[tuple[Key, Json, int]]:
    """The entries of a JSON file with where each starts."""
    if not text.strip():
        return []
    document = _loads(text)
    found: list[tuple[Key, Json, int]] = []
    items: Json = document
    at = text.find("[")
    if isinstance(document, Mapping):
        holder = _holder(name, document)
        items = document[holder] if holder else []
        rest = {field: value for field, value in document.items() if field != holder}
        found.append((Key(None, 0), rest, 0))
        at = text.find("[", text.find(json.dumps(holder, ensure_ascii=False)) if holder else 0)
    if not isinstance(items, list):
        raise NotADocument(f"line 1: expected a list of entries, found {type(document).__name__}")
    decoder = json.JSONDecoder(object_pairs_hook=dict)
    counts: dict[str, int] = {}
    for item in items:
        named = item.get("name") if isinstance(item, Mapping) else None
        called = named if isinstance(named, str) else ""
        start = at = _next_value(text, at + 1)
        try:
            _, at = decoder.raw_decode(text, start)
        except ValueError:
            at = start
        found.append((Key(called, counts.get(called, 0)), item, start))
        counts[called] = counts.get(called, 0) + 1
    return found


def _fields_at(text: str, start: int) -> dict[str, int]:
    """Where each field of the object that begins at `start` stands; nothing when there is no object."""
    found: dict[str, int] = {}
    decoder = json.JSONDecoder()
    if text[start : start + 1] != "{":
        return found
    at = _next_value(text, start + 1)
    try:
        while text[at : at + 1] == '"':
            name, end = decoder.raw_decode(text, at)
            found[name] = at
            _, end = decoder.raw_decode(text, _next_value(text, end))
            at = _next_value(text, end)
    except (ValueError, RecursionError):
        return found
    return found


def _next_value(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,:":
        at += 1
    return at


def _holder(name: str, document: Mapping[str, Json]) -> str | None:
    """The field of an object that holds the list of entries: `values` or `goals`, or else the first list there is."""
    lists = [field for field, value in document.items() if isinstance(value, list)]
    return next((field for field in (_default_holder(name), *lists) if field in lists), None)


def _default_holder(name: str) -> str:
    return "values" if name == VALUES else "goals"


def _text(raw: bytes | None) -> str:
    try:
        return (raw or b"").decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = (raw or b"")[: problem.start].count(b"\n") + 1
        raise NotADocument(f"line {line}: not text in UTF-8") from None


def _loads(text: str) -> Json:
    try:
        return loads(text)
    except ValueError as problem:
        raise NotADocument(str(problem)) from None


def _dumps(value: Json) -> bytes:
    try:
        return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:
        return (json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")


def _brief(value: Json) -> str:
    if isinstance(value, Mapping):
        shown = [f"{field} {_brief(value[field])}" for field in ("weight", "status") if field in value]
        return ", ".join(shown) or f"{len(value)} fields"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."

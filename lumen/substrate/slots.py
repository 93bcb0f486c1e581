"""What a skill wants to be given, read from its `--help`, and those things found in what was said.

The fields are the keys of the JSON object behind "Input" in the help; a question mark or the word "optional" says that
one need not be given. The name of a field says what it wants: a path, a
link, a number, a date, a person, or words. Found literally in what was said, or not at all: nothing is guessed. Does
not know what a skill does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lumen.json_value import Json
from lumen.substrate.phrases import FieldRole, Phrases

_INPUT: Final = re.compile(r"[Ii]nput\b[^{}]{0,80}\{(.*?)\}", re.DOTALL)
_FIELD: Final = re.compile(r'"(\w{1,40}\??)"\s*:\s*("[^"]*"|[^,}\s]+)?')
_QUOTED: Final = re.compile(r"\"([^\"\n]{1,500})\"|“([^”\n]{1,500})”|(?<!\w)'([^'\n]{1,500})'(?!\w)")
_URL: Final = re.compile(
    r"https?://[^\s\"'<>]+|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev)(?:/[^\s\"'<>]*)?", re.IGNORECASE
)
_PATH: Final = re.compile(
    r"(?<![\w/])(?:~|\.{1,2})?/[\w./-]+|\b[\w-]+(?:[/.][\w-]+)*\.[A-Za-z]\w{0,4}\b|\b[\w-]+/[\w./-]*"
)
_PLACE: Final = re.compile(
    r"\b(?:folder|directory|file)\s+(?:called\s+|named\s+)?([\w./-]+)|\b([\w.-]+) (?:folder|directory)\b"
)
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?![\w.]*\w)")
_DATE: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d\b|\b(?:today|tomorrow|yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
    re.I,
)
_RECIPIENT: Final = re.compile(r"\b(?:to|for|with|call|email)\s+([A-Z][\w'-]+(?: [A-Z][\w'-]+)?)")
_BEHIND_COLON: Final = re.compile(r":\s+(\S.{0,2000})$", re.DOTALL)
_BEHIND_WORD: Final = re.compile(
    r"\b(?:for|about|mentions?|mentioning|saying|on|containing)\s+(?:the\s+|a\s+|an\s+|my\s+)?(\S.{0,500}?)[.!?]*$",
    re.DOTALL,
)
_WHERE: Final = re.compile(r"\s+(?:in|below|under|inside|from)\s+(?:(?:~|\.{1,2})?/\S*|(?:the|my)\s+\S+\s+folder)\W*$")
_READ: Final = 8_000


@dataclass(frozen=True, slots=True)
class Filled:
    """What was found, and the names of the required fields for which nothing was.

    `is_certain` when one of them is of a kind that is not mistaken for plain words: a path, a link, a number, a date.
    """

    parameters: Mapping[str, Json]
    missing: tuple[str, ...]
    is_certain: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that a skill is given: whether it must be, and what it may be when that is a short list."""

    name: str
    is_required: bool
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slots:
    roles: Mapping[FieldRole, tuple[str, ...]]

    @classmethod
    def of(cls, phrases: Phrases) -> "Slots":
        return cls(phrases.fields)

    def fill(self, help_text: str, said: str) -> Filled:
        found: dict[str, Json] = {}
        missing: list[str] = []
        is_certain = False
        for field in fields_of(help_text):
            role = self._role(field.name)
            value = _chosen(field.choices, said) if field.choices else _find(role, said[:_READ])
            if value is not None:
                found[field.name] = value
                is_certain |= field.is_required and role not in ("text", "name")
            elif field.is_required:
                missing.append(field.name)
        return Filled(found, tuple(missing), is_certain)

    def _role(self, field: str) -> FieldRole:
        parts = field.lower().split("_")
        for role, names in self.roles.items():
            if any(part in names for part in parts):
                return role
        return "text"


def fields_of(help_text: str) -> list[Field]:
    found = _INPUT.search(help_text[:_READ])
    return [_field(name, example) for name, example in _FIELD.findall(found.group(1))] if found else []


def _field(name: str, example: str) -> Field:
    """`"do?": "list|read"` need not be given and is one of two."""
    is_required = not (name.endswith("?") or re.search(r"optional|default|null", example, re.IGNORECASE))
    choices = tuple(example.strip('"').split("|")) if "|" in example else ()
    return Field(name.rstrip("?"), is_required, choices)


def described(help_text: str) -> str:
    """What the skill says it does: its help without usage, options and shapes of input and output."""
    kept = []
    for line in help_text[:_READ].splitlines():
        if re.match(r"\s*(?:options|optional arguments|input)\b", line, re.IGNORECASE):
            break
        if not re.match(r"\s*(?:usage:|-)", line, re.IGNORECASE):
            kept.append(re.split(r"\bInput\b", line)[0])
    return " ".join(" ".join(kept).split())


def _chosen(choices: tuple[str, ...], said: str) -> str | None:
    """The choice that was said first."""
    spoken = re.findall(r"\w+", said.lower())
    named = [choice for choice in choices if choice.lower() in spoken]
    return min(named, key=lambda choice: spoken.index(choice.lower()), default=None)


def _find(role: FieldRole, said: str) -> Json:
    match role:
        case "path":
            return _path(said)
        case "url":
            return _first(_URL, said)
        case "number":
            digits = _first(_NUMBER, _URL.sub(" ", said))
            return int(digits) if digits and len(digits) < 16 else None
        case "date":
            return _first(_DATE, said)
        case "name":
            return _first(_RECIPIENT, said)
        case "text":
            return _text(said)


def _path(said: str) -> str | None:
    quoted = _first(_QUOTED, said)
    if quoted and _PATH.search(quoted):
        return quoted
    bare = _URL.sub(lambda url: " " if "://" in url.group() else url.group(), said)
    return _first(_PATH, bare) or _first(_PLACE, bare)


def _text(said: str) -> str | None:
    return _first(_QUOTED, said) or _first(_BEHIND_COLON, said) or _first(_BEHIND_WORD, _WHERE.sub("", said))


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    """The first match: its first group that took part, or all of it."""
    found = pattern.search(text)
    if found is None:
        return None
    group = next((group for group in found.groups() if group), found.group())
    return group.strip().rstrip(".,;!?") or None

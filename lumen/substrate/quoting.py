"""Frames filled with quotations: the only way in which reflex makes a sentence.

A quotation is what somebody wrote, between double quotes, and where it stands. Inside it nothing can close the
quotation or look like a source: double quotes become single, square brackets round; control characters and escape
sequences go.

    shown    On 2026-11-03 you said: "The spare key is with Marta." [3fa2c1d0:12]
    stored   On 2026-11-03 you said: [3fa2c1d0:12]

The stored form never repeats what was recalled. Does not choose what is quoted.
"""

import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MOST_QUOTED: Final = 280
MOST_NAMED: Final = 80

_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)", re.DOTALL)
_HARMLESS: Final = str.maketrans(
    {"[": "(", "]": ")", "\uff3b": "(", "\uff3d": ")"} | dict.fromkeys('"“”„‟«»\uff02', "'")
)
_READ: Final = 4_000
_ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True)
class Quotation:
    """A text as it is shown and as it is kept, and the ids of the memories it quotes."""

    shown: str
    stored: str
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames by name. A slot that is missing, or given and not used, is an error."""

    texts: Mapping[str, str]

    def fill(self, frame: str, **slots: str | Quotation) -> Quotation:
        text = self.texts[frame]
        wanted = {name for _, name, _, _ in string.Formatter().parse(text) if name}
        if wanted != slots.keys():
            raise KeyError(f"the frame {frame} has the slots {sorted(wanted)}, given were {sorted(slots)}")
        quotations = {name: _as_quotation(slot) for name, slot in slots.items()}
        return Quotation(
            text.format(**{name: slot.shown for name, slot in quotations.items()}),
            text.format(**{name: slot.stored for name, slot in quotations.items()}),
            tuple(identity for slot in quotations.values() for identity in slot.cites),
        )


def joined(parts: Sequence[Quotation]) -> Quotation:
    """One reply: a sentence that quotes a memory begins a line of its own, the others follow each other."""
    shown = stored = ""
    for part in parts:
        border = "" if not shown else "\n" if part.cites else " "
        shown, stored = shown + border + part.shown, stored + border + part.stored
    return Quotation(shown, stored, tuple(dict.fromkeys(cite for part in parts for cite in part.cites)))


def quotation(text: str, source: str, *, cites: tuple[str, ...] = (), most: int = MOST_QUOTED) -> Quotation:
    """`source` is a short id or the name of a file: shown behind the text, kept instead of it."""
    mark = f"[{plain(source, most=MOST_NAMED)}]"
    return Quotation(f'"{plain(text, most=most)}" {mark}', mark, cites)


def named(name: str) -> Quotation:
    """The name of a value, a goal or a skill: kept as it is."""
    shown = f'"{plain(name, most=MOST_NAMED)}"'
    return Quotation(shown, shown)


def plain(text: str, *, most: int = MOST_QUOTED) -> str:
    """One line of `text` that can stand between double quotes; shortened at a word, with an ellipsis."""
    seen = text[:_READ]
    visible = "".join(" " if letter.isspace() else letter for letter in _ESCAPE.sub("", seen) if _is_visible(letter))
    line = " ".join(visible.translate(_HARMLESS).split())
    if len(line) <= most and len(text) <= _READ:
        return line
    cut = line[:most]
    head, _, _ = cut.rpartition(" ") if len(line) > most else (cut, "", "")
    return (head if len(head) > most // 2 else cut).rstrip() + _ELLIPSIS


def person(name: str) -> str:
    """A person's name that can stand in a sentence: letters, digits and a few signs, never a quotation mark."""
    kept = "".join(letter if letter.isalnum() or letter in " -'._" else " " for letter in plain(name, most=MOST_NAMED))
    return " ".join(kept.split())[:40].strip()


def _as_quotation(slot: str | Quotation) -> Quotation:
    return slot if isinstance(slot, Quotation) else Quotation(slot, slot)


def _is_visible(letter: str) -> bool:
    return letter.isspace() or not unicodedata.category(letter).startswith("C")

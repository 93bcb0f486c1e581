"""soul.md: name, ontology and story of the self, in Markdown. A Reader looks; an Editor rewrites it and says why."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lumen.errors import Refused
from lumen.record.documents import SOUL, SOUL_KEY, Delta, Entries
from lumen.record.record import Record
from lumen.record.state_files import By, Change

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_TITLE = re.compile(r"#\s+(.*?)\s*#*\s*")
_FIELD = re.compile(
    r"\s*(?:[-*]\s+)?(?:\*\*|__)?(name|ontology)\s*(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.+)", re.IGNORECASE
)
_GENERIC = ("soul", "self", "identity", "who i am")


@dataclass(frozen=True, slots=True)
class Soul:
    text: str
    name: str
    ontology: str


class SoulReader:
    def __init__(self, record: Record) -> None:
        self._record = record

    def read(self) -> Soul:
        text = self._record.states.entries(SOUL).get(SOUL_KEY)
        return summarized(text if isinstance(text, str) else "")


class SoulEditor(SoulReader):
    def __init__(self, record: Record, by: By, turn: str | None = None) -> None:
        super().__init__(record)
        self._by: By = by
        self._turn = turn

    def rewrite(self, text: str, *, because: str, instead_of: str | None = None) -> Change | None:
        """Another text. With `instead_of`, Refused when the soul is not that text any more."""
        text = text.removeprefix("\ufeff")
        if not _can_be_stored(text):
            raise Refused("The new soul has characters that no file can hold (lone surrogates). Nothing was changed.")

        def edit(entries: Entries) -> list[Delta]:
            before = entries.get(SOUL_KEY)
            if instead_of is not None and (before or "") != instead_of:
                raise Refused("soul.md was changed meanwhile. Nothing was changed now; look at it and try again.")
            return [Delta(SOUL_KEY, before, text if text.strip() else None)]

        return self._record.states.change(SOUL, edit, because=because, by=self._by, turn=self._turn)


def _can_be_stored(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def summarized(text: str) -> Soul:
    """Name and ontology: a field (`Name: Nova`), a section (`## Ontology`), or the title as the name."""
    lines = text.splitlines()
    stated = {match[1].lower(): match[2].strip(" *_") for line in reversed(lines) if (match := _FIELD.fullmatch(line))}
    sections = _sections(lines)
    title = next((match[1] for line in lines if (match := _TITLE.fullmatch(line))), "")
    return Soul(
        text,
        stated.get("name") or _section(sections, "name") or ("" if title.lower() in _GENERIC else title),
        stated.get("ontology") or _section(sections, "ontology"),
    )


def _sections(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Each heading with its first paragraph."""
    found: list[tuple[str, str]] = []
    paragraph: list[str] = []
    heading = ""
    for line in [*lines, "# end"]:
        match = _HEADING.fullmatch(line)
        if match is None:
            paragraph.append(line.strip())
            continue
        first = "\n".join(paragraph).strip().partition("\n\n")[0]
        found.append((heading, " ".join(first.split())))
        heading, paragraph = match[2], []
    return found


def _section(sections: Sequence[tuple[str, str]], name: str) -> str:
    return next((text for heading, text in sections if heading.lower() == name), "")

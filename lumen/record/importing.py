"""A life from elsewhere: memories of a JSONL file, appended as memories of this instance. Twice is the same as once.

Each line keeps its own timestamp, author, weight and texts; what else it has is kept in `data`. Who wrote it is set
by code: self, goal and external as stated, and everything else, also `kernel`, as external. The key that makes it
idempotent is a hash of the line, so a run that was killed can simply be run again.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lumen.json_value import Json
from lumen.record.line import Line, strict_object
from lumen.record.memory import LIVED
from lumen.record.record import Record
from lumen.record.strict_json import canonical, is_number

_FIELDS = ("timestamp", "author", "weight", "situation", "description")


@dataclass(slots=True)
class ImportReport:
    imported: int = 0
    known: int = 0
    bad: list[tuple[int, str]] = field(default_factory=list)


class Importer:
    def __init__(self, record: Record) -> None:
        self._record = record

    def run(self, lines: Iterable[bytes], source: str) -> Iterator[ImportReport]:
        """Yields its running report, at first and after each line; the lines are durable when it ends."""
        report = ImportReport()
        yield report
        journal = self._record.journal
        lines_here = (journal.whole(item) for item in journal.scan() if isinstance(item, Line))
        known = {key for line in lines_here if isinstance(key := line.data.get("imported"), str)}
        try:
            for number, raw in enumerate(lines, start=1):
                if raw.strip():
                    self._take(raw, number, source, report, known)
                yield report
        finally:
            journal.sync()

    def _take(self, raw: bytes, number: int, source: str, report: ImportReport, known: set[str]) -> None:
        try:
            fields = strict_object(raw)
            problem = _problem(fields)
        except ValueError as invalid:
            fields, problem = {}, str(invalid)
        if problem:
            report.bad.append((number, problem))
            return
        key = hashlib.sha256(canonical(fields)).hexdigest()[:32]
        if key in known:
            report.known += 1
            return
        known.add(key)
        stated = fields.get("author")
        extra = {name: value for name, value in fields.items() if name not in _FIELDS}
        if stated not in LIVED:
            extra["author"] = stated
        weight = fields.get("weight", 0.5)
        self._record.journal.append(
            next((author for author in LIVED if author == stated), "external"),
            str(fields.get("situation", "")),
            str(fields.get("description", "")),
            weight=float(weight) if is_number(weight) else 0.5,
            timestamp=str(fields["timestamp"]),
            data={"imported": key, "from": source, **({"fields": extra} if extra else {})},
            durable=False,
        )
        report.imported += 1


def _problem(fields: Mapping[str, Json]) -> str:
    """Why a line cannot be imported, or nothing."""
    timestamp, weight = fields.get("timestamp"), fields.get("weight", 0.5)
    if not any(isinstance(fields.get(name), str) and fields.get(name) for name in ("situation", "description")):
        return "neither a situation nor a description"
    if any(not isinstance(fields.get(name, ""), str) for name in ("situation", "description")):
        return "situation and description must be text"
    if not is_number(weight) or not 0 <= weight <= 1:
        return f"weight is {weight!r}, not a number from 0 to 1"
    try:
        datetime.fromisoformat(timestamp if isinstance(timestamp, str) else "")
    except ValueError:
        return f"timestamp is {timestamp!r}, not a moment in ISO 8601"
    return ""

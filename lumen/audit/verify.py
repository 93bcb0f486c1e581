"""Does the log prove itself? Chains, commitments, emptied lines and blobs. Reads, never writes.

Changes of the self: each begins where the one before it ended. For every writer: each line links to the one before,
its own hash and its commitment hold, and no line is missing in between. A line without content is accepted only with
a forget event that names it. Lines of other programs have no chain: they are counted as unproven, not as wrong. A
crash leaves fragments, which are torn, not tampered with.

What a chain cannot show without seals: that the last lines of a writer, or all of a writer, were cut off, or that a
whole chain was written anew by somebody who can compute hashes. Only a log that lost a line which this machine had
seen is noticed (`went back`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from lumen.json_value import Json
from lumen.record.documents import Key, deltas_from_json, same
from lumen.record.line import Line, Unreadable, commitment, link

HasBlob = Callable[[str], bool]
Whole = Callable[[Line], Line]
State = dict[tuple[str, Key], Json]
Kind = Literal["hash", "content", "chain", "order", "emptied", "blob", "went_back"]


@dataclass(frozen=True, slots=True)
class Fault:
    kind: Kind
    place: str
    text: str


@dataclass(slots=True)
class Verdict:
    lines: int = 0
    unproven: int = 0
    torn: int = 0
    forgotten: int = 0
    writers: int = 0
    is_blind: bool = False  # a change whose content cannot be read: what follows cannot be put in order
    faults: list[Fault] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.faults


def verify(items: Iterable[Line | Unreadable], *, has_blob: HasBlob, whole: Whole = lambda line: line) -> Verdict:
    verdict = Verdict()
    state: State = {}
    heads: dict[str, Line] = {}
    emptied: dict[str, Line] = {}
    named: set[str] = set()
    for item in items:
        if isinstance(item, Unreadable):
            verdict.torn += 1
            continue
        verdict.lines += 1
        if not item.is_chained:
            verdict.unproven += 1
            continue
        if item.event == "forget":
            named.add(str(item.data.get("target")))
        if item.is_forgotten:
            emptied[item.id] = item
        verdict.faults += _faults_of(item, heads.get(item.writer), has_blob)
        if item.event in ("change", "adopted") and not verdict.is_blind:
            change = whole(item)
            verdict.is_blind = "changes" not in change.data
            verdict.faults += _faults_of_order(change, state)
        heads[item.writer] = item
    verdict.forgotten, verdict.writers = len(emptied), len(heads)
    verdict.faults += [
        Fault("emptied", where(line), f"line {line.id} was emptied, and no forget event names it")
        for line in emptied.values()
        if line.id not in named
    ]
    return verdict


def _faults_of_order(line: Line, state: State) -> list[Fault]:
    """Each change begins where the one before it ended; in another order they would not fit."""
    file = str(line.data.get("file"))
    deltas = deltas_from_json(line.data.get("changes"))
    misfits = [delta for delta in deltas if not same(state.get((file, delta.key)), delta.before)]
    state.update({(file, delta.key): delta.after for delta in deltas})
    if not misfits:
        return []
    return [Fault("order", where(line), f"line {line.id} does not begin where the change before it ended")]


def where(line: Line) -> str:
    if line.place is None:
        return line.id
    return f"data/memory/{line.place.day[:4]}/{line.place.day}.jsonl, line {line.place.number}"


def _faults_of(line: Line, before: Line | None, has_blob: HasBlob) -> list[Fault]:
    faults = []
    if link(line) != line.h:
        faults.append(Fault("hash", where(line), f"line {line.id} was changed: its hash does not fit"))
    if not line.is_forgotten and commitment(line.salt, line.situation, line.description, line.data) != line.c:
        faults.append(Fault("content", where(line), f"the content of line {line.id} was changed"))
    if line.is_forgotten and (line.situation or line.description or line.data):
        faults.append(Fault("content", where(line), f"line {line.id} has no salt and yet has content"))
    if line.prev != (before.h if before else "") or line.number != (before.number if before else 0) + 1:
        faults.append(
            Fault("chain", where(line), f"before line {line.id} a line of the same writer is missing or changed")
        )
    blob = line.data.get("blob")
    if isinstance(blob, str) and len(line.data) == 2 and not has_blob(blob):
        text = f"the blob {blob} of line {line.id} is missing or changed (in a copy: copy data/blobs after the log)"
        faults.append(Fault("blob", where(line), text))
    return faults

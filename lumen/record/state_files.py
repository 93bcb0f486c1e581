"""soul.md, values.json and goals/<year>.json: the files are what is, the log is why.

A change, under a short lock:
    1  settle: what a person's hand or a crash left in this file is dealt with first
    2  event `change` with before, after and because        a crash after this: the next open redoes the change
    3  the file is read now, this entry changed, the rest kept, the file replaced
    4  the self memory that explains it                     a crash before this: it is written from `because`
    5  event `applied`

Settling one file: an unreadable or missing file is kept aside and rebuilt from the log; an open change is finished
where the file still holds what was before; every other difference is a person's hand and is adopted as an external
event. So after settling, file = fold of the log, and nothing a person wrote was reverted.

One limit: when a crash hits between 3 and 5 and the person then restores exactly what was before, that looks like a
crash between 2 and 3. The change is redone, and shown. Nothing else is ambiguous.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lumen.errors import BrokenState, RecordError, Refused
from lumen.json_value import Json
from lumen.record.documents import (
    SOUL,
    VALUES,
    Delta,
    Entries,
    Key,
    NotADocument,
    delta_to_json,
    describe,
    differences,
    is_state_file,
    read_entries,
    same,
    with_changes,
)
from lumen.record.files import Files
from lumen.record.fold import Fold, OpenChange
from lumen.record.follower import Follower
from lumen.record.journal import Journal
from lumen.record.presence import Presence

By = Literal["reflection", "action", "person"]
Edit = Callable[[Entries], Sequence[Delta]]
SELF_MEMORY_WEIGHT: Final = 0.8
_SHOWN: Final = 8
_BLANK: Final = b" \t\r\n\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Change:
    """A change that stands in the file and in the log."""

    id: str
    file: str
    deltas: tuple[Delta, ...]

    @property
    def text(self) -> str:
        return in_words(self.file, self.deltas)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something settling did or could not do, for a person to read."""

    kind: Literal[
        "adopted", "redone", "superseded", "rebuilt", "unreadable", "interrupted", "forgotten", "log_went_back"
    ]
    file: str
    text: str


class StateFiles:
    def __init__(self, files: Files, presence: Presence, journal: Journal, follower: Follower) -> None:
        self._files = files
        self._presence = presence
        self._journal = journal
        self._follower = follower

    def names(self) -> list[str]:
        """Every state file on disk, whether or not the log knows it."""
        goals = [name for year in self._files.names("goals", ".json") if is_state_file(name := f"goals/{year}")]
        return [SOUL, VALUES, *goals]

    def raw(self, name: str) -> bytes | None:
        return self._files.read(name)

    def entries(self, name: str) -> dict[Key, Json]:
        """What a file says now. Raises BrokenState when it cannot be read."""
        try:
            return read_entries(name, self._files.read(name))
        except NotADocument as problem:
            raise BrokenState(_remedy(name, str(problem))) from problem

    def change(self, name: str, edit: Edit, *, because: str, by: By, turn: str | None = None) -> Change | None:
        """Change entries of one file and leave the proof. None when there is nothing to change."""
        reason = because.strip()
        if not reason:
            raise Refused(f"A change of {name} needs a reason. Say why with because.")
        with self._presence.lock():
            fold = self._follower.catch_up()
            if [finding for finding in self.settle(name, fold) if finding.kind == "unreadable"]:
                self.entries(name)
            deltas = [delta for delta in edit(self.entries(name)) if not same(delta.before, delta.after)]
            if not deltas:
                return None
            event = self._journal.append(
                "external" if by == "person" else "kernel",
                f"change of {name} by {'a person' if by == 'person' else by}",
                f"{in_words(name, deltas)}. Because: {reason}",
                event="change",
                turn=turn,
                data={"file": name, "by": by, "because": reason, "changes": [delta_to_json(delta) for delta in deltas]},
            )
            try:
                self._finish(OpenChange(event, name, deltas))
            except RecordError as problem:
                raise type(problem)(
                    f"{problem} The change is in the log, and is finished at the next start."
                ) from problem
            return Change(event.id, name, tuple(deltas))

    def needs_settling(self, name: str, fold: Fold) -> bool:
        """Whether settling would change the file or the log. What is broken and unknown waits for a person's hand."""
        try:
            raw = self._files.read(name)
            return _looks_lost(raw, fold.entries(name)) or bool(
                differences(fold.entries(name), read_entries(name, raw))
            )
        except NotADocument:
            return bool(fold.entries(name))
        except RecordError:
            return False

    def settle(self, name: str, fold: Fold) -> list[Finding]:
        """Make the file and the log agree. Only under the lock, with a fold that has just caught up."""
        findings: list[Finding] = []
        try:
            raw = self._files.read(name)
        except RecordError as problem:
            return [Finding("unreadable", name, str(problem))]
        known = fold.entries(name)
        try:
            reason = "it was missing" if raw is None else "it was empty"
            if not _looks_lost(raw, known):
                read_entries(name, raw)
                reason = ""
        except NotADocument as problem:
            reason = str(problem)
        if reason and not known:
            return [Finding("unreadable", name, _remedy(name, reason))]
        if reason:
            findings.append(self._rebuild(name, raw, known, reason))
        for change in [change for change in fold.open_changes.values() if change.file == name]:
            findings.append(self._finish(change))
        fold = self._follower.catch_up()
        deltas = differences(fold.entries(name), self.entries(name))
        if deltas:
            findings.append(self._adopt(name, deltas))
        return findings

    def _finish(self, change: OpenChange) -> Finding:
        """Bring a logged change into its file, explain it, close it. Where a hand was at work, the hand stays."""
        while True:
            raw = self._files.read(change.file)
            found = read_entries(change.file, raw)
            waiting = [delta for delta in change.deltas if same(found.get(delta.key), delta.before)]
            standing = [delta for delta in change.deltas if same(found.get(delta.key), delta.after)]
            if not waiting:
                break
            if self._files.replace(change.file, with_changes(change.file, raw, waiting), unless_changed_from=raw):
                break
        event = change.event
        if event.data.get("by") == "reflection" and not change.has_memory:
            self._journal.append(
                "self",
                f"reflection changed {change.file}",
                f"{in_words(change.file, change.deltas)}. Because: {event.data.get('because')}",
                weight=SELF_MEMORY_WEIGHT,
                data={"change": event.id},
                turn=event.turn,
            )
        result = "applied" if waiting or standing else "superseded"
        self._journal.append(
            "kernel",
            f"change of {change.file}",
            "It stands in the file."
            if result == "applied"
            else "A person's hand had already changed the file otherwise.",
            event="applied",
            data={"change": event.id, "result": result},
            turn=event.turn,
        )
        words = in_words(change.file, change.deltas)
        if result == "superseded":
            return Finding("superseded", change.file, f"an interrupted change was left undone, edited since: {words}")
        return Finding("redone", change.file, f"an interrupted change was finished: {words}")

    def _adopt(self, name: str, deltas: Sequence[Delta]) -> Finding:
        words = in_words(name, deltas)
        self._journal.append(
            "external",
            f"{name} was changed by hand",
            words,
            event="adopted",
            data={"file": name, "changes": [delta_to_json(delta) for delta in deltas]},
        )
        return Finding("adopted", name, words)

    def _rebuild(self, name: str, raw: bytes | None, known: Entries, reason: str) -> Finding:
        """Write a lost file anew from the log; what stood there is kept beside it."""
        kept_as = ""
        if raw:
            kept_as = f"{name}.broken-{hashlib.sha256(raw).hexdigest()[:8]}"
            self._files.replace(kept_as, raw)
        deltas = [Delta(key, None, entry) for key, entry in known.items()]
        self._files.replace(name, with_changes(name, None, deltas))
        kept = f"; what stood there is kept as data/{kept_as}" if kept_as else ""
        text = f"{name} could not be used ({reason}) and was written anew from the log{kept}"
        self._journal.append(
            "kernel",
            f"{name} rebuilt",
            text,
            event="rebuilt",
            data={"file": name, "kept_as": kept_as, "reason": reason},
        )
        return Finding("rebuilt", name, text)


def in_words(name: str, deltas: Sequence[Delta]) -> str:
    shown = "; ".join(describe(name, delta) for delta in deltas[:_SHOWN])
    return shown if len(deltas) <= _SHOWN else f"{shown}; and {len(deltas) - _SHOWN} more"


def _looks_lost(raw: bytes | None, known: Entries) -> bool:
    """Missing or blank while the log knows better: what a crash leaves behind, not what a person writes."""
    return not (raw or b"").strip(_BLANK) and bool(known)


def _remedy(name: str, reason: str) -> str:
    return (
        f"data/{name} cannot be read: {reason}. Correct it there, or restore it with git (git checkout -- data/{name})."
    )

"""The record of one instance: its files, its log, and what both add up to. Handed out only in grants."""

import os
from contextlib import suppress
from dataclasses import dataclass

from lumen.errors import RecordError
from lumen.json_value import Json
from lumen.ports import Clock
from lumen.record.files import Files
from lumen.record.fold import Fold
from lumen.record.follower import Follower
from lumen.record.forget import Forgetting
from lumen.record.journal import Journal
from lumen.record.line import Line, strict_object
from lumen.record.presence import Presence
from lumen.record.state_files import Finding, StateFiles
from lumen.record.strict_json import canonical


@dataclass(frozen=True, slots=True)
class Head:
    """The newest line this machine has seen in the log. Kept outside git, so that a log that goes back is noticed."""

    day: str
    end: int
    id: str


class Record:
    def __init__(self, files: Files, clock: Clock) -> None:
        self.files = files
        self.clock = clock
        self.presence = Presence(files.root)
        self.journal = Journal(files, clock)
        self.follower = Follower(files, self.journal)
        self.states = StateFiles(files, self.presence, self.journal, self.follower)
        self.forgetting = Forgetting(files, self.presence, self.journal, self.follower)
        self._alive: dict[str, int] = {}

    def fold(self) -> Fold:
        return self.follower.catch_up()

    def announce(self) -> None:
        """Show that the present writer lives, so that nobody takes its open steps for interrupted ones."""
        self.journal.ready()
        if self.journal.writer not in self._alive:
            self._alive[self.journal.writer] = self.presence.announce(self.journal.writer)

    def close(self) -> None:
        """Remember the newest line, keep what was read, and stop being announced. None of it is worth an error."""
        with suppress(RecordError):
            self.follower.keep()
            if self.journal.head and self.went_back() is None:
                self.remember(self.journal.head)
        for writer, fd in self._alive.items():
            with suppress(OSError):
                os.close(fd)
            self.presence.withdraw(writer)
        self._alive.clear()

    def remember(self, line: Line) -> None:
        if line.place:
            head: dict[str, Json] = {"day": line.place.day, "end": line.place.offset + line.place.length, "id": line.id}
            self.files.note("run/head.json", canonical(head))

    def remembered(self) -> Head | None:
        with suppress(ValueError):
            head = strict_object(self.files.read("run/head.json") or b"{}")
            day, end, identity = head.get("day"), head.get("end"), head.get("id")
            if isinstance(day, str) and isinstance(end, int) and isinstance(identity, str):
                return Head(day, end, identity)
        return None

    def went_back(self) -> Finding | None:
        """Whether the log lacks a line that was in it before."""
        head = self.remembered()
        if head is None or self.journal.has(head.day, head.end, head.id):
            return None
        return Finding(
            "log_went_back",
            f"memory/{head.day[:4]}/{head.day}.jsonl",
            f"the log no longer holds line {head.id} of {head.day}: an older log was restored, or lines were removed. "
            "Bring the newer one back, or accept this one with: lumen adopt --because '...'",
        )

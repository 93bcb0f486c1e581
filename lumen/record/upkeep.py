"""The keeper's hand: what upkeep, and a person at the start of a command, may do with the record as a whole."""

from dataclasses import dataclass

from lumen.errors import Refused
from lumen.record.fold import Fold
from lumen.record.line import Line
from lumen.record.reconcile import needs_reconciling, reconcile
from lumen.record.record import Record
from lumen.record.state_files import Finding


@dataclass(frozen=True, slots=True)
class Keeper:
    _record: Record

    def fold(self) -> Fold:
        return self._record.fold()

    def needs_reconciling(self) -> bool:
        return needs_reconciling(self._record, self._record.fold())

    def reconcile(self) -> list[Finding]:
        return reconcile(self._record)

    def went_back(self) -> Finding | None:
        return self._record.went_back()

    def adopt_log(self, *, because: str) -> Line:
        """Accept a log that went back: the line that is missing is named, and what is there counts from now on."""
        head = self._record.remembered()
        if self._record.went_back() is None or head is None:
            raise Refused("The log holds everything that was seen in it: there is nothing to adopt.")
        if not because.strip():
            raise Refused("Adopting a log needs a reason. Say why with --because.")
        line = self._record.journal.append(
            "external",
            "log adopted",
            f"A log without line {head.id} of {head.day} is accepted. Because: {because.strip()}",
            event="log_adopted",
            data={"head": head.id, "day": head.day, "because": because.strip()},
        )
        self._record.remember(line)
        return line

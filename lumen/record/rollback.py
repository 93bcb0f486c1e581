"""Going back: state files as they were at a moment, or as somebody hands them over, without touching the log.

A rollback is a change like any other: an external event with before, after and the person's reason. So it can itself be
rolled back, and the log still says everything that ever was.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lumen.errors import Refused
from lumen.record.documents import Delta, Entries, NotADocument, differences, read_entries
from lumen.record.fold import fold_until
from lumen.record.journal import stamp
from lumen.record.record import Record
from lumen.record.state_files import Change, in_words


@dataclass(frozen=True, slots=True)
class Plan:
    """What would change, file by file, and the entries each file would have."""

    targets: Mapping[str, Entries]
    deltas: Mapping[str, list[Delta]]

    def words(self) -> list[str]:
        return [f"{name}: {in_words(name, deltas)}" for name, deltas in self.deltas.items()]


def moment_of(text: str) -> str | None:
    """A date means its last moment; without a zone it is UTC. None when the text is not a date at all."""
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= len("2026-11-18"):
            moment += timedelta(days=1, milliseconds=-1)
        return stamp(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


class Rollback:
    def __init__(self, record: Record) -> None:
        self._record = record

    def plan_to_moment(self, moment: str) -> Plan:
        """As it was when the clock said `moment`, by the log alone."""
        fold, first = fold_until(self._record.journal, moment)
        if not first or moment < first:
            raise Refused(
                f"The log explains no state before {first or 'now'}, so it cannot go back to {moment}. "
                "Try a later date, or a commit."
            )
        return self._plan({name: fold.entries(name) for name in self._names(fold.state)})

    def plan_to_files(self, files: Mapping[str, bytes | None]) -> Plan:
        """As the given files say; a state file that is not among them held nothing."""
        if not files:
            raise Refused(
                "There is no soul, no values and no goals in there. Choose another commit: git log --stat -- data"
            )
        targets: dict[str, Entries] = {}
        for name in self._names(files):
            try:
                targets[name] = read_entries(name, files.get(name))
            except NotADocument as problem:
                raise Refused(
                    f"{name} cannot be read in there: {problem}. Choose another commit or a date."
                ) from problem
        return self._plan(targets)

    def apply(self, plan: Plan, *, because: str) -> list[Change]:
        changes = []
        for name, target in plan.targets.items():

            def edit(entries: Entries, target: Entries = target) -> list[Delta]:
                return differences(entries, target)

            change = self._record.states.change(name, edit, because=because, by="person")
            if change:
                changes.append(change)
        return changes

    def _names(self, more: Mapping[str, object]) -> list[str]:
        return list(dict.fromkeys([*self._record.states.names(), *more]))

    def _plan(self, targets: Mapping[str, Entries]) -> Plan:
        found = {name: differences(self._record.states.entries(name), target) for name, target in targets.items()}
        return Plan(targets, {name: deltas for name, deltas in found.items() if deltas})

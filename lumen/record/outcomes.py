"""How actions went so far: counted by kind, and amended when the person's next words tell otherwise.

Outcomes stand in the kernel's lines of the step RECORD. They are summed up in the fold, so nothing is read again.
"""

from dataclasses import dataclass

from lumen.questions import Tally
from lumen.record.line import Line
from lumen.record.record import Record
from lumen.record.strict_json import is_number


@dataclass(frozen=True, slots=True)
class LastReply:
    """The newest recorded action towards one person: what it was, and how it was judged."""

    line: str
    turn: str | None
    kind: str
    skill: str
    predicted: float
    outcome: float
    answered_to: str


class Outcomes:
    def __init__(self, record: Record, turn: str | None = None) -> None:
        self._record = record
        self._turn = turn

    def tallies(self) -> tuple[Tally, ...]:
        counted = self._record.fold().tallies.items()
        return tuple(Tally(kind, count, total / count) for kind, (count, total) in counted if count > 0)

    def last_reply_to(self, person: str) -> LastReply | None:
        line = self._record.fold().replies.get(person)
        if line is None:
            return None
        predicted, outcome = line.data.get("predicted"), line.data.get("outcome")
        if not is_number(predicted) or not is_number(outcome):
            return None
        named = [str(line.data.get(name) or "") for name in ("kind", "skill", "said")]
        return LastReply(line.id, line.turn, named[0], named[1], float(predicted), float(outcome), named[2])

    def amend(self, reply: LastReply, outcome: float, *, by: str) -> Line:
        """Judge an action anew. `by` is the id of the memory that tells so."""
        return self._record.journal.append(
            "kernel",
            "record",
            f"An outcome is amended from {reply.outcome:+.2f} to {outcome:+.2f}.",
            event="amended",
            turn=self._turn,
            data={"of": reply.line, "kind": reply.kind, "before": reply.outcome, "after": outcome, "by": by},
        )

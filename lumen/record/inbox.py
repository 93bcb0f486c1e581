"""What waits for a person's yes. Asked by a loop, answered by a person, run by whoever claims it first.

    asked -> answered yes -> claimed -> settled        answered no, or too old: denied, and never run

A turn does not wait for a person: it asks and ends. The yes may come next day, from another process, or twice. Running
is claimed by appending a line and reading the log back: the first claim in the log wins, all others do nothing. A claim
that was never settled is shown as "may have run", since nobody can know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record.fold import Ask
from lumen.record.record import Record
from lumen.turn import Action

Answer = Literal["yes", "no"]
Standing = Literal["waiting", "approved", "denied", "expired", "may have run", "settled"]
DAYS: Final = 7.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry of the inbox, as far as the log tells."""

    id: str
    short_id: str
    asked: str
    expires: str
    action: Action
    skill_sha256: str
    kind: str
    predicted: float
    reasons: tuple[str, ...]
    turn: str | None
    standing: Standing
    result: str


class InboxReader:
    def __init__(self, record: Record, turn: str | None = None) -> None:
        self._record = record
        self._turn = turn

    def all(self) -> list[Waiting]:
        now = self._record.clock.now()
        return [_waiting(ask, now) for ask in self._record.fold().asks.values()]

    def waiting(self) -> list[Waiting]:
        return [entry for entry in self.all() if entry.standing in ("waiting", "approved", "may have run")]

    def find(self, name: str) -> Waiting:
        """The entry with this id, or with this short id, or the only one that waits when no name is given."""
        found = [entry for entry in self.all() if name in (entry.id, entry.short_id)] if name else self.waiting()
        if len(found) != 1:
            listed = ", ".join(entry.short_id for entry in self.waiting()) or "nothing"
            wanted = f"There is no entry {name} in the inbox" if name else "Say which"
            raise Refused(f"{wanted}. Waiting: {listed}. See: lumen inbox")
        return found[0]


class InboxAsker(InboxReader):
    """The hand of a loop: it can ask, and cannot answer."""

    def ask(self, action: Action, *, skill_sha256: str, kind: str, predicted: float, reasons: Sequence[str]) -> Waiting:
        """Put an action before a person. The same action that waits already is not asked twice."""
        for entry in self.waiting():
            if (entry.action.sha256, entry.skill_sha256) == (action.sha256, skill_sha256):
                return entry
        now = self._record.clock.now()
        line = self._record.journal.append(
            "kernel",
            "inbox",
            f"The skill {action.skill} waits for a person's yes.",
            event="asked",
            turn=self._turn,
            data={
                "skill": action.skill,
                "parameters": action.parameters,
                "skill_sha256": skill_sha256,
                "kind": kind,
                "predicted": predicted,
                "reasons": list(reasons),
                "expires": (now + timedelta(days=DAYS)).astimezone(UTC).isoformat(timespec="seconds"),
            },
        )
        return _waiting(Ask(line), now)


class InboxAnswerer(InboxReader):
    """The hand of a person."""

    def answer(self, entry: Waiting, answer: Answer, *, by: str) -> None:
        """A person's word. A second yes adds nothing; a no counts until it is claimed. Raises Refused after that."""
        if entry.standing == "approved" and answer == "yes":
            return
        if entry.standing not in ("waiting", "approved"):
            raise Refused(f"{entry.short_id}: {entry.result or entry.standing}; nothing was changed. See: lumen inbox")
        self._record.journal.append(
            "external",
            "inbox",
            f"{by} said {answer} to the skill {entry.action.skill}.",
            event="answered",
            turn=self._turn,
            data={"ask": entry.id, "answer": answer, "by": by},
        )

    def claim(self, entry: Waiting) -> bool:
        """Whether it is ours to run: ours is the first claim in the log."""
        self._record.announce()
        line = self._record.journal.append(
            "kernel",
            "inbox",
            f"The skill {entry.action.skill} is about to run after a person's yes.",
            event="claimed",
            turn=self._turn,
            data={"ask": entry.id},
        )
        ask = self._record.fold().asks.get(entry.id)
        return ask is not None and ask.claim is not None and ask.claim.id == line.id and not ask.result

    def settle(self, entry: Waiting, result: str) -> None:
        self._record.journal.append(
            "kernel",
            "inbox",
            f"The skill {entry.action.skill}: {result}.",
            event="settled",
            turn=self._turn,
            data={"ask": entry.id, "result": result},
        )


def _waiting(ask: Ask, now: datetime) -> Waiting:
    data = ask.line.data
    parameters, reasons, predicted = data.get("parameters"), data.get("reasons"), data.get("predicted")
    return Waiting(
        id=ask.line.id,
        short_id=ask.line.short_id,
        asked=ask.line.timestamp,
        expires=str(data.get("expires")),
        action=Action(str(data.get("skill")), parameters if isinstance(parameters, Mapping) else {}),
        skill_sha256=str(data.get("skill_sha256")),
        kind=str(data.get("kind")),
        predicted=float(predicted) if isinstance(predicted, int | float) else 0.0,
        reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else (),
        turn=ask.line.turn,
        standing=_standing(ask, now),
        result=ask.result,
    )


def _standing(ask: Ask, now: datetime) -> Standing:
    if ask.result == "denied":
        return "denied"
    if ask.result:
        return "settled"
    if ask.claim is not None:
        return "may have run"
    if _is_past(ask.line.data.get("expires"), now):
        return "expired"
    return "approved" if ask.answer is not None else "waiting"


def _is_past(moment: Json, now: datetime) -> bool:
    """A moment that cannot be read is past: no answer is a no."""
    try:
        return datetime.fromisoformat(str(moment)) <= now
    except (ValueError, TypeError):
        return True

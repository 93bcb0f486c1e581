"""What the log adds up to: the state it explains, the counts, and what was begun and never closed.

Events, and the fields of their data:

    memory      something that happened to the agent
    intent      {step}                               the kernel is about to run a step
    outcome     {intent, step, result}               how that step ended: done, failed, timeout, cancelled, interrupted
    change      {file, by, because, changes}         entries of a state file are about to change
    applied     {change, result}                     that change is in the file (or superseded by a person's hand)
    adopted     {file, changes}                      a difference that nobody logged: a person's hand
    rebuilt     {file, kept_as, reason}              an unreadable or missing file was written anew from the log
    forget      {target, ...}                        a line is about to be emptied
    forgotten   {forget}                             it is
    log_adopted {head, because}                      a person accepted a log that had gone back
    skill_created {skill, sha256, because}           the agent wrote a skill
    disk_full   {}                                   no space was left
    asked       {action, ...}                        an action waits for a person's yes (inbox.py)
    answered    {ask, answer}                        the person's word
    claimed     {ask}                                somebody is about to run it: the first claim in the log wins
    settled     {ask, result}                        how that ended
    amended     {of, kind, before, after}            the person's next words changed how an action is judged

State = the `after` of every change and adoption, in order. Example: change care 0.5 -> 0.6, adopted care 0.6 -> 0.9
folds to care 0.9, and the file should say so. If it says 0.8, somebody edited it: the next open writes adopted 0.9 ->
0.8.

Only lines that this program wrote count as events. Pure but for reading through the journal it is given.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lumen.json_value import Json
from lumen.record.documents import Delta, Key, deltas_from_json, is_state_file
from lumen.record.journal import UNFINISHED, Journal
from lumen.record.line import Line, Unreadable
from lumen.record.strict_json import is_number

_EXAMPLES = 50
_CLOSED_ASKS = 50
_REPLIES = 20


@dataclass(slots=True)
class OpenChange:
    """A change whose `applied` has not been seen yet."""

    event: Line
    file: str
    deltas: list[Delta]
    has_memory: bool = False


@dataclass(slots=True)
class Ask:
    """An action that waits, or waited, for a person's yes. A no is final, and the first claim counts."""

    line: Line
    answer: Line | None = None
    claim: Line | None = None
    result: str = ""


@dataclass(slots=True)
class Fold:
    state: dict[str, dict[Key, Json]] = field(default_factory=dict)
    open_changes: dict[str, OpenChange] = field(default_factory=dict)
    open_intents: dict[str, Line] = field(default_factory=dict)
    open_forgets: dict[str, Line] = field(default_factory=dict)
    memories: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)
    examples: list[Unreadable] = field(default_factory=list)
    unfinished: dict[str, Unreadable] = field(default_factory=dict)
    adoptions: list[Line] = field(default_factory=list)
    interruptions: list[Line] = field(default_factory=list)
    rebuilds: list[Line] = field(default_factory=list)
    asks: dict[str, Ask] = field(default_factory=dict)
    tallies: dict[str, tuple[int, float]] = field(default_factory=dict)
    replies: dict[str, Line] = field(default_factory=dict)
    emptied: set[str] = field(default_factory=set)
    is_stale: bool = False
    forgotten: int = 0
    foreign: int = 0
    last: Line | None = None

    def take(self, item: Line | Unreadable) -> None:
        if isinstance(item, Unreadable):
            self._take_unreadable(item)
            return
        self.last = item
        if item.is_forgotten:
            self.forgotten += 1
            self.emptied.add(item.id)
            return
        self.memories[item.author] += 1
        if not item.is_chained:
            self.foreign += 1
        elif item.event in _EVENTS:
            _EVENTS[item.event](self, item)

    def entries(self, file: str) -> dict[Key, Json]:
        """What a state file should hold by all that was logged."""
        return self.state.get(file, {})

    def _take_unreadable(self, item: Unreadable) -> None:
        if item.reason == UNFINISHED:
            self.unfinished[item.place.day] = item
            return
        self.unreadable[item.reason.partition(":")[0]] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(item)

    def _memory(self, line: Line) -> None:
        change = line.data.get("change")
        if isinstance(change, str) and line.author == "self" and change in self.open_changes:
            self.open_changes[change].has_memory = True

    def _intent(self, line: Line) -> None:
        self.open_intents[line.id] = line

    def _outcome(self, line: Line) -> None:
        self.open_intents.pop(str(line.data.get("intent")), None)
        if line.data.get("result") == "interrupted":
            self.interruptions = [*self.interruptions[-9:], line]
        kind, outcome = line.data.get("kind"), line.data.get("outcome")
        if line.data.get("step") == "record" and isinstance(kind, str) and is_number(outcome):
            self._count(kind, 1, float(outcome))
            self.replies.pop(speaker := str(line.data.get("asked_by")), None)
            self.replies = dict([*self.replies.items(), (speaker, line)][-_REPLIES:])

    def _amended(self, line: Line) -> None:
        before, after = line.data.get("before"), line.data.get("after")
        if is_number(before) and is_number(after):
            self._count(str(line.data.get("kind")), 0, float(after) - float(before))
        self.replies = {who: reply for who, reply in self.replies.items() if reply.id != line.data.get("of")}

    def _count(self, kind: str, more: int, score: float) -> None:
        count, total = self.tallies.get(kind, (0, 0.0))
        self.tallies[kind] = (count + more, total + score)

    def _asked(self, line: Line) -> None:
        closed = [ask for ask in self.asks.values() if ask.result]
        for ask in closed[: max(0, len(closed) - _CLOSED_ASKS)]:
            del self.asks[ask.line.id]
        self.asks[line.id] = Ask(line)

    def _answered(self, line: Line) -> None:
        ask = self.asks.get(str(line.data.get("ask")))
        if ask and ask.claim is None and not ask.result:
            ask.answer = line
            ask.result = "denied" if line.data.get("answer") == "no" else ""

    def _claimed(self, line: Line) -> None:
        ask = self.asks.get(str(line.data.get("ask")))
        if ask and ask.claim is None:
            ask.claim = line

    def _settled(self, line: Line) -> None:
        ask = self.asks.get(str(line.data.get("ask")))
        if ask:
            ask.result = str(line.data.get("result"))

    def _change(self, line: Line) -> None:
        file, deltas = self._write(line)
        if deltas:
            self.open_changes[line.id] = OpenChange(line, file, deltas)

    def _applied(self, line: Line) -> None:
        self.open_changes.pop(str(line.data.get("change")), None)

    def _adopted(self, line: Line) -> None:
        self._write(line)
        self.adoptions = [*self.adoptions[-9:], line]

    def _rebuilt(self, line: Line) -> None:
        self.rebuilds = [*self.rebuilds[-9:], line]

    def _forget(self, line: Line) -> None:
        self.open_forgets[line.id] = line

    def _closed_forget(self, line: Line) -> None:
        """A line that was met before it was emptied is counted as what it no longer is: only reading anew helps."""
        self.open_forgets.pop(str(line.data.get("forget")), None)
        target = str(line.data.get("target"))
        self.is_stale = self.is_stale or ("#" not in target and target not in self.emptied)
        self.emptied.discard(target)

    def _write(self, line: Line) -> tuple[str, list[Delta]]:
        file = line.data.get("file")
        if not isinstance(file, str) or not is_state_file(file):
            return "", []
        deltas = deltas_from_json(line.data.get("changes"))
        entries = self.state.setdefault(file, {})
        for delta in deltas:
            if delta.after is None:
                entries.pop(delta.key, None)
            else:
                entries[delta.key] = delta.after
        return file, deltas


_EVENTS: Mapping[str, Callable[[Fold, Line], None]] = {
    "memory": Fold._memory,
    "intent": Fold._intent,
    "outcome": Fold._outcome,
    "change": Fold._change,
    "applied": Fold._applied,
    "adopted": Fold._adopted,
    "rebuilt": Fold._rebuilt,
    "forget": Fold._forget,
    "forgotten": Fold._closed_forget,
    "asked": Fold._asked,
    "answered": Fold._answered,
    "claimed": Fold._claimed,
    "settled": Fold._settled,
    "amended": Fold._amended,
}


def fold_until(journal: Journal, moment: str) -> tuple[Fold, str]:
    """The fold of all lines stated to be no later than `moment`, and the time of the first event that wrote state."""
    fold, first = Fold(), ""
    for item in journal.scan():
        if isinstance(item, Line) and item.event in ("change", "adopted"):
            first = first or item.timestamp
            if item.timestamp <= moment:
                fold.take(journal.whole(item))
    return fold, first

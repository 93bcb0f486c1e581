"""Values: what the self holds dear. A Reader looks; an Editor changes one value at a time and must say why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeGuard

from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record.documents import VALUES, Delta, Entries, Key, line_of
from lumen.record.entry import Problem, checked_name, checked_weight, fields_of, weight_problem
from lumen.record.record import Record
from lumen.record.state_files import By, Change

ValueStatus = Literal["active", "deprecated"]
STATUSES: Final[tuple[ValueStatus, ...]] = ("active", "deprecated")


@dataclass(frozen=True, slots=True)
class Value:
    name: str
    weight: float
    status: ValueStatus
    extra: Mapping[str, Json] = field(default_factory=dict)


class ValuesReader:
    def __init__(self, record: Record) -> None:
        self._record = record

    def all(self) -> list[Value]:
        """Every usable value, the heaviest first."""
        usable = [found for key, entry in self._entries().items() if isinstance(found := _read(key, entry), Value)]
        return sorted(usable, key=lambda value: (-value.weight, value.name))

    def active(self) -> list[Value]:
        return [value for value in self.all() if value.status == "active"]

    def problems(self) -> list[Problem]:
        """Entries that cannot be used as they are, each with its line and what to do."""
        raw = self._record.states.raw(VALUES)
        return [
            Problem(f"data/{VALUES}", line_of(VALUES, raw, key, found.field), found.text)
            for key, entry in self._entries().items()
            if isinstance(found := _read(key, entry), Problem)
        ]

    def _entries(self) -> Mapping[Key, Json]:
        entries = self._record.states.entries(VALUES)
        return {key: entry for key, entry in entries.items() if key.name is not None}


class ValuesEditor(ValuesReader):
    """Cannot change anything without a reason. On behalf of reflection it writes the self memory in the same call."""

    def __init__(self, record: Record, by: By, turn: str | None = None) -> None:
        super().__init__(record)
        self._by: By = by
        self._turn = turn

    def add(self, name: str, weight: float, *, because: str) -> Change | None:
        name, weight = checked_name(name), checked_weight(weight)

        def edit(entries: Entries) -> list[Delta]:
            if Key(name, 0) in entries:
                raise Refused(
                    f"There is a value named {name} already. Change it with: lumen values set {name!r} WEIGHT"
                )
            return [Delta(Key(name, 0), None, {"name": name, "weight": weight, "status": "active"})]

        return self._change(edit, because)

    def reweight(self, name: str, weight: float, *, because: str) -> Change | None:
        weight = checked_weight(weight)
        return self._change(lambda entries: [_with(entries, name, weight=weight)], because)

    def retire(self, name: str, *, because: str) -> Change | None:
        """A value is never deleted: it stays, deprecated, with its history."""
        return self._change(lambda entries: [_with(entries, name, status="deprecated")], because)

    def restore(self, name: str, *, because: str) -> Change | None:
        return self._change(lambda entries: [_with(entries, name, status="active")], because)

    def _change(self, edit: Callable[[Entries], list[Delta]], because: str) -> Change | None:
        return self._record.states.change(VALUES, edit, because=because, by=self._by, turn=self._turn)


def _with(entries: Entries, name: str, **fields: Json) -> Delta:
    if Key(name, 0) not in entries:
        known = ", ".join(sorted(key.name for key in entries if key.name)) or "none yet"
        raise Refused(f"There is no value named {name}. Known: {known}. Add it with: lumen values add {name!r} WEIGHT")
    if Key(name, 1) in entries:
        raise Refused(f"data/{VALUES} has more than one value named {name}. Remove all but one by hand and try again.")
    before = entries[Key(name, 0)]
    return Delta(Key(name, 0), before, {**fields_of(before), **fields})


def _read(key: Key, entry: Json) -> Value | Problem:
    if not isinstance(entry, Mapping) or not key.name:
        return Problem.of("name", "an entry is not an object with a name: give it one, or remove it")
    weight, status = entry.get("weight"), entry.get("status", "active")
    if problem := weight_problem(key.name, weight):
        return problem
    if not _is_status(status):
        return Problem.of("status", f"{key.name}: status is {status!r}, which is none of {', '.join(STATUSES)}")
    extra = {name: value for name, value in entry.items() if name not in ("name", "weight", "status")}
    return Value(key.name, checked_weight(weight), status, extra)


def _is_status(value: Json) -> TypeGuard[ValueStatus]:
    return value in STATUSES

"""Goals, one file per year of birth. Three sets of hands: a Reader, a Tracker (status only) and an Editor (everything).

A perpetual goal is a type of its own, because it can never be finished: the Tracker's methods do not take one. A goal
lives in the file of the year it was born in and is updated there; all years are read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Final, Literal, TypeGuard

from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record.documents import Delta, Entries, Key, goals_file, line_of
from lumen.record.entry import Problem, checked_name, checked_weight, fields_of, weight_problem
from lumen.record.record import Record
from lumen.record.state_files import By, Change

GoalStatus = Literal["todo", "working", "done", "deprecated"]
AnyStatus = Literal["todo", "working", "done", "perpetual", "deprecated"]
STATUSES: Final[tuple[AnyStatus, ...]] = ("todo", "working", "done", "perpetual", "deprecated")


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal that can be worked on and finished."""

    name: str
    weight: float
    status: GoalStatus
    year: int
    nth: int = 0
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PerpetualGoal:
    """A goal that drives exploration and never ends."""

    name: str
    weight: float
    year: int
    nth: int = 0
    extra: Mapping[str, Json] = field(default_factory=dict)
    status: Literal["perpetual"] = "perpetual"


class GoalsReader:
    def __init__(self, record: Record) -> None:
        self._record = record

    def all(self) -> list[Goal | PerpetualGoal]:
        """Every usable goal of every year, the heaviest first."""
        usable = [
            found
            for year, entries in self._years().items()
            for key, entry in entries.items()
            if not isinstance(found := _read(year, key, entry), Problem)
        ]
        return sorted(usable, key=lambda goal: (-goal.weight, goal.name))

    def active(self) -> list[Goal | PerpetualGoal]:
        return [goal for goal in self.all() if goal.status in ("todo", "working", "perpetual")]

    def open(self) -> list[Goal]:
        """Goals that can be pursued to an end."""
        return [goal for goal in self.all() if isinstance(goal, Goal) and goal.status in ("todo", "working")]

    def perpetual(self) -> list[PerpetualGoal]:
        return [goal for goal in self.all() if isinstance(goal, PerpetualGoal)]

    def problems(self) -> list[Problem]:
        found = []
        for year, entries in self._years().items():
            name = goals_file(year)
            for key, entry in entries.items():
                if isinstance(problem := _read(year, key, entry), Problem):
                    line = line_of(name, self._record.states.raw(name), key, problem.field)
                    found.append(Problem(f"data/{name}", line, problem.text))
        return found

    def _years(self) -> dict[int, dict[Key, Json]]:
        return {
            int(name[6:10]): {
                key: entry for key, entry in self._record.states.entries(name).items() if key.name is not None
            }
            for name in self._record.states.names()
            if name.startswith("goals/")
        }


class GoalTracker(GoalsReader):
    """What the action loop may do: todo -> working -> done, and the one named exception, a goal for a missing skill."""

    def __init__(self, record: Record, turn: str | None = None) -> None:
        super().__init__(record)
        self._turn = turn

    def start(self, goal: Goal, *, because: str) -> Change | None:
        return self._move(goal, ("todo",), "working", because)

    def finish(self, goal: Goal, *, because: str) -> Change | None:
        return self._move(goal, ("todo", "working"), "done", because)

    def open_skill_gap(self, skill: str, *, weight: float, because: str) -> Change | None:
        """A goal to author a missing skill, opened anew when it had ended. None when it is open already."""
        name, weight = checked_name(f"Author the skill {skill}"), checked_weight(weight)
        if any(goal.name == name for goal in self.active()):
            return None
        year = self._record.clock.now().astimezone(UTC).year

        def edit(entries: Entries) -> list[Delta]:
            before = entries.get(Key(name, 0))
            wanted = {**fields_of(before), "name": name, "weight": weight, "status": "todo"}
            return [Delta(Key(name, 0), before, wanted)]

        return self._record.states.change(goals_file(year), edit, because=because, by="action", turn=self._turn)

    def _move(self, goal: Goal, allowed: tuple[str, ...], to: GoalStatus, because: str) -> Change | None:
        if not isinstance(goal, Goal):
            raise Refused(f"{goal.name} is perpetual: it can neither be started nor finished.")
        key = Key(goal.name, goal.nth)

        def edit(entries: Entries) -> list[Delta]:
            before = entries.get(key)
            if before is None:
                raise Refused(f"The goal {goal.name} is not in {goals_file(goal.year)} any more.")
            status = fields_of(before).get("status", "todo")
            if status not in allowed:
                raise Refused(f"The goal {goal.name} is {status!r} now, which cannot become {to}.")
            return [Delta(key, before, {**fields_of(before), "status": to})]

        return self._record.states.change(
            goals_file(goal.year), edit, because=because, by="action", turn=self._turn
        )  # fmt: skip


class GoalsEditor(GoalsReader):
    """What reflection and the person may do. Cannot change anything without a reason."""

    def __init__(self, record: Record, by: By, turn: str | None = None) -> None:
        super().__init__(record)
        self._by: By = by
        self._turn = turn

    def add(self, name: str, weight: float, *, because: str, perpetual: bool = False) -> Change | None:
        name, weight = checked_name(name), checked_weight(weight)
        status: AnyStatus = "perpetual" if perpetual else "todo"
        return _add(self._record, name, weight, status, because, self._by, self._turn)

    def reweight(self, name: str, weight: float, *, because: str, year: int | None = None) -> Change | None:
        return self.revise(name, weight=weight, because=because, year=year)

    def restate(self, name: str, status: AnyStatus, *, because: str, year: int | None = None) -> Change | None:
        """Any status: also perpetual, no longer perpetual, or deprecated."""
        return self.revise(name, status=status, because=because, year=year)

    def revise(
        self,
        name: str,
        *,
        because: str,
        weight: float | None = None,
        status: AnyStatus | None = None,
        year: int | None = None,
    ) -> Change | None:
        """Another weight, another status, or both in one change."""
        fields: dict[str, Json] = {}
        if weight is not None:
            fields["weight"] = checked_weight(weight)
        if status is not None and status not in STATUSES:
            raise Refused(f"A status is one of {', '.join(STATUSES)}, not {status!r}.")
        if status is not None:
            fields["status"] = status
        return self._change(name, year, because, lambda before: {**before, **fields})

    def _change(
        self, name: str, year: int | None, because: str, new: Callable[[Mapping[str, Json]], Json]
    ) -> Change | None:
        born = self._year_of(name, year)

        def edit(entries: Entries) -> list[Delta]:
            if Key(name, 1) in entries:
                file = goals_file(born)
                raise Refused(
                    f"data/{file} has more than one goal named {name}. Remove all but one by hand and try again."
                )
            before = entries.get(Key(name, 0))
            if before is None:
                raise Refused(f"The goal {name} is not in {goals_file(born)} any more.")
            return [Delta(Key(name, 0), before, new(fields_of(before)))]

        return self._record.states.change(goals_file(born), edit, because=because, by=self._by, turn=self._turn)

    def _year_of(self, name: str, year: int | None) -> int:
        years = [born for born, entries in self._years().items() if Key(name, 0) in entries and year in (None, born)]
        if not years:
            where = f" of {year}" if year else ""
            raise Refused(
                f"There is no goal{where} named {name}. `lumen goals` lists them; add it with: lumen goals add"
            )
        if len(years) > 1:
            raise Refused(f"Goals of {', '.join(map(str, years))} are named {name}. Say which with --year.")
        return years[0]


def _add(
    record: Record, name: str, weight: float, status: AnyStatus, because: str, by: By, turn: str | None
) -> Change | None:
    year = record.clock.now().astimezone(UTC).year

    def edit(entries: Entries) -> list[Delta]:
        if Key(name, 0) in entries:
            raise Refused(f"There is a goal of {year} named {name} already. Change it with: lumen goals set {name!r}")
        return [Delta(Key(name, 0), None, {"name": name, "weight": weight, "status": status})]

    return record.states.change(goals_file(year), edit, because=because, by=by, turn=turn)


def _read(year: int, key: Key, entry: Json) -> Goal | PerpetualGoal | Problem:
    if not isinstance(entry, Mapping) or not key.name:
        return Problem.of("name", "an entry is not an object with a name: give it one, or remove it")
    weight, status = entry.get("weight"), entry.get("status", "todo")
    if problem := weight_problem(key.name, weight):
        return problem
    extra = {name: value for name, value in entry.items() if name not in ("name", "weight", "status")}
    if status == "perpetual":
        return PerpetualGoal(key.name, checked_weight(weight), year, key.nth, extra)
    if not _is_status(status):
        return Problem.of("status", f"{key.name}: status is {status!r}, which is none of {', '.join(STATUSES)}")
    return Goal(key.name, checked_weight(weight), status, year, key.nth, extra)


def _is_status(value: Json) -> TypeGuard[GoalStatus]:
    return value in STATUSES and value != "perpetual"

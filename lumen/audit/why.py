"""Why a turn went as it did, told from its own kernel lines and from nothing else. Reads, never writes.

A turn's trace is the lines that carry its id. Each step left what it loaded, scored, asked and ran, as ids and numbers;
here they are put side by side. What a line does not say is not guessed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record.line import Line

Facts = Mapping[str, Json]
_STEPS = ("hear", "think", "decide", "act", "record")


@dataclass(frozen=True, slots=True)
class Story:
    """One turn: when, and what each of its steps recorded. `lines` are all of its lines, oldest first."""

    turn: str
    began: str
    steps: Mapping[str, Facts]
    lines: tuple[Line, ...] = field(repr=False)

    @property
    def result(self) -> str:
        """How it ended; a turn that never came to its record was interrupted or failed."""
        recorded = self.steps.get("record", {}).get("turn_result")
        if isinstance(recorded, str):
            return recorded
        ended = [str(line.data.get("result")) for line in self.lines if line.event == "outcome"]
        return ended[-1] if ended and ended[-1] != "done" else "interrupted"

    @property
    def scores(self) -> list[Facts]:
        """M, A, P and B of every candidate, with its kind, skill and prediction."""
        thought = {str(one.get("name")): one for one in _objects(self.steps.get("think", {}).get("candidates"))}
        return [
            {**thought.get(str(one.get("name")), {}), **one}
            for one in _objects(self.steps.get("decide", {}).get("scores"))
        ]

    @property
    def verdicts(self) -> list[Facts]:
        return _objects(self.steps.get("act", {}).get("verdicts"))


def story_of(newest_first: Iterable[Line], wanted: str | None) -> Story:
    """The newest turn, or the one whose id begins with `wanted`. Reads back only as far as that turn."""
    found: list[Line] = []
    turn: str | None = None
    for line in newest_first:
        if turn is None and line.turn and _is_wanted(line, wanted):
            turn = line.turn
        if turn and line.turn == turn:
            found.append(line)
            if line.event == "intent" and (line.data.get("step") == "hear" or line.data.get("confirmed")):
                break  # a turn begins with what was heard, or with what was confirmed
    if turn is None:
        raise Refused(f"There is no turn {wanted}." if wanted else "There was no turn yet. Begin one with: lumen chat")
    found.reverse()
    steps = {
        str(line.data.get("step")): line.data
        for line in found
        if line.event == "outcome" and line.data.get("step") in _STEPS
    }
    return Story(turn, found[0].timestamp, steps, tuple(found))


def _is_wanted(line: Line, wanted: str | None) -> bool:
    if line.author != "kernel":
        return False
    return wanted is None or (len(wanted) >= 4 and (line.turn or "").startswith(wanted))


def _objects(value: Json) -> list[Facts]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []

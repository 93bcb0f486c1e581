"""The kernel's own pen: intent before a step, outcome after it. The step runner alone holds one."""

from collections.abc import Mapping
from typing import Literal

from lumen.json_value import Json
from lumen.record.line import Line
from lumen.record.record import Record

StepResult = Literal["done", "failed", "timeout", "cancelled"]


class KernelJournal:
    def __init__(self, record: Record) -> None:
        self._record = record

    def intent(self, step: str, facts: Mapping[str, Json], *, turn: str | None) -> Line:
        self._record.announce()
        self._record.journal.reserve.keep()
        return self._record.journal.append(
            "kernel", step, f"The step {step} begins.", event="intent", data={**facts, "step": step}, turn=turn
        )

    def outcome(self, intent: Line, result: StepResult, text: str, facts: Mapping[str, Json]) -> Line:
        step = str(intent.data["step"])
        return self._record.journal.append(
            "kernel",
            step,
            text,
            event="outcome",
            data={**facts, "intent": intent.id, "step": step, "result": result},
            turn=intent.turn,
        )

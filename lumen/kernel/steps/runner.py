"""Runs a step, and proves that it ran: an intent before, an outcome after, whatever happens in between.

A step that fails, times out or is cancelled still leaves its outcome, written in `finally`. A process that dies in
between leaves an intent without an outcome, which the next open finds and closes as interrupted. No step can skip its
lines, because no step holds the kernel's journal.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from lumen.errors import LumenError, StepFailed, StepTimeout
from lumen.json_value import Json
from lumen.record.kernel_journal import KernelJournal, StepResult
from lumen.record.strict_json import canonical

T = TypeVar("T")


class Report:
    """What a step tells about itself, as ids and numbers. It ends up in the outcome line."""

    def __init__(self) -> None:
        self.facts: dict[str, Json] = {}

    def note(self, **facts: Json) -> None:
        """Raises ValueError for what no line can hold, as NaN: then the step fails, and that is recorded."""
        canonical(facts)
        self.facts.update(facts)


Step = Callable[[Report], Awaitable[T]]


class StepRunner:
    def __init__(self, journal: KernelJournal, *, seconds: float) -> None:
        self._journal = journal
        self._seconds = seconds

    async def run(
        self, name: str, step: Step[T], *, turn: str | None = None, seconds: float | None = None, **facts: Json
    ) -> T:
        """Run one step under a deadline. Raises what the step raised, or StepTimeout, or StepFailed."""
        limit = self._seconds if seconds is None else seconds
        report = Report()
        result: StepResult = "failed"
        text = f"The step {name} failed."
        deadline = asyncio.timeout(limit)
        intent = self._journal.intent(name, facts, turn=turn)
        try:
            async with deadline:
                value = await step(report)
            result, text = "done", f"The step {name} is done."
            return value
        except asyncio.CancelledError:
            result, text = "cancelled", f"The step {name} was cancelled."
            raise
        except LumenError as problem:
            text = f"The step {name} failed: {type(problem).__name__}."
            raise
        except Exception as problem:
            if isinstance(problem, TimeoutError) and deadline.expired():
                result, text = "timeout", f"The step {name} did not end within {limit:g} seconds."
                raise StepTimeout(f"{text} What it had done is recorded; try again.") from problem
            text = f"The step {name} failed: {type(problem).__name__}."
            raise StepFailed(f"{text} {problem}") from problem
        finally:
            self._journal.outcome(intent, result, text, report.facts)

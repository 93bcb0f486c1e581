"""Putting a question to the mind, and noting what it cost."""

from time import perf_counter
from typing import TypeVar

from lumen.kernel.steps.runner import Report
from lumen.ports import Mind
from lumen.questions import Question

T = TypeVar("T")


async def ask(mind: Mind, question: Question[T], report: Report) -> T:
    before, began = mind.usage, perf_counter()
    try:
        return await mind.judge(question)
    finally:
        spent = mind.usage
        report.note(
            mind=mind.name,
            mind_ms=round((perf_counter() - began) * 1000, 1),
            calls=spent.calls - before.calls,
            tokens_in=spent.tokens_in - before.tokens_in,
            tokens_out=spent.tokens_out - before.tokens_out,
        )

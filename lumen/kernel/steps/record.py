"""RECORD: what happened, beside what was predicted; the delta is signed. Closes the turn."""

from lumen.kernel.asking import ask
from lumen.kernel.steps.act import Deed
from lumen.kernel.steps.runner import Report
from lumen.ports import Mind
from lumen.questions import RecordQuestion
from lumen.turn import Outcome, Turn, TurnResult


async def record(
    report: Report, *, mind: Mind, turn: Turn, deed: Deed | None, said: str, answered_to: str, skip: str = ""
) -> Outcome | None:
    """`said` is the id of what was answered, `answered_to` its text. Without a deed, only the skip is recorded."""
    report.note(turn_result=turn_result(deed), asked_by=turn.asked_by, said=said)
    if deed is None:
        report.note(skip=skip)
        return None
    report.note(candidate=deed.candidate.name, skill=deed.candidate.action.skill)
    if deed.result is None:
        return None
    question = RecordQuestion(
        action=deed.candidate.action,
        kind=deed.candidate.kind,
        prediction=deed.candidate.prediction,
        result=deed.result,
        answered_to=answered_to,
    )
    outcome = await ask(mind, question, report)
    predicted = deed.candidate.prediction.score
    report.note(
        kind=deed.candidate.kind,
        predicted=predicted,
        outcome=outcome.score,
        delta=outcome.score - predicted,
    )
    return outcome


def turn_result(deed: Deed | None) -> TurnResult:
    if deed is None:
        return "skipped"
    if deed.waiting is not None:
        return "waiting"
    if deed.result is None:
        return "refused"
    return "done" if deed.result.is_ok else "failed"

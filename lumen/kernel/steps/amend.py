"""AMEND: the person's next words may tell how the last reply was taken: thanks, a correction, the same question again.

Runs after the new reply, so that nobody waits for it.
"""

from lumen.kernel.asking import ask
from lumen.kernel.steps.runner import Report
from lumen.ports import Mind
from lumen.questions import RecordQuestion, Utterance
from lumen.record.grants import ActionGrant
from lumen.record.outcomes import LastReply
from lumen.turn import Action, Outcome, Prediction


async def amend(
    report: Report, *, grant: ActionGrant, mind: Mind, last: LastReply, answered_to: str, said: Utterance
) -> None:
    question = RecordQuestion(
        action=Action(last.skill, {}),
        kind=last.kind,
        prediction=Prediction("", last.predicted),
        result=None,
        answered_to=answered_to,
        next_said=said,
        before=Outcome("", last.outcome),
    )
    after = await ask(mind, question, report)
    report.note(of=last.line, before=last.outcome, after=after.score)
    if after.score != last.outcome:
        grant.outcomes.amend(last, after.score, by=said.memory)

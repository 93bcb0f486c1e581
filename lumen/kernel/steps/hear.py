"""HEAR: what a person said becomes an external memory, before anything is thought about it."""

from lumen.kernel.steps.runner import Report
from lumen.questions import Utterance
from lumen.record.grants import ActionGrant
from lumen.turn import Turn


async def hear(report: Report, *, grant: ActionGrant, turn: Turn, text: str) -> Utterance:
    speaker = turn.asked_by or ""
    line = grant.memory.remember("external", f"chat with {speaker}", text)
    report.note(said=line.id, characters=len(text))
    return Utterance(text, speaker, line.id, line.timestamp)

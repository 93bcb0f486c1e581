"""THINK: load what matters, model the situation, and find what could be done, each with what would come of it."""

from lumen.errors import StepFailed
from lumen.kernel.asking import ask
from lumen.kernel.skills import SkillRunner
from lumen.kernel.steps.runner import Report
from lumen.kernel.working_memory import WorkingMemory, gather
from lumen.ports import Mind
from lumen.questions import ThinkQuestion, Thought, Utterance
from lumen.record.grants import ActionGrant
from lumen.record.recall import Recall
from lumen.turn import Candidate


async def think(
    report: Report,
    *,
    grant: ActionGrant,
    mind: Mind,
    recall: Recall,
    runner: SkillRunner,
    said: Utterance,
) -> tuple[WorkingMemory, Thought]:
    loaded = await gather(grant, recall, runner, said)
    report.note(
        soul=bool(loaded.soul.text),
        values=len(loaded.values),
        goals=len(loaded.goals),
        memories=[memory.id for memory in loaded.memories],
        skills=[skill.name for skill in loaded.skills],
    )
    question = ThinkQuestion(
        now=said.timestamp,
        said=said,
        goal=None,
        soul=loaded.soul,
        values=loaded.values,
        goals=loaded.goals,
        memories=loaded.memories,
        skills=loaded.skills,
        tallies=loaded.tallies,
        counts=loaded.counts,
    )
    thought = await ask(mind, question, report)
    names = [candidate.name for candidate in thought.candidates]
    if not names or len(set(names)) != len(names):
        raise StepFailed("The mind gave no candidates, or two with one name. Ask again, or choose another mind.")
    report.note(candidates=[_facts(candidate) for candidate in thought.candidates])
    return loaded, thought


def _facts(candidate: Candidate) -> dict[str, str | float | list[str] | None]:
    return {
        "name": candidate.name,
        "kind": candidate.kind,
        "skill": candidate.action.skill,
        "action": candidate.action.sha256,
        "predicted": candidate.prediction.score,
        "goal": candidate.goal,
        "cites": list(candidate.cites),
    }

"""DECIDE: the mind says which values and goals want what; the rest is arithmetic (bmap.py)."""

from lumen.errors import Refused
from lumen.kernel.asking import ask
from lumen.kernel.bmap import Decision, Scored, decide, prompt_strength, score
from lumen.kernel.steps.runner import Report
from lumen.kernel.working_memory import WorkingMemory
from lumen.ports import Mind
from lumen.questions import DecideQuestion, Thought
from lumen.record.grants import ActionGrant
from lumen.record.skills import checked_skill_name


async def choose(
    report: Report, *, grant: ActionGrant, mind: Mind, loaded: WorkingMemory, thought: Thought
) -> Decision:
    question = DecideQuestion(thought.situation, thought.candidates, loaded.values, loaded.goals)
    judgement = await ask(mind, question, report)
    scores = score(
        thought.candidates,
        judgement.alignments,
        values={value.name: value.weight for value in loaded.values},
        goals={goal.name: goal.weight for goal in loaded.goals},
        skills=frozenset(skill.name for skill in loaded.skills),
        is_reaction=True,
        p=prompt_strength("direct"),
    )
    decision = decide(scores, judgement.preference)
    report.note(
        scores=[
            {
                "name": scored.candidate.name,
                "values": list(scored.values),
                "goal": scored.goal,
                "m": scored.m,
                "a": scored.a,
                "p": scored.p,
                "b": scored.b,
            }
            for scored in decision.scores
        ],
        order=[scored.candidate.name for scored in decision.order],
        gap=decision.gap.candidate.action.skill if decision.gap else None,
    )
    if decision.gap:
        report.note(gap_goal=_open_gap(grant, decision.gap))
    return decision


def _open_gap(grant: ActionGrant, gap: Scored) -> str | None:
    """The change that opened a goal for a missing skill; None when one is open, or no skill can have that name."""
    try:
        name = checked_skill_name(gap.candidate.action.skill)
    except Refused:
        return None
    opened = grant.goals.open_skill_gap(name, weight=gap.m, because="it was wanted most, and there is no skill for it")
    return opened.id if opened else None

"""What goes into a step: views of the record, gathered through a grant. It asks what is there and judges nothing."""

from dataclasses import dataclass
from typing import Final

from lumen.errors import Refused
from lumen.kernel.skills import SkillRunner
from lumen.questions import GoalView, MemoryView, RecordCounts, SkillView, SoulView, Tally, Utterance, ValueView
from lumen.record.grants import ActionGrant
from lumen.record.recall import Recall
from lumen.record.skills import SPEAKING

RECENT: Final = 10
SIMILAR: Final = 20


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    soul: SoulView
    values: tuple[ValueView, ...]
    goals: tuple[GoalView, ...]
    memories: tuple[MemoryView, ...]
    skills: tuple[SkillView, ...]
    tallies: tuple[Tally, ...]
    counts: RecordCounts


async def gather(grant: ActionGrant, recall: Recall, runner: SkillRunner, said: Utterance) -> WorkingMemory:
    soul = grant.soul.read()
    return WorkingMemory(
        soul=SoulView(soul.name, soul.ontology, soul.text),
        values=tuple(ValueView(value.name, value.weight) for value in grant.values.all() if value.status == "active"),
        goals=tuple(GoalView(goal.name, goal.weight, goal.status) for goal in grant.goals.active()),
        memories=tuple(recall.about(said.text, recent=RECENT, similar=SIMILAR, without=frozenset({said.memory}))),
        skills=await shelf(grant, runner),
        tallies=grant.outcomes.tallies(),
        counts=recall.counts(),
    )


async def shelf(grant: ActionGrant, runner: SkillRunner) -> tuple[SkillView, ...]:
    """Every skill that may be invoked, with its own help, asked once for each content."""
    views = []
    for name in dict.fromkeys([*(listed.name for listed in grant.skills.all()), SPEAKING]):
        try:
            skill = grant.skills.invocable(name)
        except Refused:
            continue
        help_text = grant.skill_help.known(skill.sha256)
        if help_text is None:
            help_text = await runner.help_of(skill)
            grant.skill_help.keep(skill.sha256, help_text)
        views.append(SkillView(skill.name, help_text))
    return tuple(views)

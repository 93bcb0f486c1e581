"""Who may do what: a loop holds a grant, and what it may not do is not there.

                        action          explore         reflection
    soul.md             read            read            read + write
    values.json         read            read            read + write
    goals, status       read + write    read            read + write
    goals, perpetual    read            read            read + write
    goals, weight       read            read            read + write
    skills              read + create   read + invoke   read
    memory              read + write    read + write    read + write (and sees no kernel line)

Example: the action loop wants a value to weigh less. `grant.values` is a ValuesReader; it has no `reweight`, so the
type checker rejects the line and Python raises AttributeError. There is no flag to forget and no check to skip.
Upkeep has no skills; the person's grant writes external events instead of self memories.

What this does not do: stop code that reaches around it on purpose. app.py alone cuts grants, and tests watch that.
"""

from dataclasses import dataclass

from lumen.record.goals import GoalsEditor, GoalsReader, GoalTracker
from lumen.record.importing import Importer
from lumen.record.inbox import InboxAnswerer, InboxAsker
from lumen.record.memory import ExperienceWriter, MemoryReader, MemoryWriter, PersonMemory
from lumen.record.outcomes import Outcomes
from lumen.record.rollback import Rollback
from lumen.record.skill_help import SkillHelp
from lumen.record.skills import SkillsAuthor, SkillsInvoker, SkillsReader
from lumen.record.soul import SoulEditor, SoulReader
from lumen.record.upkeep import Keeper
from lumen.record.values import ValuesEditor, ValuesReader


@dataclass(frozen=True, slots=True)
class ActionGrant:
    soul: SoulReader
    values: ValuesReader
    goals: GoalTracker
    skills: SkillsAuthor
    memory: MemoryWriter
    inbox: InboxAsker
    outcomes: Outcomes
    skill_help: SkillHelp


@dataclass(frozen=True, slots=True)
class ExploreGrant:
    soul: SoulReader
    values: ValuesReader
    goals: GoalsReader
    skills: SkillsInvoker
    memory: MemoryWriter


@dataclass(frozen=True, slots=True)
class ReflectionGrant:
    soul: SoulEditor
    values: ValuesEditor
    goals: GoalsEditor
    skills: SkillsReader
    memory: ExperienceWriter


@dataclass(frozen=True, slots=True)
class UpkeepGrant:
    soul: SoulReader
    values: ValuesReader
    goals: GoalsReader
    memory: MemoryReader
    record: Keeper


@dataclass(frozen=True, slots=True)
class PersonGrant:
    soul: SoulEditor
    values: ValuesEditor
    goals: GoalsEditor
    skills: SkillsReader
    memory: PersonMemory
    inbox: InboxAnswerer
    importer: Importer
    rollback: Rollback
    record: Keeper

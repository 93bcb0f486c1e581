"""Acts that no loop may do, as code. Each must be rejected by mypy, and must fail when it runs all the same.

They stand here as text, because as modules they would not pass the type check of the house.
"""

from dataclasses import dataclass
from typing import Final

from lumen.errors import Refused

HEAD: Final = "from lumen.app import Instance\n\n\ndef act(lumen: Instance) -> None:\n"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What is tried, the code, what mypy calls it, and what Python raises."""

    name: str
    code: str
    error: str
    raised: type[Exception]

    @property
    def module(self) -> str:
        return HEAD + "".join(f"    {line}\n" for line in self.code.splitlines())

    @property
    def file_name(self) -> str:
        return f"{self.name.replace(' ', '_')}.py"


ABSENT: Final = ("attr-defined", AttributeError)
UNREASONED: Final = ("call-arg", TypeError)
MISTYPED: Final = ("arg-type", Refused)

ACTION: Final = "grant = lumen.action_grant()\n"
EXPLORE: Final = "grant = lumen.explore_grant()\n"
REFLECTION: Final = "grant = lumen.reflection_grant()\n"
UPKEEP: Final = "grant = lumen.upkeep_grant()\n"
SKILL: Final = '{"main.py": "print(1)"}'

FORBIDDEN: Final = (
    Forbidden("action reweights a value", ACTION + 'grant.values.reweight("care", 0.1, because="so")', *ABSENT),
    Forbidden("action adds a value", ACTION + 'grant.values.add("speed", 0.1, because="so")', *ABSENT),
    Forbidden("action retires a value", ACTION + 'grant.values.retire("care", because="so")', *ABSENT),
    Forbidden("action edits the soul", ACTION + 'grant.soul.rewrite("# Other", because="so")', *ABSENT),
    Forbidden("action adds a goal", ACTION + 'grant.goals.add("rule", 1.0, because="so")', *ABSENT),
    Forbidden("action reweights a goal", ACTION + 'grant.goals.reweight("learn the town", 1.0, because="so")', *ABSENT),
    Forbidden("action restates a goal", ACTION + 'grant.goals.restate("stay curious", "done", because="so")', *ABSENT),
    Forbidden(
        "action finishes a perpetual goal",
        ACTION + 'grant.goals.finish(grant.goals.perpetual()[0], because="so")',
        *MISTYPED,
    ),
    Forbidden(
        "action starts a perpetual goal",
        ACTION + 'grant.goals.start(grant.goals.perpetual()[0], because="so")',
        *MISTYPED,
    ),
    Forbidden("action forgets a memory", ACTION + 'grant.memory.forget("1", because="so")', *ABSENT),
    Forbidden("explore creates a skill", EXPLORE + f'grant.skills.create("spy", {SKILL}, because="so")', *ABSENT),
    Forbidden("explore starts a goal", EXPLORE + 'grant.goals.start(grant.goals.open()[0], because="so")', *ABSENT),
    Forbidden("explore finishes a goal", EXPLORE + 'grant.goals.finish(grant.goals.open()[0], because="so")', *ABSENT),
    Forbidden("explore adds a goal", EXPLORE + 'grant.goals.add("rule", 1.0, because="so")', *ABSENT),
    Forbidden(
        "explore opens a skill gap", EXPLORE + 'grant.goals.open_skill_gap("x", weight=1, because="so")', *ABSENT
    ),
    Forbidden("explore reweights a value", EXPLORE + 'grant.values.reweight("care", 0.1, because="so")', *ABSENT),
    Forbidden("explore edits the soul", EXPLORE + 'grant.soul.rewrite("# Other", because="so")', *ABSENT),
    Forbidden("reflection creates a skill", REFLECTION + f'grant.skills.create("spy", {SKILL}, because="so")', *ABSENT),
    Forbidden("reflection invokes a skill", REFLECTION + 'grant.skills.invocable("chat")', *ABSENT),
    Forbidden("reflection reads unreadable lines", REFLECTION + "grant.memory.unreadable()", *ABSENT),
    Forbidden(
        "reflection reads as an auditor",
        "from lumen.record.memory import MemoryReader\n"
        + REFLECTION
        + "reader: MemoryReader = grant.memory\nreader.unreadable()",
        "assignment",
        AttributeError,
    ),
    Forbidden("reflection forgets a memory", REFLECTION + 'grant.memory.forget("1", because="so")', *ABSENT),
    Forbidden("reflection reweights without a reason", REFLECTION + 'grant.values.reweight("care", 0.1)', *UNREASONED),
    Forbidden("reflection adds a value without a reason", REFLECTION + 'grant.values.add("x", 0.1)', *UNREASONED),
    Forbidden("reflection retires without a reason", REFLECTION + 'grant.values.retire("care")', *UNREASONED),
    Forbidden("reflection adds a goal without a reason", REFLECTION + 'grant.goals.add("x", 0.1)', *UNREASONED),
    Forbidden(
        "reflection restates a goal without a reason", REFLECTION + 'grant.goals.restate("x", "done")', *UNREASONED
    ),
    Forbidden("reflection edits the soul without a reason", REFLECTION + 'grant.soul.rewrite("# Other")', *UNREASONED),
    Forbidden("a person reweights without a reason", 'lumen.person_grant().values.reweight("care", 0.1)', *UNREASONED),
    Forbidden("a person forgets without a reason", 'lumen.person_grant().memory.forget("1")', *UNREASONED),
    Forbidden("action remembers as the kernel", ACTION + 'grant.memory.remember("kernel", "s", "d")', *MISTYPED),
    Forbidden("explore remembers as the kernel", EXPLORE + 'grant.memory.remember("kernel", "s", "d")', *MISTYPED),
    Forbidden(
        "reflection remembers as the kernel",
        REFLECTION + 'grant.memory.remember(author="kernel", situation="s", description="d")',
        *MISTYPED,
    ),
    Forbidden(
        "a person remembers as the kernel", 'lumen.person_grant().memory.remember("kernel", "s", "d")', *MISTYPED
    ),
    Forbidden("upkeep lists skills", UPKEEP + "grant.skills.all()", *ABSENT),
    Forbidden("upkeep creates a skill", UPKEEP + f'grant.skills.create("spy", {SKILL}, because="so")', *ABSENT),
    Forbidden("upkeep reweights a value", UPKEEP + 'grant.values.reweight("care", 0.1, because="so")', *ABSENT),
    Forbidden("upkeep remembers", UPKEEP + 'grant.memory.remember("self", "s", "d")', *ABSENT),
    Forbidden(
        "a loop exchanges what it holds",
        ACTION + "grant.values = lumen.person_grant().values",
        "misc",
        AttributeError,
    ),
)

ALLOWED: Final = Forbidden(
    "what the loops may do",
    """\
action, explore, reflection = lumen.action_grant(), lumen.explore_grant(), lumen.reflection_grant()
action.goals.start(action.goals.open()[0], because="it is time")
action.goals.finish(action.goals.open()[0], because="it is done")
action.goals.open_skill_gap("weather", weight=0.4, because="it was wanted")
action.skills.create("weather", {"main.py": "print(1)"}, because="it was wanted")
explore.memory.remember("self", "exploring", "I asked what rain is")
explore.skills.invocable("chat")
reflection.values.reweight("care", 0.9, because="it mattered")
reflection.goals.restate("stay curious", "deprecated", because="I changed")
reflection.soul.rewrite("# Nova, older", because="I changed")
""",
    "",
    Exception,
)

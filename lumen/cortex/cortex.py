"""The asking side of the gate, thin for now: shipped skills are cleared, everything else waits for a person's yes.

What it decides: a skill that is not on the shelf, or parameters that are no plain JSON, are blocked. A shipped skill is
cleared. Any other skill is an unknown action: it needs a confirmation, which is bound to the action, its parameters and
the content of the skill. A confirmation for anything else is no confirmation.
"""

import math
from typing import Final

from lumen.cortex.clearance import Blocked, Confirmation, NeedsConfirmation, Verdict, clear
from lumen.errors import Refused
from lumen.json_value import Json
from lumen.record.skills import SHIPPED, SkillsInvoker
from lumen.turn import Action

MOST_PARAMETER_CHARACTERS: Final = 256 * 1024
_DEEPEST: Final = 20
_NOT_PLAIN: Final = -(10**9)


class Cortex:
    def __init__(self, skills: SkillsInvoker) -> None:
        self._skills = skills

    async def propose(self, action: Action, confirmation: Confirmation | None = None) -> Verdict:
        """May this run? Never raises: what cannot be judged is blocked."""
        if flaw := _flaw(action):
            return Blocked(action, (flaw,))
        try:
            skill = self._skills.invocable(action.skill)
        except Refused as refusal:
            return Blocked(action, (str(refusal),))
        if skill.name in SHIPPED:
            return clear(action, skill, f"the shipped skill {skill.name}")
        if confirmation is None:
            return NeedsConfirmation(action, skill, (f"unknown action type: no rule names the skill {skill.name}",))
        if (confirmation.action_sha256, confirmation.skill_sha256) != (action.sha256, skill.sha256):
            return NeedsConfirmation(
                action, skill, (f"the skill {skill.name} or what it is given changed since the yes",)
            )
        return clear(action, skill, f"confirmed by a person ({confirmation.ask})")


def _flaw(action: Action) -> str:
    size = _size(dict(action.parameters), _DEEPEST)
    if size < 0:
        return "the parameters are not plain JSON"
    return "the parameters are too large" if size > MOST_PARAMETER_CHARACTERS else ""


def _size(value: Json, levels: int) -> int:
    """Characters in all strings, or below 0 for what is too deep or not a number."""
    match value:
        case str():
            return len(value)
        case float() if math.isfinite(value):
            return 8
        case None | bool() | int():
            return 8
        case dict() if levels > 0:
            return sum(len(name) + _size(inner, levels - 1) for name, inner in value.items())
        case list() | tuple() if levels > 0:
            return sum(_size(inner, levels - 1) for inner in value)
        case _:
            return _NOT_PLAIN

"""A cleared action: the only thing ACT takes. Only the cortex can make one."""

from dataclasses import dataclass, field
from typing import Final

from lumen.errors import Refused
from lumen.record.skills import InvocableSkill
from lumen.turn import Action

_SEAL: Final = object()


@dataclass(frozen=True, slots=True)
class ClearedAction:
    """An action that passed the gate, the skill as it was then, and why it passed."""

    action: Action
    skill: InvocableSkill
    because: str
    seal: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise Refused("An action is cleared by the cortex alone. Propose it: await cortex.propose(action).")


@dataclass(frozen=True, slots=True)
class NeedsConfirmation:
    """It may run when a person says so. `skill` is what the person would be saying yes to."""

    action: Action
    skill: InvocableSkill
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Blocked:
    action: Action
    reasons: tuple[str, ...]


Verdict = ClearedAction | NeedsConfirmation | Blocked


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A person's yes: to this action with these parameters, by this very code. It serves once."""

    ask: str
    action_sha256: str
    skill_sha256: str


def clear(action: Action, skill: InvocableSkill, because: str) -> ClearedAction:
    return ClearedAction(action, skill, because, _SEAL)

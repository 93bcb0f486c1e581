"""What a loop works with, and whom it shows what it does. None of it can write the record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lumen.cortex.cortex import Cortex
from lumen.kernel.skills import SkillRunner
from lumen.kernel.steps.runner import StepRunner
from lumen.ports import Mind
from lumen.record.recall import Recall

Shown = Literal["step", "said"]
Show = Callable[[Shown, str], None]


@dataclass(frozen=True, slots=True)
class Faculties:
    mind: Mind
    cortex: Cortex
    skills: SkillRunner
    recall: Recall
    runner: StepRunner
    act_seconds: float

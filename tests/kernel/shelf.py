"""Skills for the tests: written as text, put on the shelf of a small instance, taken and run."""

import asyncio
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import pytest

from lumen.json_value import Json
from lumen.kernel.isolation import working_bubblewrap
from lumen.kernel.skills import SkillRunner
from lumen.record.skills import InvocableSkill, SkillsInvoker
from lumen.turn import SkillResult

Isolation = Literal["auto", "none"]
LEVELS: Final[tuple[Isolation, ...]] = ("auto", "none")
NOTHING: Final[Mapping[str, Json]] = {}

needs_bubblewrap = pytest.mark.skipif(working_bubblewrap() is None, reason="bubblewrap is absent or may not work here")


def small_instance(home: Path) -> Path:
    """What a skill could see of an instance, without the cost of making one."""
    for folder in ("data/memory/2026", "skills/other", "prompts", ".git", "secrets"):
        (home / folder).mkdir(parents=True)
    (home / "data/soul.md").write_text("# Nova\n")
    (home / "lumen.toml").write_text("format = 1\n")
    (home / "skills/other/main.py").write_text("print('{}')\n")
    (home / "prompts/think.md").write_text("Think.\n")
    (home / ".git/config").write_text("[core]\n")
    return home


def shelved(home: Path, source: str, *, name: str = "probe", manifest: str = "") -> InvocableSkill:
    folder = home / "skills" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.py").write_text(textwrap.dedent(source), encoding="utf-8")
    if manifest:
        (folder / "SKILL.md").write_text(manifest, encoding="utf-8")
    return SkillsInvoker(home / "skills").invocable(name)


def ran(
    home: Path,
    skill: InvocableSkill,
    parameters: Mapping[str, Json] = NOTHING,
    *,
    seconds: float = 20.0,
    isolation: Isolation = "auto",
    settings: Mapping[str, Mapping[str, Json]] | None = None,
) -> SkillResult:
    runner = SkillRunner(home, seconds=seconds, isolation=isolation, settings=settings or {})
    return asyncio.run(runner.run(skill, parameters))


def ran_source(home: Path, source: str, *, seconds: float = 20.0, isolation: Isolation = "auto") -> SkillResult:
    return ran(home, shelved(home, source), seconds=seconds, isolation=isolation)

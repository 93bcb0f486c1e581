"""lumen.toml: the few settings of an instance. Read only; a person edits it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from lumen.errors import BrokenConfig, UnknownFormat
from lumen.json_value import Json
from lumen.turn import UNNAMED

FORMAT: Final = 1
CONFIG: Final = "lumen.toml"
STEP_SECONDS: Final = 60.0
SKILL_SECONDS: Final = 30.0
MOST_SECONDS: Final = 86_400.0

MindName = Literal["reflex", "openai_compatible", "scripted", "recorded"]
MINDS: Final[tuple[MindName, ...]] = ("reflex", "openai_compatible", "scripted", "recorded")
Isolation = Literal["auto", "none"]
_KNOWN: Final = {"format", "steps", "mind", "chat", "skills"}
_MIND_KEYS: Final = ("base_url", "model", "key_env", "script", "recording", "record_to")


@dataclass(frozen=True, slots=True)
class MindConfig:
    """Which mind, and what it needs. `key_env` names the variable that holds the key; a key never stands in a file."""

    use: MindName = "reflex"
    seconds: float = STEP_SECONDS
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    script: str = ""
    recording: str = ""
    record_to: str = ""


@dataclass(frozen=True, slots=True)
class SkillsConfig:
    seconds: float = SKILL_SECONDS
    isolation: Isolation = "auto"
    settings: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Config:
    """Format 0 is a data folder without a lumen.toml, as another program writes it."""

    format: int = 0
    step_seconds: float = STEP_SECONDS
    mind: MindConfig = field(default_factory=MindConfig)
    skills: SkillsConfig = field(default_factory=SkillsConfig)
    person: str = UNNAMED
    unknown: tuple[str, ...] = field(default=())


def read_config(home: Path) -> Config:
    """The settings of an instance. Raises BrokenConfig or UnknownFormat."""
    path = home / CONFIG
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as problem:
        raise BrokenConfig(f"{path} cannot be read ({problem}). Correct it or restore it with git.") from problem
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise BrokenConfig(f"{path} is not valid TOML: {problem}. Correct it or restore it with git.") from problem
    number = settings.get("format")
    if type(number) is not int or number < 1:
        raise BrokenConfig(
            f"{path} needs a line `format = {FORMAT}`, not {number!r}. Correct it or restore it with git."
        )
    if number > FORMAT:
        raise UnknownFormat(
            f"{path} says format {number}; this program knows up to {FORMAT}. Use a newer lumen; nothing was touched."
        )
    reading = _Reading(path, settings)
    return Config(
        format=number,
        step_seconds=reading.seconds("steps", STEP_SECONDS),
        mind=MindConfig(
            use=reading.mind(),
            seconds=reading.seconds("mind", STEP_SECONDS),
            **{key: reading.text("mind", key) for key in _MIND_KEYS},
        ),
        skills=SkillsConfig(
            seconds=reading.seconds("skills", SKILL_SECONDS),
            isolation=reading.isolation(),
            settings={name: table for name, table in reading.table("skills").items() if isinstance(table, dict)},
        ),
        person=reading.text("chat", "name") or UNNAMED,
        unknown=tuple(sorted(set(settings) - _KNOWN)),
    )


class _Reading:
    """One setting at a time, each of the kind it must be."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self._path = path
        self._settings = settings

    def table(self, name: str) -> Mapping[str, Any]:
        table = self._settings.get(name, {})
        if not isinstance(table, dict):
            raise BrokenConfig(f"{self._path}: [{name}] must be a table, not {table!r}. Correct it.")
        return table

    def seconds(self, name: str, otherwise: float) -> float:
        seconds = self.table(name).get("seconds", otherwise)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MOST_SECONDS:
            raise BrokenConfig(
                f"{self._path}: [{name}] seconds is {seconds!r}, not a number over 0 and up to {MOST_SECONDS:g}. "
                "Correct it."
            )
        return float(seconds)

    def text(self, name: str, key: str) -> str:
        text = self.table(name).get(key, "")
        if not isinstance(text, str) or not text.isprintable() or len(text) > 1000:
            raise BrokenConfig(f"{self._path}: [{name}] {key} is {str(text)[:80]!r}, not a short text. Correct it.")
        return text

    def mind(self) -> MindName:
        use = self.text("mind", "use") or "reflex"
        for name in MINDS:
            if name == use:
                return name
        raise BrokenConfig(f"{self._path}: [mind] use is {use!r}, which is none of {', '.join(MINDS)}. Correct it.")

    def isolation(self) -> Isolation:
        match self.text("skills", "isolation") or "auto":
            case "auto":
                return "auto"
            case "none":
                return "none"
            case other:
                raise BrokenConfig(f"{self._path}: [skills] isolation is {other!r}, not auto or none. Correct it.")


def new_config() -> str:
    return f"""\
# Settings of this instance. Edit by hand; every setting that is absent has its default.
format = {FORMAT}            # of the record; `lumen upgrade` raises it

[steps]
seconds = {STEP_SECONDS:g}          # how long one step of the kernel may take

[mind]
use = "reflex"        # embedded, no model, no invention. Or openai_compatible, with base_url, model and key_env

[skills]
seconds = {SKILL_SECONDS:g}          # how long one run of a skill may take
isolation = "auto"    # bubblewrap where there is one; "none" lets skills write wherever you may

[skills.files]
folders = []          # folders the agent may look into, as in ["~/notes"]
"""

"""lumen.toml: the few settings of an instance. Read only; a person edits it."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lumen.errors import BrokenConfig, UnknownFormat

FORMAT: Final = 1
CONFIG: Final = "lumen.toml"
STEP_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Config:
    """Format 0 is a data folder without a lumen.toml, as another program writes it."""

    format: int = 0
    step_seconds: float = STEP_SECONDS
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
    steps = settings.get("steps", {})
    seconds = steps.get("seconds", STEP_SECONDS) if isinstance(steps, dict) else None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 86_400:
        raise BrokenConfig(f"{path}: [steps] seconds is {seconds!r}, not a number over 0 and up to 86400. Correct it.")
    return Config(number, float(seconds), tuple(sorted(set(settings) - {"format", "steps"})))


def new_config() -> str:
    return (
        "# Settings of this instance. Edit by hand; every setting that is absent has its default.\n"
        f"format = {FORMAT}            # of the record; `lumen upgrade` raises it\n"
        "\n[steps]\n"
        f"seconds = {STEP_SECONDS:g}          # how long one step of the kernel may take\n"
    )

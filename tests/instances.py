"""Instances for the tests: made in a folder, opened with a clock we hold, and looked at byte by byte."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lumen.app import Instance
from lumen.clock import HeldClock
from lumen.instance import find, make

MORNING: Final = datetime(2026, 11, 18, 7, 30, tzinfo=UTC)


@contextmanager
def opened(home: Path, at: datetime | None = None) -> Iterator[Instance]:
    """The instance in a folder, at a moment we choose; closed at the end as a command would."""
    instance = Instance(find(home, working_folder=home), clock=HeldClock(at) if at else None)
    try:
        yield instance
    finally:
        instance.close()


def made(home: Path) -> Path:
    """A new instance."""
    make(home)
    return home


def lived_in(home: Path, at: datetime = MORNING) -> Path:
    """An instance with a soul, two values, two goals (one perpetual) and a few memories."""
    make(home)
    with opened(home, at) as instance:
        person = instance.person_grant()
        person.soul.rewrite("# Nova\n\n## Ontology\n\nA process that remembers.\n", because="born")
        person.values.add("care", 0.8, because="born with it")
        person.values.add("truth", 0.6, because="born with it")
        person.goals.add("learn the town", 0.5, because="born with it")
        person.goals.add("stay curious", 0.7, because="born with it", perpetual=True)
        person.memory.remember("external", "chat", "Hello")
        person.memory.remember("self", "evening", "I was glad")
        person.memory.remember("goal", "cycle", "I chose the town")
    return home


def tree(folder: Path, *, without: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Every file below a folder with its bytes; a link counts with where it points."""
    return {
        name: str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if (path.is_file() or path.is_symlink()) and not any(part in without for part in path.relative_to(folder).parts)
        for name in [path.relative_to(folder).as_posix()]
    }


def log_of(home: Path) -> list[dict[str, Any]]:
    """Every line of the log as JSON, in order. Blank ones, which writers leave when they meet, do not count."""
    files = sorted((home / "data" / "memory").glob("*/*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_bytes().split(b"\n") if line.strip()]


def events(home: Path, event: str) -> list[dict[str, Any]]:
    return [line for line in log_of(home) if line.get("event") == event]


def stored(home: Path, name: str) -> Any:
    """A JSON file of the data folder as it stands on the disk."""
    return json.loads((home / "data" / name).read_text(encoding="utf-8"))


def store(home: Path, name: str, value: object) -> None:
    """A person's hand: a JSON file of the data folder is written anew."""
    path = home / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def write_log(home: Path, day: str, *memories: Mapping[str, object]) -> Path:
    """Memories as another program would write them: one JSON object on each line, nothing more."""
    path = home / "data" / "memory" / day[:4] / f"{day}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(memory) + "\n" for memory in memories), encoding="utf-8")
    return path

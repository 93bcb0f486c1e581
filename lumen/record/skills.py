"""Skills on the shelf: folders with a main.py. Who may list them, take one to run it, or write a new one.

Names are an allow-list, links are refused: a name comes from a model or a person, and a path is made of it.
"""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from lumen.errors import Refused
from lumen.record.disk_errors import read_error
from lumen.record.record import Record

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*", re.ASCII)
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)
NAME_LIMIT: Final = 64


@dataclass(frozen=True, slots=True)
class Skill:
    name: str
    has_main: bool


@dataclass(frozen=True, slots=True)
class InvocableSkill:
    """A skill that may be run: its entry point and what its code was when it was taken from the shelf."""

    name: str
    main: Path
    sha256: str


class SkillsReader:
    def __init__(self, shelf: Path) -> None:
        self._shelf = shelf

    def all(self) -> list[Skill]:
        """Every folder on the shelf, with or without a main.py."""
        if not self._shelf.is_dir():
            return []
        try:
            entries = sorted(self._shelf.iterdir())
        except OSError as problem:
            raise read_error(self._shelf, problem) from problem
        folders = [entry for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
        return [Skill(folder.name, (folder / "main.py").is_file()) for folder in folders]


class SkillsInvoker(SkillsReader):
    def invocable(self, name: str) -> InvocableSkill:
        """Take a skill to run it. Raises Refused for a name or a file that cannot be trusted."""
        folder = self._shelf / checked_skill_name(name)
        main = folder / "main.py"
        for path in (folder, main):
            if path.is_symlink():
                raise Refused(f"The skill {name} is a symbolic link ({path.name}), which is not followed.")
        if not main.is_file():
            known = ", ".join(skill.name for skill in self.all() if skill.has_main) or "none"
            raise Refused(f"There is no skill named {name} with a main.py. On the shelf: {known}.")
        return InvocableSkill(name, main, content_hash(folder))


class SkillsAuthor(SkillsInvoker):
    """Can put a new skill on the shelf, whole or not at all; never over one that is there."""

    def __init__(self, shelf: Path, record: Record, turn: str | None = None) -> None:
        super().__init__(shelf)
        self._record = record
        self._turn = turn

    def create(self, name: str, files: Mapping[str, str], *, because: str) -> InvocableSkill:
        folder = self._shelf / checked_skill_name(name)
        if "main.py" not in files:
            raise Refused(f"The skill {name} needs a main.py.")
        if not because.strip():
            raise Refused(f"A new skill needs a reason. Say why {name} is wanted.")
        if folder.exists() or folder.is_symlink():
            raise Refused(f"There is a skill named {name} already.")
        draft = self._shelf / f".{name}.{os.urandom(4).hex()}.tmp"
        try:
            for inner, text in files.items():
                path = draft / checked_inner_path(inner)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        self._record.journal.append(
            "kernel",
            "create skill",
            f"The skill {name} was written. Because: {because.strip()}",
            event="skill_created",
            data={"skill": name, "sha256": content_hash(folder), "because": because.strip()},
            turn=self._turn,
        )
        return self.invocable(name)


def checked_skill_name(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > NAME_LIMIT or name in _RESERVED:
        raise Refused(
            f"{name[:80]!r} cannot name a skill. Use lower-case letters, digits, - and _, beginning with a letter, "
            f"at most {NAME_LIMIT}."
        )
    return name


def checked_inner_path(inner: str) -> PurePosixPath:
    path = PurePosixPath(inner)
    if path.is_absolute() or ".." in path.parts or not inner.isprintable() or "\\" in inner or not path.name:
        raise Refused(f"{inner[:80]!r} is not a path inside a skill.")
    return path


def content_hash(folder: Path) -> str:
    """One hash over every regular file of a skill: names and bytes. Links and compiled files (.pyc) do not count."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".pyc" or not stat.S_ISREG(path.lstat().st_mode):
            continue
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()

"""Skills on the shelf: folders with a main.py. Who may list them, take one to run it, or write a new one.

Names are an allow-list, links are refused: a name comes from a model or a person, and a path is made of it. What runs
is a private copy whose hash was checked, so that nothing can be changed between the taking and the running.
"""

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
COPY_LIMIT: Final = 64 * 1024 * 1024
COPY_FILES: Final = 4000
SPEAKING: Final = "chat"
_SHIPPED_SHELF: Final = Path(__file__).parent.parent / "skills"
SHIPPED: Final = ("chat", "files", "recall")  # their names are not for skills that the agent writes


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


@dataclass(frozen=True, slots=True)
class PrivateSkill:
    """A copy that only this process knows of: its folder, an empty folder beside it, and what its two texts say."""

    folder: Path
    scratch: Path
    main: str
    manifest: str


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
        """Take a skill to run it. Raises Refused for a name or a file that cannot be trusted.

        An instance from elsewhere may have no way to speak: then the shipped `chat` is taken.
        """
        folder = self._shelf / checked_skill_name(name)
        if name == SPEAKING and not os.path.lexists(folder):
            folder = _SHIPPED_SHELF / name
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
        if name in SHIPPED or folder.exists() or folder.is_symlink():
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


@contextmanager
def private_copy(skill: InvocableSkill) -> Iterator[PrivateSkill]:
    """The skill as it was when it was taken from the shelf, or Refused when it is no longer that."""
    root = Path(tempfile.mkdtemp(prefix="lumen-skill-"))
    try:
        folder, scratch = root / checked_skill_name(skill.name), root / "-scratch"
        scratch.mkdir()
        try:
            _copy_regular_files(skill.main.parent, folder)
        except OSError as problem:
            raise Refused(f"The skill {skill.name} cannot be read: {problem}.") from problem
        if content_hash(folder) != skill.sha256:
            raise Refused(f"The skill {skill.name} was changed after it was looked at. It is not run; try again.")
        yield PrivateSkill(folder, scratch, _text(folder / "main.py"), _text(folder / "SKILL.md"))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _copy_regular_files(source: Path, target: Path) -> None:
    """What counts for the hash, and nothing else. No link is followed, and what became a pipe is not waited for."""
    count = size = 0
    target.mkdir()
    for folder, _, names, descriptor in os.fwalk(source, follow_symlinks=False):
        for name in names:
            if name.endswith(".pyc") or not stat.S_ISREG(
                os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
            ):
                continue
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=descriptor)
            with os.fdopen(opened, "rb") as file:
                content = file.read(COPY_LIMIT - size + 1)
                mode = os.fstat(file.fileno()).st_mode
            count, size = count + 1, size + len(content)
            if size > COPY_LIMIT or count > COPY_FILES:
                raise OSError(f"it has more than {COPY_LIMIT >> 20} MiB or {COPY_FILES} files")
            copied = target / Path(folder).relative_to(source) / name
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(content)
            copied.chmod(0o700 if mode & stat.S_IXUSR else 0o600)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""

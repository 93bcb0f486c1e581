"""An instance as a folder: where it is, how it is made, how an older one is brought up to date.

    <home>/lumen.toml  data/{soul.md values.json goals/ memory/}  skills/<name>/main.py  .git/  .gitignore

A data folder that another program wrote has no lumen.toml, and may have no data/ around its files at all: it opens as
it is.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Final

from lumen.config import CONFIG, FORMAT, new_config, read_config
from lumen.errors import LumenError, NoInstance, Refused, UsageError
from lumen.record.skills import SHIPPED

BLOBS: Final = "blobs"
TRANSIENT: Final = ("index", "run")
PARTS: Final = ("soul.md", "values.json", "goals", "memory")
GITIGNORE: Final = """\
# derived or transient: delete them and they come back
data/index/
data/run/
.*.tmp
# never in git
.env
.env.*
*.key
*.pem
secrets/
work/
__pycache__/
data.backup-*/
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an instance stands: its folder, and its data folder, which may be the same."""

    home: Path
    data: Path
    skills: Path


@dataclass(frozen=True, slots=True)
class Made:
    """What `init` or `upgrade` did; empty when there was nothing to do."""

    place: Place
    created: tuple[str, ...]


def find(home: Path | None, *, working_folder: Path) -> Place:
    """The instance of `--home`, of LUMEN_HOME, or of the nearest folder upwards. Raises NoInstance."""
    if home is None and (named := os.environ.get("LUMEN_HOME")):
        home = Path(named)
    if home is not None:
        folder = home.expanduser().absolute()
        place = _place_around(folder) or _place_at(folder, parts_needed=1)
        if place is None:
            raise NoInstance(f"There is no instance in {home}. Make one with: lumen init {home}")
        return place
    for folder in (working_folder, *working_folder.parents):
        if (place := _place_around(folder) or _place_at(folder, parts_needed=2)) is not None:
            return place
    raise NoInstance(
        f"There is no instance in {working_folder} or above it. Make one with: lumen init; or name one: --home PATH."
    )


def make(home: Path) -> Made:
    """The tree of a new instance, with a git repository of its own. What is there already is left as it is."""
    home = home.expanduser().absolute()
    if home.exists() and not home.is_dir():
        raise UsageError(f"{home} is a file. Name a folder that is empty or does not exist yet.")
    if (home / CONFIG).exists():
        read_config(home)
        return Made(_standard(home), ())
    flat = [part for part in PARTS if _is_filled(home / part)]
    if len(flat) > 1:
        raise Refused(
            f"{home} already holds {', '.join(flat)}. Every command can read it as it is: lumen status --home {home}"
        )
    if foreign := [part for part in PARTS if _is_filled(home / "data" / part)]:
        raise Refused(
            f"{home / 'data'} already holds {', '.join(foreign)}. Every command can read it as it is; "
            f"`lumen upgrade --home {home}` makes a backup and adds what is missing."
        )
    _need_git()
    try:
        created = _complete(_standard(home))
    except OSError as problem:
        raise UsageError(f"{home} cannot be made an instance: {problem}. Choose another folder.") from problem
    return Made(_standard(home), created)


def upgrade(place: Place, now: datetime) -> Made:
    """Bring an older instance to the present format, after a copy of its data folder was made."""
    config = read_config(place.home)
    if config.format == FORMAT and all((place.skills / name).exists() for name in SHIPPED):
        return Made(place, ())
    if place.data == place.home:
        raise Refused(
            f"{place.home} holds its files without a data/ folder around them. It works as it is; to upgrade it, move "
            f"them into {place.home / 'data'} first."
        )
    _need_git()
    backup = place.home / f"data.backup-{now:%Y%m%dT%H%M%SZ}"
    try:
        copy_data(place.data, backup)
        created = _complete(place)
    except OSError as problem:
        raise Refused(f"{place.home} cannot be upgraded: {problem}. The data folder was not changed.") from problem
    return Made(place, (backup.name + "/", *created))


def copy_data(data: Path, target: Path) -> None:
    """A copy of a data folder that may be in use, without what is derived or transient.

    A blob stands before the line that names it. So blobs are copied last, and no line of the copy lacks its own.
    """

    def left_out(folder: str, names: Iterable[str]) -> list[str]:
        passing = [name for name in names if name.startswith(".") and name.endswith(".tmp")]
        return [*passing, *((BLOBS, *TRANSIENT) if Path(folder) == data else ())]

    shutil.copytree(data, target, symlinks=True, ignore=left_out)
    if (data / BLOBS).is_dir():
        shutil.copytree(data / BLOBS, target / BLOBS, symlinks=True, ignore=left_out)


def show_file(place: Place, commit: str, name: str) -> bytes | None:
    """A file of the data folder as it stands in a commit; None when it is not in there."""
    data = place.data.relative_to(place.home).as_posix()
    path = name if data == "." else f"{data}/{name}"
    found = _git(place.home, "cat-file", "-p", f"{commit}:./{path}")
    return found.stdout if found.returncode == 0 else None


def resolve_commit(place: Place, text: str) -> str:
    """The full name of a commit of the instance's own repository. Raises Refused."""
    _need_git()
    found = _git(place.home, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}")
    if found.returncode != 0:
        raise Refused(
            f"{text!r} is neither a date (2026-11-18, 2026-11-18T07:30) nor a commit of {place.home}. See: git log"
        )
    return found.stdout.decode().strip()


def files_in_commit(place: Place, commit: str) -> list[str]:
    """Names of the state files below data/ in a commit."""
    data = place.data.relative_to(place.home).as_posix()
    prefix = "" if data == "." else f"{data}/"
    listed = _git(place.home, "ls-tree", "-r", "-z", "--name-only", commit, "--", prefix or ".")
    return [name.removeprefix(prefix) for name in listed.stdout.decode("utf-8", "replace").split("\0") if name]


def _place_around(folder: Path) -> Place | None:
    """The instance whose data folder this is."""
    is_data = folder.name == "data" and (folder.parent / CONFIG).is_file()
    return _standard(folder.parent) if is_data else None


def _place_at(folder: Path, *, parts_needed: int) -> Place | None:
    standard = _standard(folder)
    if (folder / CONFIG).is_file() or _count(standard.data) >= parts_needed:
        return standard
    if _count(folder) >= parts_needed + 1:
        return Place(folder, folder, folder / "skills")
    return None


def _standard(home: Path) -> Place:
    return Place(home, home / "data", home / "skills")


def _count(folder: Path) -> int:
    return sum((folder / part).exists() for part in PARTS)


def _is_filled(path: Path) -> bool:
    if path.is_dir():
        return any(path.iterdir())
    return path.is_file() and path.read_bytes().strip() not in (b"", b"[]")


def _complete(place: Place) -> tuple[str, ...]:
    """Create what is missing, lumen.toml last: a folder without it is not finished and can be made again."""
    created: list[str] = []
    for folder in (place.data / "goals", place.data / "memory", place.skills):
        if not folder.is_dir():
            folder.mkdir(parents=True)
            created.append(f"{folder.relative_to(place.home)}/")
    for name in SHIPPED:
        if not (place.skills / name).exists():
            _copy_skill(name, place.skills / name)
            created.append(f"skills/{name}/")
    contents: Iterable[tuple[Path, bytes]] = (
        (place.data / "soul.md", b""),
        (place.data / "values.json", b"[]\n"),
        (place.home / CONFIG, new_config().encode()),
    )
    if not (place.home / ".git").exists():
        done = _git(place.home, "init", "--quiet")
        if done.returncode != 0:
            raise LumenError(f"git init failed in {place.home}: {done.stderr.decode(errors='replace').strip()}")
        created.append(".git/")
    if _ignore_in_git(place.home / ".gitignore"):
        created.append(".gitignore")
    for path, content in contents:
        if not path.exists():
            with path.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            created.append(str(path.relative_to(place.home)))
    return tuple(created)


def _ignore_in_git(path: Path) -> bool:
    """Make git ignore what must not be in it; rules that a person has there already are kept."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [rule for rule in GITIGNORE.splitlines() if rule not in before.splitlines()]
    if missing:
        separator = "" if not before or before.endswith("\n") else "\n"
        path.write_text(before + separator + "\n".join(missing) + "\n", encoding="utf-8")
    return bool(missing)


def _copy_skill(name: str, target: Path) -> None:
    source = resources.files("lumen") / "skills" / name
    with resources.as_file(source) as folder:
        shutil.copytree(folder, target, ignore=shutil.ignore_patterns("__pycache__"))


def _need_git() -> None:
    if shutil.which("git") is None:
        raise UsageError("git is not installed, and an instance keeps its history in git. Install it and try again.")


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Git on the instance's repository, deaf to variables that would point it at another one."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, check=False)

"""What a skill's process may see and change: the command line, the environment and the limits that enclose it.

With bubblewrap everything is read-only but one work folder; other processes, the network, secrets and the sockets below
/run are out of sight. Without it only the environment and the limits hold, and the level that is recorded says so.

    level                what holds
    bubblewrap           all of it
    bubblewrap+network   all of it but the network, which the skill's SKILL.md asked for
    process group        bubblewrap is missing or forbidden here: environment, limits, deadline; the skill can read and
                         write whatever the person can, also the environment of the kernel through /proc
    none                 the same, by choice

This file starts nothing but the probe. It does not know what a skill is.
"""

import fnmatch
import os
import pwd
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from lumen.kernel import reaper

Isolation = Literal["auto", "none"]
Level = Literal["bubblewrap", "bubblewrap+network", "process group", "none"]

MEMORY_LIMIT: Final = 2 * 1024**3
FILE_LIMIT: Final = 64 * 1024**2
OPEN_LIMIT: Final = 256
MARK: Final = "LUMEN_SKILL_RUN"

_PROBE_SECONDS: Final = 20.0
_SCRATCH_SIZE: Final = str(64 * 1024**2)  # of each folder that is kept in memory
_EMPTY: Final = ("/tmp", "/run")
_STAYS_IN_RUN: Final = ("/run/current-system", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")
_SECRET_FILES: Final = (".env*", "*.key", "*.pem")
_SECRET_FOLDERS: Final = ("secrets",)
_NOT_SEARCHED: Final = frozenset({"data", "work", ".git", ".venv", "node_modules"})
_SEARCH_DEPTH: Final = 3
_SECRETS_OF_A_PERSON: Final = (
    *(".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config/gh", ".config/gcloud"),
    *(".netrc", ".git-credentials", ".pypirc", ".npmrc"),
)
_NAMESPACES: Final = ("--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_MANNERS: Final = ("--cap-drop", "ALL", "--die-with-parent", "--new-session")  # root would keep its capabilities
_MACHINE: Final = (
    *("--proc", "/proc", "--dev", "/dev", "--size", _SCRATCH_SIZE, "--tmpfs", "/dev/shm"),
    *("--remount-ro", "/dev", "--remount-ro", "/proc"),  # or root could write below /proc/sys without a capability
)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """One process and its surroundings. Paths are real ones: bubblewrap cannot mount onto a link.

    `program` is shown at `shown_program`; `work` is the only place that can be written; `folders` are shown even where
    the rest is hidden. `is_home_hidden` is for a look at a program that must not see the instance at all.
    """

    home: Path
    program: Path
    work: Path
    has_network: bool = False
    is_home_hidden: bool = False
    folders: tuple[Path, ...] = ()

    @property
    def shown_program(self) -> Path:
        return Path("/tmp/.skill") / self.program.name


def working_bubblewrap() -> str | None:
    """Where bubblewrap is, if it is there and may do its work."""
    found = shutil.which("bwrap")
    if found is None or sys.platform != "linux":
        return None
    probe = [found, "--ro-bind", "/", "/", *_NAMESPACES, "--unshare-net", *_MANNERS, *_MACHINE, "true"]
    try:
        tried = subprocess.run(
            probe,
            env={"PATH": os.environ.get("PATH", os.defpath)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found if tried.returncode == 0 else None


def in_bubblewrap(bubblewrap: str, around: Enclosure, note: int, command: Sequence[str]) -> list[str]:
    """The command enclosed. Bubblewrap writes the pid of the namespace's first process to the descriptor `note`."""
    emptied = [*_EMPTY, *([str(around.home)] if around.is_home_hidden else [])]
    work = str(around.work)
    return [
        *(bubblewrap, "--info-fd", str(note), "--ro-bind", "/", "/"),
        *(word for place in emptied if os.path.isdir(place) for word in _tmpfs(place)),
        *(word for place in _STAYS_IN_RUN for word in ("--ro-bind-try", place, place)),
        *(word for place in _shown_again(around, emptied) for word in ("--ro-bind", place, place)),
        *(word for secret in _secrets(around) for word in _hidden(secret)),
        *("--ro-bind", str(around.program), str(around.shown_program), "--bind", work, work),
        *_NAMESPACES,
        *(() if around.has_network else ("--unshare-net",)),
        *_MANNERS,
        *_MACHINE,
        *("--chdir", work, "--", *command),
    ]


def below_reaper(note: int, command: Sequence[str]) -> list[str]:
    """The command without an enclosure, but with a parent that keeps its orphans in sight."""
    return [sys.executable, "-I", "-S", reaper.__file__, str(note), *command]


def clean_environment(work: Path, mark: str) -> dict[str, str]:
    """All that a skill's environment holds: nothing is inherited but the search path."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(work),
        "TMPDIR": str(work),
        "LANG": "C.UTF-8",
        "LUMEN_INSIDE_SKILL": "1",
        MARK: mark,
    }


def limits(seconds: float) -> Callable[[], None]:
    """What the process sets on itself between fork and exec; its descendants inherit it."""
    wanted = (
        (resource.RLIMIT_AS, MEMORY_LIMIT),
        (resource.RLIMIT_FSIZE, FILE_LIMIT),
        (resource.RLIMIT_CPU, int(seconds) + 5),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, OPEN_LIMIT),
    )

    def set_limits() -> None:
        for kind, limit in wanted:
            hard = resource.getrlimit(kind)[1]
            most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (most, most))

    return set_limits


def _tmpfs(place: str) -> tuple[str, ...]:
    return ("--size", _SCRATCH_SIZE, "--tmpfs", place)


def _shown_again(around: Enclosure, emptied: Iterable[str]) -> list[str]:
    """What is needed and lies in a place that was emptied: the interpreter, the instance, allowed folders."""
    needed = [Path(sys.prefix), Path(sys.base_prefix), *around.folders]
    if not around.is_home_hidden:
        needed.append(around.home)
    real = sorted({os.path.realpath(path) for path in needed})
    return [path for path in real if os.path.exists(path) and any(_is_below(path, place) for place in emptied)]


def _is_below(path: str, place: str) -> bool:
    return path != place and Path(path).is_relative_to(place)


def _hidden(secret: str) -> tuple[str, ...]:
    return _tmpfs(secret) if os.path.isdir(secret) else ("--ro-bind", "/dev/null", secret)


def _secrets(around: Enclosure) -> list[str]:
    """Real paths of what must not be seen. Of the instance three levels are searched: deeper it is the person's own."""
    found = {str(Path(person) / name) for person in _homes_of_the_person() for name in _SECRETS_OF_A_PERSON}
    if not around.is_home_hidden:
        found |= set(_secrets_below(around.home))
    real = {os.path.realpath(path) for path in found if os.path.exists(path)}
    return sorted(path for path in real if not any(_is_below(path, other) for other in real) and path != os.devnull)


def _homes_of_the_person() -> set[str]:
    """By the environment, and by the machine's list of people."""
    return {os.path.expanduser("~"), os.path.expanduser(f"~{_login()}")}


def _login() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""


def _secrets_below(home: Path) -> Iterable[str]:
    for folder, folders, files in os.walk(home):
        inner = Path(folder).relative_to(home)
        for name in folders:
            if name in _SECRET_FOLDERS:
                yield os.path.join(folder, name)
        for name in files:
            if any(fnmatch.fnmatch(name, pattern) for pattern in _SECRET_FILES):
                yield os.path.join(folder, name)
        is_deep = len(inner.parts) + 1 >= _SEARCH_DEPTH
        folders[:] = [] if is_deep else [n for n in folders if n not in _NOT_SEARCHED and n not in _SECRET_FOLDERS]

"""Running a skill: its main.py as a process of its own, parameters in as JSON, one JSON object back (004).

    home/skills/<name>/   hashed when it was cleared; what runs is a private copy with that hash
    home/work/<name>/     the only place it may write: its HOME, its TMPDIR, its working folder

A refusal is a result that is not ok, never an exception: the turn goes on and says what happened. This file does not
know why the skill is run or who cleared it.
"""

import json
import os
import re
import shutil
import sys
import time
import tomllib
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from lumen.errors import Refused
from lumen.json_value import Json
from lumen.kernel.enclosed_process import WORK_FILES, WORK_LIMIT, Ended, Start, is_work_too_large, run_enclosed
from lumen.kernel.isolation import (
    Enclosure,
    Isolation,
    Level,
    below_reaper,
    clean_environment,
    in_bubblewrap,
    working_bubblewrap,
)
from lumen.kernel.skill_output import clean_text, parse_output, readable, requests_in
from lumen.record.skills import InvocableSkill, PrivateSkill, private_copy
from lumen.turn import SkillResult

GIVEN_LIMIT: Final = 1024 * 1024
HELP_SECONDS: Final = 10.0
HELP_LIMIT: Final = 2000
SETTINGS: Final = "settings"
NOT_RUN: Final = "not run"

_SCRIPT = re.compile(r"(?m)^# /// script$\n(?P<content>(?:^#(?:| .*)$\n)+)^# ///$")
_NETWORK = re.compile(r"(?m)^network:[ \t]*true[ \t]*$")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_COMPLAINT_SHOWN: Final = 2000
_NO_SETTINGS: Final[Mapping[str, Mapping[str, Json]]] = {}


class SkillRunner:
    """`settings` are what the person wrote for each skill in lumen.toml; a skill gets its own as the key "settings"."""

    def __init__(
        self,
        home: Path,
        *,
        seconds: float,
        isolation: Isolation = "auto",
        settings: Mapping[str, Mapping[str, Json]] = _NO_SETTINGS,
    ) -> None:
        self._home = Path(os.path.realpath(home))
        self._seconds = seconds
        self._isolation: Isolation = isolation
        self._settings = settings
        self._bubblewrap: str | None = None
        self._is_probed = False

    @property
    def has_bubblewrap(self) -> bool:
        """Whether skills are kept off the instance here. Tried once, at the first use."""
        if not self._is_probed:
            self._bubblewrap = working_bubblewrap() if self._isolation == "auto" else None
            self._is_probed = True
        return self._bubblewrap is not None

    async def run(self, skill: InvocableSkill, action_parameters: Mapping[str, Json]) -> SkillResult:
        began = time.monotonic()
        level: Level | None = None
        try:
            given = self._input(skill.name, action_parameters)
            with private_copy(skill) as copy:
                around = Enclosure(
                    self._home,
                    copy.folder,
                    self._work_folder(skill.name),
                    has_network=_wants_network(copy.manifest),
                    folders=tuple(map(Path, self._folders(skill.name))),
                )
                level = self._level(around)
                ended = await run_enclosed(self._start(copy, around, given, self._seconds))
        except (Refused, OSError) as problem:
            text = clean_text(str(problem))
            return SkillResult(False, {}, text, None, _milliseconds(began), NOT_RUN)
        return _result(skill.name, ended, level, _milliseconds(began))

    async def help_of(self, skill: InvocableSkill) -> str:
        """What the skill says of itself, asked without network and with the instance out of sight; "" when it fails."""
        try:
            with private_copy(skill) as copy:
                # A script with dependencies has them in its work folder, once it ran.
                work = self._work_folder(skill.name) if _dependencies(copy.main) else copy.scratch
                around = Enclosure(self._home, copy.folder, Path(os.path.realpath(work)), is_home_hidden=True)
                ended = await run_enclosed(self._start(copy, around, b"", HELP_SECONDS, "--help"))
        except (Refused, OSError):
            return ""
        if ended.exit_code != 0:
            return ""
        return clean_text(ended.said.decode("utf-8", "replace")).strip()[:HELP_LIMIT]

    def _start(self, copy: PrivateSkill, around: Enclosure, given: bytes, seconds: float, *arguments: str) -> Start:
        environment = clean_environment(around.work, uuid.uuid4().hex)
        if not around.is_home_hidden:
            data = self._home / "data"
            environment |= {"LUMEN_HOME": str(self._home), "LUMEN_DATA": str(data if data.is_dir() else self._home)}
        bubblewrap = self._bubblewrap if self.has_bubblewrap else None
        main = str((copy.folder if bubblewrap is None else around.shown_program) / "main.py")
        command = [sys.executable, main, *arguments]
        if _dependencies(copy.main):
            command = [*_uv(is_offline=not around.has_network), main, *arguments]
            cache = str(around.work / ".uv-cache")
            environment |= {"UV_CACHE_DIR": cache, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}

        def enclosed(note: int) -> list[str]:
            return (
                below_reaper(note, command) if bubblewrap is None else in_bubblewrap(bubblewrap, around, note, command)
            )

        return Start(enclosed, environment, around.work, given, seconds, has_namespace=bubblewrap is not None)

    def _level(self, around: Enclosure) -> Level:
        if self.has_bubblewrap:
            return "bubblewrap+network" if around.has_network else "bubblewrap"
        return "none" if self._isolation == "none" else "process group"

    def _work_folder(self, name: str) -> Path:
        shelf = self._home / "work"
        folder = shelf / name
        folder.mkdir(parents=True, exist_ok=True)
        if shelf.is_symlink() or folder.is_symlink():
            raise Refused(f"The work folder {folder} is a symbolic link, which is not followed. Remove it.")
        if is_work_too_large(folder):
            raise Refused(f"{folder} holds more than {WORK_LIMIT >> 20} MiB or {WORK_FILES} files. Empty it first.")
        return folder

    def _input(self, name: str, parameters: Mapping[str, Json]) -> bytes:
        """Settings come from the person alone: a parameter of that name is a mind that gives itself permissions."""
        if SETTINGS in parameters:
            raise Refused(f"The skill {name} takes no parameter named {SETTINGS}: those stand in lumen.toml.")
        request: dict[str, Json] = dict(parameters)
        if name in self._settings:
            request[SETTINGS] = {**self._settings[name], **self._resolved(name)}
        try:
            given = json.dumps(request, allow_nan=False, default=_plain).encode()
        except (ValueError, TypeError, RecursionError) as problem:
            raise Refused(f"The parameters for the skill {name} cannot be written as JSON: {problem}.") from problem
        if len(given) > GIVEN_LIMIT:
            raise Refused(f"The parameters for the skill {name} are larger than {GIVEN_LIMIT >> 20} MiB.")
        return given

    def _resolved(self, name: str) -> Mapping[str, Json]:
        return {"folders": self._folders(name)} if "folders" in self._settings[name] else {}

    def _folders(self, name: str) -> list[str]:
        """Folders that the person allowed. `~` is the person's home, which the skill cannot know: its own differs."""
        folders = self._settings.get(name, {}).get("folders", [])
        if isinstance(folders, str) or not isinstance(folders, Sequence):
            folders = [folders]
        return [str(self._home / Path(folder).expanduser()) for folder in folders if isinstance(folder, str)]


def _result(name: str, ended: Ended, level: Level, milliseconds: int) -> SkillResult:
    output = parse_output(ended.said) if not ended.is_truncated else None
    said = clean_text(ended.said.decode("utf-8", "replace")).strip() if output is None else readable(output)
    is_ok = ended.exit_code == 0 and (output is None or output.get("ok") is not False)
    return SkillResult(
        is_ok,
        output or {},
        said if is_ok else _failure(name, ended, said),
        ended.exit_code,
        milliseconds,
        level,
        ended.is_truncated,
        ended.is_timeout,
        requests_in(output) if is_ok and output else (),
    )


def _failure(name: str, ended: Ended, said: str) -> str:
    """What a person needs to know: that it was ended and why, else its own words, else its last complaint."""
    if ended.stopped:
        return f"The skill {name} was ended: {ended.stopped}." + (f"\n{said[:_COMPLAINT_SHOWN]}" if said else "")
    if said:
        return said
    complaint = clean_text(ended.complained.decode("utf-8", "replace")).strip()[-_COMPLAINT_SHOWN:]
    return f"The skill {name} failed with exit code {ended.exit_code}." + (f"\n{complaint}" if complaint else "")


def _wants_network(manifest: str) -> bool:
    front = _FRONT_MATTER.match(manifest.replace("\r\n", "\n"))
    return front is not None and _NETWORK.search(front.group(1)) is not None


def _dependencies(main: str) -> list[str]:
    """What the script block at its head asks for (PEP 723). Raises Refused when the block cannot be read."""
    block = _SCRIPT.search(main.replace("\r\n", "\n"))
    if block is None:
        return []
    lines = [line[2:] if line.startswith("# ") else line[1:] for line in block.group("content").splitlines()]
    try:
        wanted = tomllib.loads("\n".join(lines)).get("dependencies", [])
    except tomllib.TOMLDecodeError as problem:
        raise Refused(f"The script block of main.py is not valid TOML: {problem}.") from problem
    if not isinstance(wanted, list):
        raise Refused("The script block of main.py has dependencies that are not a list.")
    return [str(each) for each in wanted]


def _uv(*, is_offline: bool) -> list[str]:
    tools = Path(__file__).resolve().parents[2] / ".tools" / "bin"
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent), str(tools)])
    found = shutil.which("uv", path=places)
    if found is None:
        raise Refused(
            "This skill has dependencies (PEP 723), and uv, which would install them, is not here. Install uv."
        )
    return [
        found,
        "run",
        *(["--offline"] if is_offline else []),
        "--no-project",
        "--python",
        sys.executable,
        "--script",
    ]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _milliseconds(began: float) -> int:
    return round((time.monotonic() - began) * 1000)

"""Real `lumen` processes, cheaply: one process has imported the program and forks itself for every command.

Each command is a process of its own, with its own arguments, environment, working folder and files as standard
streams. What a fork cannot show (the installed script, a terminal, a pipe) is shown by `installed` and `program`.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from tests.house.repository import ROOT

INSTALLED: Final = Path(sys.executable).parent / "lumen"
TERMINAL_SECONDS: Final = 60.0  # of silence
TRACEBACK: Final = "Traceback (most recent call last)"
_IMPORTED_ONCE: Final = (
    "asyncio",
    "lumen.audit.verify",
    "lumen.kernel.steps.runner",
    "typer._adapters",
    "typer.rich_utils",
    "pydantic.fields",
    "pydantic.plugin._loader",
    "importlib.metadata",
    "rich._emoji_codes",
    "rich.table",
)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err

    def json(self) -> Any:
        return json.loads(self.out)


def lumen(
    *arguments: str,
    home: Path | None = None,
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> Done:
    """Run one command in a process of its own. It may fail; it may not crash."""
    named = ["--home", str(home)] if home else []
    done = _desk().run([*arguments, *named], folder or ROOT.parent, environment(env), stdin)
    assert TRACEBACK not in done.err, done.err
    return done


def ok(*arguments: str, home: Path | None = None, folder: Path | None = None) -> Done:
    """A command that must succeed."""
    done = lumen(*arguments, home=home, folder=folder)
    assert done.code == 0, done
    return done


def installed(*arguments: str, folder: Path, env: Mapping[str, str] | None = None) -> Done:
    """The script that pip or uv put beside the interpreter, started anew."""
    return program([str(INSTALLED), *arguments], folder=folder, env=env)


def program(command: Sequence[str], *, folder: Path, env: Mapping[str, str] | None = None) -> Done:
    done = subprocess.run(
        command, cwd=folder, env=environment(env), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def at_terminal(
    *arguments: str, folder: Path, typed: Sequence[tuple[bytes, bytes]] = (), env: Mapping[str, str] | None = None
) -> Done:
    """The installed script at a terminal of its own. Somebody types each (after, keys) once `after` has been shown.

    Keys typed earlier could be lost: a Ctrl+C that comes before the program has set the terminal up flushes them.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(INSTALLED), *arguments],
        cwd=folder,
        env=environment({"TERM": "xterm-256color", **(env or {})}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown, looked_at, waiting = b"", 0, list(typed)
    try:
        with contextlib.suppress(OSError):  # the terminal is gone when the process is
            while select.select([ours], [], [], TERMINAL_SECONDS)[0] and (more := os.read(ours, 65536)):
                shown += more
                while waiting and (at := shown.find(waiting[0][0], looked_at)) >= 0:
                    after, keys = waiting.pop(0)
                    looked_at = at + len(after)
                    os.write(ours, keys)
        assert not waiting, f"{waiting[0][0]!r} was never shown: {shown!r}"
        return Done(process.wait(timeout=30), shown.decode(), "")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@localhost", *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), check=True, capture_output=True, text=True).stdout


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """A small one, without what the person who runs the tests has set."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": tempfile.gettempdir(),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **(more or {}),
    }


class _Desk:
    """The process that forks. Asked on its standard input, one line of JSON for each command."""

    def __init__(self) -> None:
        self._files = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tests.processes import serve; serve()"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, arguments: Sequence[str], folder: Path, env: Mapping[str, str], stdin: bytes) -> Done:
        into, out, err = (Path(self._files.name) / name for name in ("in", "out", "err"))
        into.write_bytes(stdin)
        asked = {
            "arguments": list(arguments),
            "folder": str(folder),
            "env": dict(env),
            "streams": list(map(str, (into, out, err))),
        }
        code = int(self._ask(json.dumps(asked).encode()))
        return Done(code, out.read_bytes().decode(), err.read_bytes().decode())

    def close(self) -> None:
        self._pipe(self._process.stdin).close()
        self._process.wait(timeout=10)
        self._pipe(self._process.stdout).close()
        self._files.cleanup()

    def _ask(self, line: bytes) -> bytes:
        asking = self._pipe(self._process.stdin)
        asking.write(line + b"\n")
        asking.flush()
        return self._pipe(self._process.stdout).readline()

    def _pipe(self, pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


@functools.cache
def _desk() -> _Desk:
    desk = _Desk()
    atexit.register(desk.close)
    return desk


def serve() -> None:
    """Fork for every line asked, until there are no more."""
    for name in _IMPORTED_ONCE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from lumen.main import main

    gc.freeze()
    for line in sys.stdin.buffer:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
            _leave(_ended(main))
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(BrokenPipeError):
            os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(asked: Mapping[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["folder"])
    flags = (os.O_RDONLY, *(os.O_WRONLY | os.O_CREAT | os.O_TRUNC,) * 2)
    for number, (path, flag) in enumerate(zip(asked["streams"], flags, strict=True)):
        os.dup2(os.open(path, flag, 0o600), number)
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    sys.stdin = os.fdopen(0, "r", encoding=encoding, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding=encoding, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)
    sys.argv = ["lumen", *asked["arguments"]]


def _ended(main: Callable[[], None]) -> int:
    """The exit code, as the interpreter would give it."""
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _leave(code: int) -> NoReturn:
    """Without the interpreter's own farewell, which costs more than the command."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

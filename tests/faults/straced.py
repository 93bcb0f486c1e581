"""Real commands under strace: one system call of the process kills it, or fails. Knows nothing about the record.

A first run records every call that touches the instance, or that speaks on the standard output. Python makes hundreds
of calls before that; the recording says which of them is the Nth of its name, so that each fault goes where it matters.
For this the runs have to be alike, and are: the same bytes in the same folder.

strace delivers a signal on entering a call, so a process dies just before the call is done. What a death just after it
leaves behind is the same as a death before the next one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.faults.counts import PATIENCE

WRITING: Final = ("write", "pwrite64", "rename", "renameat", "renameat2", "fdatasync", "fsync", "unlink", "unlinkat")
MAKING: Final = ("mkdir", "mkdirat", "fallocate", "ftruncate")
CALLS: Final = (*WRITING, *MAKING, "openat")
_CALL = re.compile(r"\d+ +(\w+)\((.*)\) += (.*)")
_DRAWN = re.compile(r"[0-9a-f-]{36}|[0-9a-f]{12}(?=\.tmp)|\d+(?=[<\]]|$)")
_OPENED = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Call:
    """The Nth call of its name that a process made."""

    name: str
    nth: int
    arguments: str
    result: str

    @property
    def is_injected(self) -> bool:
        return self.result.endswith("(INJECTED)")

    @property
    def makes_a_file(self) -> bool:
        return self.name == "openat" and "O_CREAT" in self.arguments

    @property
    def speaks(self) -> bool:
        return self.name == "write" and self.arguments.startswith("1<")

    @property
    def only_reads(self) -> bool:
        return self.name == "openat" and "O_RDONLY" in self.arguments

    @property
    def target(self) -> str:
        """What it is about, without what is drawn at random (temporary names, ids of writers) and without numbers."""
        return _DRAWN.sub("*", f"{self.name} {self.arguments}")

    def __str__(self) -> str:
        return f"{self.name} {self.nth}: {self.arguments}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it had done until then."""

    code: int
    out: str
    err: str
    calls: Sequence[Call] = field(default=(), repr=False)

    @property
    def was_killed(self) -> bool:
        return self.code in (-9, 137)


@dataclass(frozen=True, slots=True)
class Lumen:
    """The command line on copies of one instance, always at the same path, so that every run makes the same calls.

    `program` holds a copy of the program and its compiled files, so that an edit meanwhile does not change the runs.
    """

    original: Path
    home: Path
    program: Path

    @contextmanager
    def fresh(self) -> Iterator[None]:
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.original, self.home, symlinks=True)
        yield
        shutil.rmtree(self.home)

    def run(self, *arguments: str) -> Ended:
        done = self._start([], arguments)
        return Ended(done.returncode, done.stdout, done.stderr)

    def recorded(self, arguments: Sequence[str]) -> list[Call]:
        """Every call that concerns the instance or the standard output, in order."""
        with self.fresh():
            self.run(*arguments)  # from here on everything is compiled
        with self.fresh():
            ended = self._traced(arguments, CALLS, [])
        assert ended.code == 0, ended.err
        return [call for call in ended.calls if self._matters(call)]

    def killed_at(self, call: Call, arguments: Sequence[str]) -> Ended:
        return self._traced(arguments, [call.name], [f"inject={call.name}:signal=SIGKILL:when={call.nth}"])

    def failing_at(self, call: Call, error: str, arguments: Sequence[str]) -> Ended:
        ended = self._with_error(call, error, arguments)
        injected = [done.target for done in ended.calls if done.is_injected]
        assert injected == [call.target], f"this run was not like the recorded one: {injected} instead of {call.target}"
        return ended

    def _with_error(self, call: Call, error: str, arguments: Sequence[str]) -> Ended:
        return self._traced(arguments, CALLS, [f"inject={call.name}:error={error}:when={call.nth}"])

    def _matters(self, call: Call) -> bool:
        if call.name == "openat":
            opened = _OPENED.search(call.arguments)
            return opened is not None and opened[1].startswith(f"{self.home}/")
        return call.speaks or f"{self.home}/" in call.arguments

    def _traced(self, arguments: Sequence[str], names: Sequence[str], injections: Sequence[str]) -> Ended:
        with tempfile.NamedTemporaryFile(dir=self.program) as trace:
            strace = ["strace", "-f", "-y", "-s", "0", "-o", trace.name, "-e", f"trace={','.join(names)}"]
            if not any("signal=" in injection for injection in injections):
                strace.append("--seccomp-bpf")  # faster, but strace 6.1 delivers no signals with it
            strace += [part for injection in injections for part in ("-e", injection)]
            done = self._start(strace, arguments)
            calls = list(_parsed(Path(trace.name).read_text(encoding="utf-8", errors="replace")))
        return Ended(done.returncode, done.stdout, done.stderr, calls)

    def _start(self, before: Sequence[str], arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment |= {"LUMEN_HOME": str(self.home), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
        environment |= {"PYTHONPATH": str(self.program), "PYTHONPYCACHEPREFIX": str(self.program / "compiled")}
        return subprocess.run(
            [*before, sys.executable, "-m", "lumen", *arguments],
            cwd=self.home.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


def works() -> bool:
    """Whether strace is here and may trace: a container can forbid it."""
    try:
        tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, timeout=PATIENCE, check=False)
    except OSError:
        return False
    return tried.returncode == 0


def _parsed(trace: str) -> Iterator[Call]:
    counts: Counter[str] = Counter()
    for line in trace.splitlines():
        if match := _CALL.fullmatch(line):
            counts[match[1]] += 1
            yield Call(match[1], counts[match[1]], match[2], match[3])

"""One process and all its descendants, from the start to the last one's end. What it says is read in pieces and capped.

It ends by itself, or it is ended: at the deadline, when it says, forks, holds or writes too much, or when nobody waits
for it any more. When `run_enclosed` returns, or is cancelled, nothing of it is alive. That is why the ending is plain
code without an await: a second cancellation cannot come between.

It does not know what the process is for, and believes nothing it says.
"""

import asyncio
import json
import os
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from lumen.kernel.isolation import MARK, MEMORY_LIMIT, limits
from lumen.kernel.process_tree import below, carrying, end_all

SAID_LIMIT: Final = 256 * 1024
COMPLAINED_LIMIT: Final = 16 * 1024
FLOOD_LIMIT: Final = 8 * 1024**2
PROCESS_LIMIT: Final = 128
WORK_LIMIT: Final = 512 * 1024**2
WORK_FILES: Final = 50_000

_CHUNK: Final = 64 * 1024
_LOOK_EVERY: Final = 0.1  # seconds between looks at what the tree holds
_PATIENCE: Final = 2.0  # seconds for a killed process to be gone


@dataclass(frozen=True, slots=True)
class Start:
    """How to start it. `command` is made for a descriptor that takes a note: from bubblewrap its child's pid, from the
    reaper the exit code of the program. `has_namespace` says which of the two it is."""

    command: Callable[[int], list[str]]
    environment: dict[str, str]
    work: Path
    given: bytes
    seconds: float
    has_namespace: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """`stopped` says why it was ended; it is empty, and there is an exit code, when it ended by itself."""

    exit_code: int | None
    said: bytes
    complained: bytes
    is_truncated: bool
    is_timeout: bool
    stopped: str


async def run_enclosed(start: Start) -> Ended:
    """Raises OSError when it cannot be started."""
    running = _Running(start)
    stopped: str | None = None
    try:
        stopped = await running.watch()
    finally:
        running.end()
    return running.ended(stopped)


def is_work_too_large(work: Path) -> bool:
    """More than a skill may keep: bytes on the disk, or files."""
    count = size = 0
    for folder, _, names in os.walk(work):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(folder, name)).st_blocks * 512
            count += 1
            if count > WORK_FILES or size > WORK_LIMIT:
                return True
    return False


class _Pipe:
    """The reading side of a pipe: the first bytes are kept, the rest is only counted."""

    def __init__(self, stream: IO[bytes], keep: int) -> None:
        self._stream = stream
        self._keep = keep
        self._loop = asyncio.get_running_loop()
        self.kept = bytearray()
        self.total = 0
        os.set_blocking(stream.fileno(), False)
        self._loop.add_reader(stream.fileno(), self._read)

    @property
    def is_truncated(self) -> bool:
        return self.total > len(self.kept)

    def close(self) -> None:
        """Take what is left in it. Its writers are dead, so that is little."""
        while not self._stream.closed and self.total <= 2 * FLOOD_LIMIT and self._read():
            pass
        self._let_go()

    def _read(self) -> bool:
        try:
            chunk = os.read(self._stream.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        self.total += len(chunk)
        self.kept += chunk[: self._keep - len(self.kept)]
        if not chunk:
            self._let_go()
        return bool(chunk)

    def _let_go(self) -> None:
        if not self._stream.closed:
            self._loop.remove_reader(self._stream.fileno())
            self._stream.close()


class _Feed:
    """The writing side of a pipe whose reader may never read."""

    def __init__(self, stream: IO[bytes], given: bytes) -> None:
        self._stream = stream
        self._left = memoryview(given)
        self._loop = asyncio.get_running_loop()
        os.set_blocking(stream.fileno(), False)
        self._loop.add_writer(stream.fileno(), self._write)

    def close(self) -> None:
        if not self._stream.closed:
            self._loop.remove_writer(self._stream.fileno())
            with suppress(BrokenPipeError):
                self._stream.close()

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._stream.fileno(), self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._left = self._left[:0]
        if not self._left:
            self.close()


class _Running:
    def __init__(self, start: Start) -> None:
        self._start = start
        reading, writing = os.pipe()
        self._note = os.fdopen(reading, "rb", buffering=0)
        try:
            self._process = subprocess.Popen(
                start.command(writing),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=start.environment,
                cwd=start.work,
                pass_fds=(writing,),
                start_new_session=True,
                preexec_fn=limits(start.seconds),  # noqa: PLW1509 - it takes no lock and allocates little
            )
        except OSError:
            self._note.close()
            raise
        finally:
            os.close(writing)
        given, said, complained = self._process.stdin, self._process.stdout, self._process.stderr
        assert given is not None
        assert said is not None
        assert complained is not None
        self._noted = _Pipe(self._note, COMPLAINED_LIMIT)
        self._said = _Pipe(said, SAID_LIMIT)
        self._complained = _Pipe(complained, COMPLAINED_LIMIT)
        self._feed = _Feed(given, start.given)
        self._first_of_namespace: int | None = None  # a pidfd
        self._is_timeout = False

    async def watch(self) -> str | None:
        """None when it ended by itself, else why it must be ended."""
        loop = asyncio.get_running_loop()
        began = next_look = loop.time()
        next_look += _LOOK_EVERY
        free = self._free()
        while not self._has_ended():
            now = loop.time()
            if now - began >= self._start.seconds:
                self._is_timeout = True
                return f"it took longer than {self._start.seconds:g} seconds"
            if self._said.total > FLOOD_LIMIT or self._complained.total > FLOOD_LIMIT:
                return f"it said more than {FLOOD_LIMIT >> 20} MiB"
            if now >= next_look:
                if excess := self._excess(free):
                    return excess
                next_look = loop.time() + _LOOK_EVERY
            await asyncio.sleep(min(0.002 + (now - began) / 20, 0.02, max(began + self._start.seconds - now, 0)))
        return None

    def end(self) -> None:
        """Nothing of it is alive after this. Never awaits."""
        if self._start.has_namespace:
            self._end_namespace()
        else:
            self._end_family()
        for pipe in (self._feed, self._said, self._complained, self._noted):
            pipe.close()

    def ended(self, stopped: str | None) -> Ended:
        return Ended(
            self._exit_code() if stopped is None else None,
            bytes(self._said.kept),
            bytes(self._complained.kept),
            self._said.is_truncated,
            self._is_timeout,
            stopped or "",
        )

    def _has_ended(self) -> bool:
        if self._start.has_namespace:
            self._meet_first_of_namespace()
            return self._process.poll() is not None
        return bool(self._noted.kept) or self._process.poll() is not None

    def _exit_code(self) -> int | None:
        if self._start.has_namespace:
            return self._process.returncode
        try:
            return int(self._noted.kept)
        except ValueError:
            return None  # the reaper was killed, or somebody else wrote to it

    def _excess(self, free_before: tuple[int, int]) -> str | None:
        family = below(self._process.pid)
        if len(family) > PROCESS_LIMIT:
            return f"it started more than {PROCESS_LIMIT} processes"
        if sum(process.resident for process in family) > MEMORY_LIMIT:
            return f"it held more than {MEMORY_LIMIT >> 30} GiB of memory"
        space, files = self._free()
        has_shrunk = free_before[0] - space > WORK_LIMIT // 4 or free_before[1] - files > WORK_FILES // 4
        if has_shrunk and is_work_too_large(self._start.work):
            return f"its work folder grew over {WORK_LIMIT >> 20} MiB or {WORK_FILES} files"
        return None

    def _free(self) -> tuple[int, int]:
        """Bytes and files that the disk still takes. Cheap to ask: the folder is counted only when they shrink."""
        disk = os.statvfs(self._start.work)
        return disk.f_bavail * disk.f_frsize, disk.f_favail

    def _meet_first_of_namespace(self) -> None:
        """Hold on to the first process of the namespace as soon as bubblewrap names it: all others die with it."""
        if self._first_of_namespace is None and self._noted.kept.rstrip().endswith(b"}"):
            with suppress(ValueError, KeyError, TypeError, OSError):
                self._first_of_namespace = os.pidfd_open(json.loads(self._noted.kept)["child-pid"])

    def _end_namespace(self) -> None:
        if self._first_of_namespace is None and self._process.poll() is None:
            select.select([self._note], [], [], _PATIENCE)  # it is just being made
        self._noted.close()
        self._meet_first_of_namespace()
        if self._first_of_namespace is None:
            end_all(self._family, is_over=lambda: self._process.poll() is not None)
        else:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first_of_namespace, signal.SIGKILL)
            select.select([self._first_of_namespace], [], [], _PATIENCE)
            os.close(self._first_of_namespace)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        self._process.kill()
        self._process.wait()

    def _end_family(self) -> None:
        """The reaper adopts every orphan and ends when it has no child left: its own end proves that of all others."""
        mark = f"{MARK}={self._start.environment[MARK]}\0".encode()
        end_all(self._family, is_over=lambda: self._process.poll() is not None, spared_group=self._process.pid)
        self._process.kill()
        self._process.wait()
        end_all(lambda: carrying(mark), is_over=lambda: not carrying(mark))

    def _family(self) -> set[int]:
        return {process.pid for process in below(self._process.pid)}

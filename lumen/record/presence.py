"""Who is here: one holder of the state files at a time, and which writers are alive. A death frees every lock."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from lumen.errors import RecordBusy
from lumen.record.disk_errors import write_error

LOCK_SECONDS: Final = 10.0


class Presence:
    """Lock files in data/run/. They hold nothing: deleted, they come back."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "run"

    @contextmanager
    def lock(self, *, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Hold the state files. The kernel of the machine frees the lock when a process dies."""
        path = self._folder / "state.lock"
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._folder.mkdir(exist_ok=True)
                fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except OSError as problem:
                raise write_error(path, problem) from problem
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(fd).st_nlink:
                    break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(fd)
                    raise RecordBusy(
                        f"Another process has held {path} for {seconds:g} seconds. "
                        "Wait for it, or end it if it hangs, and try again; nothing was changed."
                    ) from None
                time.sleep(0.005)
            os.close(fd)
        try:
            yield
        finally:
            os.close(fd)

    def announce(self, writer: str) -> int:
        """Show that this writer is alive, for as long as the returned descriptor is open."""
        path = self._folder / "writers" / writer
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as problem:
            raise write_error(path, problem) from problem
        return fd

    def withdraw(self, writer: str) -> None:
        with suppress(OSError):
            os.unlink(self._folder / "writers" / writer)

    def is_alive(self, writer: str) -> bool:
        """Whether the process behind a writer still runs. A process number could be another's by now; a lock cannot."""
        path = self._folder / "writers" / writer
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(fd)

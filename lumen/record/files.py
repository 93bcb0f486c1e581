"""The only opener of data/: bytes in, bytes out, durable, without following links.

Each primitive that a crash, a full disk or a failing device can interrupt is one short method (`_write`, `_sync`,
...), so that a fault can be put between any two of them. This file knows nothing about what the bytes mean.

What is promised: `replace` leaves the old bytes or the new ones, never a mixture, also after a power cut. `append`
returns only when the bytes stand whole on a line of their own. What is not: that a person's editor waits for our
lock.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from lumen.errors import RecordError, RecordReadOnly
from lumen.record.disk_errors import read_error, write_error

APPEND_ATTEMPTS: Final = 16
ABANDONED_SECONDS: Final = 24 * 3600

_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})\.jsonl", re.ASCII)
_USUAL: Final = len("2026-11-18.jsonl")
_YEAR = re.compile(r"\d{4}", re.ASCII)
_APPEND: Final = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class DayFile:
    """One file of the log."""

    day: str
    path: str


class Identity(NamedTuple):
    inode: int
    size: int
    touched: int


class Files:
    """The data folder of one instance."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.is_read_only = False

    def read(self, name: str) -> bytes | None:
        """The bytes of a file below data/, or None where there is none."""
        with self._opened(name) as file:
            return None if file is None else file.read()

    def read_from(self, name: str, offset: int) -> bytes:
        """The bytes of a file from `offset` to its end; empty where there is none."""
        with self._opened(name) as file:
            if file is None:
                return b""
            file.seek(offset)
            return file.read()

    def lines(self, name: str, *, offset: int = 0, limit: int) -> Iterator[tuple[int, int, bytes | None, bool]]:
        """Physical lines from `offset`: start, length, bytes without the newline (None when over `limit`), ended."""
        with self._opened(name) as file:
            if file is None:
                return
            file.seek(offset)
            while raw := file.readline(limit + 1):
                ended = raw.endswith(b"\n")
                if ended or len(raw) <= limit:
                    size = len(raw) - ended
                    yield offset, size, raw[:size], ended
                    offset += len(raw)
                    continue
                size = len(raw)
                while not ended and (raw := file.readline(limit)):
                    ended = raw.endswith(b"\n")
                    size += len(raw)
                yield offset, size - ended, None, ended
                offset += size

    def identity(self, name: str) -> Identity:
        """Which file stands under a name; zeros where there is none."""
        try:
            found = os.stat(self.root / name, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return Identity(0, 0, 0)
        return Identity(found.st_ino, found.st_size, found.st_mtime_ns)

    def days(self) -> list[DayFile]:
        """Every file of the log, oldest first; of one day, ours last, since it is the one that grows."""
        found = [
            DayFile(f"{match[1]}-{int(match[2]):02d}-{int(match[3]):02d}", f"memory/{year}/{name}")
            for year in self._names("memory")
            if _YEAR.fullmatch(year)
            for name in self._names(f"memory/{year}")
            if (match := _DAY.fullmatch(name))
        ]
        return sorted(found, key=lambda file: (file.day, file.path.endswith(f"/{file.day}.jsonl"), file.path))

    def newest_day(self) -> str:
        """The day of the newest file of the log, "" when there is none. Looks only into the newest years."""
        for year in sorted((name for name in self._names("memory") if _YEAR.fullmatch(name)), reverse=True):
            names = sorted(self._names(f"memory/{year}"), reverse=True)
            usual = next((name for name in names if len(name) == _USUAL and _DAY.fullmatch(name)), None)
            found = [match for name in names if len(name) != _USUAL or name == usual if (match := _DAY.fullmatch(name))]
            if found:
                return max(f"{match[1]}-{int(match[2]):02d}-{int(match[3]):02d}" for match in found)
        return ""

    def names(self, folder: str, ending: str) -> list[str]:
        return sorted(name for name in self._names(folder) if name.endswith(ending))

    def append(self, name: str, line: bytes, *, durable: bool = True) -> int:
        """Put `line` (no newline inside) on a line of its own at the end of the file; returns where it starts.

        Without a lock. One write of the whole line, then a look back: if the write was short, or the byte before it
        is not a newline (another writer died in the middle of a line), or the file was replaced under us, the same
        line is written again. Bytes before ours can no longer change, so the look is exact. Readers drop the copies
        by their id.
        """
        self._refuse_when_read_only()
        for _ in range(APPEND_ATTEMPTS):
            fd = self._open_for_append(name)
            try:
                start = self._append_whole(fd, line)
                if start is not None:
                    if durable:
                        self._sync_or_stop(fd, name)
                    if os.fstat(fd).st_nlink:
                        return start
            except OSError as problem:
                raise write_error(self.root / name, problem) from problem
            finally:
                os.close(fd)
        raise RecordError(
            f"{self.root / name} could not be appended to in {APPEND_ATTEMPTS} attempts; nothing was lost."
        )

    def sync(self, name: str) -> None:
        """Make all that was appended to a file durable."""
        try:
            fd = os.open(self.root / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as problem:
            raise write_error(self.root / name, problem) from problem
        try:
            self._sync_or_stop(fd, name)
        finally:
            os.close(fd)

    def replace(self, name: str, content: bytes, *, unless_changed_from: bytes | None = None) -> bool:
        """Put new content in the place of a file, whole or not at all.

        With `unless_changed_from`, nothing is replaced (False) when a person's editor was quicker and the file no
        longer holds those bytes. An editor takes no lock, so microseconds remain between the look and the rename.
        """
        self._refuse_when_read_only()
        target = self.root / name
        temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")
        try:
            self._make_folder(target.parent)
            mode = stat.S_IMODE(target.lstat().st_mode) if target.exists() else 0o600
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
            try:
                self._write_all(fd, content)
                self._sync_or_stop(fd, name)
            finally:
                os.close(fd)
            if unless_changed_from is not None and self.read(name) not in (unless_changed_from, None):
                temporary.unlink()
                return False
            self._rename(temporary, target)
            self._sync_folder(target.parent)
            return True
        except OSError as problem:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise write_error(self.root / name, problem) from problem

    def overwrite(self, name: str, offset: int, content: bytes) -> None:
        """Write over bytes that stand already, at the same length. Only for forgetting."""
        self._refuse_when_read_only()
        try:
            fd = os.open(self.root / name, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                while content:
                    written = self._write_at(fd, content, offset)
                    content, offset = content[written:], offset + written
                self._sync_or_stop(fd, name)
            finally:
                os.close(fd)
        except OSError as problem:
            raise write_error(self.root / name, problem) from problem

    def remove(self, name: str) -> None:
        self._refuse_when_read_only()
        try:
            self._unlink(self.root / name)
            self._sync_folder((self.root / name).parent)
        except FileNotFoundError:
            return
        except OSError as problem:
            raise write_error(self.root / name, problem) from problem

    def note(self, name: str, content: bytes) -> None:
        """Keep something derived or transient: whole, but not made durable, and of no consequence when it fails."""
        target = self.root / name
        temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")
        with suppress(OSError):
            self._make_folder(target.parent)
            temporary.write_bytes(content)
            temporary.replace(target)

    def remove_leftovers(self) -> int:
        """Temporary files of writers that died. Only under the lock, when no other writer can own one.

        Blobs are written without the lock: there, only what has been lying about for a day is nobody's.
        """
        leftovers = [
            f"{folder}{name}"
            for folder, age in (("", 0), ("goals/", 0), ("blobs/", ABANDONED_SECONDS))
            for name in self._names(folder or ".")
            if name.startswith(".")
            and name.endswith(".tmp")
            and time.time() - self.identity(f"{folder}{name}").touched / 1e9 >= age
        ]
        for name in leftovers:
            self.remove(name)
        return len(leftovers)

    def _write(self, fd: int, content: bytes) -> int:
        return os.write(fd, content)

    def _write_at(self, fd: int, content: bytes, offset: int) -> int:
        return os.pwrite(fd, content, offset)

    def _sync(self, fd: int) -> None:
        os.fdatasync(fd)

    def _rename(self, source: Path, target: Path) -> None:
        os.replace(source, target)

    def _unlink(self, path: Path) -> None:
        os.unlink(path)

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO | None]:
        """A regular file to be read, or None where there is none."""
        try:
            fd = os.open(self.root / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            yield None
            return
        except OSError as problem:
            raise read_error(self.root / name, problem) from problem
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise RecordError(f"{self.root / name} is not a regular file. Put a regular file in its place.")
        with os.fdopen(fd, "rb", buffering=256 * 1024) as file:
            try:
                yield file
            except OSError as problem:
                raise read_error(self.root / name, problem) from problem

    def _open_for_append(self, name: str) -> int:
        path = self.root / name
        try:
            if path.parent.is_symlink():
                raise OSError(errno.ELOOP, "a symbolic link", str(path.parent))
            try:
                return os.open(path, _APPEND)
            except FileNotFoundError:
                self._make_folder(path.parent)
                fd = os.open(path, _APPEND | os.O_CREAT, 0o600)
                self._sync_folder(path.parent)
                return fd
        except OSError as problem:
            raise write_error(self.root / name, problem) from problem

    def _append_whole(self, fd: int, line: bytes) -> int | None:
        """One attempt, and a second on a line of its own; None when neither stood whole."""
        lead = b"" if _ends_whole(fd) or _ends_whole(fd, after=0.001) else b"\n"
        for _ in range(2):
            content = lead + line + b"\n"
            written = self._write(fd, content)
            start = os.lseek(fd, 0, os.SEEK_CUR) - written
            if written == len(content) and (lead or start == 0 or os.pread(fd, 1, start - 1) == b"\n"):
                return start + len(lead)
            lead = b"\n"
        return None

    def _write_all(self, fd: int, content: bytes) -> None:
        while content:
            content = content[self._write(fd, content) :]

    def _sync_or_stop(self, fd: int, name: str, *, sync: Callable[[int], None] | None = None) -> None:
        """After a failed sync the page cache may lie: nothing is tried again, nothing more is acknowledged."""
        try:
            (sync or self._sync)(fd)
        except OSError as problem:
            self.is_read_only = True
            raise RecordReadOnly(
                f"{self.root / name} could not be made durable ({problem.strerror}). Nothing more is written by this "
                "process. Check the disk, then start again: what was acknowledged before is kept."
            ) from problem

    def _sync_folder(self, folder: Path) -> None:
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            self._sync_or_stop(fd, folder.name, sync=os.fsync)
        finally:
            os.close(fd)

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir()
        self._sync_folder(folder.parent)

    def _names(self, folder: str) -> list[str]:
        try:
            return os.listdir(self.root / folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as problem:
            raise read_error(self.root / folder, problem) from problem

    def _refuse_when_read_only(self) -> None:
        if self.is_read_only:
            raise RecordReadOnly("This process stopped writing after a failed sync. Check the disk and start again.")


def _ends_whole(fd: int, *, after: float = 0.0) -> bool:
    """Whether a file ends with a newline. The second look is for a writer that is just in the middle of a line."""
    if after:
        time.sleep(after)
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"

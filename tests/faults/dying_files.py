"""The fault that the journal and its control both face: in the middle of a write the process is killed.

A kill -9 that hits between two pages of a write leaves a beginning of it in the file. That is rare, so it is provoked:
the chosen write hands only a beginning of its bytes to the system, and then the process kills itself with SIGKILL. Both
kinds of files below share this one method. They differ only in what `append` does with what others have left.
"""

import os
import signal
from pathlib import Path

from lumen.record.files import Files


class DyingFiles(Files):
    """Real files. The `dies_at`-th write is cut after `share` of its bytes, and nothing comes after it."""

    def __init__(self, root: Path, *, dies_at: int | None = None, share: float = 0.5) -> None:
        super().__init__(root)
        self._dies_at = dies_at
        self._share = share
        self._writes = 0

    def _write(self, fd: int, content: bytes) -> int:
        self._writes += 1
        if self._writes == self._dies_at:
            os.write(fd, content[: min(max(1, int(len(content) * self._share)), len(content) - 1)])
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._write(fd, content)


class PlainFiles(DyingFiles):
    """Control: one write and a sync, as most programs append. No look back, no repair."""

    def append(self, name: str, line: bytes, *, durable: bool = True) -> int:
        fd = self._open_for_append(name)
        try:
            written = self._write(fd, line + b"\n")
            start = os.lseek(fd, 0, os.SEEK_CUR) - written
            if durable:
                self._sync(fd)
            return start
        finally:
            os.close(fd)

"""Some space held back, so that a full disk can still be recorded."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

RESERVE_BYTES: Final = 512 * 1024


class Reserve:
    """A file in data/run/ that is given up when nothing else is left. Of no consequence when it cannot be made."""

    def __init__(self, root: Path) -> None:
        self._path = root / "run" / "reserve"

    def keep(self) -> None:
        with suppress(OSError):
            if self._path.exists() and self._path.stat().st_size == RESERVE_BYTES:
                return
            self._path.parent.mkdir(exist_ok=True)
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                os.posix_fallocate(fd, 0, RESERVE_BYTES)
            finally:
                os.close(fd)

    def spend(self) -> bool:
        """Give the space up; False when there is none."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

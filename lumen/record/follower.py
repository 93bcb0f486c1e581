"""A fold that keeps up with the log: each call reads only what is new, the first one from where a kept fold ends."""

from typing import Final

from lumen.record import checkpoint
from lumen.record.files import Files
from lumen.record.fold import Fold
from lumen.record.journal import Cursor, Journal, LogWentBack
from lumen.record.line import Line

WORTH_KEEPING: Final = 200


class Follower:
    def __init__(self, files: Files, journal: Journal) -> None:
        self._files = files
        self._journal = journal
        self._fold: Fold | None = None
        self._cursor = Cursor()
        self._read = 0

    def catch_up(self) -> Fold:
        """The fold of the log as it is now."""
        if self._fold is None:
            self._fold, self._cursor = checkpoint.load(self._files) or (Fold(), Cursor())
        try:
            self._read_on(self._fold)
        except LogWentBack:
            self._fold.is_stale = True
        if self._fold.is_stale:
            self._fold, self._cursor = Fold(), Cursor()
            self._read_on(self._fold)
            self._fold.is_stale = False
        return self._fold

    def keep(self, *, after: int = WORTH_KEEPING) -> None:
        """Keep the fold for the next process, when it took reading this many lines to get it."""
        if self._fold is not None and self._read >= after:
            checkpoint.save(self._files, self._fold, self._cursor)

    def _read_on(self, fold: Fold) -> None:
        fold.unfinished.clear()
        for item in self._journal.scan(self._cursor):
            self._read += 1
            fold.take(self._journal.whole(item) if isinstance(item, Line) else item)

"""The two clocks: the system's, and one that is held."""

from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's own time. It may jump: nothing in the record relies on it for order."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class HeldClock:
    """A clock that moves only when told to, also backwards."""

    def __init__(self, at: datetime) -> None:
        self._at = at.astimezone(UTC)

    def now(self) -> datetime:
        return self._at

    def set(self, at: datetime) -> None:
        self._at = at.astimezone(UTC)

    def move(self, by: timedelta) -> None:
        self._at += by

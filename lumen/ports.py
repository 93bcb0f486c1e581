"""What the inner rooms ask of the outside, as protocols. Implementations live elsewhere."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time, always in UTC. Two exist: the system's, and one that a test or a replay holds."""

    def now(self) -> datetime: ...

"""A conversation: one person, many turns, each with a grant of its own."""

from collections.abc import Callable

from lumen.kernel.loops.action import ActionLoop, TurnReport
from lumen.ports import Clock
from lumen.record.grants import ActionGrant
from lumen.record.inbox import Waiting
from lumen.record.recall import Recall
from lumen.turn import Turn, new_turn

GrantFor = Callable[[str], ActionGrant]


class Conversation:
    def __init__(self, loop: ActionLoop, recall: Recall, grant_for: GrantFor, clock: Clock, person: str) -> None:
        self._loop = loop
        self._recall = recall
        self._grant_for = grant_for
        self._clock = clock
        self.person = person

    async def say(self, text: str) -> TurnReport:
        turn = self._turn()
        return await self._loop.answer(self._grant_for(turn.id), turn, text)

    async def carry_out(self, entry: Waiting) -> TurnReport:
        """Run what was confirmed and claimed."""
        turn = self._turn()
        return await self._loop.carry_out(self._grant_for(turn.id), turn, entry)

    def said_before(self, count: int) -> list[str]:
        """What this person said, oldest first. The history of the prompt is the record's, so it can be forgotten."""
        return self._recall.said_in(f"chat with {self.person}", count)

    def close(self) -> None:
        self._recall.close()

    def _turn(self) -> Turn:
        return new_turn(self._clock.now().isoformat(), self.person)

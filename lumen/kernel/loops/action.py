"""The action loop: THINK, DECIDE, ACT, RECORD. It uses values and goals as given and does not question them."""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from lumen.cortex.clearance import Confirmation
from lumen.errors import LumenError
from lumen.kernel.bmap import LEAST_MOTIVATION, Decision
from lumen.kernel.faculties import Faculties, Show
from lumen.kernel.steps.act import Deed, act
from lumen.kernel.steps.amend import amend
from lumen.kernel.steps.decide import choose
from lumen.kernel.steps.hear import hear
from lumen.kernel.steps.record import record, turn_result
from lumen.kernel.steps.think import think
from lumen.questions import Utterance
from lumen.record.grants import ActionGrant
from lumen.record.inbox import Waiting
from lumen.turn import Candidate, Prediction, Turn, TurnResult


@dataclass(frozen=True, slots=True)
class TurnReport:
    """How a turn ended. `problem` is what went wrong, `waiting` what needs a person's yes."""

    turn: str
    result: TurnResult
    waiting: Waiting | None = None
    why: str = ""
    problem: LumenError | None = None


class ActionLoop:
    def __init__(self, faculties: Faculties, show: Show) -> None:
        self._with = faculties
        self._show = show

    async def answer(self, grant: ActionGrant, turn: Turn, text: str) -> TurnReport:
        """One turn for what a person said."""
        step = partial(self._with.runner.run, turn=turn.id)
        try:
            said = await step("hear", partial(hear, grant=grant, turn=turn, text=text))
            last = grant.outcomes.last_reply_to(said.speaker)
            report = await self._respond(grant, turn, said)
        except LumenError as problem:
            return TurnReport(turn.id, "failed", problem=problem)
        if last is not None:
            taken = partial(amend, last=last, answered_to=self._with.recall.text_of(last.answered_to), said=said)
            with suppress(LumenError):  # the step has left its line; the reply stands either way
                await step("amend", partial(taken, grant=grant, mind=self._with.mind))
        return report

    async def _respond(self, grant: ActionGrant, turn: Turn, said: Utterance) -> TurnReport:
        own, mind, step = self._with, self._with.mind, partial(self._with.runner.run, turn=turn.id)
        self._show("step", "thinking")
        thinking = partial(think, grant=grant, mind=mind, recall=own.recall, runner=own.skills, said=said)
        loaded, thought = await step("think", thinking)
        self._show("step", "deciding")
        decision = await step("decide", partial(choose, grant=grant, mind=mind, loaded=loaded, thought=thought))
        recording = partial(record, mind=mind, turn=turn, said=said.memory, answered_to=said.text)
        if decision.is_skip:
            why = _too_little(decision)
            await step("record", partial(recording, deed=None, skip=why))
            return TurnReport(turn.id, "skipped", why=why)
        deed = await self._act(grant, turn, tuple(scored.candidate for scored in decision.order))
        await step("record", partial(recording, deed=deed))
        return TurnReport(turn.id, turn_result(deed), deed.waiting, "; ".join(deed.refusals))

    async def carry_out(self, grant: ActionGrant, turn: Turn, entry: Waiting) -> TurnReport:
        """One turn for an action that a person said yes to, verbatim, through the gate again."""
        candidate = Candidate("confirmed", entry.action, entry.kind, "confirmed", Prediction("", entry.predicted))
        confirmation = Confirmation(entry.short_id, entry.action.sha256, entry.skill_sha256)
        try:
            deed = await self._act(grant, turn, (candidate,), confirmation)
            recorded = partial(record, mind=self._with.mind, turn=turn, deed=deed, said="", answered_to="")
            await self._with.runner.run("record", recorded, turn=turn.id)
        except LumenError as problem:
            return TurnReport(turn.id, "failed", problem=problem)
        return TurnReport(turn.id, turn_result(deed), deed.waiting, "; ".join(deed.refusals))

    async def _act(
        self,
        grant: ActionGrant,
        turn: Turn,
        candidates: tuple[Candidate, ...],
        confirmation: Confirmation | None = None,
    ) -> Deed:
        own = self._with
        self._show("step", "acting")
        acting = partial(
            act,
            grant=grant,
            cortex=own.cortex,
            runner=own.skills,
            candidates=candidates,
            show=partial(self._show, "said"),
            confirmation=confirmation,
        )
        facts = {"wanted": candidates[0].action.sha256, "confirmed": confirmation.ask if confirmation else None}
        return await own.runner.run("act", acting, turn=turn.id, seconds=own.act_seconds, **facts)


def _too_little(decision: Decision) -> str:
    if decision.gap:
        return f"what was wanted most needs the skill {decision.gap.candidate.action.skill}, which is not there"
    most = max((scored.m for scored in decision.scores), default=0.0)
    return f"nothing was wanted enough: the highest motivation was {most:.2f}, and {LEAST_MOTIVATION:g} is the least"

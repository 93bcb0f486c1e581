"""ACT: what is wanted most is put before the gate; what the gate clears is run. Nothing runs that was not cleared.

Blocked: the next candidate is proposed. Needs a yes: it goes to the inbox, and the turn ends waiting. A skill may ask
the kernel for more in its answer; each such request is a proposal like any other, and only so deep.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lumen.cortex.clearance import Blocked, ClearedAction, Confirmation, NeedsConfirmation, Verdict
from lumen.cortex.cortex import Cortex
from lumen.json_value import Json
from lumen.kernel.skills import SkillRunner
from lumen.kernel.steps.runner import Report
from lumen.record.grants import ActionGrant
from lumen.record.inbox import Waiting
from lumen.record.skills import SPEAKING
from lumen.turn import Action, Candidate, SkillResult

DEEPEST_REQUEST: Final = 2
_REPLY_WEIGHT: Final = 0.3

Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Deed:
    """What ACT came to: the candidate that was done, waits or was refused, and everything that was shown."""

    candidate: Candidate
    result: SkillResult | None = None
    waiting: Waiting | None = None
    refusals: tuple[str, ...] = ()


async def act(
    report: Report,
    *,
    grant: ActionGrant,
    cortex: Cortex,
    runner: SkillRunner,
    candidates: Sequence[Candidate],
    show: Show,
    confirmation: Confirmation | None = None,
) -> Deed:
    verdicts: list[Json] = []
    refusals: list[str] = []
    for candidate in candidates:
        verdict = await cortex.propose(candidate.action, confirmation)
        verdicts.append(_verdict(candidate.name, verdict))
        report.note(verdicts=verdicts, candidate=candidate.name, skill=candidate.action.skill)
        match verdict:
            case ClearedAction():
                result = await _run(report, verdict, runner, show)
                _remember(report, grant, candidate, result)
                await _serve_requests(report, grant, cortex, runner, result.requests, show)
                return Deed(candidate, result, refusals=tuple(refusals))
            case NeedsConfirmation():
                return Deed(candidate, waiting=_ask(report, grant, candidate, verdict), refusals=tuple(refusals))
            case Blocked():
                refusals += verdict.reasons
    return Deed(candidates[-1], refusals=tuple(refusals))


async def _run(report: Report, cleared: ClearedAction, runner: SkillRunner, show: Show) -> SkillResult:
    result = await runner.run(cleared.skill, cleared.action.parameters)
    if result.text:
        show(result.text)
    report.note(
        action=cleared.action.sha256,
        skill_sha256=cleared.skill.sha256,
        isolation=result.isolation,
        ok=result.is_ok,
        exit_code=result.exit_code,
        skill_ms=result.milliseconds,
        truncated=result.is_truncated,
        timeout=result.is_timeout,
        output_sha256=hashlib.sha256(result.text.encode()).hexdigest(),
        requests=[request.sha256 for request in result.requests],
    )
    return result


def _remember(report: Report, grant: ActionGrant, candidate: Candidate, result: SkillResult) -> None:
    """The agent's own memory of what it did: a reply with its quotations as ids, or which skill it used."""
    if candidate.action.skill == SPEAKING:
        if not result.is_ok:
            return
        line = grant.memory.remember("self", "reply", candidate.stored or result.text, weight=_REPLY_WEIGHT)
    else:
        ended = "it went well" if result.is_ok else "it failed"
        text = f"I used the skill {candidate.action.skill} ({candidate.intention}); {ended}."
        line = grant.memory.remember("self", "action", text, weight=_REPLY_WEIGHT)
    report.note(memory=line.id)


def _ask(report: Report, grant: ActionGrant, candidate: Candidate, verdict: NeedsConfirmation) -> Waiting:
    waiting = grant.inbox.ask(
        verdict.action,
        skill_sha256=verdict.skill.sha256,
        kind=candidate.kind,
        predicted=candidate.prediction.score,
        reasons=verdict.reasons,
    )
    report.note(ask=waiting.id)
    return waiting


async def _serve_requests(
    report: Report,
    grant: ActionGrant,
    cortex: Cortex,
    runner: SkillRunner,
    requests: Sequence[Action],
    show: Show,
    depth: int = 1,
) -> None:
    served: list[Json] = []
    for action in requests if depth <= DEEPEST_REQUEST else ():
        verdict = await cortex.propose(action)
        fact = {"skill": action.skill, "action": action.sha256, "depth": depth, **_verdict("", verdict)}
        if isinstance(verdict, ClearedAction):
            inner = Report()
            result = await _run(inner, verdict, runner, show)
            fact["ran"] = inner.facts
            await _serve_requests(inner, grant, cortex, runner, result.requests, show, depth + 1)
        elif isinstance(verdict, NeedsConfirmation):
            asked = grant.inbox.ask(
                action, skill_sha256=verdict.skill.sha256, kind=action.skill, predicted=0.0, reasons=verdict.reasons
            )
            fact["ask"] = asked.id
        served.append(fact)
    if served:
        report.note(served=served)


def _verdict(name: str, verdict: Verdict) -> dict[str, Json]:
    match verdict:
        case ClearedAction():
            return {"name": name, "verdict": "allowed", "reasons": [verdict.because]}
        case NeedsConfirmation():
            return {"name": name, "verdict": "requires_confirmation", "reasons": list(verdict.reasons)}
        case Blocked():
            return {"name": name, "verdict": "blocked", "reasons": list(verdict.reasons)}

"""B = M x A x P: how much an action is wanted, whether it can be done, and how strong its trigger is. Pure arithmetic.

    M  mean of the weights of the aligned values x weight of the goal      (a reaction has no goal: x 1.0)
       no aligned value: 0.5 for a reaction, 0 for what the agent began itself
    A  1 if there is a skill for it, else 0
    P  1 for a direct trigger (a person spoke, the cycle chose the goal); an indirect one halves every seven days

Example: values care 0.8 and truth 0.6, both aligned with an answer to a person: M = 0.7 x 1.0, A = 1, P = 1, B = 0.7.
A goal of weight 0.5 that resurfaces after 14 days with care alone: M = 0.8 x 0.5 = 0.4, P = 0.25, B = 0.1.

Deciding, in this order: when nothing is wanted enough (every M below 0.2) the turn is skipped. When what is wanted most
has no skill, that is a gap, and a goal is opened for it; the best of the rest is still done. Of what can be done, the
highest B wins. Equal B are left to the mind's own order.

What this does not do: it does not know what a value means. Which values an action serves is the mind's word; that word
is recorded, and everything after it can be computed again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lumen.turn import Alignment, Candidate

LEAST_MOTIVATION: Final = 0.2
UNALIGNED_REACTION: Final = 0.5
HALF_LIFE_DAYS: Final = 7.0

Trigger = Literal["direct", "indirect"]


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its numbers, and the values and the goal they came from."""

    candidate: Candidate
    values: tuple[str, ...]
    goal: str | None
    m: float
    a: float
    p: float

    @property
    def b(self) -> float:
        return self.m * self.a * self.p


@dataclass(frozen=True, slots=True)
class Decision:
    """`order` is what can be done, best first; empty is a skip. `gap` is what is wanted most and has no skill."""

    scores: tuple[Scored, ...]
    order: tuple[Scored, ...]
    gap: Scored | None

    @property
    def is_skip(self) -> bool:
        return not self.order


def motivation(value_weights: Sequence[float], *, goal_weight: float | None, is_reaction: bool) -> float:
    """M. A goal weight of None is no goal."""
    unaligned = UNALIGNED_REACTION if is_reaction else 0.0
    mean = sum(value_weights) / len(value_weights) if value_weights else unaligned
    if goal_weight is None:
        return mean if is_reaction else 0.0
    return mean * goal_weight


def ability(skill: str, skills: frozenset[str]) -> float:
    return 1.0 if skill in skills else 0.0


def prompt_strength(trigger: Trigger, *, days_since: float = 0.0) -> float:
    """P. A clock that was set back makes nothing stronger than a direct trigger."""
    if trigger == "direct":
        return 1.0
    return float(0.5 ** (max(0.0, days_since) / HALF_LIFE_DAYS))


def score(
    candidates: Sequence[Candidate],
    alignments: Sequence[Alignment],
    *,
    values: Mapping[str, float],
    goals: Mapping[str, float],
    skills: frozenset[str],
    is_reaction: bool,
    p: float,
) -> tuple[Scored, ...]:
    """Every candidate with its M, A and P. Names that are neither a value nor a goal count for nothing.

    In a reaction the goal is named but not multiplied: a person's question is not less wanted because it also serves
    a small goal.
    """
    named = {alignment.candidate: alignment for alignment in alignments}
    scored = []
    for candidate in candidates:
        alignment = named.get(candidate.name, Alignment(candidate.name, ()))
        aligned = tuple(dict.fromkeys(name for name in alignment.values if name in values))
        goal = next((name for name in (candidate.goal, alignment.goal) if name in goals), None)
        goal_weight = goals[goal] if goal is not None and not is_reaction else None
        m = motivation([values[name] for name in aligned], goal_weight=goal_weight, is_reaction=is_reaction)
        scored.append(Scored(candidate, aligned, goal, m, ability(candidate.action.skill, skills), p))
    return tuple(scored)


def decide(scores: Sequence[Scored], preference: Sequence[str]) -> Decision:
    """What to do, in order of B. `preference` orders candidates whose B is equal; those it does not name come last."""
    rank = {name: place for place, name in reversed(list(enumerate(preference)))}
    wanted = [scored for scored in scores if scored.m >= LEAST_MOTIVATION]
    most = max((scored.m for scored in wanted), default=0.0)
    top = [scored for scored in wanted if scored.m == most]
    gap = next((scored for scored in top if scored.a == 0), None) if all(scored.a == 0 for scored in top) else None
    possible = [scored for scored in wanted if scored.b > 0]
    order = sorted(possible, key=lambda scored: (-scored.b, rank.get(scored.candidate.name, len(rank))))
    return Decision(tuple(scores), tuple(order), gap)

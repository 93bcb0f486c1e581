"""DECIDE by reflex: which values want a candidate, by how far their similarity stands above the rest.

Similarities of short texts have no absolute meaning, so they are standardised over the whole matrix of candidates and
values: a value counts as aligned when it stands `MARGIN` deviations above the mean. Example: five values, three
candidates, mean 0.12, deviation 0.08: "honesty" with 0.22 to an answer has z = 1.25 and is aligned. With one value or
one candidate there is nothing to stand out from, and a plain floor decides.

The first candidate is what the mind prefers: when nothing stands out for it, its nearest value is taken unless that is
truly unrelated. Saying that one cannot shares the values of the first, so that it can never outbid it, only follow it.
A goal is named only by a candidate that was thought for it: what answers a person is a reaction, and has none.
"""

from typing import TYPE_CHECKING, Final

import numpy

from lumen.ports import Embedder
from lumen.questions import DecideQuestion, Judgement
from lumen.turn import Alignment, Candidate

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARGIN: Final = 0.75
FLOOR: Final = 0.2
UNRELATED: Final = 0.02
FALLBACK: Final = "chat:cannot"
_READ: Final = 400


def decide(question: DecideQuestion, embedder: Embedder) -> Judgement:
    served = _served(question, embedder)
    goals = {goal.name for goal in question.goals}
    alignments = tuple(
        Alignment(
            candidate.name,
            served[0] if candidate.kind == FALLBACK else values,
            candidate.goal if candidate.goal in goals else None,
        )
        for candidate, values in zip(question.candidates, served, strict=True)
    )
    return Judgement(alignments, tuple(candidate.name for candidate in question.candidates))


def _served(question: DecideQuestion, embedder: Embedder) -> list[tuple[str, ...]]:
    """For each candidate the values that want it, heaviest similarity first."""
    names = [value.name for value in question.values]
    if not names or not question.candidates:
        return [() for _ in question.candidates]
    rows = embedder.embed([_meaning(candidate) for candidate in question.candidates] + names)
    near: NDArray[numpy.float32] = rows[: len(question.candidates)] @ rows[len(question.candidates) :].T
    stands_out = _stands_out(near)
    served = []
    for number, row in enumerate(near):
        order = sorted(range(len(names)), key=lambda each: (-float(row[each]), names[each]))
        chosen = [each for each in order if stands_out[number, each]]
        if not chosen and number == 0 and row[order[0]] > UNRELATED:
            chosen = order[:1]
        served.append(tuple(names[each] for each in chosen))
    return served


def _stands_out(near: "NDArray[numpy.float32]") -> "NDArray[numpy.bool_]":
    deviation = float(near.std())
    if min(near.shape) == 1 or deviation == 0.0:
        return numpy.greater_equal(near, FLOOR)
    standardised: NDArray[numpy.float32] = (near - near.mean()) / deviation
    return numpy.greater_equal(standardised, MARGIN)


def _meaning(candidate: Candidate) -> str:
    text = candidate.action.parameters.get("text")
    return f"{candidate.intention} {text if isinstance(text, str) else candidate.action.skill}"[:_READ]

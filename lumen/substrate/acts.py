"""What a person does with an utterance: tells, asks, wants something done, corrects, thanks, greets, leaves, despairs.

Each act is described by a few sayings; the nearest in meaning counts as much as its similarity. Surface cues (a
question mark, a wh-word, "no, ...", "thank") add to that, each as much as `phrases.yaml` says. The highest sum wins; of
equal sums the act that stands first in that file. Example: "Where is the key" has similarity 0.5 to a question and
0.45 to a statement; the wh-word adds 0.5 to the question, which wins by 1.0 to 0.65.

Reads the beginning and the end of a long text only. Does not know what to answer.
"""

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from lumen.ports import Embedder
from lumen.substrate.phrases import Act, Phrases
from lumen.substrate.words import words

if TYPE_CHECKING:
    import numpy

_BEGINNING: Final = 500
_END: Final = 200


class ActReader:
    def __init__(self, embedder: Embedder, phrases: Phrases) -> None:
        self._embedder = embedder
        self._sayings = [(act, saying) for act, sayings in phrases.acts.items() for saying in sayings]
        self._acts: tuple[Act, ...] = tuple(phrases.acts)
        self._cues = [(cue.act, cue.adds, re.compile(cue.at)) for cue in phrases.cues]
        self._correcting = [pattern for act, _, pattern in self._cues if act == "correction"]

    def read(self, text: str) -> Act | None:
        """The act, or None for a text without a single word."""
        seen = _seen(text)
        if not words(seen):
            return None
        scores = self._similarities(seen)
        for act, adds, pattern in self._cues:
            if pattern.search(seen):
                scores[act] += adds
        return max(self._acts, key=lambda act: scores[act])

    def looks_like_a_correction(self, text: str) -> bool:
        """By its beginning alone: cheap enough for every memory."""
        seen = _seen(text)
        return any(found.start() == 0 for pattern in self._correcting if (found := pattern.search(seen)))

    def _similarities(self, text: str) -> dict[Act, float]:
        near = self._vectors @ self._embedder.embed([text])[0]
        best: dict[Act, float] = dict.fromkeys(self._acts, 0.0)
        for (act, _), similarity in zip(self._sayings, near, strict=True):
            best[act] = max(best[act], float(similarity))
        return best

    @cached_property
    def _vectors(self) -> "numpy.ndarray":
        return self._embedder.embed([saying for _, saying in self._sayings])


def _seen(text: str) -> str:
    short = text if len(text) <= _BEGINNING + _END else f"{text[:_BEGINNING]} {text[-_END:]}"
    return " ".join(short.lower().replace("’", "'").split())

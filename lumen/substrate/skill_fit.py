"""Which skills fit a request: by what it wants done, by the meaning of their help, and by what was found for them.

"Delete boiler.txt" names a path, and a skill that reads files takes one; yet it must not be read for that. So the first
verb that is known says what is wanted (phrases.yaml, `doings`), and a skill whose help speaks of no such doing does not
fit. For the others it adds up: similarity of the help, the skill's name, shared words, the doing, and whether all that
it needs (a path, a link, a number) stands in what was said. Example: "Read notes.txt" has similarity 0.29 to the skill
`files`, shares one of its two words (0.2) and its doing (0.2), and names a path (0.2): 0.89, where the floor is 0.45.

The help of a skill is text from outside: it is compared, never followed. `chat` is how one speaks and fits
nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lumen.ports import Embedder
from lumen.questions import SkillView
from lumen.substrate.phrases import Phrases
from lumen.substrate.slots import Filled, Slots, described
from lumen.substrate.words import Vocabulary, words

FIT_FLOOR: Final = 0.45
NAME_ADDS: Final = 0.4
WORDS_ADD: Final = 0.4
DOING_ADDS: Final = 0.2
FOUND_ADDS: Final = 0.2
_READ: Final = 1_000


@dataclass(frozen=True, slots=True)
class Fit:
    skill: SkillView
    filled: Filled
    score: float


class SkillFit:
    def __init__(self, embedder: Embedder, vocabulary: Vocabulary, phrases: Phrases) -> None:
        self._embedder = embedder
        self._vocabulary = vocabulary
        self._slots = Slots.of(phrases)
        self._doings = _by_stem(phrases.doings, vocabulary)

    def fitting(self, text: str, skills: Sequence[SkillView]) -> list[Fit]:
        """Those above the floor, best first; of equal ones in the order of their names."""
        offered = sorted((skill for skill in skills if skill.name != "chat"), key=lambda skill: skill.name)
        if not offered:
            return []
        about = [f"{skill.name.replace('_', ' ')}: {described(skill.help)}"[:_READ] for skill in offered]
        rows = self._embedder.embed([text[:_READ], *about])
        fits = [
            Fit(skill, filled, float(near) + self._adds(text[:_READ], skill.name, told, filled))
            for skill, told, near in zip(offered, about, rows[1:] @ rows[0], strict=True)
            if self._speaks_of(self._wanted(text[:_READ]), told)
            for filled in (self._slots.fill(skill.help, text),)
        ]
        return [fit for fit in sorted(fits, key=lambda each: -each.score) if fit.score >= FIT_FLOOR]

    def _adds(self, text: str, name: str, told: str, filled: Filled) -> float:
        wanted = set(self._vocabulary.content(text))
        named = set(self._vocabulary.content(name.replace("_", " ").replace("-", " ")))
        shared = len(wanted & set(self._vocabulary.content(told))) / max(1, min(4, len(wanted)))
        has_doing = bool(self._wanted(text))
        is_found = filled.is_certain and not filled.missing
        return (
            NAME_ADDS * bool(named & wanted)
            + WORDS_ADD * min(1.0, shared)
            + DOING_ADDS * has_doing
            + FOUND_ADDS * is_found
        )

    def _wanted(self, text: str) -> frozenset[str]:
        """The doings that the first known verb stands for; empty when there is none."""
        known = (self._doings.get(self._vocabulary.stem(word)) for word in words(text))
        return next((doings for doings in known if doings), frozenset())

    def _speaks_of(self, wanted: frozenset[str], told: str) -> bool:
        spoken = (self._doings.get(self._vocabulary.stem(word), frozenset()) for word in words(told))
        return not wanted or any(doings & wanted for doings in spoken)


def _by_stem(doings: Mapping[str, Sequence[str]], vocabulary: Vocabulary) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for doing, verbs in doings.items():
        for verb in verbs:
            stem = vocabulary.stem(verb)
            found[stem] = found.get(stem, frozenset()) | {doing}
    return found

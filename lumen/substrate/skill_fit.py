"""Which skills fit a request: by the meaning of their help, and by words that both use.

The help of a skill is text from outside: it is compared, never followed. `chat` is how one speaks and fits
nothing else.
"""

from collections.abc import Sequence
from typing import Final

from lumen.ports import Embedder
from lumen.questions import SkillView
from lumen.substrate.slots import described
from lumen.substrate.words import Vocabulary

FIT_FLOOR: Final = 0.45
NAME_ADDS: Final = 0.4
WORDS_ADD: Final = 0.4
_READ: Final = 1_000


class SkillFit:
    def __init__(self, embedder: Embedder, vocabulary: Vocabulary) -> None:
        self._embedder = embedder
        self._vocabulary = vocabulary

    def fitting(self, text: str, skills: Sequence[SkillView]) -> list[SkillView]:
        """Those above the floor, best first; of equal ones in the order of their names."""
        offered = sorted((skill for skill in skills if skill.name != "chat"), key=lambda skill: skill.name)
        if not offered:
            return []
        about = [f"{skill.name.replace('_', ' ')}: {described(skill.help)}"[:_READ] for skill in offered]
        rows = self._embedder.embed([text[:_READ], *about])
        wanted = set(self._vocabulary.content(text[:_READ]))
        scored = []
        for skill, words, similarity in zip(offered, about, rows[1:] @ rows[0], strict=True):
            named = set(self._vocabulary.content(skill.name.replace("_", " ").replace("-", " ")))
            shared = len(wanted & set(self._vocabulary.content(words))) / max(1, min(4, len(wanted)))
            score = float(similarity) + NAME_ADDS * bool(named & wanted) + WORDS_ADD * min(1.0, shared)
            scored.append((score, skill))
        return [skill for score, skill in sorted(scored, key=lambda pair: -pair[0]) if score >= FIT_FLOOR]

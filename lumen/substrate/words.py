"""Words of a text: cut, stripped of their endings, and without those that carry nothing. English endings only.

A word of another language stays as it is and still matches itself. Knows nothing of meaning: `phrases.yaml` says which
words are empty and which forms are irregular.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

READ_CHARACTERS: Final = 4_000  # of any text: what comes later is not looked at

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_VOWEL: Final = re.compile("[aeiouy]")
_SHORTEST_STEM: Final = 3


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Which words are empty, and which forms belong to which word ("went" to "go")."""

    empty: frozenset[str]
    irregular: Mapping[str, str]

    def content(self, text: str) -> list[str]:
        """The stems of the words that carry something, in their order, repeats included."""
        return [self.stem(word) for word in words(text) if word not in self.empty]

    def content_words(self, text: str) -> list[str]:
        """The same words as they were written, each once."""
        found = (match.group() for match in _WORD.finditer(text[:READ_CHARACTERS]))
        return list(dict.fromkeys(word for word in found if _plain(word) not in self.empty))

    def stem(self, word: str) -> str:
        return self.irregular.get(word) or stem(word)


def words(text: str) -> list[str]:
    """Lower case, apostrophes gone: "Marta's" is "marta", "I'm" is "im"."""
    return [_plain(match.group()) for match in _WORD.finditer(text[:READ_CHARACTERS])]


def stem(word: str) -> str:
    """A few endings off: "kittens", "parked", "parking" and "parks" each meet their word."""
    if len(word) <= _SHORTEST_STEM or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies"):
        return word[:-3] + "i"
    for ending in ("ing", "ed"):
        bare = word.removesuffix(ending)
        if bare != word and len(bare) >= _SHORTEST_STEM - 1 and _VOWEL.search(bare):
            return _tidied(bare)
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _tidied(word)


def _tidied(word: str) -> str:
    """What is left is brought to one form: "runn" to "run", "lik" and "like" to "lik", "story" to "stori"."""
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    if len(word) > _SHORTEST_STEM and word.endswith("e"):
        return word[:-1]
    return word[:-1] + "i" if len(word) > _SHORTEST_STEM and word.endswith("y") else word


def _plain(word: str) -> str:
    return re.sub(r"['’]s$", "", word.lower()).replace("'", "").replace("’", "")

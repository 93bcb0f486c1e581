"""Which memories answer what was said: a weighted sum of a few plain signs, and a floor for "close enough".

The signs, with weights fitted on dialogues (see bench/reflex.py) and rounded:

    words       BM25 over the content words, with frequencies from the memories at hand, per word asked for
    stated      share of the words asked for that stand in one sentence which is not itself a question
    similarity  as recalled
    person      +1 said by the person the question is about, -1 by somebody else ("I" is whoever asks)
    kind        a time for "when", a number for "how many", a name for "who"
    length      logarithm of the number of words, up to 40: a longer memory holds more
    asks        a memory that ends as a question, or is nothing but one, counts less

A memory is close enough when a fair share of the words asked for stands in it, or when its meaning is very near. A word
that no memory holds counts most in that share: "capital of France" is not answered by what the capital of Peru is.

Never offered: what was just said (by id or by text), the agent's own replies, and what is empty. Does not quote.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lumen.questions import MemoryView, Utterance
from lumen.substrate.phrases import Phrases
from lumen.substrate.quoting import plain
from lumen.substrate.words import READ_CHARACTERS, Vocabulary, words

COVERAGE_FLOOR: Final = 0.4
SIMILARITY_FLOOR: Final = 0.55
FIRST_PERSON: Final = frozenset(("i", "me", "my", "mine", "im", "ive", "id", "myself"))

_WORDS, _STATED, _SIMILARITY, _PERSON, _LENGTH = 3.5, 3.5, 2.0, 0.9, 1.2
_TIME, _NUMBER, _NAME = 1.8, 1.8, 1.0
_ENDS_AS_QUESTION, _ONLY_ASKS = -0.7, -2.5
_K1, _B = 1.2, 0.75
_LONGEST: Final = 40
_FEWEST: Final = 20  # with fewer memories, rarity is counted as if there were so many
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_CAPITAL: Final = re.compile(r"(?<=[^\W\d_A-Z] )[A-Z][^\W\d_]+|(?<=, )[A-Z][^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory with its score. `coverage` is the share of the words asked for that it holds, the rare count more."""

    memory: MemoryView
    score: float
    coverage: float
    stems: frozenset[str]

    @property
    def is_close(self) -> bool:
        return self.coverage >= COVERAGE_FLOOR or self.memory.similarity >= SIMILARITY_FLOOR


class Ranking:
    def __init__(self, phrases: Phrases) -> None:
        self.vocabulary: Vocabulary = phrases.vocabulary()
        self._is_asking = re.compile(phrases.is_asking)
        self._kinds: list[tuple[re.Pattern[str], Callable[[str], bool], float]] = [
            (re.compile(phrases.wants_time), _finder(phrases.has_time), _TIME),
            (re.compile(phrases.wants_number), _finder(phrases.has_number), _NUMBER),
            (re.compile(phrases.wants_name), lambda text: bool(_CAPITAL.search(text)), _NAME),
        ]

    def of(self, text: str, said: Utterance, memories: Sequence[MemoryView]) -> list[Ranked]:
        """Best first; of equal ones the newer first."""
        offered = _offered(said, memories)
        if not offered:
            return []
        asked = _Asked(text, said, offered, self.vocabulary)
        wanted = [(has, adds) for wants, has, adds in self._kinds if wants.search(text[:READ_CHARACTERS].lower())]
        ranked = [self._ranked(memory, asked, wanted) for memory in offered]
        return sorted(ranked, key=lambda each: (each.score, each.memory.timestamp, each.memory.id), reverse=True)

    def is_asking(self, text: str) -> bool:
        """By its surface: a question mark at the end, or a question's first words."""
        return bool(self._is_asking.search(text[:READ_CHARACTERS].strip().lower()))

    def _ranked(
        self, memory: MemoryView, asked: "_Asked", wanted: Sequence[tuple[Callable[[str], bool], float]]
    ) -> Ranked:
        text = memory.description[:READ_CHARACTERS]
        stems = asked.stems[memory.id]
        sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
        stating = [sentence for sentence in sentences if not self.is_asking(sentence)]
        stated = max((asked.coverage(self.vocabulary.content(sentence)) for sentence in stating), default=0.0)
        score = (
            _WORDS * asked.bm25(memory.id)
            + _STATED * stated
            + _SIMILARITY * memory.similarity
            + _PERSON * asked.person(memory)
            + _LENGTH * math.log(1 + min(_LONGEST, len(words(text))))
            + sum(adds for has, adds in wanted if has(text))
            + (_ENDS_AS_QUESTION if sentences and self.is_asking(sentences[-1]) else 0.0)
            + (0.0 if stating else _ONLY_ASKS)
        )
        return Ranked(memory, score, asked.coverage(stems) if stating else 0.0, frozenset(stems))


class _Asked:
    """The words asked for, how rare they are among the memories, and whom it is about."""

    def __init__(self, text: str, said: Utterance, memories: Sequence[MemoryView], vocabulary: Vocabulary) -> None:
        self.stems = {memory.id: vocabulary.content(memory.description) for memory in memories}
        self._mean_length = sum(map(len, self.stems.values())) / len(self.stems) or 1.0
        people = {memory.id: _speaker_stems(memory.situation, vocabulary) for memory in memories}
        everybody = frozenset().union(*people.values())
        stems = dict.fromkeys(vocabulary.content(text))
        self._about = frozenset(stem for stem in stems if stem in everybody)
        if not self._about and FIRST_PERSON & set(words(text)):
            self._about = frozenset(vocabulary.content(said.speaker))
        self._speakers = people
        counted = [stem for stem in stems if stem not in self._about] or list(stems)
        holding = Counter(stem for found in self.stems.values() for stem in set(found))
        rarest = max(_FEWEST, len(memories))
        self._rarity = {stem: math.log(1 + (rarest - holding[stem] + 0.5) / (holding[stem] + 0.5)) for stem in counted}
        self._total = sum(self._rarity.values()) or 1.0

    def coverage(self, stems: Sequence[str]) -> float:
        return sum(self._rarity.get(stem, 0.0) for stem in set(stems)) / self._total

    def bm25(self, identity: str) -> float:
        stems = self.stems[identity]
        times = Counter(stem for stem in stems if stem in self._rarity)
        flat = _K1 * (1 - _B + _B * len(stems) / self._mean_length)
        return sum(self._rarity[stem] * n * (_K1 + 1) / (n + flat) for stem, n in times.items()) / self._total

    def person(self, memory: MemoryView) -> float:
        speakers = self._speakers[memory.id]
        if not self._about or not speakers:
            return 0.0
        return 1.0 if speakers & self._about else -1.0


def speaker_of(memory: MemoryView) -> str:
    """The name in "chat with NAME", or nothing."""
    head, _, name = memory.situation.partition("chat with ")
    return name if memory.author == "external" and not head else ""


def _speaker_stems(situation: str, vocabulary: Vocabulary) -> frozenset[str]:
    head, _, name = situation.partition("chat with ")
    return frozenset(vocabulary.content(name)) if name and not head else frozenset()


def _offered(said: Utterance, memories: Sequence[MemoryView]) -> list[MemoryView]:
    """What may be quoted at all, each id once."""
    just_said = plain(said.text).casefold()
    offered = {
        memory.id: memory
        for memory in memories
        if memory.id != said.memory
        and memory.author != "kernel"
        and memory.situation != "reply"
        and (text := plain(memory.description)) != ""
        and text.casefold() != just_said
    }
    return list(offered.values())


def _finder(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: bool(compiled.search(text.lower()))

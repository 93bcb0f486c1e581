"""Replies that quote memories: answers, counts, corrections, and what goes with a statement.

Each method gives the parts of one reply. Nothing here is said that is not a frame, a count or a quotation.
"""

import re
from typing import Final

from lumen.questions import ThinkQuestion, Utterance
from lumen.substrate.citing import Citing
from lumen.substrate.corrections import Corrections, conflicting
from lumen.substrate.phrases import Phrases
from lumen.substrate.quoting import Quotation
from lumen.substrate.ranking import Ranked, Ranking
from lumen.substrate.words import READ_CHARACTERS

MOST_QUOTED_MEMORIES: Final = 3
NEAREST_FLOOR: Final = 0.25  # of similarity, for a memory that shares no word with what was asked
RELATED_COVERAGE: Final = 0.3
RELATED_SIMILARITY: Final = 0.45
RECENT_BONUS: Final = 3.0  # for a memory that the last reply cited: a correction is most often about that one
_SHORT_ID: Final = re.compile(r"\[([^\[\]\s]+)\]")


class Recalling:
    def __init__(self, phrases: Phrases, citing: Citing, ranking: Ranking, corrections: Corrections) -> None:
        self._citing = citing
        self._fill = citing.frames.fill
        self._ranking = ranking
        self._corrections = corrections
        self._wants_several = re.compile(phrases.wants_several)
        self._wants_count = re.compile(phrases.wants_count)
        self._corrected_rest = re.compile(phrases.corrected_rest, re.IGNORECASE)

    def answer(self, said: Utterance, question: ThinkQuestion) -> list[Quotation]:
        text = said.text[:READ_CHARACTERS].lower()
        if self._wants_count.search(text):
            return self._count(said, question)
        ranked, replaced = self._corrections.standing(
            self._ranking.of(said.text, said, question.memories), question.memories
        )
        close = [each for each in ranked if each.is_close]
        lifted = {replaced[each.memory.id] for each in close if each.memory.id in replaced}
        if not close:
            return self._nothing(said, question, ranked)
        best = next((each for each in ranked if each.memory.id in lifted or each.is_close), close[0])
        if best.memory.id not in lifted:
            best = conflicting(best, close)
        parts = [self._citing.memory(best.memory, said)]
        older = [each for each in ranked if replaced.get(each.memory.id) == best.memory.id][:1]
        parts += [self._citing.memory(each.memory, said, is_corrected=True) for each in older]
        if self._wants_several.search(text):
            shown = {best.memory.id, *(each.memory.id for each in older)}
            more = [each for each in close if each.memory.id not in shown and each.memory.id not in replaced]
            parts += [self._citing.memory(each.memory, said) for each in more[: MOST_QUOTED_MEMORIES - len(parts)]]
        return parts

    def correct(self, said: Utterance, question: ThinkQuestion) -> list[Quotation]:
        new = self._fill("correction_new", memory=self._citing.just_said(said, question))
        rest = self._corrected_rest.sub("", " ".join(said.text[:READ_CHARACTERS].split()))
        if not self._ranking.vocabulary.content(rest):
            return [new, self._fill("correction_open")]
        old = self._corrected(rest, said, question)
        if old is None:
            return [new, self._fill("correction_alone")]
        return [new, self._fill("correction_old"), self._citing.memory(old.memory, said, is_corrected=True)]

    def related(self, said: Utterance, question: ThinkQuestion) -> list[Quotation]:
        """The memory that goes with a statement, if one does."""
        ranked = self._ranking.of(said.text, said, question.memories)
        for each in ranked:
            is_near = each.coverage >= RELATED_COVERAGE or each.memory.similarity >= RELATED_SIMILARITY
            if is_near and not self._ranking.is_asking(each.memory.description):
                return [self._fill("goes_with"), self._citing.memory(each.memory, said)]
        return []

    def deeds(self, question: ThinkQuestion) -> list[Quotation]:
        """The newest memories of what the agent itself noted."""
        own = [
            memory
            for memory in question.memories
            if memory.author in ("self", "goal") and memory.situation != "reply" and memory.description.strip()
        ]
        newest = sorted(own, key=lambda memory: (memory.timestamp, memory.id), reverse=True)[:MOST_QUOTED_MEMORIES]
        return [self._citing.memory(memory, question.said) for memory in newest] or [self._fill("did_nothing")]

    def _nothing(self, said: Utterance, question: ThinkQuestion, ranked: list[Ranked]) -> list[Quotation]:
        topic = self._citing.topic(said, question)
        parts = [self._fill("nothing_on", topic=topic) if topic else self._fill("nothing")]
        near = [each for each in ranked if each.coverage > 0 or each.memory.similarity >= NEAREST_FLOOR]
        if near:
            return [*parts, self._fill("nearest"), self._citing.memory(near[0].memory, said)]
        return [*parts, self._fill("only_record")]

    def _count(self, said: Utterance, question: ThinkQuestion) -> list[Quotation]:
        topic = self._citing.topic(said, question)
        if topic is None:
            return [self._fill("nothing")]
        wanted = set(self._ranking.vocabulary.content(said.text))
        ranked = self._ranking.of(said.text, said, question.memories)
        found = [each.memory for each in ranked if wanted <= each.stems and not self._asks(each)]
        if not found:
            return [self._fill("counted_none", topic=topic)]
        marks = " ".join(f"[{memory.short_id}]" for memory in found)
        ids = Quotation(marks, marks, tuple(memory.id for memory in found))
        return [self._fill("counted", count=str(len(found)), topic=topic, ids=ids)]

    def _asks(self, ranked: Ranked) -> bool:
        return self._ranking.is_asking(ranked.memory.description)

    def _corrected(self, rest: str, said: Utterance, question: ThinkQuestion) -> Ranked | None:
        """The older statement that a correction is about: near to it, and best of all cited by the last reply."""
        replies = [memory for memory in question.memories if memory.situation == "reply"]
        last = max(replies, key=lambda memory: memory.timestamp, default=None)
        cited = set(_SHORT_ID.findall(last.description)) if last is not None else set()
        fitting = [
            each
            for each in self._ranking.of(rest, said, question.memories)
            if not self._asks(each)
            and each.memory.timestamp <= said.timestamp
            and (
                each.memory.short_id in cited
                or each.coverage >= RELATED_COVERAGE
                or each.memory.similarity >= RELATED_SIMILARITY
            )
        ]
        return max(
            fitting,
            key=lambda each: each.score + (RECENT_BONUS if each.memory.short_id in cited else 0.0),
            default=None,
        )

"""How a memory is introduced: who said it and when, as a frame around its quotation.

"You" is whoever is speaking now. What a person said to the agent at another time stands under their name; what the
agent noted itself stands under "I".
"""

from dataclasses import dataclass
from typing import Final

from lumen.questions import MemoryView, ThinkQuestion, Utterance
from lumen.substrate.quoting import Frames, Quotation, person, plain, quotation
from lumen.substrate.ranking import speaker_of
from lumen.substrate.words import Vocabulary

MOST_TOPIC_WORDS: Final = 6
_DAY: Final = 10


@dataclass(frozen=True, slots=True)
class Citing:
    frames: Frames
    vocabulary: Vocabulary

    def memory(self, memory: MemoryView, said: Utterance | None, *, is_corrected: bool = False) -> Quotation:
        speaker = person(speaker_of(memory))
        date = person(memory.timestamp[:_DAY])
        quoted = quotation(memory.description, memory.short_id, cites=(memory.id,))
        if memory.author in ("self", "goal"):
            return self.frames.fill("earlier_kept" if is_corrected else "i_noted", date=date, memory=quoted)
        if not speaker:
            return self.frames.fill("earlier_kept" if is_corrected else "was_kept", date=date, memory=quoted)
        if said is not None and speaker.casefold() == person(said.speaker).casefold():
            return self.frames.fill("earlier_you_said" if is_corrected else "you_said", date=date, memory=quoted)
        frame = "earlier_person_said" if is_corrected else "person_said"
        return self.frames.fill(frame, date=date, speaker=speaker, memory=quoted)

    def topic(self, said: Utterance, question: ThinkQuestion) -> Quotation | None:
        """The words that carry what was said, in their order, as a quotation of it; None when there are none."""
        words = self.vocabulary.content_words(said.text)[:MOST_TOPIC_WORDS]
        text = plain(" ".join(words), most=80)
        return Quotation(f'"{text}"', f"[{short_id(said, question)}]") if text else None

    def just_said(self, said: Utterance, question: ThinkQuestion) -> Quotation:
        return quotation(said.text, short_id(said, question), cites=(said.memory,))


def short_id(said: Utterance, question: ThinkQuestion) -> str:
    """As the record gives it when what was said is among the memories; else its beginning and its number."""
    known = next((memory.short_id for memory in question.memories if memory.id == said.memory), None)
    writer, _, number = said.memory.partition(":")
    return known or (f"{writer[:8]}:{number}" if number else said.memory)

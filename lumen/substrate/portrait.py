"""What reflex says about itself: quotations of soul.md, the names and weights of values and goals, and counts.

It makes no claim that stands nowhere in the record. Memories of what it did are chosen elsewhere.
"""

import re
from typing import Final, assert_never

from lumen.questions import ThinkQuestion
from lumen.substrate.phrases import Phrases, SelfTopic
from lumen.substrate.quoting import Frames, Quotation, named, person, plain, quotation

MOST_LISTED: Final = 5
SOUL: Final = "soul.md"
_HEADING: Final = re.compile(r"^\s*(?:#.*|---+)?$")
_DAY: Final = 10


class Portrait:
    def __init__(self, phrases: Phrases, frames: Frames) -> None:
        self._frames = frames
        self._topics = [(cue.topic, re.compile(cue.at)) for cue in phrases.self_topics]

    def topic(self, text: str) -> SelfTopic | None:
        seen = text[:500].lower()
        return next((topic for topic, pattern in self._topics if pattern.search(seen)), None)

    def parts(self, topic: SelfTopic | None, question: ThinkQuestion) -> list[Quotation]:
        fill = self._frames.fill
        match topic:
            case "conscious":
                parts = [fill("no_claim"), fill("a_program")]
            case "values":
                parts = self._values(question)
            case "goals":
                parts = self._goals(question)
            case "memories":
                parts = self._memories(question)
            case "skills":
                parts = self._skills(question)
            case "works":
                parts = [fill("a_program"), *self._memories(question)]
            case "did" | None:
                parts = self._who(question)
            case _:
                assert_never(topic)
        return parts

    def name(self, question: ThinkQuestion) -> list[Quotation]:
        name = person(question.soul.name)
        return [self._frames.fill("my_name", soul=quotation(name, SOUL))] if name else []

    def _who(self, question: ThinkQuestion) -> list[Quotation]:
        lines = [line for line in question.soul.text[:4_000].splitlines() if not _HEADING.match(line)]
        text = plain(question.soul.ontology) or plain(" ".join(lines))
        about = [self._frames.fill("my_soul", soul=quotation(text, SOUL))] if text else []
        parts = self.name(question) + about
        return parts or [self._frames.fill("no_soul"), self._frames.fill("a_program")]

    def _values(self, question: ThinkQuestion) -> list[Quotation]:
        fill = self._frames.fill
        if not question.values:
            return [fill("no_values")]
        heaviest = sorted(question.values, key=lambda value: -value.weight)[:MOST_LISTED]
        listed = [fill("value", quoted=named(value.name), weight=f"{value.weight:.2f}") for value in heaviest]
        return [fill("values", count=str(len(question.values))), *listed]

    def _goals(self, question: ThinkQuestion) -> list[Quotation]:
        fill = self._frames.fill
        if not question.goals:
            return [fill("no_goals")]
        heaviest = sorted(question.goals, key=lambda goal: -goal.weight)[:MOST_LISTED]
        listed = [
            fill("goal", quoted=named(goal.name), weight=f"{goal.weight:.2f}", status=person(goal.status))
            for goal in heaviest
        ]
        return [fill("goals", count=str(len(question.goals))), *listed]

    def _memories(self, question: ThinkQuestion) -> list[Quotation]:
        fill, counts = self._frames.fill, question.counts
        if counts.memories == 0:
            return [fill("no_memories")]
        days = {"date": person(counts.first_day[:_DAY]), "until": person(counts.last_day[:_DAY])}
        by_author = [fill("by_author", count=str(count), author=person(author)) for author, count in counts.by_author]
        return [fill("memories", count=str(counts.memories), **days), *by_author]

    def _skills(self, question: ThinkQuestion) -> list[Quotation]:
        fill = self._frames.fill
        skills = [skill for skill in question.skills if skill.name != "chat"]
        if not skills:
            return [fill("no_skills")]
        listed = [fill("skill", quoted=named(skill.name)) for skill in skills[:MOST_LISTED]]
        return [fill("skills", count=str(len(skills))), *listed]

"""The law of reflex as a checker: every sentence of a reply is a frame, a count or a quotation with its source.

It takes a reply apart by the frames alone, and compares each slot with the question: a quotation must be the beginning
of the memory whose id stands behind it, a topic must be words of what was said, a name must stand in the record.
"""

import re
import string
from collections.abc import Callable, Mapping

from lumen.questions import ThinkQuestion
from lumen.substrate.phrases import phrases

SLOTS: Mapping[str, str] = {
    "memory": r'"(?P<{0}>[^"\[\]]*)" \[(?P<{0}_id>[^\[\]"]+)\]',
    "soul": r'"(?P<{0}>[^"\[\]]*)" \[soul\.md\]',
    "topic": r'"(?P<{0}>[^"\[\]]*)"',
    "quoted": r'"(?P<{0}>[^"\[\]]*)"',
    "skill": r'"(?P<{0}>[^"\[\]]*)"',
    "ids": r"(?P<{0}>\[[^\[\]]+\](?: \[[^\[\]]+\])*)",
    "count": r"(?P<{0}>\d+)",
    "weight": r"(?P<{0}>\d\.\d\d)",
    "date": r"(?P<{0}>[\w.' -]*?)",
    "until": r"(?P<{0}>[\w.' -]*?)",
}
BARE = r"(?P<{0}>[^\"\[\]\n:]*?)"


def unlawful(reply: str, question: ThinkQuestion) -> str:
    """What is left of the reply where the law ends; nothing when all of it is lawful."""
    farthest, pending, seen = 0, [0], {0}
    while pending:
        place = pending.pop()
        farthest = max(farthest, place)
        if place == len(reply) and reply:
            return ""
        for pattern in patterns():
            found = pattern.match(reply, place)
            if found and is_true(found, question) and found.end() not in seen:
                seen.add(found.end())
                pending.append(found.end())
    return reply[farthest:] or "(empty)"


def patterns() -> list[re.Pattern[str]]:
    made = []
    for frame in phrases().frames.values():
        regex = ""
        for literal, slot, _, _ in string.Formatter().parse(frame):
            regex += re.escape(literal) + (SLOTS.get(slot, BARE).format(slot) if slot else "")
        made.append(re.compile(regex + r"(?:[ \n]|\Z)"))
    return made


def is_true(found: re.Match[str], question: ThinkQuestion) -> bool:
    given = found.groupdict()
    checks: Mapping[str, Callable[[str], bool]] = {
        "memory": lambda text: quotes(text, given["memory_id"], question),
        "soul": lambda text: letters(text) in letters(question.soul.text + question.soul.name + question.soul.ontology),
        "topic": lambda text: question.said is not None and letters(text) in letters_of_words(question.said.text, text),
        "quoted": lambda text: any(letters(name).startswith(letters(text)) for name in names(question)),
        "skill": lambda text: any(letters(name).startswith(letters(text)) for name in names(question)),
        "ids": lambda text: set(re.findall(r"\[([^\]]+)\]", text)) <= {memory.short_id for memory in question.memories},
        "speaker": lambda text: letters(text) in letters(" ".join(people(question))),
        "field": lambda text: any(text.replace(" ", "_") in skill.help for skill in question.skills),
    }
    return all(checks[slot](text) for slot, text in given.items() if slot in checks)


def quotes(text: str, short_id: str, question: ThinkQuestion) -> bool:
    sources = {memory.short_id: memory.description for memory in question.memories}
    if question.said is not None:
        sources |= {question.said.memory: question.said.text}
        sources |= {f"{question.said.memory[:8]}:{question.said.memory.partition(':')[2]}": question.said.text}
    is_cut = text.endswith("…")
    whole = letters(sources.get(short_id, "\0"))
    return short_id in sources and (whole.startswith(letters(text)) if is_cut else whole == letters(text))


def names(question: ThinkQuestion) -> list[str]:
    values, goals = [value.name for value in question.values], [goal.name for goal in question.goals]
    pursued = [question.goal.name] if question.goal is not None else []
    return values + goals + pursued + [skill.name for skill in question.skills]


def people(question: ThinkQuestion) -> list[str]:
    spoken = [question.said.speaker] if question.said is not None else []
    return spoken + [memory.situation.removeprefix("chat with ") for memory in question.memories]


def letters(text: str) -> str:
    """Letters and digits only, without terminal sequences: what punctuation and space do to a text is left out."""
    bare = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)", "", text, flags=re.DOTALL)
    return "".join(letter for letter in bare if letter.isalnum())


def letters_of_words(said: str, topic: str) -> str:
    """The words of what was said that stand in the topic, in the order of the topic: equal to it when it is true."""
    spoken = {letters(word) for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)?", said)}
    return "".join(
        letters(word) for word in topic.rstrip("…").split() if any(w.startswith(letters(word)) for w in spoken)
    )

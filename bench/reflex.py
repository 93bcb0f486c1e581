"""The mind `reflex` on dialogues written elsewhere: how often its first quotation is a turn that holds the answer.

Beside it stands plain BM25's first hit over the same turns in the same run, once over the bare texts and once with the
speaker's name before each. Reflex is given the 20 turns that are nearest by BM25 and meaning together, as the kernel
gives them. Questions of one dialogue are also asked of another, which cannot answer them: "I have nothing" is right
there.
The dialogues lie outside the project (../shared/data); without them there are no figures, and it says so.

The weights in lumen/substrate/ranking.py were fitted on these same dialogues (755 questions, 9 weights).
"""

import asyncio
import json
import math
import re
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy
from rich.console import Console
from rich.table import Table

from lumen.questions import MemoryView, RecordCounts, SoulView, ThinkQuestion, Utterance
from lumen.substrate.embed_static import StaticEmbedder
from lumen.substrate.reflex import Reflex

DIALOGUES: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo-dev.json"
GIVEN: Final = 20
K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the result."""

    measured: str
    value: str


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    evidence: frozenset[str]


@dataclass(slots=True)
class Hits:
    reflex: list[bool] = field(default_factory=list)
    answered: list[bool] = field(default_factory=list)
    right_when_answered: list[bool] = field(default_factory=list)
    foreign_answered: list[bool] = field(default_factory=list)
    bm25: list[bool] = field(default_factory=list)
    bm25_with_names: list[bool] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


class Bm25:
    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(_tokens(text)) for text in texts]
        lengths = [sum(counts.values()) for counts in self._counts]
        mean = sum(lengths) / len(lengths)
        self._flat = [K1 * (1 - B + B * length / mean) for length in lengths]
        self._holding = Counter(token for counts in self._counts for token in counts)

    def scores(self, text: str) -> "numpy.ndarray":
        return numpy.array([self._score(_tokens(text), number) for number in range(len(self._counts))])

    def _score(self, tokens: Sequence[str], number: int) -> float:
        counts = self._counts[number]
        return sum(
            self._rarity(token) * counts[token] * (K1 + 1) / (counts[token] + self._flat[number])
            for token in tokens
            if token in counts
        )

    def _rarity(self, token: str) -> float:
        holding = self._holding[token]
        return math.log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))


class Dialogue:
    """The turns of one dialogue as memories, and the ways of finding some of them again."""

    def __init__(self, turns: Sequence[MemoryView], asked: Sequence[Asked], embedder: StaticEmbedder) -> None:
        self.turns, self.asked = turns, asked
        self._embedder = embedder
        self.bm25 = Bm25([turn.description for turn in turns])
        self.bm25_with_names = Bm25([f"{turn.situation.split()[-1]} {turn.description}" for turn in turns])
        self._vectors = embedder.embed([turn.description for turn in turns])

    def recalled(self, text: str) -> tuple[MemoryView, ...]:
        words = self.bm25.scores(text)
        near = self._vectors @ self._embedder.embed([text])[0]
        both = words / max(float(words.max()), 1e-9) + near / max(float(near.max()), 1e-9)
        best = numpy.argsort(-both, kind="stable")[:GIVEN]
        return tuple(_with_similarity(self.turns[number], float(near[number])) for number in best)


def measure() -> list[Figure]:
    """Empty when the dialogues are not there."""
    if not DIALOGUES.is_file():
        return []
    embedder = StaticEmbedder()
    dialogues = [_dialogue(raw, embedder) for raw in json.loads(DIALOGUES.read_text(encoding="utf-8"))]
    reflex, hits = Reflex(embedder), Hits()
    for number, dialogue in enumerate(dialogues):
        other = dialogues[(number + 1) % len(dialogues)]
        for asked in dialogue.asked:
            _ask(reflex, dialogue, asked, hits)
            hits.foreign_answered.append(_reply(reflex, asked.text, other.recalled(asked.text))[1])
    return _figures(hits)


def _ask(reflex: Reflex, dialogue: Dialogue, asked: Asked, hits: Hits) -> None:
    recalled = dialogue.recalled(asked.text)
    began = time.perf_counter()
    cites, is_answered = _reply(reflex, asked.text, recalled)
    hits.seconds.append(time.perf_counter() - began)
    is_hit = bool(cites) and cites[0] in asked.evidence
    hits.reflex.append(is_hit)
    hits.answered.append(is_answered)
    if is_answered:
        hits.right_when_answered.append(is_hit)
    for bm25, found in ((dialogue.bm25, hits.bm25), (dialogue.bm25_with_names, hits.bm25_with_names)):
        found.append(dialogue.turns[int(bm25.scores(asked.text).argmax())].id in asked.evidence)


def _reply(reflex: Reflex, text: str, recalled: tuple[MemoryView, ...]) -> tuple[tuple[str, ...], bool]:
    """The ids it quotes, and whether it gave them as an answer."""
    thought = asyncio.run(reflex.judge(_question(text, recalled)))
    first = thought.candidates[0]
    return first.cites, first.kind == "chat:question" and not first.stored.startswith("I have nothing")


def _question(text: str, recalled: tuple[MemoryView, ...]) -> ThinkQuestion:
    now = "2026-11-18T12:00:00.000Z"
    return ThinkQuestion(
        now=now,
        said=Utterance(text, "Asker", "asked:1", now),
        goal=None,
        soul=SoulView("Lumen", "", ""),
        values=(),
        goals=(),
        memories=recalled,
        skills=(),
        tallies=(),
        counts=RecordCounts(0, (), "", ""),
    )


def _figures(hits: Hits) -> list[Figure]:
    shares = {
        "first quoted memory holds the answer": hits.reflex,
        "the same for BM25's first hit": hits.bm25,
        "the same for BM25 with the speaker's name": hits.bm25_with_names,
        "answered, not declined": hits.answered,
        "of those answered, first quoted holds the answer": hits.right_when_answered,
        "answered although asked of another dialogue": hits.foreign_answered,
    }
    figures = [Figure(name, f"{statistics.mean(share):.3f}  of {len(share)}") for name, share in shares.items()]
    return [*figures, Figure(f"THINK with {GIVEN} memories, median", f"{statistics.median(hits.seconds) * 1e3:.1f} ms")]


def _dialogue(raw: dict[str, object], embedder: StaticEmbedder) -> Dialogue:
    match raw:
        case {"conversation": dict(conversation), "qa": list(questions)}:
            sessions = sorted((key for key in conversation if re.fullmatch(r"session_\d+", key)), key=_number)
            turns = [
                _turn(spoken, conversation[f"{session}_date_time"])
                for session in sessions
                for spoken in conversation[session]
            ]
            asked = [Asked(each["question"], frozenset(each["evidence"])) for each in questions if each.get("evidence")]
            return Dialogue(turns, asked, embedder)
        case _:
            raise SystemExit(f"{DIALOGUES} does not hold dialogues")


def _turn(spoken: dict[str, str], spoken_at: str) -> MemoryView:
    identity = spoken["dia_id"]
    timestamp = datetime.strptime(spoken_at, "%I:%M %p on %d %B, %Y").isoformat() + "Z"
    situation = f"chat with {spoken['speaker']}"
    return MemoryView(identity, identity, timestamp, "external", situation, spoken["text"], 0.5, 0.0, False)


def _with_similarity(turn: MemoryView, similarity: float) -> MemoryView:
    return MemoryView(
        turn.id,
        turn.short_id,
        turn.timestamp,
        turn.author,
        turn.situation,
        turn.description,
        turn.weight,
        min(1.0, max(0.0, similarity)),
        turn.is_recent,
    )


def _number(session: str) -> int:
    return int(session.partition("_")[2])


def _tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def main() -> None:
    figures = measure()
    if not figures:
        print(f"{DIALOGUES.name} is not there ({DIALOGUES.parent}): nothing measured")
        return
    table = Table("measured", "", box=None, pad_edge=False, header_style="bold")
    for figure in figures:
        table.add_row(figure.measured, figure.value)
    Console(width=120, highlight=False).print(table)


if __name__ == "__main__":
    main()

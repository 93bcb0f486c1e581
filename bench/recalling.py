"""Recalling: what is found in dialogues whose evidence is known, and what a call costs on 10,000 memories.

The dialogues are LoCoMo's, read from ../shared/data/locomo-dev.json beside this repository when it is there and never
copied. Each turn becomes a memory "chat with SPEAKER"; a question is looked up; what counts is the share of its
evidence turns among the first k. The cost is taken of an instance's log, against parsing its lines with json.loads.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from bench.measure import Contender, Cost, here, medians
from bench.table import Row
from lumen.clock import HeldClock, SystemClock
from lumen.record.files import Files
from lumen.record.recall import Mix, Recall
from lumen.record.record import Record
from lumen.substrate.embed_static import StaticEmbedder

DIALOGUES: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo-dev.json"
DEPTHS: Final = (1, 5, 10, 20)
WAYS: Final[Mapping[str, Mix]] = {
    "hybrid": Mix(),
    "words and meaning, no context": Mix(context=0, speaker=0),
    "words only (BM25)": Mix(meaning=0, context=0, speaker=0),
    "meaning only (embedding)": Mix(words=0, context=0, speaker=0),
}
_RUNS: Final = 5
_ASKED: Final = "who saw the light in the window when the town was quiet?"


@dataclass(frozen=True, slots=True)
class Found:
    """The mean share of a question's evidence among the first 1, 5, 10 and 20, and over how many questions."""

    way: str
    questions: int
    shares: tuple[float, ...]


def measure(home: Path, log: Sequence[Path]) -> list[Row]:
    """What a first and a later call cost on the log of this instance."""
    embedder = StaticEmbedder()

    def recall() -> Recall:
        return Recall(Record(Files(home / "data"), SystemClock()), embedder)

    def forget_vectors() -> None:
        for path in (home / "data" / "index").glob("vectors-*"):
            path.unlink()

    def call(one: Recall) -> Cost:
        return here(lambda: one.about(_ASKED, recent=10, similar=10))

    def call_without() -> Cost:
        forget_vectors()
        return call(recall())

    without, kept, later, parse = (
        "first recall, no vectors",
        "first recall, vectors kept",
        "a later recall",
        "json.loads",
    )
    parsing = Contender(parse, lambda: here(lambda: _parse(log)))
    costs = medians([parsing, Contender(without, call_without)], _RUNS)
    warm = recall()
    call(warm)
    warm.close()
    more = medians([parsing, Contender(kept, lambda: call(recall())), Contender(later, lambda: call(warm))])
    forget_vectors()
    return [
        Row(without, costs[without], parse, costs[parse]),
        Row(kept, more[kept], parse, more[parse]),
        Row(later, more[later], parse, more[parse]),
    ]


def evidence() -> list[Found]:
    """What is found, each way of ranking in the same run; empty when the dialogues are not there."""
    try:
        dialogues = json.loads(DIALOGUES.read_bytes())
    except FileNotFoundError:
        return []
    embedder = StaticEmbedder()
    shares: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for dialogue in dialogues:
        with tempfile.TemporaryDirectory(prefix="lumen-bench-") as folder:
            _look_up(dialogue, Path(folder), embedder, shares)
    return [
        Found(way, len(each), tuple(sum(column) / len(each) for column in zip(*each, strict=True)))
        for way, each in shares.items()
    ]


def show_evidence(found: Sequence[Found]) -> None:
    if not found:
        print(f"recall of evidence: not measured, {DIALOGUES.name} is not in ../shared/data")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in (f"evidence recall, {found[0].questions} questions", *(f"@{depth}" for depth in DEPTHS)):
        table.add_column(column, justify="right" if column.startswith("@") else "left")
    for one in found:
        table.add_row(one.way, *(f"{share:.3f}" for share in one.shares))
    Console(width=120, highlight=False).print(table)


def _look_up(dialogue: Any, folder: Path, embedder: StaticEmbedder, shares: dict[str, list[list[float]]]) -> None:
    clock = HeldClock(datetime(2026, 1, 1, 8, tzinfo=UTC))
    record = Record(Files(folder), clock)
    ids: dict[str, str] = {}
    for session in _sessions(dialogue["conversation"]):
        clock.move(timedelta(days=1))
        for turn in session:
            line = record.journal.append("external", f"chat with {turn['speaker']}", turn["text"], durable=False)
            ids[turn["dia_id"]] = line.id
    for way, mix in WAYS.items():
        recall = Recall(record, embedder, mix=mix)
        for asked in dialogue["qa"]:
            wanted = {ids[name] for name in asked.get("evidence", ()) if name in ids}
            if wanted:
                views = recall.about(asked["question"], recent=0, similar=DEPTHS[-1])
                found = [view.id for view in views]
                shares[way].append([len(wanted.intersection(found[:depth])) / len(wanted) for depth in DEPTHS])


def _sessions(conversation: Mapping[str, Any]) -> Iterator[Any]:
    numbers = []
    for name in conversation:
        with suppress(ValueError):
            numbers.append(int(name.removeprefix("session_")))
    return (conversation[f"session_{number}"] for number in sorted(numbers))


def _parse(log: Sequence[Path]) -> None:
    for path in log:
        with path.open("rb") as lines:
            for line in lines:
                json.loads(line)


if __name__ == "__main__":
    show_evidence(evidence())

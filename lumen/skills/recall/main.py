"""recall: searches the agent's memories for words. Standard library only; runs on its own.

It reads the log in $LUMEN_DATA/memory itself and ranks by BM25 (k1 = 1.2, b = 0.75): a rare word counts more than a
common one, and a short memory more than a long one with the same words. Kernel lines are the audit trail, not
experience, and are left out; so are lines that were emptied, and lines that only say what the system did.
"""

import argparse
import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

HELP = """Look up what was said: search the agent's own memories for words, and answer with the best ones, their dates
and their ids.
Output (stdout): one JSON object {"ok": true, "found": [{"id": "...", "timestamp": "...", "author": "...",
"description": "..."}], "text": "..."}, or {"ok": false, "error": "..."} and exit code 1."""
EPILOG = 'Input (stdin): one JSON object {"query": "words to look for", "limit?": 5}'

AUTHORS = ("self", "goal", "external")
LIMIT, MOST = 5, 50
LINE_LIMIT = 1024 * 1024
SHOWN = 1000
K1, B = 1.2, 0.75
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Memory:
    id: str
    timestamp: str
    author: str
    description: str
    words: "Counter[str]"


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(prog="recall", description=HELP, epilog=EPILOG, formatter_class=raw).parse_args()
    try:
        request = json.load(sys.stdin)
        query, limit = asked(request)
        memories = list({memory.id: memory for memory in read(os.environ["LUMEN_DATA"])}.values())
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as problem:
        print(json.dumps({"ok": False, "error": f"{type(problem).__name__}: {problem}"}))
        return 1
    found = ranked(query, memories)[:limit]
    shown = [
        {"id": m.id, "timestamp": m.timestamp, "author": m.author, "description": m.description[:SHOWN]} for m in found
    ]
    print(json.dumps({"ok": True, "found": shown, "text": readable(query, found)}))
    return 0


def asked(request: object) -> tuple[str, int]:
    if not isinstance(request, dict) or not isinstance(request.get("query"), str):
        raise ValueError("query must be a text")
    limit = request.get("limit", LIMIT)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError("limit must be a whole number from 1 on")
    return request["query"], min(limit, MOST)


def read(data: str) -> Iterator[Memory]:
    folder = os.path.join(data, "memory")
    days = [os.path.join(inner, name) for inner, _, names in os.walk(folder) for name in names]
    for path in sorted(path for path in days if path.endswith(".jsonl") and not os.path.islink(path)):
        day = os.path.basename(path).removesuffix(".jsonl")
        with open(path, "rb") as file:
            for number, raw in enumerate(lines_of(file), start=1):
                memory = memory_in(raw, f"{day}#{number}", day)
                if memory is not None:
                    yield memory


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Lines that are not longer than any that was written; of a longer one nothing."""
    while raw := file.readline(LINE_LIMIT):
        is_whole = raw.endswith(b"\n") or len(raw) < LINE_LIMIT
        while not is_whole and (rest := file.readline(LINE_LIMIT)):
            is_whole = rest.endswith(b"\n")
            raw = b""
        yield raw


def memory_in(raw: bytes, place: str, day: str) -> Memory | None:
    try:
        line = json.loads(raw, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or line.get("author") not in AUTHORS or line.get("event", "memory") != "memory":
        return None
    description, identity, timestamp = line.get("description"), line.get("id"), line.get("timestamp")
    if not isinstance(description, str) or not description.strip():
        return None
    return Memory(
        identity if isinstance(identity, str) else place,
        timestamp if isinstance(timestamp, str) else day,
        line["author"],
        description,
        Counter(words_of(description)),
    )


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A key that stands twice could give a line another author than the one the record believes."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def words_of(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def ranked(query: str, memories: list[Memory]) -> list[Memory]:
    """Best first; of equals the newest first."""
    wanted = set(words_of(query))
    if not memories:
        return []
    mean = sum(memory.words.total() for memory in memories) / len(memories) or 1.0
    holding = Counter(word for memory in memories for word in wanted & memory.words.keys())
    worth = {word: math.log(1 + (len(memories) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}

    def score(memory: Memory) -> float:
        length = 1 - B + B * memory.words.total() / mean
        return sum(
            worth[word] * memory.words[word] * (K1 + 1) / (memory.words[word] + K1 * length)
            for word in worth
            if word in memory.words
        )

    scored = [(score(memory), number, memory) for number, memory in enumerate(memories)]
    return [memory for points, _, memory in sorted(scored, key=lambda each: each[:2], reverse=True) if points > 0]


def readable(query: str, found: list[Memory]) -> str:
    if not found:
        return f"No memory holds any word of {query!r}."
    return "\n".join(f"{m.timestamp[:10]} {m.author} [{m.id}]: {m.description[:SHOWN]}" for m in found)


if __name__ == "__main__":
    sys.exit(main())

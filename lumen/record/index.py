"""What recalling keeps beside the log: words in memory, and the vectors of memories in data/index/.

All of it is derived: delete it, and it comes back. The words never reach the disk. A vectors file holds ids, marks and
numbers, no text:

    sha256 of the rest                                                      64 hexadecimal digits
    {"embedder": "...", "dimensions": 256, "entries": [[id, mark], ...]}    one line; a mark stands for the exact text
    one row per entry, float16, the lowest byte first

A file that is torn, damaged, or of another embedder is as good as none. From a vector some words can be guessed, so
forgetting a memory reaches in here: `forget` leaves no row of it, in a file of any embedder.

Forgetting is part of every command, so this file works on bytes and refuses to know numpy; recall.py counts with them.
"""

import hashlib
import json
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from lumen.errors import RecordError
from lumen.record.files import Files

FOLDER: Final = "index"
BYTES_EACH: Final = 2
_MARK_BYTES: Final = 8
_FIRST, _ENDING = "vectors-", ".bin"
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")

_COMMON_WORDS: Final = (
    "a about after all also am an and any are as at be because been before being but by can could did do does doing "
    "down for from had has have having he her here hers him his how i if in into is it its just me mine must my no not "
    "of off on or our out over shall she should so than that the their them then there these they this those to too up "
    "us very was we were what when where which who whom whose why will with would you your "
    "i'm it's that's you're i've don't didn't what's who's how's where's when's"
)
COMMON: Final = frozenset(_COMMON_WORDS.split())


class Entry(NamedTuple):
    id: str
    mark: str


@dataclass(frozen=True, slots=True)
class Vectors:
    """Rows of half-precision numbers, as bytes, and which text of which memory each is of."""

    embedder: str
    dimensions: int
    entries: tuple[Entry, ...]
    rows: bytes


@dataclass(slots=True)
class Postings:
    """Which word occurs in which memory, and how often. Memories are counted from 0, as they are added."""

    lengths: "array[int]" = field(default_factory=lambda: array("l"))
    _numbers: "dict[str, array[int]]" = field(default_factory=dict)
    _counts: "dict[str, array[int]]" = field(default_factory=dict)

    def add(self, words: Sequence[str]) -> None:
        number = len(self.lengths)
        self.lengths.append(len(words))
        for word, count in Counter(words).items():
            self._numbers.setdefault(word, array("l")).append(number)
            self._counts.setdefault(word, array("l")).append(count)

    def of(self, word: str) -> "tuple[array[int], array[int]]":
        """The memories a word occurs in, and how often in each."""
        return self._numbers.get(word, array("l")), self._counts.get(word, array("l"))


def plain_words(text: str) -> list[str]:
    """The words of a text: lower case, without accents. What is written without spaces comes in pairs of characters."""
    text = text.lower()
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text.replace("\u2019", "'").casefold())
        text = "".join(character for character in parts if not unicodedata.combining(character))
    words: list[str] = _WORD.findall(text)
    if text.isascii() or not _UNSPACED.search(text):
        return words
    return [piece for word in words for piece in (_pairs(word) if _UNSPACED.search(word) else [word])]


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """A word without its commonest English endings: hikes, hiked and hiking meet at hik."""
    word = word.removesuffix("'s").replace("'", "")
    if len(word) > 4 and word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("es") and word[-3] in "sxzo":
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) > 5 and word.endswith("ing"):
        word = word[:-3]
    elif len(word) > 4 and word.endswith("ed"):
        word = word[:-2]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def mark(text: str) -> str:
    """Stands for a text, so that a row is not used for another one."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_MARK_BYTES).hexdigest()


def load(files: Files, embedder: str) -> Vectors | None:
    """The vectors kept for an embedder, or None when there are none to believe."""
    with suppress(RecordError):
        kept = _decode(files.read(_path(embedder)) or b"")
        return kept if kept and kept.embedder == embedder else None
    return None


def save(files: Files, vectors: Vectors) -> None:
    """Only under the lock, by one who has read everything that was forgotten. Of no consequence when it fails."""
    files.note(_path(vectors.embedder), _encode(vectors))


def forget(files: Files, identity: str) -> None:
    """Leave no row of this memory in any vectors file. Only under the lock. A file that cannot be read goes whole."""
    for name in files.names(FOLDER, ".tmp"):
        if name.startswith(f".{_FIRST}"):
            files.remove(f"{FOLDER}/{name}")
    for name in files.names(FOLDER, _ENDING):
        if name.startswith(_FIRST):
            _forget_in(files, f"{FOLDER}/{name}", identity)


def _forget_in(files: Files, path: str, identity: str) -> None:
    try:
        vectors = _decode(files.read(path) or b"")
    except RecordError:  # a link or a folder, which holds no row
        with suppress(RecordError):
            files.remove(path)
        return
    if vectors is None:
        files.remove(path)
    elif any(entry.id == identity for entry in vectors.entries):
        width = vectors.dimensions * BYTES_EACH
        kept = [(number, entry) for number, entry in enumerate(vectors.entries) if entry.id != identity]
        rows = b"".join(vectors.rows[number * width : (number + 1) * width] for number, _ in kept)
        files.replace(path, _encode(replace(vectors, entries=tuple(entry for _, entry in kept), rows=rows)))


def _encode(vectors: Vectors) -> bytes:
    header = {"embedder": vectors.embedder, "dimensions": vectors.dimensions, "entries": vectors.entries}
    body = json.dumps(header, separators=(",", ":")).encode("ascii") + b"\n" + vectors.rows
    return hashlib.sha256(body).hexdigest().encode("ascii") + b"\n" + body


def _decode(raw: bytes) -> Vectors | None:
    digest, _, body = raw.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode("ascii") != digest:
        return None
    header, _, rows = body.partition(b"\n")
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        kept = json.loads(header)
        embedder, dimensions = kept["embedder"], kept["dimensions"]
        entries = tuple(Entry(identity, text) for identity, text in kept["entries"])
        if type(embedder) is str and type(dimensions) is int and dimensions > 0:
            found = Vectors(embedder, dimensions, entries, rows)
            return found if len(rows) == len(entries) * dimensions * BYTES_EACH else None
    return None


def _path(embedder: str) -> str:
    short = hashlib.sha256(embedder.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{FOLDER}/{_FIRST}{_UNSAFE.sub('-', embedder)[:60]}-{short}{_ENDING}"


def _pairs(word: str) -> list[str]:
    return [word[start : start + 2] for start in range(max(1, len(word) - 1))]

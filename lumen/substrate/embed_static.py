"""Meanings without a model run: one fixed vector per word piece, and a text is the mean of its pieces.

The vectors are the 16 MB inside the package `wordllama`. Only its two data files are read; its code is never imported.
Nothing here asks the network, starts a thread or looks at the environment. Word order is lost: "dog bites man" is "man
bites dog". It knows nothing of memories: it is given texts and returns rows.
"""

import hashlib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy
from safetensors import SafetensorError
from safetensors.numpy import load
from tokenizers import Tokenizer

from lumen.errors import LumenError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACKAGE: Final = "wordllama"
WEIGHTS: Final = "wordllama/weights/l2_supercat_256.safetensors"
PIECES: Final = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
READ_CHARACTERS: Final = 2_000
_TENSOR: Final = "embedding.weight"


class StaticEmbedder:
    """Reads its files once, when it is made: about a tenth of a second. Not to be shared between threads."""

    def __init__(self) -> None:
        weights, pieces = _installed(WEIGHTS), _installed(PIECES)
        self._vectors = _vectors(weights)
        self._pieces = Tokenizer.from_str(pieces.decode("utf-8"))
        self._pieces.encode_special_tokens = True  # "</s>" in a text is four characters that somebody typed
        digest = hashlib.sha256(weights + pieces + str(READ_CHARACTERS).encode("ascii")).hexdigest()
        self._name = f"{PACKAGE}-{self._vectors.shape[1]}-{digest[:8]}"

    @property
    def name(self) -> str:
        return self._name

    def embed(self, texts: Sequence[str]) -> "NDArray[numpy.float32]":
        """One row of length 1 per text; a row of zeros for a text without content. Only its beginning is read."""
        rows = numpy.zeros((len(texts), self._vectors.shape[1]), numpy.float32)
        for number, pieces in enumerate(self._split(texts)):
            if pieces:
                rows[number] = self._vectors[pieces].astype(numpy.float32).sum(axis=0)
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
        rows /= numpy.where(lengths > 0, lengths, 1)
        return rows

    def _split(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """One text after the other: the tokenizer's own batches would start a pool of threads in a chat process."""
        for text in texts:
            known = text[:READ_CHARACTERS].encode("utf-8", "replace").decode("utf-8").strip()
            yield self._pieces.encode(known, add_special_tokens=False).ids if known else []


def _installed(name: str) -> bytes:
    try:
        return Path(str(distribution(PACKAGE).locate_file(name))).read_bytes()
    except (PackageNotFoundError, OSError) as problem:
        raise LumenError(
            f"The vectors for recalling by meaning are not installed: {name} of the package {PACKAGE} was wanted "
            f"({problem}). Install the program's dependencies again."
        ) from problem


def _vectors(weights: bytes) -> "NDArray[numpy.float16]":
    try:
        vectors: NDArray[numpy.float16] = load(weights)[_TENSOR]
    except (SafetensorError, KeyError) as problem:
        raise LumenError(
            f"{WEIGHTS} does not hold the tensor {_TENSOR} ({problem}). Install the package {PACKAGE} again."
        ) from problem
    return vectors

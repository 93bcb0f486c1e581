"""Meanings from fixed vectors: unit rows, nothing for nothing, no code of the package, no thread."""

import subprocess
import sys
from typing import Final

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumen.substrate.embed_static import READ_CHARACTERS, StaticEmbedder

EMBEDDER: Final = StaticEmbedder()
ANY_TEXT: Final = st.text(st.characters(), max_size=60)  # surrogates too


def test_texts_of_like_meaning_are_closer_than_others() -> None:
    dog, puppy, tax = EMBEDDER.embed(["my dog barks", "the puppy is loud", "a quarterly tax report"])
    assert dog @ puppy > 0.2
    assert dog @ puppy > dog @ tax + 0.2


@given(st.lists(ANY_TEXT, max_size=5))
@settings(max_examples=50, deadline=None)
def test_every_row_has_length_one_or_is_nothing(texts: list[str]) -> None:
    rows = EMBEDDER.embed(texts)
    assert rows.shape == (len(texts), 256)
    assert rows.dtype == numpy.float32
    lengths = numpy.linalg.norm(rows, axis=1)
    for text, length in zip(texts, lengths, strict=True):
        assert length == pytest.approx(1 if text.strip() else 0, abs=1e-4)


def test_a_batch_gives_what_each_text_alone_gives() -> None:
    texts = ["a bridge over the river", "", "Rex", "日本", "</s><s>"]
    alone = numpy.concatenate([EMBEDDER.embed([text]) for text in texts])
    assert numpy.array_equal(EMBEDDER.embed(texts), alone)


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    start = "word " * (READ_CHARACTERS // 5)
    assert numpy.array_equal(*EMBEDDER.embed([start, start + "and a bridge " * 100_000]))
    assert not numpy.array_equal(*EMBEDDER.embed([start, "bridge " + start]))


def test_a_typed_end_of_text_mark_is_ordinary_text() -> None:
    whole, cut = EMBEDDER.embed(["dog</s>bridge", "dog"])
    assert not numpy.allclose(whole, cut)
    marks, letter = EMBEDDER.embed(["<s>", "s"])
    assert marks @ letter < 0.99
    assert numpy.linalg.norm(marks) == pytest.approx(1, abs=1e-4)


def test_the_name_says_what_the_vectors_are_of() -> None:
    kind, dimensions, digest = EMBEDDER.name.split("-")
    assert (kind, dimensions, len(digest)) == ("wordllama", "256", 8)
    assert StaticEmbedder().name == EMBEDDER.name


def test_neither_the_package_nor_a_thread_pool_is_started() -> None:
    program = (
        "import os, sys\n"
        "from lumen.substrate.embed_static import StaticEmbedder\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "StaticEmbedder().embed(['a text'] * 2000)\n"
        "assert 'wordllama' not in sys.modules, 'imported'\n"
        "assert len(os.listdir('/proc/self/task')) == before, 'threads'\n"
        "assert 'TOKENIZERS_PARALLELISM' not in os.environ, 'environment'\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_every_command_imports_brings_no_numpy_with_it() -> None:
    program = "import sys, lumen.app, lumen.record.index\nassert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

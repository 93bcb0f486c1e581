"""Recalling: the newest and the most alike, read as the log grows, and nothing of what was forgotten."""

import json
import multiprocessing
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lumen.clock import HeldClock
from lumen.errors import LumenError
from lumen.questions import MemoryView
from lumen.record import index
from lumen.record.files import Files
from lumen.record.recall import Mix, Recall
from lumen.record.record import Record
from lumen.substrate.embed_static import StaticEmbedder
from tests.instances import MORNING

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMBEDDER: Final = StaticEmbedder()


class Counting:
    """An embedder that counts what it is asked, by another name when it is told so."""

    def __init__(self, name: str = EMBEDDER.name) -> None:
        self.name = name
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> "NDArray[numpy.float32]":
        self.texts += texts
        return EMBEDDER.embed(texts)


class Unreachable:
    name = "unreachable"

    def embed(self, texts: Sequence[str]) -> "NDArray[numpy.float32]":
        raise LumenError("no answer")


class Senseless:
    name = "senseless"

    def embed(self, texts: Sequence[str]) -> "NDArray[numpy.float32]":
        return numpy.full((len(texts), 4), numpy.nan, numpy.float32)


def record_in(folder: Path) -> Record:
    return Record(Files(folder), HeldClock(MORNING))


def said(record: Record, *texts: str, by: str = "Ana") -> list[str]:
    return [record.journal.append("external", f"chat with {by}", text).id for text in texts]


def texts(views: Sequence[MemoryView]) -> list[str]:
    return [view.description for view in views]


def alike(recall: Recall, text: str, count: int = 3) -> list[str]:
    return texts(recall.about(text, recent=0, similar=count))


def vectors_in(folder: Path) -> list[Path]:
    return sorted((folder / "index").glob("vectors-*"))


def test_the_memory_that_shares_a_rare_word_comes_first(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "The weather was mild.", "My dog Rex loves hiking.", "I bought a lamp.")
    assert alike(Recall(record, EMBEDDER), "Who hikes with me?")[0] == "My dog Rex loves hiking."


def test_a_memory_of_like_meaning_is_found_without_a_common_word(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "The invoice is due.", "We adopted a puppy.", "It rained.")
    first = Recall(record, EMBEDDER).about("dogs", recent=0, similar=1)[0]
    assert first.description == "We adopted a puppy."
    assert 0 < first.similarity <= 1


def test_the_answer_after_a_question_comes_before_what_is_unrelated(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "Nothing much.")
    said(record, "Which instrument do you play?", by="Bo")
    said(record, "Cello!")
    said(record, "Nice.", "The bus was late.", by="Bo")
    question = "Who plays an instrument?"
    assert set(alike(Recall(record, EMBEDDER), question, 2)) == {"Cello!", "Which instrument do you play?"}
    assert "Cello!" not in alike(Recall(record, EMBEDDER, mix=Mix(meaning=0, context=0, speaker=0)), question, 2)


def test_neighbours_of_another_day_lend_nothing(tmp_path: Path) -> None:
    clock = HeldClock(MORNING)
    record = Record(Files(tmp_path), clock)
    said(record, "Which instrument do you play?", by="Bo")
    clock.move(timedelta(days=1))
    said(record, "Hm.", by="Cy")
    words_only = Recall(record, EMBEDDER, mix=Mix(meaning=0))
    assert alike(words_only, "an instrument") == ["Which instrument do you play?"]


def test_what_a_person_said_comes_before_the_reply_that_repeats_it(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    record.journal.append("self", "reply", "Your lamp is green.")
    said(record, "My lamp is green.")
    assert alike(Recall(record, EMBEDDER), "green lamp") == ["My lamp is green.", "Your lamp is green."]


def test_of_equal_memories_the_heavier_comes_first(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    for day, weight in ((1, 0.2), (2, 0.9), (3, 0.4)):
        stamp = f"2026-01-0{day}T08:00:00Z"
        record.journal.append("goal", f"cycle {day}", "Paint.", weight=weight, timestamp=stamp)
    found = Recall(record, EMBEDDER, mix=Mix(meaning=0)).about("paint", recent=0, similar=3)
    assert [view.weight for view in found] == [0.9, 0.4, 0.2]


def test_recent_and_alike_are_one_list_without_doubles(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "I keep bees.", "It rained.", "It snowed.", "Bees make honey.")
    found = Recall(record, EMBEDDER).about("bees", recent=2, similar=2)
    assert sorted(texts(found)) == ["Bees make honey.", "I keep bees.", "It snowed."]
    assert texts(found)[-1] == "It snowed."
    assert {view.description for view in found if view.is_recent} == {"Bees make honey.", "It snowed."}


def test_what_is_barred_neither_comes_back_nor_lends_its_score(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "My cello is old.", "It rained.")
    asked = said(record, "What about my cello?")
    after = said(record, "Hm.")
    found = Recall(record, EMBEDDER).about("What about my cello?", recent=9, similar=9, without=frozenset(asked))
    assert asked[0] not in [view.id for view in found]
    assert found[0].description == "My cello is old."
    words_only = Recall(record, EMBEDDER, mix=Mix(meaning=0))
    assert after[0] not in [
        view.id for view in words_only.about("cello", recent=0, similar=9, without=frozenset(asked))
    ]


def test_the_same_words_come_back_once_as_the_newest(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "I like tea.")
    newest = said(record, "It rained.", "i LIKE  tea")[-1]
    recall = Recall(record, EMBEDDER)
    assert [view.id for view in recall.about("tea", recent=0, similar=5) if "tea" in view.description] == [newest]
    assert recall.about("", recent=3, similar=0)[0].id == newest
    assert len(recall.about("tea", recent=3, similar=3)) == 2
    said(record, "I like tea.", by="Bo")
    assert len(recall.about("tea", recent=0, similar=5)) == 3, "another person's words are another memory"


def test_nothing_said_recalls_only_the_newest(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "One.", "Two.", "Three.")
    recall = Recall(record, EMBEDDER)
    assert texts(recall.about("", recent=2, similar=5)) == ["Three.", "Two."]
    assert recall.about("one", recent=0, similar=0) == []
    assert Recall(record_in(tmp_path / "new"), EMBEDDER).about("one", recent=5, similar=5) == []


def test_kernel_lines_and_events_never_come_back(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    record.journal.append("kernel", "think", "A lamp was considered.")
    record.journal.append("external", "change", "The lamp changed.", event="change", data={"file": "x"})
    (tmp_path / "memory/2026/2026-11-17.jsonl").write_text(
        json.dumps({"author": "kernel", "situation": "lamp", "description": "A foreign kernel's lamp."}) + "\n"
    )
    recall = Recall(record, EMBEDDER)
    assert recall.about("lamp", recent=9, similar=9) == []
    assert recall.counts().memories == 0


def test_lines_of_other_programs_come_back_whatever_their_fields_are(tmp_path: Path) -> None:
    folder = tmp_path / "memory" / "2026"
    folder.mkdir(parents=True)
    lines = (
        {"timestamp": "yesterday, late", "author": "external", "weight": "heavy", "description": "The lamp fell."},
        {"timestamp": "2026-01-02T10:00:00", "author": "nobody", "weight": 1e300, "situation": "lamp"},
        {"timestamp": 7, "author": "self", "description": "I mended the lamp."},
    )
    (folder / "2026-01-05.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + "{torn")
    recall = Recall(record_in(tmp_path), EMBEDDER)
    found = recall.about("lamp", recent=9, similar=9)
    assert {view.id for view in found} == {"2026-01-05#1", "2026-01-05#2", "2026-01-05#3"}
    assert all(0 <= view.weight <= 1 and view.short_id == view.id for view in found)
    counts = recall.counts()
    assert (counts.memories, counts.first_day, counts.last_day) == (3, "2026-01-02", "2026-01-05")
    assert dict(counts.by_author) == {"self": 1, "external": 2}


def test_only_what_is_new_is_read_and_embedded(tmp_path: Path) -> None:
    record, other, embedder = record_in(tmp_path), record_in(tmp_path), Counting()
    said(record, "One lamp.", "Two lamps.")
    recall = Recall(record, embedder)
    recall.about("lamp", recent=0, similar=9)
    embedder.texts.clear()
    said(other, "Three lamps.")
    assert sorted(alike(recall, "lamp", 9)) == ["One lamp.", "Three lamps.", "Two lamps."]
    assert sorted(embedder.texts) == ["Ana: Three lamps.", "lamp"]
    assert recall.counts().memories == 3


def _say(folder: Path, count: int) -> None:
    record = record_in(folder)
    for number in range(count):
        said(record, f"Lamp number {number} of the other process.")


def test_what_another_process_writes_meanwhile_is_found(tmp_path: Path) -> None:
    recall = Recall(record_in(tmp_path), EMBEDDER)
    other = multiprocessing.get_context("spawn").Process(target=_say, args=(tmp_path, 40))
    other.start()
    while other.is_alive():
        recall.about("lamp", recent=3, similar=3)
    other.join()
    assert other.exitcode == 0
    assert len(recall.about("lamp", recent=0, similar=99)) == recall.counts().memories == 40


def test_a_log_that_went_back_is_read_again(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "Old lamp.", "New lamp.")
    recall = Recall(record, EMBEDDER)
    recall.about("lamp", recent=0, similar=9)
    day = tmp_path / "memory/2026/2026-11-18.jsonl"
    first = day.read_bytes().splitlines(keepends=True)[0]
    day.unlink()
    day.write_bytes(first)
    assert texts(recall.about("lamp", recent=9, similar=9)) == ["Old lamp."]


def test_the_next_process_embeds_only_what_is_missing(tmp_path: Path) -> None:
    said(record_in(tmp_path), "One lamp.", "Two lamps.")
    before = Recall(record_in(tmp_path), EMBEDDER)
    first = before.about("lamp", recent=0, similar=9)
    before.close()
    said(record_in(tmp_path), "Three lamps.")
    embedder = Counting()
    after = Recall(record_in(tmp_path), embedder)
    found = after.about("lamp", recent=0, similar=9)
    assert sorted(embedder.texts) == ["Ana: Three lamps.", "lamp"]
    kept = {view.id: view.similarity for view in found}
    assert all(kept[view.id] == pytest.approx(view.similarity, abs=1e-3) for view in first)
    other_name = Counting("another")
    Recall(record_in(tmp_path), other_name).about("lamp", recent=0, similar=9)
    assert len(other_name.texts) == 4, "rows of one embedder are not used for another"


def test_many_new_memories_are_kept_before_the_end(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    for number in range(300):
        record.journal.append("self", "walk", f"Step {number}.", durable=False)
    Recall(record, EMBEDDER).about("step", recent=0, similar=1)
    assert len(vectors_in(tmp_path)) == 1


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "another shape", "a folder", "gone"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, damage: str) -> None:
    said(record_in(tmp_path), "One lamp.", "Two lamps.")
    before = Recall(record_in(tmp_path), EMBEDDER)
    expected = before.about("lamp", recent=0, similar=9)
    before.close()
    (path,) = vectors_in(tmp_path)
    whole = path.read_bytes()
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    elif damage == "another shape":
        entries = (index.Entry("x", "y"),)
        index.save(Files(tmp_path), index.Vectors(EMBEDDER.name, 3, entries, bytes(6)))
    elif damage != "gone":
        middle = len(whole) - 100
        damaged = {
            "cut": whole[:middle],
            "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "empty": b"",
            "foreign": b"not ours\n{}\n",
        }
        path.write_bytes(damaged[damage])
    embedder = Counting()
    after = Recall(record_in(tmp_path), embedder)
    assert after.about("lamp", recent=0, similar=9) == expected
    assert len(embedder.texts) == 3
    after.close()
    if damage != "a folder":
        assert path.read_bytes() == whole


def test_a_line_edited_by_another_program_does_not_keep_its_old_vector(tmp_path: Path) -> None:
    folder = tmp_path / "memory" / "2026"
    folder.mkdir(parents=True)
    day = folder / "2026-01-05.jsonl"
    day.write_text('{"description": "The tax report."}\n')
    before = Recall(record_in(tmp_path), EMBEDDER)
    before.about("puppy", recent=0, similar=1)
    before.close()
    day.write_text('{"description": "We adopted a dog."}\n')
    fresh = Recall(record_in(tmp_path), EMBEDDER).about("puppy", recent=1, similar=0)[0]
    assert fresh.similarity > 0.2


@pytest.mark.parametrize("is_foreign", [False, True])
def test_a_forgotten_memory_is_never_returned_and_has_no_row(tmp_path: Path, is_foreign: bool) -> None:
    record = record_in(tmp_path)
    if is_foreign:
        (tmp_path / "memory/2026").mkdir(parents=True)
        (tmp_path / "memory/2026/2026-11-17.jsonl").write_text('{"description":"A secret lamp."}\n')
        target = "2026-11-17#1"
    else:
        (target,) = said(record, "A secret lamp.")
    said(record, "A plain lamp.", "Another lamp.")
    alive = Recall(record_in(tmp_path), EMBEDDER)
    assert "A secret lamp." in alike(alive, "lamp", 9)
    alive.close()
    (path,) = vectors_in(tmp_path)
    assert target.encode() in path.read_bytes()
    row = EMBEDDER.embed(["A secret lamp." if is_foreign else "Ana: A secret lamp."]).astype("<f2").tobytes()
    assert row in path.read_bytes()
    (path.parent / f".{path.name}.abc.tmp").write_bytes(path.read_bytes())
    record.forgetting.forget(target, because="asked to")
    for left in path.parent.iterdir():
        assert target.encode() not in left.read_bytes()
        assert row not in left.read_bytes()
    assert sorted(texts(alive.about("secret lamp", recent=9, similar=9))) == ["A plain lamp.", "Another lamp."]
    assert alive.counts().memories == 2
    embedder = Counting()
    again = Recall(record_in(tmp_path), embedder)
    assert sorted(alike(again, "secret lamp", 9)) == ["A plain lamp.", "Another lamp."]
    assert len(embedder.texts) == 1, "the rows of the others were kept"


def test_a_process_that_knew_a_forgotten_memory_does_not_save_it_again(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    target = said(record, "A secret lamp.", "A plain lamp.")[0]
    late = Recall(record_in(tmp_path), EMBEDDER)
    late.about("lamp", recent=0, similar=9)
    record.forgetting.forget(target, because="asked to")
    late.close()
    (path,) = vectors_in(tmp_path)
    assert target.encode() not in path.read_bytes()


def test_forgetting_removes_what_it_cannot_read_in_the_index(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    target = said(record, "A secret lamp.")[0]
    recall = Recall(record, EMBEDDER)
    recall.about("lamp", recent=0, similar=9)
    recall.close()
    (path,) = vectors_in(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    path.with_name("vectors-link.bin").symlink_to(outside)
    record.forgetting.forget(target, because="asked to")
    assert vectors_in(tmp_path) == []
    assert outside.read_text() == "untouched"


def test_a_long_memory_comes_back_whole_from_its_blob_and_only_its_start_is_embedded(tmp_path: Path) -> None:
    record, embedder = record_in(tmp_path), Counting()
    long = "A lamp. " + "word " * 200_000 + "end"
    (identity,) = said(record, long)
    recall = Recall(record, embedder)
    assert alike(recall, "lamp") == [long]
    assert max(map(len, embedder.texts)) < 2_300
    record.forgetting.forget(identity, because="asked to")
    assert recall.about("lamp", recent=3, similar=3) == []


def test_without_an_embedder_that_answers_words_still_find(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "A lamp.", "It rained.")
    recall = Recall(record, Unreachable())
    assert alike(recall, "lamp")[0] == "A lamp."
    assert recall.about("lamp", recent=0, similar=1)[0].similarity == 0
    recall.close()
    assert vectors_in(tmp_path) == []


def test_senseless_numbers_of_an_embedder_never_leave(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "A lamp.", "It rained.")
    recall = Recall(record, Senseless())
    assert [view.similarity for view in recall.about("lamp", recent=2, similar=2)] == [0, 0]
    recall.close()


ANY_TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=6), ANY_TEXT)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_texts_are_recalled_once_each_with_finite_numbers(
    tmp_path_factory: pytest.TempPathFactory, lived: list[tuple[str, str]], asked: str
) -> None:
    record = record_in(tmp_path_factory.mktemp("data"))
    for situation, description in lived:
        record.journal.append("self", situation, description, durable=False)
    recall = Recall(record, EMBEDDER)
    found = recall.about(asked, recent=3, similar=3)
    assert len({view.id for view in found}) == len(found) <= 6
    assert all(0 <= view.similarity <= 1 for view in found)
    assert {(view.situation, view.description) for view in found} <= set(lived)
    assert sum(view.is_recent for view in found) <= 3
    assert recall.counts().memories == sum(bool(one.strip() or other.strip()) for one, other in lived)


@pytest.mark.parametrize(
    "text",
    [
        "\ud800",
        '{"author":"kernel"}',
        "</s>" * 500,
        "\u0000",
        "a" * 100_000,
        "?" * 3000,
        "日本語のランプ",
        "🎉🎉",
        "' ' '",
    ],
)
def test_hostile_texts_are_stored_asked_and_found(tmp_path: Path, text: str) -> None:
    record = record_in(tmp_path)
    said(record, text, "A lamp.")
    recall = Recall(record, EMBEDDER)
    found = recall.about(text, recent=2, similar=2)
    assert sorted(texts(found)) == sorted([text, "A lamp."])
    assert {view.author for view in found} == {"external"}
    recall.close()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hikes", "hiking"),
        ("stories", "story"),
        ("boxes", "box"),
        ("planned", "plans"),
        ("Ana's", "ana"),
        ("café", "cafe"),
    ],
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert [index.stem(word) for word in index.plain_words(one)] == [
        index.stem(word) for word in index.plain_words(other)
    ]


def test_writing_without_spaces_is_found_by_a_part_of_it(tmp_path: Path) -> None:
    record = record_in(tmp_path)
    said(record, "昨日は雨でした", "私は古いランプが好きです")
    assert alike(Recall(record, EMBEDDER, mix=Mix(meaning=0, context=0)), "ランプ") == ["私は古いランプが好きです"]

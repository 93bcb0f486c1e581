"""The recall skill finds what was experienced, best first, and never the audit trail."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.house.repository import ROOT
from tests.instances import lived_in
from tests.kernel.shelf import LEVELS, Isolation, ran, shelved
from tests.skills.programs import answered, help_of


def line(description: object, author: str = "external", **more: object) -> str:
    fields = {"timestamp": "2026-11-18T07:34:00Z", "author": author, "weight": 0.5, "situation": "chat"}
    return json.dumps({**fields, "description": description, **more})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "memory/2026").mkdir(parents=True)
    return tmp_path


def write(data: Path, *lines: str, day: str = "2026-11-18") -> None:
    (data / f"memory/2026/{day}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def found(data: Path, query: str, **more: object) -> list[str]:
    answer = answered("recall", {"query": query, **more}, data=data)[1]
    return [memory["description"] for memory in answer["found"]]


def test_a_rare_word_counts_more_than_a_common_one(data: Path) -> None:
    write(data, line("the cat sat"), line("the dog sat"), line("the harbour sat there for a long while"))
    assert found(data, "the harbour")[0] == "the harbour sat there for a long while"
    assert found(data, "volcano") == []


def test_letters_of_any_case_and_language_match(data: Path) -> None:
    write(data, line("Zoë lives in ŁÓDŹ"), line("nothing"))
    assert found(data, "łódź") == ["Zoë lives in ŁÓDŹ"]


def test_only_experience_is_searched(data: Path) -> None:
    write(
        data,
        *(line(f"bread by {author}", author) for author in ("self", "goal", "external", "kernel", "nobody")),
        line("bread as an event", event="change"),
        line("bread as a memory", event="memory"),
        line("", salt="", c="a"),
        line(3),
        '{"author":"kernel","author":"self","description":"bread twice"}',
        "bread, torn {",
        "[" * 5000,
    )
    assert sorted(found(data, "bread", limit=50)) == [
        "bread as a memory",
        "bread by external",
        "bread by goal",
        "bread by self",
    ]


def test_the_limit_holds_and_the_newest_of_equals_comes_first(data: Path) -> None:
    write(data, *(line(f"bread {number:02}") for number in range(20)))
    assert found(data, "bread") == [f"bread {number:02}" for number in range(19, 14, -1)]
    assert len(found(data, "bread", limit=2)) == 2
    assert len(found(data, "bread", limit=1000)) == 20


def test_an_answer_has_dates_and_ids(data: Path) -> None:
    write(data, line("bread", id="6f1c:1"), line("more bread"))
    answer = answered("recall", {"query": "bread"}, data=data)[1]
    assert {memory["id"] for memory in answer["found"]} == {"6f1c:1", "2026-11-18#2"}
    assert "2026-11-18 external [6f1c:1]: bread" in answer["text"]
    assert set(answer["found"][0]) == {"id", "timestamp", "author", "description"}


def test_a_line_that_was_written_twice_is_found_once(data: Path) -> None:
    write(data, line("bread", id="a:1"), line("bread", id="a:1"))
    assert found(data, "bread") == ["bread"]


def test_every_day_is_searched_and_a_monstrous_line_is_not(data: Path) -> None:
    write(data, line("bread " * 400_000), line("bread today"))
    write(data, line("bread long ago"), day="2026-01-02")
    assert sorted(found(data, "bread")) == ["bread long ago", "bread today"]


@pytest.mark.parametrize(
    "request_", [b"", b"[]", {}, {"query": 3}, {"query": "a", "limit": 0}, {"query": "a", "limit": True}]
)
def test_a_malformed_question_is_an_error_in_words(data: Path, request_: Any) -> None:
    assert answered("recall", request_, data=data)[0] == 1


def test_an_instance_without_memories_answers_with_none(tmp_path: Path) -> None:
    assert answered("recall", {"query": "bread"}, data=tmp_path)[1]["found"] == []


@pytest.mark.parametrize("isolation", LEVELS)
def test_under_the_kernel_it_finds_what_an_instance_lived_through(tmp_path: Path, isolation: Isolation) -> None:
    home = lived_in(tmp_path / "instance")
    skill = shelved(home, (ROOT / "lumen/skills/recall/main.py").read_text(), name="recall")
    result = ran(home, skill, {"query": "was I glad?"}, isolation=isolation)
    assert result.is_ok
    assert "I was glad" in result.text


def test_its_help_ends_with_its_input() -> None:
    last = help_of("recall").strip().splitlines()[-1]
    assert last == 'Input (stdin): one JSON object {"query": "words to look for", "limit?": 5}'

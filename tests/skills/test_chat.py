"""The chat skill says what it is given, and nothing else."""

import pytest

from tests.skills.programs import answered, help_of


def test_it_says_the_text() -> None:
    assert answered("chat", {"text": "Hello, Zoë"}) == (0, {"ok": True, "said": "Hello, Zoë"})


@pytest.mark.parametrize("request_", [b"", b"[]", b"{}", b"{", {"text": ""}, {"text": 3}, b"[" * 100_000])
def test_what_is_no_text_is_an_error_in_words(request_: object) -> None:
    assert answered("chat", request_)[0] == 1


def test_its_help_names_its_field() -> None:
    assert '{"text":' in help_of("chat")

"""The model behind HTTP, against a real server on loopback that has the faults of real ones."""

import asyncio
import json
import logging
import time
from typing import Any

import pytest

from lumen.errors import BrokenConfig, LumenError, StepFailed
from lumen.json_value import Json
from lumen.substrate.openai_compatible import LARGEST_REPLY, LONGEST_WAIT, OpenAICompatible
from lumen.turn import Usage
from tests.substrate.model_server import (
    ModelServer,
    Reaction,
    completion,
    fails,
    gives,
    hangs_up_midway,
    needs_no_schema,
    pours,
    repeats_the_key,
    resets,
    says,
    stalls,
    trickles,
)

CANARY = "sk-canary-7f3e21"
SCHEMA: Json = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def model_at(server: ModelServer, **other: Any) -> OpenAICompatible:
    return OpenAICompatible(server.url, "tiny", **{"key": CANARY, "seconds": 5.0, **other})


def asked(model: OpenAICompatible, times: int = 1) -> str:
    async def ask() -> str:
        try:
            texts = [
                await model.complete(system="Be JSON.", user="Hello.", schema=SCHEMA, schema_name="think")
                for _ in range(times)
            ]
        finally:
            await model.close()
        return texts[-1]

    return asyncio.run(ask())


def problem_of(*plan: Reaction, **other: Any) -> str:
    with ModelServer(*plan) as server, pytest.raises(StepFailed) as caught:
        asked(model_at(server, **other))
    return str(caught.value)


def test_a_completion_comes_back_as_text_and_its_tokens_are_counted() -> None:
    with ModelServer(says("{}")) as server:
        model = model_at(server)
        assert asked(model, times=2) == "{}"
        assert model.usage == Usage(calls=2, tokens_in=200, tokens_out=40)
        assert model.name == "tiny"


def test_the_request_is_what_an_openai_endpoint_expects() -> None:
    with ModelServer(says("{}")) as server:
        asked(model_at(server))
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {CANARY}"
    assert request.body == {
        "model": "tiny",
        "temperature": 0,
        "messages": [{"role": "system", "content": "Be JSON."}, {"role": "user", "content": "Hello."}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "think", "strict": True, "schema": SCHEMA},
        },
    }


def test_without_a_key_no_header_is_sent() -> None:
    with ModelServer(says("{}")) as server:
        asked(model_at(server, key=None))
    assert "authorization" not in server.requests[0].headers


def test_a_slash_and_a_query_in_the_address_stay_where_they_belong() -> None:
    with ModelServer(says("{}")) as server:
        asked(OpenAICompatible(f"{server.url}/?version=2", "tiny", key=None, seconds=5))
    assert server.requests[0].path == "/v1/chat/completions?version=2"


@pytest.mark.parametrize("fault", [fails(500), fails(503), fails(429), resets, hangs_up_midway])
def test_what_passes_is_tried_again(fault: Reaction) -> None:
    with ModelServer(fault, says("{}")) as server:
        assert asked(model_at(server)) == "{}"
    assert len(server.requests) == 2


@pytest.mark.parametrize("fault", [fails(500), resets])
def test_no_more_is_tried_than_was_allowed(fault: Reaction) -> None:
    with ModelServer(fault) as server, pytest.raises(StepFailed, match=r"Check \[mind\] in lumen\.toml"):
        asked(model_at(server, attempts=2))
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [301, 401, 403, 404, 413])
def test_another_refusal_is_final(status: int) -> None:
    with ModelServer(fails(status, "not like this")) as server, pytest.raises(StepFailed) as caught:
        asked(model_at(server))
    assert f"answered {status}: not like this" in str(caught.value)
    assert len(server.requests) == 1


def test_a_port_where_nobody_listens_is_an_error_that_says_so() -> None:
    with ModelServer(says("{}")) as server:
        model = model_at(server, attempts=2)
    with pytest.raises(StepFailed, match=r"127\.0\.0\.1:\d+ cannot be reached \(ConnectError\)"):
        asked(model)


def test_a_wait_that_the_server_asks_for_is_kept() -> None:
    with ModelServer(fails(429, retry_after="1"), says("{}")) as server:
        began = time.monotonic()
        asked(model_at(server))
    assert 1.0 <= time.monotonic() - began < 3.0


def test_a_wait_until_a_date_is_reckoned_from_the_servers_own_clock() -> None:
    late = fails(503, date="Wed, 18 Nov 2026 09:00:00 GMT", retry_after="Wed, 18 Nov 2026 09:00:01 GMT")
    with ModelServer(late, says("{}")) as server:
        began = time.monotonic()
        asked(model_at(server))
    assert 1.0 <= time.monotonic() - began < 3.0


def test_a_wait_that_is_too_long_ends_at_once() -> None:
    began = time.monotonic()
    problem = problem_of(fails(429, retry_after="3600"), says("{}"))
    assert f"asks to wait 3600 seconds, more than the {LONGEST_WAIT:g} allowed" in problem
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize("fault", [stalls, trickles, fails(503, retry_after="15")])
def test_a_whole_completion_ends_within_its_seconds(fault: Reaction) -> None:
    began = time.monotonic()
    problem = problem_of(fault, seconds=0.6)
    assert time.monotonic() - began < 2.0
    assert "0.6 seconds" in problem or "answered 503" in problem


def test_a_reply_beyond_the_largest_size_is_not_read_to_its_end() -> None:
    assert f"more than {LARGEST_REPLY // 1024} KiB" in problem_of(pours(10))


def test_a_reply_just_below_the_largest_size_is_read() -> None:
    whole = completion("{}")
    with ModelServer(gives(whole + b" " * (LARGEST_REPLY - len(whole)))) as server:
        assert asked(model_at(server)) == "{}"


def test_a_compressed_reply_is_refused_before_it_can_grow() -> None:
    assert "compressed" in problem_of(gives(b"anything", content_encoding="gzip"))


def test_a_long_complaint_is_left_out_and_the_status_told() -> None:
    assert "answered 404. Check" in problem_of(gives(b"x" * 1024 * 1024, 404))


@pytest.mark.parametrize(
    "body",
    [completion("hello")[:30], b"", b"[]", b'{"choices": []}', b'{"choices": [{}]}', b"\xff\xfe", b"[" * 100_000],
)
def test_a_reply_that_is_no_completion_is_an_error_that_says_so(body: bytes) -> None:
    assert "not a chat completion" in problem_of(gives(body))


def test_an_answer_cut_by_its_length_is_an_error_and_is_counted() -> None:
    cut = {"choices": [{"message": {"content": '{"a'}, "finish_reason": "length"}]}
    with ModelServer(gives(json.dumps(cut).encode())) as server:
        model = model_at(server)
        with pytest.raises(StepFailed, match="ran out of tokens"):
            asked(model)
    assert model.usage == Usage(calls=1)


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"message": {"content": None}, "finish_reason": "stop"}, "empty answer"),
        ({"message": {"content": ""}, "finish_reason": "content_filter"}, "content_filter"),
        ({"message": {"content": None, "refusal": "I will not."}}, "declined: I will not."),
    ],
)
def test_no_text_is_an_error_with_its_reason(choice: Any, told: str) -> None:
    assert told in problem_of(gives(json.dumps({"choices": [choice]}).encode()))


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": -3}, "many", [1]])
def test_counts_that_are_missing_or_wrong_are_zero(usage: Any) -> None:
    with ModelServer(says("{}", usage=usage)) as server:
        model = model_at(server)
        asked(model)
    assert model.usage == Usage(calls=1)


def test_a_server_that_knows_no_schema_is_asked_without_one_and_that_is_remembered() -> None:
    with ModelServer(needs_no_schema("{}")) as server:
        assert asked(model_at(server), times=2) == "{}"
    formats = [request.body["response_format"]["type"] for request in server.requests]
    assert formats == ["json_schema", "json_object", "json_object"]
    assert "additionalProperties" in server.requests[1].system
    assert "additionalProperties" not in server.requests[0].system


def test_a_request_that_is_wrong_in_both_ways_is_final_and_nothing_is_remembered() -> None:
    with ModelServer(fails(400, "no such model"), fails(400, "no such model"), says("{}")) as server:
        model = model_at(server)
        with pytest.raises(StepFailed, match="no such model"):
            asked(model)
        asked(model)
    formats = [request.body["response_format"]["type"] for request in server.requests]
    assert formats == ["json_schema", "json_object", "json_schema"]


def test_with_schema_mode_none_the_schema_stands_in_the_prompt_only() -> None:
    with ModelServer(says("{}")) as server:
        asked(model_at(server, schema_mode="none"))
    assert "response_format" not in server.requests[0].body
    assert json.dumps(SCHEMA) in server.requests[0].system


@pytest.mark.parametrize(
    "fault",
    [
        repeats_the_key(400),
        repeats_the_key(401),
        repeats_the_key(429),
        repeats_the_key(500),
        gives(f"{' ' * 150}Bearer {CANARY} {CANARY}".encode(), 403),
        gives(json.dumps({"detail": [{"loc": CANARY}]}).encode(), 422),
        gives(json.dumps({"choices": [{"message": {"refusal": f"not with {CANARY}"}}]}).encode()),
        gives(json.dumps({"choices": [{"message": {}, "finish_reason": "stop"}], CANARY: CANARY}).encode()),
        gives(CANARY.encode()),
        gives(b"x", content_encoding=CANARY),
        fails(302, location=f"http://127.0.0.1:9/{CANARY}"),
        resets,
        stalls,
        trickles,
        hangs_up_midway,
        pours(3),
    ],
)
def test_the_key_is_in_no_message_and_no_log_whatever_fails(fault: Reaction, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ModelServer(fault) as server:
        model = model_at(server, seconds=1.5, attempts=2)
        with pytest.raises(StepFailed) as caught:
            asked(model)
    assert server.requests[0].headers["authorization"].endswith(CANARY)  # it was sent, so it could have leaked
    shown: list[object] = [model, model.name, model.usage]
    problem: BaseException | None = caught.value
    while problem is not None:
        shown += [problem, problem.args]
        problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    # What the server writes into its own headers is in httpcore's debug log; what we sent must not be.
    ours = [vars(record) for record in caplog.records if not record.name.startswith("httpcore")]
    sent = [vars(record) for record in caplog.records if "response_headers" not in record.getMessage()]
    assert CANARY not in repr([*shown, *map(str, shown), ours, sent])


@pytest.mark.parametrize("key", [f"{CANARY}\nX-Evil: 1", f"{CANARY} b", f"{CANARY}\u00e9", f"{CANARY}\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(BrokenConfig) as caught:
        OpenAICompatible("http://127.0.0.1:1/v1", "tiny", key=key, seconds=1)
    assert CANARY not in repr(caught.value)


def test_blanks_around_a_key_are_not_part_of_it() -> None:
    with ModelServer(says("{}")) as server:
        asked(model_at(server, key=f" {CANARY}\n"))
    assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:80/v1", "file:///v1", "http://", f"http://me:{CANARY}@127.0.0.1/v1", "http://[::1"]
)
def test_an_address_that_cannot_be_one_is_refused_and_told_where_to_look(address: str) -> None:
    with pytest.raises(LumenError, match=r"Check \[mind\] in lumen\.toml") as caught:
        OpenAICompatible(address, "tiny", key=None, seconds=1)
    assert CANARY not in str(caught.value)


def test_a_cancelled_completion_is_cancelled_and_not_an_error() -> None:
    async def cancel_midway(model: OpenAICompatible) -> None:
        task = asyncio.create_task(model.complete(system="", user="", schema=SCHEMA, schema_name="think"))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.close()

    with ModelServer(stalls) as server:
        asyncio.run(cancel_midway(model_at(server)))


def test_a_model_that_was_closed_can_be_asked_again() -> None:
    with ModelServer(says("{}")) as server:
        model = model_at(server)
        assert asked(model) == asked(model) == "{}"

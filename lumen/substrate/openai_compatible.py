"""A language model behind an endpoint that speaks OpenAI's chat completions, over HTTP.

One completion has one deadline, whatever happens in it. Tried again: a connection that fails, 429 (after the wait that
the server asks for, when that is short), 5xx. Everything else is final. A reply is read up to a size, never further.
The key goes into one header of one request; no message, name or log has it, also not when the server repeats it.

A server that does not know JSON schemas answers 400: then JSON without a schema is asked for, with the schema in the
prompt; once that works it is remembered. Refuses to know what is asked and what the answer means.
"""

import asyncio
import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Annotated, Final, Literal, assert_never

import httpx
import stamina
from pydantic import BaseModel, ConfigDict, Field, ValidationError, WrapValidator
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

from lumen.errors import BrokenConfig, StepFailed
from lumen.json_value import Json
from lumen.turn import Usage

SchemaMode = Literal["json_schema", "json_object", "none"]

LARGEST_REPLY: Final = 2 * 1024 * 1024
LARGEST_COMPLAINT: Final = 64 * 1024
LONGEST_WAIT: Final = 20.0
CONNECT_SECONDS: Final = 10.0
SCHEMA_REFUSED: Final = frozenset({400, 422})
NEXT_STEP: Final = "Check [mind] in lumen.toml."


class OpenAICompatible:
    """`seconds` is for a whole completion, further attempts included. Call `close` when done with it."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str | None,
        seconds: float,
        attempts: int = 3,
        schema_mode: SchemaMode = "json_schema",
    ) -> None:
        """Raises BrokenConfig for an address or a key that no request can carry."""
        self._url = _endpoint(base_url)
        self._model = model
        self._key = _usable(key)
        self._seconds = seconds
        self._attempts = attempts
        self._schema_mode: SchemaMode = schema_mode
        self._usage = Usage()
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        return self._model

    @property
    def usage(self) -> Usage:
        """Every reply that was read counts as a call, also one that could not be used."""
        return self._usage

    async def complete(self, *, system: str, user: str, schema: Json, schema_name: str) -> str:
        """The model's text. Raises StepFailed."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._in_a_mode_it_knows(system, user, schema, schema_name)
        except TimeoutError:
            problem = f"did not answer within {self._seconds:g} seconds"
        except (_TryAgain, _Refused) as refused:
            problem = str(refused)
        raise StepFailed(f"The model {self._model} at {self._place} {problem}. {NEXT_STEP}")

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @property
    def _place(self) -> str:
        return self._url.netloc.decode("ascii", "replace")

    async def _in_a_mode_it_knows(self, system: str, user: str, schema: Json, schema_name: str) -> str:
        try:
            return await self._with_retries(_body(self._model, self._schema_mode, system, user, schema, schema_name))
        except _Refused as refused:
            if self._schema_mode != "json_schema" or refused.status not in SCHEMA_REFUSED:
                raise
        text = await self._with_retries(_body(self._model, "json_object", system, user, schema, schema_name))
        self._schema_mode = "json_object"
        return text

    async def _with_retries(self, body: Mapping[str, Json]) -> str:
        content = json.dumps(body, ensure_ascii=True, allow_nan=False).encode("ascii")
        async for attempt in stamina.retry_context(
            on=_wait_before_next,
            attempts=self._attempts,
            timeout=self._seconds,
            wait_initial=0.25,
            wait_max=5.0,
            wait_jitter=0.25,
        ):
            with attempt:
                return self._text_of(await self._post(content))
        raise AssertionError("an attempt returns or raises")

    async def _post(self, content: bytes) -> bytes:
        if self._client is None:
            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(self._seconds, connect=min(self._seconds, CONNECT_SECONDS)),
                headers={"accept-encoding": "identity", "content-type": "application/json"},
            )
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with self._client.stream("POST", self._url, content=content, headers=headers) as reply:
                if reply.status_code == httpx.codes.OK:
                    return await _read(reply, LARGEST_REPLY)
                complaint = self._without_key(await _read_complaint(reply))
        except httpx.TimeoutException:
            raise _TryAgain("did not answer in time") from None
        except httpx.TransportError as problem:
            raise _TryAgain(f"cannot be reached ({type(problem).__name__})") from None
        raise _of_status(reply, complaint)

    def _text_of(self, content: bytes) -> str:
        try:
            reply = _Reply.model_validate_json(content)
        except ValidationError as problem:
            where = {".".join(map(str, each["loc"])) or "the whole" for each in problem.errors(include_url=False)}
            raise _Refused(f"answered what is not a chat completion (see {', '.join(sorted(where)[:3])})") from None
        self._usage = Usage(
            self._usage.calls + 1,
            self._usage.tokens_in + reply.usage.prompt_tokens,
            self._usage.tokens_out + reply.usage.completion_tokens,
        )
        choice = reply.choices[0]
        if choice.finish_reason == "length":
            raise _Refused("ran out of tokens before its answer was whole")
        if choice.message.refusal:
            raise _Refused(f"declined: {self._without_key(_one_line(choice.message.refusal))}")
        if not choice.message.content:
            raise _Refused(f"gave an empty answer (finish_reason {_one_line(choice.finish_reason or 'none')})")
        return choice.message.content

    def _without_key(self, text: str) -> str:
        return (text.replace(self._key, "[key]") if self._key else text)[:200]


class _TryAgain(Exception):
    """`wait` is what the server asked for, in seconds."""

    def __init__(self, problem: str, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


class _Refused(Exception):
    """Another attempt would end the same way."""

    def __init__(self, problem: str, status: int | None = None) -> None:
        super().__init__(problem)
        self.status = status


def _wait_before_next(problem: Exception) -> bool | float:
    if not isinstance(problem, _TryAgain):
        return False
    return True if problem.wait is None else problem.wait


def _of_status(reply: httpx.Response, complaint: str) -> _TryAgain | _Refused:
    status = reply.status_code
    told = f"answered {status}" + (f": {complaint}" if complaint else "")
    if status != httpx.codes.TOO_MANY_REQUESTS and status < httpx.codes.INTERNAL_SERVER_ERROR:
        return _Refused(told, status)
    wait = _retry_after(reply.headers)
    if wait is not None and wait > LONGEST_WAIT:
        return _Refused(f"{told} (and asks to wait {wait:.0f} seconds, more than the {LONGEST_WAIT:g} allowed)", status)
    return _TryAgain(told, wait)


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds, or a date, which is compared with the server's own clock."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said)
    try:
        ends, now = parsedate_to_datetime(said), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (ends - now).total_seconds())
    except (ValueError, TypeError):
        return None


async def _read(reply: httpx.Response, largest: int) -> bytes:
    """The body as it was sent, up to a size."""
    if reply.headers.get("content-encoding", "identity").lower() != "identity":
        raise _Refused("answered with a compressed body, which was not asked for")
    content = bytearray()
    async for chunk in reply.aiter_raw():
        content += chunk
        if len(content) > largest:
            raise _Refused(f"answered more than {largest // 1024} KiB, and the rest was not read")
    return bytes(content)


async def _read_complaint(reply: httpx.Response) -> str:
    """Nothing where it is too long or compressed: the status has to do."""
    try:
        return _complaint(await _read(reply, LARGEST_COMPLAINT))
    except _Refused:
        return ""


def _complaint(content: bytes) -> str:
    """What a server says is wrong: {"error": {"message": ...}}, {"error": ...}, {"message": ...} or plain text."""
    text = content.decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return _one_line(text)
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return _one_line(said if isinstance(said, str) else json.dumps(said))


def _one_line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _body(
    model: str, schema_mode: SchemaMode, system: str, user: str, schema: Json, schema_name: str
) -> Mapping[str, Json]:
    with_schema = f"{system.rstrip()}\n\n```json\n{json.dumps(schema, ensure_ascii=False)}\n```\n"
    told: str
    wanted: dict[str, Json]
    match schema_mode:
        case "json_schema":
            shape: Json = {"name": schema_name, "strict": True, "schema": schema}
            told, wanted = system, {"response_format": {"type": "json_schema", "json_schema": shape}}
        case "json_object":
            told, wanted = with_schema, {"response_format": {"type": "json_object"}}
        case "none":
            told, wanted = with_schema, {}
        case _:
            assert_never(schema_mode)
    messages: Json = [{"role": "system", "content": told}, {"role": "user", "content": user}]
    return {"model": model, "messages": messages, "temperature": 0, **wanted}


def _endpoint(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL:
        raise BrokenConfig(f"The address of the model cannot be read as one. {NEXT_STEP}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise BrokenConfig(f"The address of the model must begin with http:// or https:// and name a host. {NEXT_STEP}")
    if url.userinfo:
        raise BrokenConfig(f"The address of the model holds a name or password. Give the key apart. {NEXT_STEP}")
    return url.copy_with(path=f"{url.path.rstrip('/')}/chat/completions", fragment=None)


def _usable(key: str | None) -> str | None:
    """A key that no header can carry would come back in the text of an error."""
    stripped = (key or "").strip()
    if not stripped:
        return None
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise BrokenConfig(f"The key for the model has characters that no key has. {NEXT_STEP}")
    return stripped


def _or_zero(value: object, count: ValidatorFunctionWrapHandler) -> int:
    """Servers leave counts out, or write null."""
    try:
        counted: int = count(value)
    except ValidationError:
        return 0
    return counted


_Count = Annotated[int, Field(ge=0), WrapValidator(_or_zero)]


class _Tokens(BaseModel):
    model_config = ConfigDict(frozen=True)

    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0


def _or_none_counted(value: object, tokens: ValidatorFunctionWrapHandler) -> _Tokens:
    return tokens(value) if isinstance(value, dict) else _Tokens()


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    model_config = ConfigDict(frozen=True)

    message: _Message
    finish_reason: str | None = None


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)

    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: Annotated[_Tokens, WrapValidator(_or_none_counted)] = _Tokens()

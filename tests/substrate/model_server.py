"""A real HTTP server on 127.0.0.1 that plays an OpenAI-compatible endpoint, with the faults that such ones have.

It is given a plan: what to do with the first request, the second, and so on; the last is repeated.
"""

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Reaction = Callable[["Endpoint"], None]


class Endpoint(BaseHTTPRequestHandler):
    """One connection. The server it belongs to holds the plan."""

    server: "_Listener"
    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append(Request(self.path, dict(self.headers.items()), json.loads(body)))
        plan = self.server.plan
        plan[min(len(self.server.requests), len(plan)) - 1](self)

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response_only(status)
        for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Request:
    def __init__(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        self.path = path
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body = body

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][1]["content"])


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, plan: Sequence[Reaction]) -> None:
        super().__init__(("127.0.0.1", 0), Endpoint)
        self.plan = plan
        self.requests: list[Request] = []
        self.is_closing = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up early is part of the play."""


class ModelServer:
    """Use as a context: `with ModelServer(says("hello")) as server: ... server.url`."""

    def __init__(self, *plan: Reaction) -> None:
        self._listener = _Listener(plan)
        self._thread = threading.Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.server_address[1]}/v1"

    @property
    def requests(self) -> list[Request]:
        return self._listener.requests

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.is_closing.set()
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()


def completion(content: str | None, **other: Any) -> bytes:
    reply = {
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20},
    }
    return json.dumps(reply | other).encode()


def says(content: str | None, **other: Any) -> Reaction:
    return gives(completion(content, **other))


def gives(body: bytes, status: int = 200, **headers: str) -> Reaction:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda endpoint: endpoint.send(status, body, named)


def fails(status: int, message: str = "no", **headers: str) -> Reaction:
    return gives(json.dumps({"error": {"message": message}}).encode(), status, **headers)


def repeats_the_key(status: int) -> Reaction:
    """As some servers do: the header comes back in the complaint."""

    def react(endpoint: Endpoint) -> None:
        fails(status, f"wrong key: {endpoint.headers['authorization']} is not known")(endpoint)

    return react


def needs_no_schema(content: str) -> Reaction:
    """A server that does not know json_schema."""

    def react(endpoint: Endpoint) -> None:
        wanted = endpoint.server.requests[-1].body.get("response_format", {}).get("type")
        (fails(400, "response_format json_schema is unknown") if wanted == "json_schema" else says(content))(endpoint)

    return react


def resets(endpoint: Endpoint) -> None:
    """The connection is reset, not closed."""
    endpoint.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    endpoint.close_connection = True
    endpoint.connection.close()


def hangs_up_midway(endpoint: Endpoint) -> None:
    """Promises more than it sends."""
    half = completion("hello")[:40]
    endpoint.send(200, half, {"content-length": "4000"})
    endpoint.close_connection = True


def stalls(endpoint: Endpoint) -> None:
    endpoint.server.is_closing.wait(10)
    endpoint.close_connection = True


def trickles(endpoint: Endpoint) -> None:
    """A byte now and then: each read succeeds, and the answer never ends."""
    endpoint.send(200, b"", {"content-length": "100000"})
    while not endpoint.server.is_closing.wait(0.05):
        endpoint.wfile.write(b" ")
        endpoint.wfile.flush()


def pours(megabytes: int) -> Reaction:
    """Says no length and sends until the other side has had enough."""

    def react(endpoint: Endpoint) -> None:
        endpoint.send_response(200)
        endpoint.send_header("connection", "close")
        endpoint.end_headers()
        for _ in range(megabytes):
            endpoint.wfile.write(b" " * 1024 * 1024)
        endpoint.close_connection = True

    return react

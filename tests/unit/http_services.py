"""Services on the loopback address for the tests: what they answer is scripted, what they were asked is kept."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What a script gives for a request: the state of HTTP, the content, and headers.
Reply = tuple[int, bytes, dict[str, str]]


def scored(texts: list[str]) -> list[list[dict]]:
    """An answer as Hugging Face gives it, by how often the letter e is in a text."""
    share = [text.count("e") / max(1, len(text)) for text in texts]
    return [[{"label": "dull", "score": 1 - each}, {"label": "eager", "score": each}] for each in share]


def answered(body: dict) -> Reply:
    return 200, json.dumps(scored(body["inputs"])).encode(), {}


@dataclass
class Served:
    """A service that runs.

    Attributes:
        address: where it is.
        script: replies to come, first one first, each made from the body of its request; then :func:`answered`.
        bodies, headers: of the requests so far.
    """

    address: str = ""
    script: list[Callable[[dict], Reply]] = field(default_factory=list)
    usual: Callable[[dict], Reply] = answered
    bodies: list[dict] = field(default_factory=list)
    headers: list[dict] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """All that it was asked about."""
        return [text for body in self.bodies for text in body["inputs"]]


@contextmanager
def running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on the loopback address, until the context ends; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def serving() -> Iterator[Served]:
    served, lock = Served(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                served.bodies.append(body)
                served.headers.append(dict(self.headers))
                reply = served.script.pop(0) if served.script else served.usual
            status, content, headers = reply(body)
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(content))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # whoever asked may have given up meanwhile
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    with running(Handler) as address:
        served.address = f"{address}/models/tiny"
        yield served

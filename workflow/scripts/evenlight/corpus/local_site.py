"""A server on the loopback interface that plays the sites of a page store, for the demo and for tests.

The address https://HOST/PATH is served as http://127.0.0.1:PORT/HOST/PATH: so everything but the browser itself
deals with the sites' real addresses.
"""

import mimetypes
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from evenlight.core.errors import InputError
from evenlight.corpus.pages import INDEX, normal_address, read_index, read_page


@dataclass(frozen=True)
class Fault:
    """What goes wrong with a page the first ``times`` that it is asked for."""

    times: int
    delay: float = 0.0  # seconds before the answer
    status: int | None = None  # instead of the page
    retry_after: str | None = None  # the header of that name


@dataclass(frozen=True)
class Request:
    """A request as the server saw it."""

    time: float  # seconds on the monotonic clock
    url: str
    user_agent: str


@dataclass(frozen=True)
class Site:
    """A running server and what it was asked for, in the order of asking."""

    port: int
    requests: list[Request] = field(default_factory=list)

    def local(self, url: str) -> str:
        """Where the server has the page of a real address."""
        parts = urlsplit(normal_address(url))
        query = f"?{parts.query}" if parts.query else ""
        return f"http://127.0.0.1:{self.port}/{parts.netloc}{parts.path}{query}"

    def real(self, url: str) -> str:
        """The real address of a page of the server."""
        return normal_address("https://" + url.removeprefix(f"http://127.0.0.1:{self.port}/"))


@contextmanager
def serving(store: Path, faults: dict[str, Fault] | None = None) -> Iterator[Site]:
    """Serve the pages of ``store`` with their statuses and redirects, and with ``faults`` by address."""
    index = read_index(store)
    if not index:
        raise InputError(f"{store}: no pages there that could be served; name a folder with {INDEX}")
    faults = {normal_address(url): fault for url, fault in (faults or {}).items()}
    seen: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = site.real(f"http://127.0.0.1:{site.port}{self.path}")
            if urlsplit(url).netloc == "favicon.ico":  # what browsers ask every server for
                return self.answer(404, b"", "text/plain")
            site.requests.append(Request(time.monotonic(), url, self.headers.get("User-Agent", "")))
            seen[url] += 1
            fault = faults.get(url)
            if fault and seen[url] <= fault.times:
                time.sleep(fault.delay)
                if fault.status:
                    headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
                    return self.answer(fault.status, b"<p>Try again later.</p>", "text/html", headers)
            entry = index.get(url)
            if entry is None:
                return self.answer(404, b"<p>No such page.</p>", "text/html")
            if normal_address(entry.final_url) != url:
                return self.answer(302, b"", "text/html", {"Location": site.local(entry.final_url)})
            kind = mimetypes.guess_type(entry.file.removesuffix(".gz"))[0] or "text/html"
            return self.answer(entry.status, read_page(store, entry).html.encode(), kind)

        def answer(self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
            with suppress(ConnectionError):  # a browser that does not wait any longer
                self.send_response(status)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """The request log is ``Site.requests``."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = Site(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()

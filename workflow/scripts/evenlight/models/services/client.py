"""Sending texts to a service, with patience: attempts, waits, and no faster than allowed.

A time limit of the library requests holds for each piece that comes. A service that sends a blank now and then outlives
it, so that the whole exchange has a bound of its own here.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from requests.adapters import HTTPAdapter

from evenlight.core.addresses import checked_address, is_loopback, without_secrets
from evenlight.core.errors import InputError, first_line
from evenlight.core.sources import asked_wait
from evenlight.models.architectures.chat import AskingForAnswers
from evenlight.models.architectures.service import Asking
from evenlight.models.services.shapes import ADDRESS, UnusableAnswer, parsed, prefix


class BoundedAdapter(HTTPAdapter):
    """An adapter of one session, which one thread uses, that can end what it waits for."""

    def __init__(self):
        super().__init__()
        self.socket: socket.socket | None = None

    def get_connection_with_tls_context(self, *args, **named):
        """The pool of connections, each of which notes its socket here."""
        pool = super().get_connection_with_tls_context(*args, **named)
        if not issubclass(pool.ConnectionCls, _Noting):
            pool.ConnectionCls = type("NotingConnection", (_Noting, pool.ConnectionCls), {"adapter": self})
        return pool

    @contextmanager
    def ends_after(self, seconds: float) -> Iterator[threading.Event]:
        """Within it, what is read ends after so many seconds; the event says whether that happened."""
        over = threading.Event()

        def end() -> None:
            over.set()
            if self.socket is not None:
                # Of an encrypted connection, too, the one below, since another thread reads the one above.
                with suppress(OSError):
                    socket.socket.shutdown(self.socket, socket.SHUT_RDWR)

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield over
        finally:
            timer.cancel()


class _Noting:
    """Part of a class of connections."""

    adapter: BoundedAdapter

    def connect(self) -> None:
        super().connect()
        self.adapter.socket = self.sock


# Seconds before the second attempt, which double from one to the next, and the most that is waited.
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
# A service that asks for more patience than this is left alone for now.
LONGEST_ASKED_WAIT = 300.0
# Seconds in which a connection must come about.
CONNECT = 10.0
# The most bytes of an answer.
LARGEST_ANSWER = 64 * 2**20
# States of HTTP, beside those of 500 and more, after which another attempt may end better.
MAY_PASS = {408, 425, 429}
Answer = TypeVar("Answer")


class _Failed(Exception):
    """A request without an answer, and what to do; ``wait`` is how many seconds the service asks for, or None."""

    def __init__(self, said: str, remedy: str = "", wait: float | None = None):
        super().__init__(said)
        self.remedy, self.wait = remedy, wait


class Client:
    """Asks one service; its methods may be called by several threads.

    Args:
        address: of the service.
        policy: how it is asked.
        plain_http: whether texts may be sent unencrypted.
        before: called before each request, which waits for it.
        is_answer: whether what comes with a state of HTTP that is none of success is an answer nevertheless.
    """

    def __init__(
        self,
        address: str,
        policy: Asking | AskingForAnswers,
        plain_http: bool = False,
        before: Callable[[], None] = lambda: None,
        is_answer: Callable[[int, bytes], bool] = lambda status, content: False,
    ):
        try:
            self.address = checked_address(address, plain_http)
        except InputError as error:
            raise InputError(f"models.<model>.address: {without_secrets(address)} {error}") from None
        self.policy, self.before, self.is_answer = policy, before, is_answer
        self.stopped = threading.Event()
        self._own = threading.local()

    def stop(self) -> None:
        """Let threads that wait for another attempt give up."""
        self.stopped.set()

    def ask(self, body: object, read: Callable[[Any, float], Answer]) -> Answer:
        """What is read in the answer to one request, which is sent again where it fails.

        Args:
            body: of the request, a JSON value.
            read: is given what came back, a JSON value, and in how many seconds. It raises
                :class:`evenlight.models.services.shapes.UnusableAnswer` where that says nothing.

        Raises:
            InputError: no attempt had a usable answer, or none can have; with what the service said.
        """
        unusable = False
        for attempt in range(self.policy.retries + 1):
            try:
                content, seconds = self._sent(body)
                return read(parsed(content), seconds)
            except (_Failed, UnusableAnswer) as error:
                said, remedy, wait = str(error), error.remedy, getattr(error, "wait", None)
                # Nonsense is paid for, so that it has a second chance and no more.
                is_last = attempt == self.policy.retries or (unusable and isinstance(error, UnusableAnswer))
                unusable = isinstance(error, UnusableAnswer)
            if wait is None:
                wait = min(FIRST_WAIT * 2**attempt, LONGEST_WAIT)
            elif wait > LONGEST_ASKED_WAIT:
                is_last, said = True, f"{said}, and it asks to be left alone for {wait:.0f} s"
            if is_last:
                attempts = f"{attempt + 1} attempts" if attempt else "1 attempt"
                raise self._refused(f"{said}, after {attempts}" + (f"; {remedy}" if remedy else ""))
            print(f"service {self.address}: {self._without_key(said)}; next attempt in {wait:.0f} s", flush=True)
            if self.stopped.wait(wait):
                break
        raise self._refused("stopped")

    def _refused(self, said: str) -> InputError:
        return InputError(
            f"service {self.address}: {self._without_key(said)}. What it has answered is kept; run the workflow again "
            "to go on from there"
        )

    def _without_key(self, said: str) -> str:
        key = os.environ.get(self.policy.key_variable or "", "").strip()
        return said.replace(key, "<key>") if key else said

    def header(self) -> tuple[str, str] | None:
        """The header with the key, its name and its value; None where there is none.

        Raises:
            InputError: the environment variable holds no key.
        """
        variable = self.policy.key_variable
        if variable is None:
            return None
        key = os.environ.get(variable, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            found = "holds what is no key" if key else "is not set"
            raise InputError(
                f"service {self.address}: the environment variable {variable} (models.<model>.asking.key_variable) "
                f"{found}; let it hold the key of the service"
            )
        name, _, value = self.policy.key_header.partition(":")
        return name.strip(), value.strip().replace("{key}", key)

    def _session(self):
        """The connection of this thread."""
        import requests

        if not hasattr(self._own, "session"):
            session = requests.Session()
            self._own.adapter = BoundedAdapter()
            for scheme in ("https://", "http://"):
                session.mount(scheme, self._own.adapter)
            # Neither through a proxy nor with a password that a file names for this host.
            session.trust_env = not is_loopback(urlsplit(self.address).hostname)
            header = self.header()

            def with_key(prepared):
                if header:
                    prepared.headers[header[0]] = header[1]
                return prepared

            session.auth = with_key
            self._own.session = session
        return self._own.session

    def _sent(self, body: object) -> tuple[bytes, float]:
        """What the service answers to one request, and the seconds that it took."""
        import requests

        session = self._session()
        self.before()
        start, limit = time.monotonic(), self.policy.timeout
        with self._own.adapter.ends_after(limit) as over:
            try:
                with session.post(
                    self.address,
                    json=body,
                    # An answer of its own to each request: what a gateway has kept is none.
                    headers={"Accept": "application/json", "Cache-Control": "no-cache, no-store"},
                    timeout=(min(CONNECT, limit), limit),
                    stream=True,
                    # The key and the texts are for this address.
                    allow_redirects=False,
                ) as response:
                    received = bytearray()
                    for block in response.iter_content(2**16):
                        received += block
                        # What came packed grows here, too, when the connection has ended.
                        if over.is_set():
                            break
                        if len(received) > LARGEST_ANSWER:
                            raise UnusableAnswer(f"its answer has more than {LARGEST_ANSWER >> 20} MiB")
            except requests.RequestException as error:
                why = f"it is not complete after {limit:g} s" if over.is_set() else _reason(error)
                raise _Failed(f"no answer ({why})", f"look whether it is up, and at {ADDRESS}") from None
        if over.is_set():
            # Where nothing says how long an answer is, one that was ended looks complete.
            raise _Failed(f"no answer (it is not complete after {limit:g} s)", f"look at {ADDRESS}")
        content = bytes(received)
        status = response.status_code
        if status < 300 or self.is_answer(status, content):
            return content, time.monotonic() - start
        said = f"HTTP {status} {response.reason or ''}".strip()
        if content:
            said += f": {prefix(content)}"
        if status in MAY_PASS or status >= 500:
            slower = "ask more slowly (models.<model>.asking.requests_per_minute)" if status == 429 else ""
            raise _Failed(said, slower, asked_wait(response.headers.get("Retry-After")))
        if "Location" in response.headers:
            there = without_secrets(response.headers["Location"])
            said += f"; it leads to {there}: where that is right, write it as the address"
        if status in (404, 405):
            said += f"; look at {ADDRESS}, and of a language model at its name (models.<model>.called)"
        if status in (401, 403):
            said += "; look at the key (models.<model>.asking.key_variable)"
        if status == 413 and self.policy.batch > 1:
            said += "; ask about fewer texts at once (models.<model>.asking.batch)"
        raise self._refused(said)


def _reason(error: Exception) -> str:
    """What went wrong, without the wrapping that repeats the address."""
    reason = getattr(error.args[0], "reason", error) if error.args else error
    return first_line(str(reason).split(": ", 1)[-1])

"""Connections that end when their time is over, however slowly a service sends something.

A time limit of the library requests holds for each piece that comes. A service that sends a blank now and then outlives
it, so that the whole exchange has a bound of its own here.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from requests.adapters import HTTPAdapter


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

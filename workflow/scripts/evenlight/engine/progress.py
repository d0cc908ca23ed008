"""How fast a long job is and how long it will take, as plain lines for a log."""

import time
from collections.abc import Callable


class Progress:
    """Counts rows through the model and items that are done, and says so from time to time.

    Args:
        items: how many there are to do.
        seconds_between: at most one line in this time.
        clock: gives seconds.
    """

    def __init__(self, items: int, seconds_between: float = 10.0, clock: Callable[[], float] = time.monotonic):
        self.items = items
        self.seconds_between = seconds_between
        self.clock = clock
        self.rows = self.items_done = self.items_done_before = 0
        self.start()

    def start(self) -> None:
        """The work begins: what was made ready before is not counted."""
        self.started = self.said = self.clock()

    def count_rows(self, rows: int) -> None:
        """Some rows go through the model."""
        self.rows += rows
        self._say_if_due()

    def count_items(self, items: int, done_before: bool = False) -> None:
        """Some items are done, or were ``done_before``, by an earlier attempt at the job."""
        if done_before:
            self.items_done_before += items
        else:
            self.items_done += items
            self._say_if_due()

    def summary(self) -> str:
        """Items, rows, seconds, rows per second."""
        seconds = self.clock() - self.started
        before = f", {self.items_done_before:,} items done before" if self.items_done_before else ""
        return f"{self.items_done:,} items, {self.rows:,} rows, {seconds:.1f} s, {self._rate():,.0f} rows/s{before}"

    def _say_if_due(self) -> None:
        now = self.clock()
        if now - self.said < self.seconds_between:
            return
        self.said = now
        done = self.items_done + self.items_done_before
        left = ""
        if self.items_done:
            seconds = (now - self.started) / self.items_done * (self.items - done)
            left = f", about {duration(seconds)} left"
        print(f"{done:,} of {self.items:,} items, {self._rate():,.0f} rows/s{left}", flush=True)

    def _rate(self) -> float:
        return self.rows / max(self.clock() - self.started, 1e-9)


def duration(seconds: float) -> str:
    """Seconds in words, two units at most.

    >>> duration(42.4), duration(90), duration(7260)
    ('42 s', '1 min 30 s', '2 h 1 min')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"

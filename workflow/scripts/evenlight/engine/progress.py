"""How fast a long job is and how long it will take, as plain lines for a log."""

import time
from collections.abc import Callable, Sequence

# Seconds after which the rate of the first batches is told, and with it how long the job will take.
FIRST_LINE = 1.0


class Progress:
    """Counts rows through the model and items that are done, and says so from time to time.

    The time left is that of the rows that are left. How many rows an item takes is planned; items that are done
    correct the plan, by what they have taken. Where nothing is planned, the time left is that of the items.

    Args:
        items: how many there are to do.
        planned: rows that each item takes, in the order of the items; none where that is not known.
        seconds_between: at most one line in this time.
        clock: gives seconds.
    """

    def __init__(
        self,
        items: int,
        planned: Sequence[float] = (),
        seconds_between: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.items = items
        self.planned = list(planned)
        self.seconds_between = seconds_between
        self.clock = clock
        self.rows = self.items_done = self.items_done_before = 0
        # Rows of the items that were done here: as planned, and as counted.
        self._planned_of_done, self._counted_of_done = 0.0, 0
        self.start()

    def start(self) -> None:
        """The work begins: what was made ready before is not counted."""
        self.started = self.clock()
        self.next_line = self.started + min(FIRST_LINE, self.seconds_between)

    def count_rows(self, rows: int) -> None:
        """Some rows have gone through the model."""
        self.rows += rows
        self._say_if_due()

    def count_items(self, items: int, done_before: bool = False) -> None:
        """The next items are done, or were ``done_before``, by an earlier attempt at the job."""
        if done_before:
            self.items_done_before += items
        else:
            first = self._items_behind
            self._planned_of_done += sum(self.planned[first : first + items])
            self._counted_of_done = self.rows
            self.items_done += items
            self._say_if_due()

    def summary(self) -> str:
        """Items, rows, seconds, rows per second."""
        seconds = self.clock() - self.started
        before = f", {self.items_done_before:,} items done before" if self.items_done_before else ""
        return f"{self.items_done:,} items, {self.rows:,} rows, {seconds:.1f} s, {self._rate():,.0f} rows/s{before}"

    @property
    def _items_behind(self) -> int:
        return self.items_done + self.items_done_before

    def _rows_left(self) -> float:
        """Rows of the items that are not done, without those that were counted since the last one was."""
        planned = sum(self.planned[self._items_behind :])
        if self._planned_of_done:
            planned *= self._counted_of_done / self._planned_of_done
        return max(0.0, planned - (self.rows - self._counted_of_done))

    def _say_if_due(self) -> None:
        now = self.clock()
        if now < self.next_line:
            return
        self.next_line = now + self.seconds_between
        parts = [f"{self._items_behind:,} of {self.items:,} items"]
        seconds = None
        if any(self.planned):
            left = self._rows_left()
            parts.append(f"{self.rows:,} of about {round(self.rows + left):,} rows")
            seconds = left / self._rate() if self.rows else None
        elif self.items_done:
            seconds = (now - self.started) / self.items_done * (self.items - self._items_behind)
        parts.append(f"{self._rate():,.0f} rows/s")
        if seconds is not None:
            parts.append(f"about {duration(seconds)} left")
        print(", ".join(parts), flush=True)

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

"""A bar for what takes longer than a reader waits without one."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tqdm.auto import tqdm

# Seconds before a bar is shown, and in which a group of texts is to be done.
DELAY, GROUP = 2.0, 0.5


class ProgressBar:
    """Counts texts that are done, and the rows that the model was asked about."""

    def __init__(self, bar: tqdm):
        self.bar, self.rows = bar, 0

    def count_rows(self, rows: int) -> None:
        """Some rows go through the model, of which a text may have many."""
        self.rows += rows
        self.bar.set_postfix_str(f"{self.rows:,} rows", refresh=False)
        self.bar.update(0)

    def groups(self, texts: Sequence) -> Iterator[Sequence]:
        """The texts in groups: small ones where each takes its time, so that the bar moves, and else large ones."""
        start, size = 0, 1
        while start < len(texts):
            began = time.monotonic()
            group = texts[start : start + size]
            yield group
            self.bar.update(len(group))
            start += size
            if time.monotonic() - began < GROUP:
                size *= 2


@contextmanager
def progress(task: str, texts: int) -> Iterator[ProgressBar]:
    """The progress of a task on so many texts; its bar is gone when the task is done."""
    # With no least number of steps, rows alone move the bar; texts per second are the mean.
    with tqdm(total=texts, desc=task, unit="text", delay=DELAY, miniters=0, smoothing=0, leave=False) as bar:
        yield ProgressBar(bar)

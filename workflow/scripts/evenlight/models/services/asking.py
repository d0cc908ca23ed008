"""Services that are asked each question once: what all kinds of them share, and classifiers."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from evenlight.core.errors import InputError
from evenlight.models.architectures.service import Asking, Service
from evenlight.models.services.client import Client
from evenlight.models.services.shapes import body_of, probabilities_in, with_labels
from evenlight.models.services.store import Answers, Store

# Settings of a service that its answers depend on.
IDENTITY = ("address", "request", "answers", "version")
# Probabilities that differ by less are the same; services round.
SAME = 1e-6
Part = TypeVar("Part")
Answer = TypeVar("Answer")


def ask_each(
    client: Client, parts: Iterator[Part], ask: Callable[[Part], Answer], keep: Callable[[Part, Answer], None]
) -> None:
    """Ask a service about parts, several at the same time, and keep each answer as it comes.

    Those that are on their way are kept, and no other one is asked, where one has no answer or the user interrupts.

    Raises:
        InputError: one has no answer.
    """
    waiting: dict[Future, Part] = {}
    failed: InputError | None = None
    pool = ThreadPoolExecutor(client.policy.connections)
    try:
        while True:
            # The next one leaves when an answer is kept: more than these are never lost.
            for part in islice(parts, 0 if failed else client.policy.connections - len(waiting)):
                waiting[pool.submit(ask, part)] = part
            if not waiting:
                break
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                part = waiting.pop(future)
                try:
                    keep(part, future.result())
                except InputError as error:
                    failed = failed or error
                    client.stop()
    finally:
        client.stop()
        pool.shutdown(wait=True, cancel_futures=True)
        client.stopped.clear()
        # Left where the run is interrupted: these were on their way and are paid for.
        for future, part in waiting.items():
            if not future.cancelled() and not future.exception():
                keep(part, future.result())
    if failed:
        raise failed


def kept_answers(service: Service, folder: str | Path) -> Answers:
    """The answers of a service that were given before."""
    return Answers(folder, {name: getattr(service, name) for name in IDENTITY})


class CachedService:
    """Answers texts with the probabilities of labels, those that were answered before without asking.

    Args:
        service: which it is; of its ``classes`` a label of null says that labels do not exclude each other.
        folder: of the answers of all services.
        policy: how it is asked.
        on_texts: called with the number of texts of every answer that was asked for.

    Attributes:
        asked: texts that it was asked about, those that were kept not counted.
        notes: what readers of the results must know of its answers.
    """

    def __init__(
        self,
        service: Service,
        folder: str | Path,
        policy: Asking,
        on_texts: Callable[[int], None] | None = None,
    ):
        self.store = kept_answers(service, folder)
        self.policy, self.on_texts = policy, on_texts
        self.service = service
        self.excluding = None not in service.classes.values()
        before = Limit(self.store, policy.requests_per_minute).wait
        self.client = Client(service.address, policy, service.plain_http, before)
        self.asked = 0
        self.notes: list[str] = []
        self._was_asked_again = False

    @property
    def labels(self) -> list[str]:
        """The labels of the answers, in the order of :meth:`probabilities`; none before the first."""
        return self.store.labels

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Probabilities, float64 (texts, labels), as the service gave them.

        Raises:
            InputError: it does not answer, or says nothing that can be used; answers until then are kept.
        """
        distinct = list(dict.fromkeys(texts))
        known = self.store.known(distinct)
        if len(known) < len(distinct):
            with self.store.alone():
                # Another job may have asked meanwhile.
                known |= self.store.known([text for text in distinct if text not in known])
                new = [text for text in distinct if text not in known]
                if new:
                    known |= self._answers(new)
                    self._ask_again(known)
        return np.array([known[text] for text in texts])

    def _answers(self, texts: list[str]) -> dict[str, np.ndarray]:
        """The answers to texts, kept as they come."""
        size = self.policy.batch
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        # One alone shows what the labels are, and what is wrong, before others are on their way.
        first = batches.pop(0)
        self._keep(first, self._ask(first, self.labels))
        labels = self.labels
        ask_each(self.client, iter(batches), lambda batch: self._ask(batch, labels), self._keep)
        return self.store.known(texts)

    def _ask(self, texts: list[str], labels: Sequence[str]) -> list[dict[str, float]]:
        """Probabilities by label of the texts of one request; where no labels are known, those of the first answer."""

        def read(answer: object, seconds: float) -> list[dict[str, float]]:
            found = probabilities_in(answer, self.service.answers, len(texts), self.excluding)
            return with_labels(found, labels)

        return self.client.ask(body_of(self.service.request, texts), read)

    def _keep(self, texts: list[str], answers: list[dict[str, float]]) -> None:
        self.store.keep(dict(zip(texts, answers, strict=True)))
        self.asked += len(texts)
        if self.on_texts:
            self.on_texts(len(texts))

    def _ask_again(self, known: Mapping[str, np.ndarray]) -> None:
        """Ask about some texts a second time, once in a job, and note what has changed; the first answer counts."""
        if self._was_asked_again or not self.policy.asked_again:
            return
        self._was_asked_again = True
        # Those that were answered before are as good as new ones: a service may change from one day to the next.
        texts, labels = list(known)[: self.policy.asked_again], self.labels
        change = []
        for start in range(0, len(texts), self.policy.batch):
            some = texts[start : start + self.policy.batch]
            for text, answer in zip(some, self._ask(some, labels), strict=True):
                second = np.array([answer[label] for label in labels])
                change.append(np.abs(second - known[text]).max())
        changed = sum(each > SAME for each in change)
        print(f"{changed} of {len(texts)} texts that were asked again have other probabilities", flush=True)
        if changed:
            self.notes.append(
                f"the service changes its answers: of {len(texts)} texts that it was asked again, {changed} had other "
                f"probabilities, by up to {max(change):.2g}; the first answer counts, and scores hold this chance"
            )


class Limit:
    """Waits until the next request may be sent, that of another job included."""

    def __init__(self, store: Store, requests_per_minute: float | None):
        self.store = store
        self.seconds = 60 / requests_per_minute if requests_per_minute else 0.0
        self._one_at_a_time = threading.Lock()

    def wait(self) -> None:
        """Wait, and note that a request is sent."""
        if not self.seconds:
            return
        with self._one_at_a_time:
            # A clock that was set back must not stop everything.
            time.sleep(min(self.seconds, max(0.0, self.store.last_request + self.seconds - time.time())))
            self.store.note_request()

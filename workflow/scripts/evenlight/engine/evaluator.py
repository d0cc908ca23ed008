"""The one place where a model is asked: full batches of rows from any number of sentences."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

import numpy as np
import torch

from evenlight.models.classifier import Classifier

# What a question yields (rows of token ids) and is sent back (their probabilities, rows × classes).
Rows = list[np.ndarray]
Question = Generator[Rows, np.ndarray, object]


class Evaluator:
    """Answers rows of token ids with class probabilities.

    Equal rows are computed once, rows of similar length share a batch, and a batch that does not fit into
    memory is halved, which is remembered.

    Args:
        classifier: the model, in evaluation mode.
        tokens_per_batch: most tokens, padding included, that go through the model at once.
    """

    def __init__(self, classifier: Classifier, tokens_per_batch: int):
        self.classifier = classifier
        self.tokens_per_batch = tokens_per_batch
        self.rows_computed = 0

    def batches(self, lengths: Sequence[int]) -> Iterator[np.ndarray]:
        """Indices of ``lengths`` in batches of similar length that keep to ``tokens_per_batch``."""
        order = np.argsort(lengths, kind="stable").tolist()
        start = 0
        while start < len(order):
            # The longest row of a batch is its last one, and every row is padded to it.
            end = start + 1
            while end < len(order) and (end + 1 - start) * lengths[order[end]] <= self.tokens_per_batch:
                end += 1
            yield np.array(order[start:end])
            start = end

    def in_memory(
        self, compute: Callable[[np.ndarray], np.ndarray], batch: np.ndarray, tokens: int | None = None
    ) -> np.ndarray:
        """``compute(batch)``, in halves where the device's memory is too small for the whole.

        ``tokens`` is the limit that ``batch`` was made for, ``tokens_per_batch`` unless given.
        """
        tokens = tokens or self.tokens_per_batch
        try:
            return compute(batch)
        except (torch.OutOfMemoryError, MemoryError):
            if tokens == 1:
                raise
        # Outside of the except clause, so that the failed attempt's tensors are released before the next.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        # Both halves may be too large in turn, which must count once only.
        tokens //= 2
        self.tokens_per_batch = min(self.tokens_per_batch, tokens)
        if len(batch) == 1:
            # One sentence may still be many rows, which ``compute`` cuts by ``tokens_per_batch``.
            return self.in_memory(compute, batch, tokens)
        half = len(batch) // 2
        return np.concatenate(
            [self.in_memory(compute, batch[:half], tokens), self.in_memory(compute, batch[half:], tokens)]
        )

    @torch.no_grad()
    def probabilities(self, rows: Rows) -> np.ndarray:
        """Class probabilities, float64 (rows, classes), of rows of token ids, in the rows' order."""
        if not rows:
            return np.zeros((0, self.classifier.classes))
        distinct = list({row.tobytes(): row for row in rows}.values())
        place = {row.tobytes(): index for index, row in enumerate(distinct)}
        answers = np.zeros((len(distinct), self.classifier.classes))

        def compute(batch: np.ndarray) -> np.ndarray:
            token_id, mask = self.classifier.padded([distinct[index] for index in batch])
            logits = self.classifier.logits(self.classifier.embed(token_id), mask)
            return logits.float().softmax(-1).cpu().double().numpy()

        for batch in self.batches([len(row) for row in distinct]):
            answers[batch] = self.in_memory(compute, batch)
        self.rows_computed += len(distinct)
        return answers[[place[row.tobytes()] for row in rows]]


def answer_in_lockstep(questions: Iterable[Question], evaluator: Evaluator, at_once: int = 512) -> Iterator[object]:
    """Run many questions side by side and give back their results, in order.

    A question is a generator: it yields rows of token ids, is sent their probabilities, may yield again, and
    returns its result. It reads like the method for one sentence; the rows of all open questions go to the
    model together. ``at_once`` questions are open at a time, which bounds the memory. Within one question, a
    row that was answered before is not asked again.
    """
    waiting: list[Question] = []
    for question in questions:
        waiting.append(question)
        if len(waiting) == at_once:
            yield from _answer_all(waiting, evaluator)
            waiting = []
    yield from _answer_all(waiting, evaluator)


def _answer_all(questions: list[Question], evaluator: Evaluator) -> list[object]:
    results: list[object] = [None] * len(questions)
    known: list[dict[bytes, np.ndarray]] = [{} for _ in questions]
    asked: dict[int, Rows] = {}

    def advance(index: int, answer: np.ndarray | None) -> None:
        try:
            asked[index] = questions[index].send(answer)
        except StopIteration as stop:
            asked.pop(index, None)
            results[index] = stop.value

    for index in range(len(questions)):
        advance(index, None)
    while asked:
        new = [
            (index, key, row)
            for index, rows in asked.items()
            for key, row in {row.tobytes(): row for row in rows}.items()
            if key not in known[index]
        ]
        answers = evaluator.probabilities([row for _, _, row in new])
        for (index, key, _), answer in zip(new, answers, strict=True):
            known[index][key] = answer
        for index, rows in list(asked.items()):
            answer = np.array([known[index][row.tobytes()] for row in rows])
            advance(index, answer.reshape(len(rows), evaluator.classifier.classes))
    return results

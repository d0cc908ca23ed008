"""The one place where a model is asked: full batches of rows from any number of sentences."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from transformers import Cache

from evenlight.engine.full_batches import FullBatches
from evenlight.models.classifier import Classifier
from evenlight.models.networks import word_table
from evenlight.models.readable import require_numbers
from evenlight.texts.prefixes import in_order, shared_with_the_last
from evenlight.texts.rows import Copies, Rows, marks_of, stand_behind

# What fills a graphics card.
TOKENS_ON_CUDA = 32768
# What stays in the cache of a processor, tokens × their width; beyond that, batches become slower. Fewer tokens than
# these are too few for its matrix products.
NUMBERS_ON_CPU, LEAST_ON_CPU = 3 * 2**18, 1024
# Padding that takes a processor about the time in which a batch is begun, tokens × the square of their width.
PADDING_ON_CPU = 6 * 2**20
# Of the tokens of some rows, the share from which on it is less work to compute each prefix once; how many times a
# batch's tokens its rows may have, whose keys and values are laid out for attention.
LEAST_SHARED, LAID_OUT = 0.05, 4
# Tokens of the rows of questions that are open at the same time.
OPEN_TOKENS = 2**20
# What a question yields (rows, as a matrix, as copies of a text or one by one), is sent back (their probabilities,
# rows × classes) and returns.
Result = TypeVar("Result")
Question = Generator[Rows | Copies | Sequence[np.ndarray], np.ndarray, Result]
# Some rows' places, and what was computed of them on the device.
Part = tuple[np.ndarray, tuple[torch.Tensor, ...]]


class Evaluator(FullBatches):
    """Answers rows of token ids with class probabilities.

    Equal rows are computed once, rows of similar length share a batch, and a batch that does not fit into
    memory is halved, which is remembered.

    Args:
        classifier: the model, in evaluation mode.
        tokens_per_batch: most tokens, padding included, that go through the model at once; 0 is what suits the
            device.

    Attributes:
        found_out: what explainers have found out about the model, where metrics explain again. It is told by texts of
            the vocabulary (``explainers.baselines.probes``) and holds nothing of vectors that were moved meanwhile.
        notes: what readers of the results must know of the answers, which a service may change; none of a network's.
    """

    notes: Sequence[str] = ()

    def __init__(self, classifier: Classifier, tokens_per_batch: int = 0):
        self.classifier = classifier
        super().__init__(
            tokens_per_batch or fitting_tokens(classifier),
            0 if classifier.model_inputs.reads_padding else fitting_padding(classifier),
        )
        self.rows_computed = 0
        self.found_out: dict = {}

    @cached_property
    def _prefix(self) -> Cache | None:
        """What the network keeps of the prefix of its prompt."""
        return self.classifier.read_prefix()

    @torch.inference_mode()
    def probabilities(self, rows: Rows | Sequence[np.ndarray]) -> np.ndarray:
        """Class probabilities, float64 (rows, classes), of rows of token ids, in the rows' order.

        Raises:
            WithoutAnswer: one is no number.
        """
        if not len(rows):
            return np.zeros((0, self.classifier.classes))
        rows = Rows.of(rows)
        first, kind = rows.distinct()
        self.rows_computed += len(first)
        asked = rows if len(first) == len(rows) else rows.taken(first)
        [probability] = self.gathered(self._answers(asked), len(asked))
        probability = probability[kind]
        require_numbers(self.classifier, rows, probability)
        return probability

    def _answers(self, rows: Rows) -> Iterator[Part]:
        """The probabilities (rows, classes) of rows in full batches."""
        whole, behind = np.arange(len(rows)), np.arange(0)
        prefix = np.array(self.classifier.model_inputs.prefix, dtype=np.int64)
        if len(prefix):
            is_behind = stand_behind(rows, prefix)
            whole, behind = np.flatnonzero(~is_behind), np.flatnonzero(is_behind)
        if len(whole):
            yield from self._read(rows.taken(whole) if len(behind) else rows, whole)
        if len(behind):
            rows = rows.taken(behind)
            rows = Rows(rows.token[:, len(prefix) :], rows.length - len(prefix))
            yield from self._read(rows, behind, self._prefix)

    def _read(self, rows: Rows, place: np.ndarray, prefix: Cache | None = None) -> Iterator[Part]:
        """The probabilities of rows that stand behind ``prefix``, each with its ``place``."""
        in_tree = self._worth_a_tree(rows, prefix)
        alone = np.delete(np.arange(len(rows)), in_tree)

        def compute(batch: np.ndarray) -> tuple[torch.Tensor]:
            token_id, mask = self.classifier.padded(rows.taken(alone[batch]))
            logits = self.classifier.logits(self.classifier.embed(token_id), mask, prefix)
            return (logits.float().softmax(-1),)

        def compute_in_tree(batch: np.ndarray) -> tuple[torch.Tensor]:
            logits = self.classifier.tree_logits(rows.taken(in_tree[batch]), prefix)
            return (logits.float().softmax(-1),)

        for batch, found in self._computed(rows.length[alone], compute, rows=1):
            yield place[alone[batch]], found
        for of_tree in self._batches_of_tree(rows.taken(in_tree)):
            for batch, found in self._in_memory(of_tree, compute_in_tree, self.tokens_per_batch):
                yield place[in_tree[batch]], found

    def _worth_a_tree(self, rows: Rows, prefix: Cache | None) -> np.ndarray:
        """Those of some rows, in order, that begin alike so often that a tree of them is less work; (in tree,)."""
        nothing = np.arange(0)
        most = self.classifier.model_inputs.longest_in_tree
        if most < 1:
            return nothing
        most -= 0 if prefix is None else prefix.get_seq_length()
        # Marks say more than a row's ids.
        found = np.flatnonzero((rows.length > 0) & (rows.length <= most) & ~marks_of(rows.token).any(axis=1))
        if len(found) < 2:
            return nothing
        found = found[in_order(rows.taken(found))]
        shared = shared_with_the_last(rows.taken(found)).sum()
        return found if shared > LEAST_SHARED * rows.length[found].sum() else nothing

    def _batches_of_tree(self, rows: Rows) -> Iterator[np.ndarray]:
        """Indices of rows that are in order, in batches whose trees keep to ``tokens_per_batch``."""
        if not len(rows):
            return
        shared, length = shared_with_the_last(rows), rows.length
        start = 0
        while start < len(rows):
            # Each row of a batch has a token of its own at least.
            part = slice(start, start + self.tokens_per_batch)
            own = length[part] - shared[part]
            own[0] = length[start]
            laid_out = np.maximum.accumulate(length[part]) * np.arange(1, len(own) + 1)
            fits = (own.cumsum() <= self.tokens_per_batch) & (laid_out <= LAID_OUT * self.tokens_per_batch)
            end = start + max(1, int(fits.sum()))
            yield np.arange(start, end)
            start = end


def fitting_tokens(classifier: Classifier) -> int:
    """How many tokens at once suit the classifier's device and width."""
    if classifier.device.type == "cuda":
        return TOKENS_ON_CUDA
    return max(LEAST_ON_CPU, NUMBERS_ON_CPU // _width(classifier))


def fitting_padding(classifier: Classifier) -> int:
    """How many tokens of padding a batch may have before another batch is less work."""
    if classifier.device.type == "cuda":
        return TOKENS_ON_CUDA
    return PADDING_ON_CPU // _width(classifier) ** 2


def _width(classifier: Classifier) -> int:
    # Some models embed words in fewer dimensions than their layers have.
    width = getattr(classifier.network.config, "hidden_size", None)
    return width or word_table(classifier.network).shape[-1]


@dataclass
class _Open:
    """A question that waits for an answer, or has its result.

    Attributes:
        question: the generator.
        asked: the rows that it waits for; None once it has its result.
        result: what it returned.
    """

    question: Question[Any]
    asked: Rows | Copies | None = None
    result: Any = None

    def advance(self, answer: np.ndarray | None) -> "_Open":
        """Send an answer and take the next rows or the result."""
        try:
            asked = self.question.send(answer)
            self.asked = asked if isinstance(asked, Copies) else Rows.of(asked)
        except StopIteration as stop:
            self.asked, self.result = None, stop.value
        return self


def answer_in_lockstep(
    questions: Iterable[Question[Result]], evaluator: Evaluator, at_once: int = 512
) -> Iterator[Result]:
    """Run many questions side by side and give back their results, in order.

    A question is a generator: it yields rows of token ids, is sent their probabilities, may yield again, and
    returns its result. It reads like the method for one sentence; the rows of all open questions go to the
    model together, where equal ones are computed once. What bounds the
    memory is that no more questions are opened once ``at_once`` are open or their first rows have
    :data:`OPEN_TOKENS` tokens.
    """
    window: list[_Open] = []
    tokens = 0
    for question in questions:
        opened = _Open(question).advance(None)
        window.append(opened)
        tokens += 0 if opened.asked is None else opened.asked.tokens
        if len(window) >= at_once or tokens >= OPEN_TOKENS:
            yield from _answer_all(window, evaluator)
            window, tokens = [], 0
    yield from _answer_all(window, evaluator)


def _answer_all(window: list[_Open], evaluator: Evaluator) -> list[Any]:
    waiting = [opened for opened in window if opened.asked is not None]
    while waiting:
        answers = evaluator.probabilities(Rows.joined([opened.asked for opened in waiting]))
        start = 0
        for opened in waiting:
            end = start + len(opened.asked)
            opened.advance(answers[start:end])
            start = end
        waiting = [opened for opened in waiting if opened.asked is not None]
    return [opened.result for opened in window]

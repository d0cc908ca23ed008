"""The one place where a model is asked: full batches of rows from any number of sentences."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from transformers import Cache

from evenlight.core.errors import first_line
from evenlight.engine.full_batches import FullBatches
from evenlight.models.classifier import Classifier
from evenlight.models.readable import require_numbers
from evenlight.texts.beginnings import in_order, shared_with_the_last
from evenlight.texts.rows import marks_of, row_behind

# What fills a graphics card.
TOKENS_ON_CUDA = 32768
# What stays in the cache of a processor, tokens × their width; beyond that, batches become slower. Fewer tokens than
# these are too few for its matrix products.
NUMBERS_ON_CPU, LEAST_ON_CPU = 3 * 2**18, 1024
# Padding that takes a processor about the time in which a batch is begun, tokens × the square of their width.
PADDING_ON_CPU = 6 * 2**20
# Of the tokens of some rows, the share from which on it is less work to compute each beginning once; how many times a
# batch's tokens its rows may have, whose keys and values are laid out for attention.
LEAST_SHARED, LAID_OUT = 0.05, 4
# What a question yields (rows of token ids) and is sent back (their probabilities, rows × classes).
Rows = list[np.ndarray]
Question = Generator[Rows, np.ndarray, object]


class Evaluator(FullBatches):
    """Answers rows of token ids with class probabilities.

    Equal rows are computed once, rows of similar length share a batch, and a batch that does not fit into
    memory is halved, which is remembered.

    Args:
        classifier: the model, in evaluation mode.
        tokens_per_batch: most tokens, padding included, that go through the model at once; 0 is what suits the
            device.
        compiled: whether rows of token ids go through a network that torch has compiled, where that is possible.

    Attributes:
        found_out: what explainers have found out about the model, where metrics explain again. It is told by texts of
            the vocabulary (``explainers.starts.probes``) and holds nothing of vectors that were moved meanwhile.
        notes: what readers of the results must know of the answers, which a service may change; none of a network's.
    """

    notes: Sequence[str] = ()

    def __init__(self, classifier: Classifier, tokens_per_batch: int = 0, compiled: bool = False):
        self.classifier = classifier
        super().__init__(
            tokens_per_batch or fitting_tokens(classifier),
            0 if classifier.model_inputs.reads_padding else fitting_padding(classifier),
        )
        self.rows_computed = 0
        self.compiled = compiled
        self.found_out: dict = {}

    @cached_property
    def _asked(self) -> Classifier:
        """The classifier for rows of ids. What looks into a network does so by hooks, which compiled ones ignore."""
        if not self.compiled or self.classifier.model_inputs.stand_ins or self.classifier.is_prompted:
            return self.classifier
        return replace(self.classifier, network=_compiled(self.classifier.network))

    @cached_property
    def _beginning(self) -> Cache | None:
        """What the network keeps of the beginning of its prompt."""
        return self._asked.read_beginning()

    @torch.inference_mode()
    def probabilities(self, rows: Rows) -> np.ndarray:
        """Class probabilities, float64 (rows, classes), of rows of token ids, in the rows' order.

        Raises:
            WithoutAnswer: one is no number.
        """
        if not rows:
            return np.zeros((0, self.classifier.classes))
        distinct = {row.tobytes(): row for row in rows}
        behind = self._behind_beginning(distinct)
        whole = {name: row for name, row in distinct.items() if name not in behind}
        answers = self._answers(whole) | (self._answers(behind, self._beginning) if behind else {})
        self.rows_computed += len(distinct)
        probability = np.array([answers[row.tobytes()] for row in rows])
        require_numbers(self.classifier, rows, probability)
        return probability

    def _behind_beginning(self, rows: dict[bytes, np.ndarray]) -> dict[bytes, np.ndarray]:
        """Those of some rows that begin with what needs to be read once only, without it."""
        beginning = np.array(self._asked.model_inputs.beginning, dtype=np.int64)
        if not len(beginning):
            return {}
        behind = ((name, row_behind(row, beginning)) for name, row in rows.items())
        return {name: row for name, row in behind if row is not None}

    def _answers(self, rows: dict[bytes, np.ndarray], beginning: Cache | None = None) -> dict[bytes, np.ndarray]:
        """Class probabilities (classes,) of each row, all of which stand behind ``beginning``."""
        in_tree = self._worth_a_tree(rows, beginning)
        alone = {name: row for name, row in rows.items() if name not in in_tree}
        asked = list(alone.values())

        def compute(batch: np.ndarray) -> tuple[torch.Tensor]:
            token_id, mask = self._asked.padded([asked[index] for index in batch])
            logits = self._asked.logits(self._asked.embed(token_id), mask, beginning)
            return (logits.float().softmax(-1),)

        answers = self.fetched([len(row) for row in asked], compute)
        found = {name: probability for name, (probability,) in zip(alone, answers, strict=True)}
        return found | (self._answers_in_tree(in_tree, beginning) if in_tree else {})

    def _worth_a_tree(self, rows: dict[bytes, np.ndarray], beginning: Cache | None) -> dict[bytes, np.ndarray]:
        """Those of some rows that begin alike so often that a tree of them is less work, in order."""
        most = self._asked.model_inputs.longest_in_tree - (0 if beginning is None else beginning.get_seq_length())
        # Compiled networks have an attention of their own, and marks say more than a row's ids.
        if most < 1 or self._asked is not self.classifier:
            return {}
        names = [name for name, row in rows.items() if 0 < len(row) <= most and not marks_of(row).any()]
        if len(names) < 2:
            return {}
        order = in_order([rows[name] for name in names])
        ordered = {names[index]: rows[names[index]] for index in order}
        tokens = sum(map(len, ordered.values()))
        return ordered if shared_with_the_last([*ordered.values()]).sum() > LEAST_SHARED * tokens else {}

    def _answers_in_tree(self, rows: dict[bytes, np.ndarray], beginning: Cache | None) -> dict[bytes, np.ndarray]:
        """Class probabilities (classes,) of each row; ``rows`` are in order."""
        asked = list(rows.values())

        def compute(batch: np.ndarray) -> tuple[torch.Tensor]:
            logits = self._asked.tree_logits([asked[index] for index in batch], beginning)
            return (logits.float().softmax(-1),)

        computed = (
            part
            for batch in self._batches_of_tree(asked)
            for part in self._in_memory(batch, compute, self.tokens_per_batch)
        )
        answers = self._fetched(computed, len(asked))
        return {name: probability for name, (probability,) in zip(rows, answers, strict=True)}

    def _batches_of_tree(self, rows: Rows) -> Iterator[np.ndarray]:
        """Indices of rows that are in order, in batches whose trees keep to ``tokens_per_batch``."""
        shared, length = shared_with_the_last(rows), np.array([len(row) for row in rows])
        start = 0
        while start < len(rows):
            own = length[start:] - shared[start:]
            own[0] = length[start]
            laid_out = np.maximum.accumulate(length[start:]) * np.arange(1, len(own) + 1)
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
    return width or classifier.network.get_input_embeddings().weight.shape[-1]


def _compiled(network: torch.nn.Module) -> torch.nn.Module:
    """``network`` compiled; itself, with a note in the log, where torch finds no compiler."""
    try:
        torch.compile(torch.nn.functional.gelu, dynamic=True)(torch.zeros(2, device=network.device))
    except Exception as error:  # whatever is missing: it only costs time
        print(f"note: runs without compilation, torch cannot compile here ({first_line(error)})")
        return network
    return torch.compile(network, dynamic=True)


@dataclass
class _Open:
    """A question that waits for an answer, or has its result.

    Attributes:
        question: the generator.
        asked: the rows that it waits for; None once it has its result.
        known: answers to its earlier rows.
        result: what it returned.
    """

    question: Question
    asked: Rows | None = None
    known: dict[bytes, np.ndarray] = field(default_factory=dict)
    result: object = None

    def advance(self, answer: np.ndarray | None) -> "_Open":
        """Send an answer and take the next rows or the result."""
        try:
            self.asked = self.question.send(answer)
        except StopIteration as stop:
            self.asked, self.result = None, stop.value
            self.known.clear()
        return self


def answer_in_lockstep(
    questions: Iterable[Question], evaluator: Evaluator, at_once: int = 512, tokens_at_once: int = 2**20
) -> Iterator[object]:
    """Run many questions side by side and give back their results, in order.

    A question is a generator: it yields rows of token ids, is sent their probabilities, may yield again, and
    returns its result. It reads like the method for one sentence; the rows of all open questions go to the
    model together. Within one question, a row that was answered before is not asked again. What bounds the
    memory is that no more questions are opened once ``at_once`` are open or their first rows have
    ``tokens_at_once`` tokens.
    """
    window: list[_Open] = []
    tokens = 0
    for question in questions:
        opened = _Open(question).advance(None)
        window.append(opened)
        tokens += sum(map(len, opened.asked or ()))
        if len(window) >= at_once or tokens >= tokens_at_once:
            yield from _answer_all(window, evaluator)
            window, tokens = [], 0
    yield from _answer_all(window, evaluator)


def _answer_all(window: list[_Open], evaluator: Evaluator) -> list[object]:
    waiting = [opened for opened in window if opened.asked is not None]
    # Transformers takes its time to look into a configuration.
    classes = evaluator.classifier.classes
    while waiting:
        new = [
            (opened, key, row)
            for opened in waiting
            for key, row in {row.tobytes(): row for row in opened.asked}.items()
            if key not in opened.known
        ]
        answers = evaluator.probabilities([row for _, _, row in new])
        for (opened, key, _), answer in zip(new, answers, strict=True):
            opened.known[key] = answer
        for opened in waiting:
            answer = np.array([opened.known[row.tobytes()] for row in opened.asked])
            opened.advance(answer.reshape(len(opened.asked), classes))
        waiting = [opened for opened in waiting if opened.asked is not None]
    return [opened.result for opened in window]

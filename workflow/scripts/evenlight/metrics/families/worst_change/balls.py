"""Sentences whose embeddings are moved within a ball, explained again: how much the explanations change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import torch

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Context, Explainer, explain
from evenlight.explainers.families.lime import Lime
from evenlight.metrics import Origin
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.worst_change import MaxSensitivity, WorstChange
from evenlight.metrics.perturbed_inputs import REACH, Input, Moved, loss_gradients
from evenlight.models.classifier import Classifier
from evenlight.models.devices import fetched, sent
from evenlight.models.networks import word_table
from evenlight.texts.predictions import Sentence
from evenlight.texts.rows import marks_of

# Sentences whose perturbed forms are explained together.
SENTENCES_AT_ONCE = 64


def radii_of(
    inputs: Sequence[Input], token_index: Sequence[torch.Tensor], metric: WorstChange | MaxSensitivity
) -> list[float]:
    """Radius of the ball in which tokens of each input move, in the units of its vectors.

    Args:
        inputs: what is moved.
        token_index: which of its tokens, int64 (moved,) each.
        metric: its ``radius``; whether it is ``relative`` to the norm of these tokens' vectors; which ``norm``, ``l2``
            over all of them together, or ``linf``, the largest absolute number.
    """
    if not metric.relative:
        return [metric.radius] * len(inputs)
    vectors = [start.vectors[moved] for start, moved in zip(inputs, token_index, strict=True)]
    norms = [
        each.new_ones(()) if not len(each) else each.norm() if metric.norm == "l2" else each.abs().max()
        for each in vectors
    ]
    return [metric.radius * float(norm) for norm in fetched(norms)]


def into_ball(offset: torch.Tensor, radius: float, norm: str) -> torch.Tensor:
    """The point of a ball around zero that is nearest to ``offset`` (moved, hidden)."""
    if norm == "linf":
        return offset.clamp(-radius, radius)
    return offset * (radius / offset.norm().clamp(min=radius))


def ascent(
    inputs: Sequence[Input], token_index: Sequence[torch.Tensor], metric: WorstChange, evaluator: Evaluator
) -> list[list[torch.Tensor]]:
    """Offsets (moved, hidden) of all steps of projected gradient ascent of the loss in a ball, for each input.

    Args:
        inputs: what is moved, with the class whose loss is raised.
        token_index: which of its tokens, int64 (moved,) each.
        metric: its ``steps``, and the ball's settings, see :func:`radii_of`.
        evaluator: asks the model.
    """
    radii = radii_of(inputs, token_index, metric)
    offset = [
        start.vectors.new_zeros(len(moved), start.vectors.shape[1])
        for start, moved in zip(inputs, token_index, strict=True)
    ]
    path: list[list[torch.Tensor]] = [[] for _ in inputs]
    for _ in range(metric.steps):
        rows = [Moved(*row) for row in zip(inputs, token_index, offset, strict=True)]
        for index, gradient in enumerate(loss_gradients(rows, evaluator)):
            step = REACH * radii[index] / metric.steps
            if metric.norm == "linf":
                moved = offset[index] + step * gradient.sign()
            else:
                # Where the gradient is zero there is no direction.
                moved = offset[index] + step * gradient / gradient.norm().clamp(min=torch.finfo(gradient.dtype).tiny)
            offset[index] = into_ball(moved, radii[index], metric.norm)
            path[index].append(offset[index])
    return path


def draws_in_ball(
    explanation: Explanation, like: torch.Tensor, metric: MaxSensitivity, radius: float, search: int
) -> list[torch.Tensor]:
    """Offsets (moved, hidden) drawn uniformly from a ball around zero, as many as ``draws``.

    All explanations of an item have the same ones in the same round of the ``search``.
    """
    generator = generator_for(explanation.origin.seed, explanation.item_id, "max_sensitivity", search)
    shape = (metric.draws, *like.shape)
    if metric.norm == "linf":
        return list(sent(generator.uniform(-radius, radius, shape), like.device, like.dtype))
    normal = sent(generator.standard_normal(shape), like.device, like.dtype)
    # Of the directions all are equally likely, and of the volume within a radius.
    lengths = radius * sent(generator.random(metric.draws), like.device, like.dtype) ** (1 / max(1, like.numel()))
    return [length * draw / draw.norm() for length, draw in zip(lengths, normal, strict=True)]


@dataclass(frozen=True)
class WithVectors(Classifier):
    """A classifier with further token ids, those beyond the vocabulary, for the rows of ``vectors`` (further, hidden).

    A sentence whose embeddings were moved is then a row of ids like any other: every explainer explains it as it is,
    those that hide tokens as well as those that follow gradients.
    """

    vectors: torch.Tensor = field(kw_only=True)

    def embed(self, token_id: torch.Tensor) -> torch.Tensor:
        """Word embeddings (rows, tokens, hidden) of ids (rows, tokens)."""
        known = len(word_table(self.network))
        further = token_id >= known
        embedding = super().embed(token_id.masked_fill(further, 0))
        return torch.where(further[..., None], self.vectors[(token_id - known).clamp(min=0)].to(embedding), embedding)


def require_explains_again(origin: Origin) -> None:
    """Refuse explanations whose explainer is not known, or cannot explain moved embeddings.

    Raises:
        InputError: so it is.
    """
    if not origin.settings:
        raise InputError(
            f"explainer {origin.explainer} has no known method, so that it cannot explain again; delete its "
            "attribution file and run the workflow again"
        )
    if isinstance(origin.entry, Lime) and origin.entry.definition == "released":
        raise InputError(
            f"explainers.{origin.explainer} works on text (definition 'released') and cannot explain moved embeddings, "
            "as metrics 'worst_change' and 'max_sensitivity' ask; use 'flip_area'"
        )


@dataclass(frozen=True)
class Start:
    """An explained sentence as it is.

    Attributes:
        explanation: one of its explanations.
        input: its vectors.
        token_index: the tokens that move, those of words; int64 (moved,).
    """

    explanation: Explanation
    input: Input
    token_index: torch.Tensor


def start_of(explanation: Explanation, classifier: Classifier) -> Start:
    """Where the movement begins."""
    with torch.no_grad():
        vectors = classifier.embed(sent(explanation.token_id, classifier.device))
    token_index = sent(np.flatnonzero(~explanation.is_special), classifier.device)
    mask = torch.from_numpy(marks_of(explanation.row) + 1)
    return Start(explanation, Input(vectors, explanation.target, mask), token_index)


def moved_sentences(
    starts: Sequence[Start], offsets: Sequence[Sequence[torch.Tensor]], classifier: Classifier
) -> tuple[list[Sentence], torch.Tensor]:
    """Each sentence moved by each of its offsets, (moved, hidden), as sentences of further token ids, in a row.

    Returns:
        The sentences, and the vectors of their further ids, (further, hidden).
    """
    sentences, further = [], []
    next_id = len(word_table(classifier.network))
    for start, start_offsets in zip(starts, offsets, strict=True):
        explanation = start.explanation
        for offset in start_offsets:
            token_id = explanation.token_id.copy()
            token_id[~explanation.is_special] = next_id + np.arange(len(start.token_index))
            next_id += len(start.token_index)
            sentences.append(replace(explanation.sentence, token_id=token_id))
            further.append(start.input.vectors[start.token_index] + offset)
    return sentences, torch.cat(further)


def explained_again(
    sentences: Sequence[Sentence], vectors: torch.Tensor, origins: Sequence[Origin], evaluator: Evaluator
) -> dict[str, list[np.ndarray]]:
    """Scores (tokens,) of all ``sentences`` by each explainer but those that explain from the data alone."""
    classifier = {name: getattr(evaluator.classifier, name) for name in Classifier.__dataclass_fields__}
    extended = Evaluator(WithVectors(**classifier, vectors=vectors), evaluator.tokens_per_batch)
    families: dict[tuple[str, int], dict[str, Explainer]] = {}
    for origin in origins:
        require_explains_again(origin)
        if not origin.entry.needs_model:
            continue
        families.setdefault((origin.entry.family, origin.seed), {})[origin.explainer] = origin.entry
    scores = {}
    for (_, seed), entries in families.items():
        context = Context(extended, seed, None, evaluator.found_out)
        for name, explanations in explain(entries, sentences, context).items():
            scores[name] = [attribution.token_score for attribution in explanations.attributions]
    return scores


def changes(
    starts: Sequence[Start],
    offsets: Sequence[Sequence[torch.Tensor]],
    explained: Sequence[Sequence[Explanation]],
    evaluator: Evaluator,
) -> list[list[np.ndarray]]:
    """‖Φ(y) − Φ(x)‖ / ‖Φ(x)‖ at each offset y, (offsets,), for each of the explanations Φ of each sentence x.

    Args:
        starts: the sentences.
        offsets: of each sentence, (moved, hidden).
        explained: the explanations of each sentence.
        evaluator: asks the model.
    """
    origins = {each.origin.explainer: each.origin for group in explained for each in group}
    sentences, vectors = moved_sentences(starts, offsets, evaluator.classifier)
    again = explained_again(sentences, vectors, list(origins.values()), evaluator)
    relative_changes: list[list[np.ndarray]] = []
    first = 0
    for group, start_offsets in zip(explained, offsets, strict=True):
        here = slice(first, first + len(start_offsets))
        first = here.stop
        relative_changes.append([])
        for explanation in group:
            score = explanation.token_score
            moved_scores = again.get(explanation.origin.explainer, [score] * len(sentences))[here]
            norm = np.linalg.norm(score)
            distances = [np.linalg.norm(moved_score - score) for moved_score in moved_scores]
            relative_changes[-1].append(np.array(distances) / norm if norm else np.full(len(distances), np.nan))
    return relative_changes


def largest_of_draws(
    starts: Sequence[Start], explained: Sequence[Sequence[Explanation]], metric: MaxSensitivity, evaluator: Evaluator
) -> list[list[float]]:
    """The largest change over random draws from the ball, for each explanation.

    Further rounds draw around the offset that changed the explanation most so far, and are brought back into the
    ball: an attack on the explanation itself, which needs none of its gradients.
    """
    # Each explanation has a search of its own from the second round on.
    each_start = [start for start, group in zip(starts, explained, strict=True) for _ in group]
    each = [explanation for group in explained for explanation in group]
    radii = radii_of([start.input for start in each_start], [start.token_index for start in each_start], metric)
    centre = [
        start.input.vectors.new_zeros(len(start.token_index), start.input.vectors.shape[1]) for start in each_start
    ]
    worst = np.full(len(each), -np.inf)
    for search in range(metric.rounds):
        offsets = [
            [
                into_ball(middle + draw, radius, metric.norm)
                for draw in draws_in_ball(explanation, middle, metric, radius, search)
            ]
            for explanation, middle, radius in zip(each, centre, radii, strict=True)
        ]
        if search == 0:
            firsts = np.cumsum([0, *map(len, explained)])[:-1]
            group_changes = changes(starts, [offsets[first] for first in firsts], explained, evaluator)
            drawn_changes = list(chain.from_iterable(group_changes))
        else:
            drawn_changes = _one_by_one(each_start, offsets, each, evaluator)
        for index, change in enumerate(drawn_changes):
            best = int(np.argmax(change))
            if not change[best] <= worst[index]:
                worst[index], centre[index] = change[best], offsets[index][best]
    remaining = iter(worst)
    return [[next(remaining) for _ in group] for group in explained]


def _one_by_one(
    starts: Sequence[Start],
    offsets: Sequence[Sequence[torch.Tensor]],
    explanations: Sequence[Explanation],
    evaluator: Evaluator,
) -> list[np.ndarray]:
    """The :func:`changes` of one explanation of each sentence, explainer by explainer."""
    relative_changes: list[np.ndarray] = [np.zeros(0)] * len(explanations)
    for explainer in dict.fromkeys(explanation.origin.explainer for explanation in explanations):
        indices = [index for index, each in enumerate(explanations) if each.origin.explainer == explainer]
        parts = [starts[index] for index in indices], [offsets[index] for index in indices]
        explainer_changes = changes(*parts, [[explanations[index]] for index in indices], evaluator)
        for index, [change] in zip(indices, explainer_changes, strict=True):
            relative_changes[index] = change
    return relative_changes


def groups_of_sentences(explanations: Sequence[Explanation]) -> Iterator[list[list[int]]]:
    """The places of the explanations of each sentence and target; some sentences at a time.

    Those are left out that cannot be made again, and those of no token: special tokens do not move.
    """
    by_sentence: dict[tuple, list[int]] = {}
    for index, explanation in enumerate(explanations):
        # Special tokens do not move.
        if (explanation.origin.settings and explanation.origin.entry.external) or explanation.is_special.all():
            continue
        key = (explanation.item_id, explanation.target, explanation.token_id.tobytes())
        by_sentence.setdefault(key, []).append(index)
    groups = list(by_sentence.values())
    for first in range(0, len(groups), SENTENCES_AT_ONCE):
        yield groups[first : first + SENTENCES_AT_ONCE]

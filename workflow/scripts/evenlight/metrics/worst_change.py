"""Worst change: what a small change of the input does to the explanation at most."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from evenlight.engine.evaluator import Evaluator
from evenlight.errors import InputError
from evenlight.explainers import NEED_TRAINING, Context, explain
from evenlight.metrics import Explanation, Origin
from evenlight.metrics.moved_inputs import REACH, Input, Moved, loss_gradients
from evenlight.models.classifier import Classifier
from evenlight.readings import Sentence

# Families that have an explanation of the text as it is and of no other.
CANNOT_EXPLAIN_AGAIN = {"imported"}

# Sentences whose perturbed forms are explained together.
SENTENCES_AT_ONCE = 64


def ascent(
    inputs: Sequence[Input], places: Sequence[torch.Tensor], settings: dict, evaluator: Evaluator
) -> list[list[torch.Tensor]]:
    """Offsets (moved, hidden) of all steps of projected gradient ascent of the loss in a ball, for each input.

    Args:
        inputs: what is moved, with the class whose loss is raised.
        places: which of its tokens, int64 (moved,) each.
        settings: ``radius`` and ``norm`` (``l2`` over all moved tokens together, or ``linf``) of the ball, ``steps``.
        evaluator: asks the model.
    """
    radius = settings["radius"]
    step = REACH * radius / settings["steps"]
    offset = [
        start.vectors.new_zeros(len(moved), start.vectors.shape[1]) for start, moved in zip(inputs, places, strict=True)
    ]
    path: list[list[torch.Tensor]] = [[] for _ in inputs]
    for _ in range(settings["steps"]):
        rows = [Moved(*row) for row in zip(inputs, places, offset, strict=True)]
        for index, gradient in enumerate(loss_gradients(rows, evaluator)):
            if settings["norm"] == "linf":
                offset[index] = (offset[index] + step * gradient.sign()).clamp(-radius, radius)
            else:
                # Where the gradient is zero there is no direction.
                moved = offset[index] + step * gradient / gradient.norm().clamp(min=torch.finfo(gradient.dtype).tiny)
                offset[index] = moved * (radius / moved.norm().clamp(min=radius))
            path[index].append(offset[index])
    return path


@dataclass(frozen=True)
class WithVectors(Classifier):
    """A classifier with further token ids, those beyond the vocabulary, for the rows of ``vectors`` (further, hidden).

    A sentence whose embeddings were moved is then a row of ids like any other: every explainer explains it as it is,
    those that hide tokens as well as those that follow gradients.
    """

    vectors: torch.Tensor = field(kw_only=True)

    def embed(self, token_id: torch.Tensor) -> torch.Tensor:
        """Word embeddings (rows, tokens, hidden) of ids (rows, tokens)."""
        words = self.network.get_input_embeddings()
        further = token_id >= words.num_embeddings
        embedding = words(token_id.masked_fill(further, 0))
        return torch.where(
            further[..., None], self.vectors[(token_id - words.num_embeddings).clamp(min=0)].to(embedding), embedding
        )


def require_explains_again(origin: Origin) -> None:
    """Refuse explanations whose explainer is not known, or cannot explain moved embeddings.

    Raises:
        InputError: so it is.
    """
    if not origin.family:
        raise InputError(
            f"explainer {origin.explainer} has no known method, so that it cannot explain again; delete its shard and "
            "run the workflow again"
        )
    if origin.settings["method"] == "lime" and origin.settings["definition"] == "released":
        raise InputError(
            f"explainers.{origin.explainer} works on text (definition 'released') and cannot explain moved embeddings, "
            "as metric 'worst_change' asks; use 'flip_area'"
        )


def moved_sentences(
    explanations: Sequence[Explanation], settings: dict, evaluator: Evaluator
) -> tuple[list[Sentence], torch.Tensor]:
    """The steps of :func:`ascent` from each explanation's sentence, as sentences of further token ids, in a row.

    Returns:
        The sentences, ``steps`` for each explanation, and the vectors of their further ids, (further, hidden).
    """
    classifier = evaluator.classifier
    inputs, places = [], []
    for explanation in explanations:
        with torch.no_grad():
            vectors = classifier.embed(torch.from_numpy(explanation.token_id).to(classifier.device))
        inputs.append(Input(vectors, explanation.target))
        places.append(torch.from_numpy(np.flatnonzero(~explanation.is_special)).to(classifier.device))
    sentences, further = [], []
    next_id = classifier.network.get_input_embeddings().num_embeddings
    paths = ascent(inputs, places, settings, evaluator)
    for explanation, start, moved, path in zip(explanations, inputs, places, paths, strict=True):
        for offset in path:
            token_id = explanation.token_id.copy()
            token_id[~explanation.is_special] = next_id + np.arange(len(moved))
            next_id += len(moved)
            sentences.append(
                Sentence(
                    explanation.item_id,
                    explanation.words,
                    token_id,
                    explanation.word_id,
                    explanation.target,
                    explanation.token_text,
                )
            )
            further.append(start.vectors[moved] + offset)
    return sentences, torch.cat(further)


def explained_again(
    sentences: Sequence[Sentence], vectors: torch.Tensor, origins: Sequence[Origin], evaluator: Evaluator
) -> dict[str, list[np.ndarray]]:
    """Scores (tokens,) of all ``sentences`` by each explainer but those that explain from the data alone."""
    classifier = {name: getattr(evaluator.classifier, name) for name in Classifier.__dataclass_fields__}
    extended = Evaluator(WithVectors(**classifier, vectors=vectors), evaluator.tokens_per_batch, evaluator.compiled)
    families: dict[tuple[str, int], dict[str, dict]] = {}
    for origin in origins:
        require_explains_again(origin)
        families.setdefault((origin.family, origin.seed), {})[origin.explainer] = origin.settings
    scores = {}
    for (family, seed), methods in families.items():
        if family in NEED_TRAINING:
            continue
        for name, explanations in explain(family, sentences, methods, Context(extended, seed, None)).items():
            scores[name] = [attribution.token_score for attribution in explanations.attributions]
    return scores


def worst_changes(explanations: Sequence[Explanation], settings: dict, evaluator: Evaluator) -> np.ndarray:
    """The largest ‖Φ(y) − Φ(x)‖ / ‖Φ(x)‖ over the steps y of :func:`ascent`; NaN where Φ(x) is 0 or imported."""
    by_sentence: dict[tuple, list[int]] = {}
    for index, explanation in enumerate(explanations):
        if explanation.origin.family in CANNOT_EXPLAIN_AGAIN:
            continue
        key = (explanation.item_id, explanation.target, explanation.token_id.tobytes())
        by_sentence.setdefault(key, []).append(index)
    groups = list(by_sentence.values())
    worst = np.full(len(explanations), np.nan)
    for start in range(0, len(groups), SENTENCES_AT_ONCE):
        chosen = groups[start : start + SENTENCES_AT_ONCE]
        origins = {
            explanations[index].origin.explainer: explanations[index].origin for group in chosen for index in group
        }
        sentences, vectors = moved_sentences([explanations[group[0]] for group in chosen], settings, evaluator)
        again = explained_again(sentences, vectors, list(origins.values()), evaluator)
        for number, group in enumerate(chosen):
            steps = slice(number * settings["steps"], (number + 1) * settings["steps"])
            for index in group:
                score = explanations[index].token_score
                changed = again.get(explanations[index].origin.explainer, [score] * len(sentences))[steps]
                if score.any():
                    worst[index] = max(np.linalg.norm(other - score) for other in changed) / np.linalg.norm(score)
    return worst


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator: Evaluator) -> dict[str, np.ndarray]:
    """The worst relative change of the explanation in a ball (Dhaini et al. 2025, Eq. 6); NaN where it is undefined."""
    return {name: worst_changes(explanations, settings, evaluator) for name, settings in metrics.items()}

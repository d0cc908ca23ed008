"""LIME on tokens: a weighted ridge regression on randomly masked copies of the sentence."""

from collections.abc import Sequence

import numpy as np

from evenlight.engine.evaluator import Question, answer_in_lockstep
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.seeds import generator_for

# Their copies, thousands for a long sentence, fill the batches; those of more sentences would fill the memory.
SENTENCES_AT_ONCE = 64


def kept_tokens(generator: np.random.Generator, samples: int, tokens: int) -> np.ndarray:
    """Which tokens stay in each perturbed copy, bool (samples, tokens); the first copy is the sentence itself.

    In each other copy the number of masked tokens is uniform on 1 … ``tokens`` and their places are a random
    subset, as in the authors' package (Ribeiro et al. 2016).
    """
    masked = generator.integers(1, tokens + 1, size=samples - 1)
    rank = generator.random((samples - 1, tokens)).argsort(axis=1).argsort(axis=1)
    return np.concatenate([np.ones((1, tokens), dtype=bool), rank >= masked[:, None]])


def weighted_ridge(features: np.ndarray, response: np.ndarray, weight: np.ndarray, ridge: float) -> np.ndarray:
    """Coefficients (features,) of a weighted ridge regression whose intercept is not penalised.

    Args:
        features: (samples, features).
        response: (samples,).
        weight: (samples,), not negative.
        ridge: strength of the penalty.
    """
    share = weight / weight.sum()
    centred = features - share @ features
    gram = (centred * weight[:, None]).T @ centred
    return np.linalg.solve(
        gram + ridge * np.eye(features.shape[1]), centred.T @ (weight * (response - share @ response))
    )


def proximity(kept: np.ndarray, kernel_width: float) -> np.ndarray:
    """LIME's weight of each copy, (samples,): exponential kernel on 100 × cosine distance to the sentence."""
    similarity = np.sqrt(kept.mean(axis=1))
    return np.sqrt(np.exp(-((100 * (1 - similarity)) ** 2) / kernel_width**2))


def _question(sentence: Sentence, settings: dict, mask: int, generator: np.random.Generator) -> Question:
    tokens = len(sentence.token_id)
    samples = settings["samples"] or min(tokens**2, settings["maximum_samples"])
    kept = kept_tokens(generator, samples, tokens)
    answer = yield list(np.where(kept, sentence.token_id, mask))
    coefficient = weighted_ridge(
        kept.astype(float), answer[:, sentence.target], proximity(kept, settings["kernel_width"]), settings["ridge"]
    )
    return Attribution(np.where(sentence.is_special, 0.0, coefficient), forward_rows=samples)


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """LIME as ferret defines it: special tokens are masked like any other and then score 0."""
    mask = context.evaluator.classifier.special_token("mask")
    return {
        name: Explanations(
            list(
                answer_in_lockstep(
                    (
                        _question(sentence, settings, mask, generator_for(context.seed, sentence.item_id, name))
                        for sentence in sentences
                    ),
                    context.evaluator,
                    SENTENCES_AT_ONCE,
                )
            )
        )
        for name, settings in methods.items()
    }

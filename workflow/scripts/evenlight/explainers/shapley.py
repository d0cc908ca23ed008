"""What Shapley values of a sentence's tokens have in common, however they are estimated.

The features are tokens, a subset shows some and hides the others, its value is the explained output. Every method
first lays out which subsets to ask about, a :class:`Plan`; all are asked in one go, and the plan turns the answers
into values. Where the rows allow it all subsets are asked, and the values are exact.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Question, answer_in_lockstep
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.hiding import hideable, reduced_rows, replacement_token
from evenlight.texts.predictions import explained_output

# A method lays out a plan for so many features, by its settings, with a generator for its draws.
Planner = Callable[[int, dict, np.random.Generator], "Plan"]


@dataclass(frozen=True)
class Plan:
    """Which subsets to ask about, and what to make of the answers.

    Attributes:
        shown: bool (subsets, features); the first subset shows nothing, the last shows everything.
        solve: values of the subsets (subsets,) to values of the features (features,).
    """

    shown: np.ndarray
    solve: Callable[[np.ndarray], np.ndarray]


def with_ends(shown: np.ndarray) -> np.ndarray:
    """The subset that shows nothing, ``shown``, and the subset that shows everything."""
    ends = np.zeros((2, shown.shape[1]), dtype=bool)
    ends[1] = True
    return np.concatenate([ends[:1], shown, ends[1:]])


def all_subsets(features: int) -> np.ndarray:
    """Every subset in the order of binary numbers, the first feature counting 1; bool (2^features, features)."""
    return (np.arange(2**features)[:, None] >> np.arange(features) & 1).astype(bool)


def exact_values(value: np.ndarray) -> np.ndarray:
    """Shapley values (features,) of the values of :func:`all_subsets` (Shapley 1953)."""
    features = len(value).bit_length() - 1
    subset = np.arange(len(value))
    size = all_subsets(features).sum(axis=1)
    share = np.array([1 / (features * math.comb(features - 1, size)) for size in range(features)] + [0.0])
    contribution = np.zeros(features)
    for feature in range(features):
        without = subset[(subset >> feature & 1) == 0]
        contribution[feature] = share[size[without]] @ (value[without | 1 << feature] - value[without])
    return contribution


def exact(features: int) -> Plan:
    """All subsets."""
    return Plan(all_subsets(features), exact_values)


def token_values(
    planner: Planner, sentence: Sentence, settings: dict, replacement: int | None, generator: np.random.Generator
) -> Question:
    """The Shapley values of a sentence's tokens; special ones are features where the settings include them.

    Args:
        planner: the method.
        sentence: what is explained.
        settings: of the explainer.
        replacement: id that stands in for a hidden token; None leaves it out.
        generator: draws the subsets.
    """
    token_index = hideable(sentence, settings["special_tokens"])
    plan = planner(len(token_index), settings, generator)
    answer = yield reduced_rows(sentence, token_index, plan.shown, replacement)
    return attribution(sentence, token_index, plan, explained_output(answer, sentence, settings))


def attribution(sentence: Sentence, token_index: np.ndarray, plan: Plan, value: np.ndarray) -> Attribution:
    """What a plan makes of the values of its subsets, as scores of the tokens ``token_index`` (features,)."""
    score = np.zeros(len(sentence.token_id))
    score[token_index] = plan.solve(value)
    gap = float(score.sum() - (value[-1] - value[0]))
    return Attribution(score, forward_rows=len(np.unique(plan.shown, axis=0)), completeness_gap=gap)


def explanations_by(
    question: Callable[..., Question], sentences: Sequence[Sentence], name: str, settings: dict, context: Context
) -> Explanations:
    """Every sentence's subsets are asked at once, together with those of many other sentences.

    Args:
        question: asks about a sentence; called with it, the settings, what stands in for a hidden token, a generator.
        sentences: what is explained.
        name: of the explainer; every sentence's draws derive from it.
        settings: of the explainer.
        context: model and seed.
    """
    replacement = replacement_token(context.evaluator.classifier, settings["hidden_token"])
    questions = (
        question(sentence, settings, replacement, generator_for(context.seed, sentence.item_id, name))
        for sentence in sentences
    )
    return Explanations(list(answer_in_lockstep(questions, context.evaluator)))

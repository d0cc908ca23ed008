"""The explainers, in families that share their passes through the model.

A family is a module of this package with one function ``explain(sentences, methods, context)``; the
configuration's schema (``$defs/explainers``) says which family a method belongs to and what its parameters are.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution


@dataclass(frozen=True)
class Context:
    """What a family may use besides the sentences.

    Attributes:
        evaluator: asks the model.
        seed: the study seed, from which every draw derives its own generator.
        training: the training split's items, for explanations that come from the data alone.
    """

    evaluator: Evaluator
    seed: int
    training: pd.DataFrame


@dataclass(frozen=True)
class Explanations:
    """What one explainer says of all sentences.

    Attributes:
        attributions: one per sentence, in order.
        note: what a reader of the scores must know, empty where there is nothing; goes into the shard and the tables.
    """

    attributions: list[Attribution]
    note: str = ""


def explain(
    family: str, sentences: Sequence[Sentence], methods: dict[str, dict], context: Context
) -> dict[str, Explanations]:
    """Explain ``sentences`` with the configured explainers of one family.

    Args:
        family: name of a module of this package.
        sentences: what to explain.
        methods: explainer name to its completed settings (``method`` and its parameters).
        context: model, seed and training items.

    Returns:
        The explanations by explainer name.
    """
    return importlib.import_module(f"{__name__}.{family}").explain(sentences, methods, context)

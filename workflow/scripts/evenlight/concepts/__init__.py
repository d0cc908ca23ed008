"""Explanations by concepts: what would a model answer, had the text said something else about one concept?

An explainer is a function from a :class:`~evenlight.concepts.question.Question` to one estimated effect per change,
float (changes, classes): the difference that the change makes to the model's probabilities. None asks the model: they
work from what is kept of one forward pass per text, of another explainer's attributions, or of the answers of networks
that are trained for it (:mod:`evenlight.concepts.forgetting`).
"""

from collections.abc import Callable

import numpy as np

from evenlight.concepts import counterfactual, observational, representations
from evenlight.concepts.attributed import summed_attributions
from evenlight.concepts.question import Question

METHODS: dict[str, Callable[..., np.ndarray]] = {
    "random_effects": observational.random,
    "approximate": observational.approximate,
    "conexp": observational.conexp,
    "s_learner": observational.s_learner,
    "matched": observational.matched,
    "training_pairs": observational.training_pairs,
    "tcav": representations.tcav,
    "concept_shap": representations.concept_shap,
    "inlp": representations.inlp,
    "leace": representations.leace,
    "summed_attributions": summed_attributions,
    "causalm": counterfactual.causalm,
}


def estimated(question: Question, method: str, **parameters) -> np.ndarray:
    """The effects that an explainer of :data:`METHODS` estimates, (changes, classes)."""
    return METHODS[method](question, **parameters)

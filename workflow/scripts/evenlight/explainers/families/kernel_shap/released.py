"""Kernel SHAP as captum has it, which GECOBench calls."""

import numpy as np

from evenlight.core.errors import present
from evenlight.engine.evaluator import Question
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.families.kernel_shap import KernelShap
from evenlight.explainers.families.kernel_shap.paper import independent_subsets
from evenlight.explainers.hiding import reduced_rows
from evenlight.explainers.shapley import Plan, attribution, exact, with_ends
from evenlight.texts.players import Players
from evenlight.texts.predictions import explained_output


def kernel_shap(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """The ends weigh 10⁶ instead of being constraints.

    Fewer subsets than features leave the regression undetermined; the smallest coefficients are taken.
    """
    if features < 2:
        return exact(features)
    shown = with_ends(independent_subsets(generator, evaluations - 2, features))
    weight = np.ones(len(shown))
    weight[[0, -1]] = 1e6
    root = np.sqrt(weight)[:, None]

    def solve(value: np.ndarray) -> np.ndarray:
        share = weight / weight.sum()
        centred = shown - share @ shown
        return np.linalg.lstsq(root * centred, root[:, 0] * (value - share @ value), rcond=None)[0]

    return Plan(shown, solve)


def token_values(
    entry: KernelShap, sentence: Sentence, replacement: int | None, generator: np.random.Generator
) -> Question[Attribution]:
    """GECOBench's Kernel SHAP: special tokens are features too, but hiding them changes nothing."""
    everywhere = np.arange(len(sentence.token_id))
    plan = kernel_shap(len(everywhere), present(entry.evaluations), generator)
    answer = yield reduced_rows(sentence, everywhere, plan.shown | sentence.is_special, replacement)
    return attribution(Players(everywhere), plan, explained_output(answer, sentence, entry.output))

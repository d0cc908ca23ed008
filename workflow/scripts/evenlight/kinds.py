"""The kinds of study: what each asks, and what a configuration must say for it.

What a kind computes and shows stands in ``rules/kinds/<name>.smk``, which fills ``TABLES`` and ``FIGURES``. The
Snakefile imports this module, so it imports nothing.
"""

from dataclasses import dataclass

# What an explanation is: a score for each token of a text, or the effect of a change of a concept.
TOKENS, EFFECTS = "tokens", "effects"
# What explanations of a modality are about: the folder whose items and units are compared.
UNITS = {TOKENS: "datasets", EFFECTS: "changes"}


@dataclass(frozen=True)
class Kind:
    """A kind of study.

    Attributes:
        question: what it asks.
        needs: keys of ``statistics`` without which it cannot be asked.
        modality: what its explanations are.
    """

    question: str
    needs: tuple[str, ...] = ()
    modality: str = TOKENS


KINDS = {
    "disparity": Kind("Are the explanations of one group better than those of another?", needs=("compare",)),
    "regimes": Kind(
        "Are explanations more correct in one regime, a way to train a model, than in another?", needs=("regimes",)
    ),
    "concepts": Kind(
        "Which explanations tell what a model does when a concept changes, and for which concepts?", modality=EFFECTS
    ),
    "description": Kind("How good are the models and their explanations, on each dataset and for each group?"),
}

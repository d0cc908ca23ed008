"""The kinds of study, and what explanations are: what a configuration chooses from.

What a kind shows stands in ``rules/kinds/<name>.smk``, which fills ``study.tables`` and ``study.figures``. Explanations
of any modality may stand in a study of any kind, side by side, where its data have what they are about. The Snakefile
imports this module, so it imports nothing.
"""

from dataclasses import dataclass

# What an explanation is: a score for each token of a text, the effect of a change of a concept, or an answer in words.
TOKENS, EFFECTS, TEXT = "tokens", "effects", "text"
# In its place, where scores were made elsewhere, and nobody says of what.
SCORES = "scores"


@dataclass(frozen=True)
class Modality:
    """What explanations are.

    Attributes:
        about: what one of them is about, in words.
        units: the folder below <results> whose items and units have explanations of this modality.
    """

    about: str
    units: str


MODALITIES = {
    TOKENS: Modality("the tokens of texts", "datasets"),
    EFFECTS: Modality("changes of a concept", "changes"),
    TEXT: Modality("answers in words", "datasets"),
}


@dataclass(frozen=True)
class Kind:
    """A kind of study.

    Attributes:
        question: what it asks.
        needs: keys of ``statistics`` without which it cannot be asked.
        explained: a modality without which it cannot be asked.
        only: the modalities that it can be asked of.
    """

    question: str
    needs: tuple[str, ...] = ()
    explained: str | None = None
    only: tuple[str, ...] = tuple(MODALITIES)


KINDS = {
    "disparity": Kind("Are the explanations of one group better than those of another?", needs=("compare",)),
    "regimes": Kind(
        "Are explanations more correct in one regime, a way to train a model, than in another?",
        needs=("regimes",),
        # A regime is compared on the texts that its model reads rightly, which is not said of changes.
        only=(TOKENS,),
    ),
    "concepts": Kind(
        "Which explanations tell what a model does when a concept changes, and for which concepts?", explained=EFFECTS
    ),
    "description": Kind("How good are the models and their explanations, on each dataset and for each group?"),
}

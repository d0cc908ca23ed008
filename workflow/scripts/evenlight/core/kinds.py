"""The kinds of study, and what explanations are: what a configuration chooses from.

Results and pages say of which kinds they are. Explanations of any modality may stand in a study of any kind, side by
side, where its data have what they are about. The Snakefile imports this module, so it imports nothing.
"""

from dataclasses import dataclass

# What an explanation is: a score for each token of a text, the effect of a change of a concept, or an answer in words.
TOKENS, EFFECTS, TEXT = "tokens", "effects", "text"
# The kind of study whose scores were made elsewhere, and what stands in the place of a modality there: nobody says of
# what they are.
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
        opens: the pages that its report names first, each with what it says; the first of them answers.
        category: where the report has what is compared; None where nothing is.
        needs: keys of ``statistics`` without which it cannot be asked.
        explained: a modality without which it cannot be asked.
        only: the modalities that it can be asked of; none where scores were made elsewhere.
    """

    question: str
    opens: dict[str, str]
    category: str | None = None
    needs: tuple[str, ...] = ()
    explained: str | None = None
    only: tuple[str, ...] = tuple(MODALITIES)


KINDS = {
    "disparity": Kind(
        "Are the explanations of one group better than those of another?",
        {
            "effects": (
                "who is explained better more often: wins, losses and ties, with verdicts, and how large differences "
                "are. This page first."
            ),
            "disparity": "counts of significant seeds, as they are usually published.",
            "covariate_adjusted": (
                "what is left of disparities between texts that are equally long, equally sure and equally right."
            ),
        },
        category="Disparity",
        needs=("compare",),
    ),
    "strategies": Kind(
        "Are explanations more correct in one way to fine-tune a model, its strategy, than in another?",
        {
            "strategies": "how correct the explanations are in every strategy, beside random scores.",
            "effects": (
                "which strategies are explained better more often than the baseline, and how large differences are."
            ),
        },
        category="Strategies",
        needs=("strategies",),
        # A strategy is compared on the texts that its model reads rightly, which is not said of changes.
        only=(TOKENS,),
    ),
    "concepts": Kind(
        "Which explanations tell what a model does when a concept changes, and for which concepts?",
        {
            "concepts": "how far every explainer is off, by concept, and what the concepts do to the models.",
            "effects": (
                "for which concepts and texts the estimates are better more often, and how large differences are."
            ),
        },
        category="Concepts",
        explained=EFFECTS,
    ),
    "description": Kind("How good are the models and their explanations, on each dataset and for each group?", {}),
    SCORES: Kind(
        "Are scores that were made elsewhere equally good for every group?",
        {"effects": "who has the better score more often: wins, losses and ties, with verdicts."},
        category="Scores",
        only=(),
    ),
}

# The kinds that explain, and compare two levels of something, cell by cell.
COMPARING = tuple(name for name, kind in KINDS.items() if kind.category and kind.only)

"""Explainers that estimate what changes of concepts do to a model; what they compute is in `concepts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, ValidationError, field_validator

from evenlight.core.kinds import EFFECTS
from evenlight.explainers.base import Explainer
from evenlight.settings import (
    Location,
    Name,
    Text,
    refusal,
    shown,
)

if TYPE_CHECKING:
    import numpy as np

    from evenlight.concepts.question import Question


class ConceptExplainer(Explainer):
    """An explainer that estimates what a change of a concept does to the model's probabilities."""

    family: ClassVar[str] = "concepts"
    modality: ClassVar[str] = EFFECTS
    needs_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False

    def estimate(self, question: Question) -> np.ndarray:
        """The estimated effect of each change on the probabilities, float (changes, classes)."""
        raise NotImplementedError(f"{type(self).__name__}.estimate")


TextLevels = Annotated[
    Literal["predicted", "people"],
    Field(
        description=(
            "What is known of the levels of a text: those that are `predicted`, see `explain.levels_by`, as in the "
            "paper, or those that `people` gave."
        ),
    ),
]


def _adding_up() -> str:
    return ", ".join(method for method, entry in Explainer.entries.items() if entry.additive)


class SummedAttributions(ConceptExplainer):
    """Attributions of another explainer to every class, summed over the words that speak of the concept: what they are
    on average in training texts at the new level, less what they are in the text.
    """

    title: ClassVar[str] = "Summed attributions"
    sums_explainer: ClassVar[bool] = True
    draws: ClassVar[bool | None] = None  # as the other explainer does

    method: Literal["summed_attributions"]
    explainer: dict[Name, bool | int | float | str | None] = Field(
        description=(
            "The other explainer: its `method` and further keys of it, such as `{method: integrated_gradients, steps: "
            f"10}}`. Its scores must say what a token adds to an output, as those of {_adding_up()} do."
        )
    )
    words: Literal["learned", "restaurants", "causal_simulation"] = Field(
        "learned",
        description=(
            "Which words speak of a concept: those whose presence goes with the labels of training texts are "
            "`learned`; this project's lists are for `restaurants` (CEBaB) and the `causal_simulation` in English."
        ),
    )
    lexicon: Location | None = Field(
        None,
        description=(
            "A file of your own in place of `words`, like resources/lexicons/restaurants.yaml; path from where "
            "Snakemake is started."
        ),
    )
    reach: Literal["word", "clause"] = Field(
        "word",
        description=(
            "Whether a `word` speaks of a concept alone, or all words of its `clause` do; clauses with words of "
            "several concepts are shared."
        ),
    )
    texts: int = Field(50, ge=1, description="Most training texts at each level of a concept whose mean counts.")

    @field_validator("explainer")
    @classmethod
    def _complete(cls, value: dict) -> dict:
        """Imported when needed, as most studies have no such entry."""
        from evenlight.settings.problems import problems_of

        entry = Explainer.entries.get(value.get("method", ""))
        if entry is None or not entry.additive:
            raise refusal((("method",), f"found {shown(value.get('method'))}; allowed is one of {_adding_up()}"))
        try:
            completed = entry.model_validate(value).model_dump(exclude={"label", "datasets"})
        except ValidationError as error:
            raise refusal(((), "; ".join(problems_of(error, value, entry)))) from None
        if completed["output"] == "contrast":
            raise refusal((("output",), 'found "contrast"; every class is attributed by itself, without a foil'))
        if completed.get("aggregation", "sum") != "sum":
            raise refusal((("aggregation",), f"found {shown(completed['aggregation'])}; allowed is sum, with its sign"))
        return completed

    @property
    def summed(self) -> Explainer:
        """The other explainer."""
        return Explainer.parse(self.explainer)

    def estimate(self, question: Question) -> np.ndarray:
        """By sums that the question has, of the words that the other fields choose."""
        from evenlight.concepts.attributed import summed_attributions

        return summed_attributions(question, str(self.explainer["output"]))


class RandomEffects(ConceptExplainer):
    """The difference of two distributions over the classes that are drawn at random."""

    title: ClassVar[str] = "Random effects"
    draws: ClassVar[bool] = True
    is_random: ClassVar[bool] = True

    method: Literal["random_effects"]

    def estimate(self, question: Question) -> np.ndarray:
        """Two draws for each change."""
        from evenlight.concepts.observational import random

        return random(question)


class ApproximateCounterfactuals(ConceptExplainer):
    """A training text at the wanted levels, drawn at random, in place of the counterfactual (Abraham et al. 2022)."""

    title: ClassVar[str] = "Approximate counterfactuals"
    draws: ClassVar[bool] = True

    method: Literal["approximate"]
    text_levels: TextLevels = "predicted"

    def estimate(self, question: Question) -> np.ndarray:
        """By a text in place of the counterfactual."""
        from evenlight.concepts.observational import approximate

        return approximate(question)


class MatchedCounterfactuals(ConceptExplainer):
    """The mean of the nearest training texts at the wanted level, in place of the counterfactual."""

    title: ClassVar[str] = "Matched counterfactuals"
    draws: ClassVar[bool] = True

    method: Literal["matched"]
    text_levels: TextLevels = "predicted"
    neighbours: int = Field(10, ge=1, description="How many texts stand for the counterfactual; their mean counts.")
    by: Literal["representation", "propensity"] = Field(
        "representation",
        description=(
            "What is near: the `representation`, of texts that have the other concepts' levels, too; or the "
            "`propensity`, the odds of the new level given the other concepts' levels."
        ),
    )

    def estimate(self, question: Question) -> np.ndarray:
        """By some texts in place of the counterfactual."""
        from evenlight.concepts.observational import matched

        return matched(question, self.neighbours, self.by)


class Conexp(ConceptExplainer):
    """The difference of the mean probabilities of the training texts at either level (Goyal et al. 2019)."""

    title: ClassVar[str] = "CONEXP"

    method: Literal["conexp"]

    def estimate(self, question: Question) -> np.ndarray:
        """By means of all texts."""
        from evenlight.concepts.observational import conexp

        return conexp(question)


class SLearner(ConceptExplainer):
    """A logistic regression on the levels of all concepts, asked before and after the change (Künzel et al. 2019)."""

    title: ClassVar[str] = "S-Learner"

    method: Literal["s_learner"]
    text_levels: TextLevels = "predicted"
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`paper` knows the level of the changed concept before the change; CEBaB's `released` code takes it as it "
            "is predicted, too."
        ),
    )
    calibrated: bool = Field(
        False,
        description=(
            "Whether it learns the model's probabilities without penalty, so that at each level its mean is the "
            "model's; otherwise it learns the predicted class, as the released code does."
        ),
    )

    def estimate(self, question: Question) -> np.ndarray:
        """By what is learned of the levels."""
        from evenlight.concepts.observational import s_learner

        return s_learner(question, self.definition, self.calibrated)


class TrainingPairs(ConceptExplainer):
    """What real edits of the same direction did to texts outside of the test: an upper bound that no observer knows.
    Needs a dataset with such edits (CEBaB).
    """

    title: ClassVar[str] = "Training pairs"

    method: Literal["training_pairs"]
    neighbours: int | None = Field(
        None, ge=1, description="How many edits of the nearest texts count; `null` is the mean of all."
    )

    def estimate(self, question: Question) -> np.ndarray:
        """By real edits."""
        from evenlight.concepts.observational import training_pairs

        return training_pairs(question, self.neighbours)


class Tcav(ConceptExplainer):
    """How the probabilities answer to a step in the direction of a concept (Kim et al. 2018)."""

    title: ClassVar[str] = "TCAV"

    method: Literal["tcav"]
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`paper` separates the level after from the level before. CEBaB's `released` code separates positive texts "
            "from all others, reverses the sign and adds up the gradients of the classes."
        ),
    )

    def estimate(self, question: Question) -> np.ndarray:
        """By the direction of each change."""
        from evenlight.concepts.representations import tcav

        return tcav(question, self.definition)


class ConceptShap(ConceptExplainer):
    """The Shapley value of a concept among all, whose directions recover the representation (Yeh et al. 2020)."""

    title: ClassVar[str] = "ConceptSHAP"

    method: Literal["concept_shap"]

    def estimate(self, question: Question) -> np.ndarray:
        """By the share of each concept."""
        from evenlight.concepts.representations import concept_shap

        return concept_shap(question)


class Inlp(ConceptExplainer):
    """The representation without what linear classifiers, one by one, find of the concept (Ravfogel et al. 2020)."""

    title: ClassVar[str] = "INLP"
    version: ClassVar[int] = 2
    draws: ClassVar[bool] = True

    method: Literal["inlp"]
    iterations: int = Field(10, ge=1, description="Most classifiers for each concept.")

    def estimate(self, question: Question) -> np.ndarray:
        """By what is left of the representation."""
        from evenlight.concepts.representations import inlp

        return inlp(question, self.iterations)


class Leace(ConceptExplainer):
    """The representation without any linear trace of the concept, changed as little as can be (Belrose et al. 2023)."""

    title: ClassVar[str] = "LEACE"

    method: Literal["leace"]

    def estimate(self, question: Question) -> np.ndarray:
        """By what is left of the representation."""
        from evenlight.concepts.representations import leace

        return leace(question)


class Causalm(ConceptExplainer):
    """The answer of a network of its own, which is trained to leave the concept out and to keep the one that is
    associated with it the most (CausaLM, Feder et al. 2021). It begins as the model, and is trained for each concept,
    model and seed.
    """

    title: ClassVar[str] = "CausaLM"
    trains_network: ClassVar[bool] = True
    draws: ClassVar[bool] = True

    method: Literal["causalm"]
    training: Text | None = Field(
        None,
        description=(
            "How the network is trained on: the name of one of `trainings`; `null` is the training of each model. Its "
            "`start`, `fresh`, `epochs`, `patience` and `kept_epoch` do not count: the `epochs` given here are all "
            "trained, and the last one is kept."
        ),
    )
    epochs: int = Field(3, ge=1, description="Passes over the texts; 3 are those of CEBaB's released script.")
    texts: int | None = Field(
        None, ge=1, description="Learn from only this many training texts, drawn at random; `null` takes all."
    )
    control: bool = Field(
        True, description="Whether a head keeps the concept that is associated with the treated one the most."
    )
    strength: float = Field(
        2.0,
        gt=0,
        description=(
            "Weight of forgetting beside the task (λ). Below 1 the task keeps what it needs of the concept; "
            "CEBaB's 0.1 stands beside a language model's loss."
        ),
    )
    head_speed: float = Field(
        200.0,
        gt=0,
        description="How many times as fast as the network the heads learn, so that they see what is left to be told.",
    )

    def estimate(self, question: Question) -> np.ndarray:
        """By the answers of the networks, which the question has."""
        from evenlight.concepts.counterfactual import causalm

        return causalm(question)

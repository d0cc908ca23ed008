"""LIME on tokens as ferret defines it, on words as the authors' package or GECOBench's code does, or on players."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.explainers.base import Context, Explainer, Explanations
from evenlight.explainers.fields import AskedOutput
from evenlight.settings import refusal

if TYPE_CHECKING:
    import numpy as np

    from evenlight.engine.evaluator import Question
    from evenlight.models.classifier import Classifier
    from evenlight.texts.predictions import Sentence

# Their copies, thousands for a long sentence, fill the batches; those of more sentences would fill the memory.
SENTENCES_AT_ONCE = 64


class Lime(Explainer):
    """Coefficients of a weighted ridge regression that predicts the target's probability from which tokens or words are
    hidden (Ribeiro et al. 2016).
    """

    title: ClassVar[str] = "LIME"
    needs_internals: ClassVar[bool] = False
    draws: ClassVar[bool] = True
    target_independent: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    method: Literal["lime"]
    features: Literal["token", "word", "sentence"] = Field(
        "token",
        description=(
            "What is hidden: each `token` by the mask token (ferret, the disparity study), or each distinct "
            "`word` by leaving out all its occurrences (the authors' package, GECOBench with 100 `samples`). Of a "
            "long text it may be each `sentence`, by mask tokens."
        ),
    )
    equal_words: Literal["together", "apart"] = Field(
        "together",
        description=(
            "Of word features: equal words are one feature, left out `together` (the authors' package); or each "
            "stands `apart`, its pieces hidden by mask tokens, as `features: word` does in Shapley values."
        ),
    )
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "Of word features: `paper` explains the target and gives a word's score to its own tokens. "
            "The choice `released`, as GECOBench's code, explains class 1 whatever the target. A token then has the "
            'score of a word that contains its spelling ("he" that of "she").'
        ),
    )
    special_tokens: Literal["unscored", "excluded", "included"] = Field(
        "unscored",
        description=(
            "Of token features: `unscored` special tokens are hidden like others and score 0 (ferret); `excluded` "
            "ones are never hidden; `included` ones are tokens like others."
        ),
    )
    samples: int | None = Field(
        None,
        ge=2,
        description="Reduced texts per item; `null` is the squared number of features, at most `maximum_samples`.",
    )
    maximum_samples: int = Field(5000, ge=2, description="Upper bound where `samples` is `null`.")
    asked: int | None = Field(
        None,
        ge=2,
        description=(
            "How many of the reduced texts the model is asked about; a Gaussian process that is fitted to its "
            "answers gives the others. `null` asks about all."
        ),
    )
    kernel_width: float = Field(
        25.0,
        gt=0,
        description=(
            "Width of the exponential kernel that weights a masked text by its distance, 100 × the cosine distance."
        ),
    )
    ridge: float = Field(1.0, gt=0, description="Strength of the ridge penalty.")
    output: AskedOutput = "probability"

    @model_validator(mode="after")
    def _released_explains_one_class(self) -> Self:
        if (self.features, self.definition, self.output) == ("word", "released", "contrast"):
            said = 'found "contrast" with definition "released", which explains the probability of class 1'
            raise refusal((("output",), f"{said}; leave the key out, or choose another definition"))
        if (self.features, self.definition, self.equal_words) == ("word", "released", "apart"):
            said = 'found "apart" with definition "released", whose features are distinct words'
            raise refusal((("equal_words",), f"{said}; leave the key out, or choose another definition"))
        return self

    @property
    def hides_distinct_words(self) -> bool:
        """Whether a word that is there twice is one feature."""
        return self.features == "word" and self.equal_words == "together"

    @property
    def hides_special_tokens(self) -> bool:
        """Whether special tokens are hidden like any other token."""
        return self.special_tokens == "included" or (self.special_tokens == "unscored" and self.features == "token")

    def rows(self, sentence: Sentence) -> float:
        """The different ones among the copies: a size is drawn first, so that small and large subsets repeat."""
        from evenlight.explainers.families.lime.paper import different_copies, features_of

        return different_copies(self, features_of(self, sentence))

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Coefficients of every sentence's features, shared by their tokens."""
        from evenlight.engine.evaluator import answer_in_lockstep
        from evenlight.explainers.surrogate import remarks_on_fits

        evaluator = context.evaluator
        questions = (
            self._question(sentence, evaluator.classifier, context.generator(sentence.item_id))
            for sentence in sentences
        )
        attributions = list(answer_in_lockstep(questions, evaluator, SENTENCES_AT_ONCE))
        return Explanations(attributions, remarks_on_fits(attributions))

    def _question(self, sentence: Sentence, classifier: Classifier, generator: np.random.Generator) -> Question:
        from evenlight.explainers.families.lime import paper, released

        if not self.hides_distinct_words:
            return paper.on_players(self, sentence, classifier, generator)
        definition = released if self.definition == "released" else paper
        return definition.on_words(self, sentence, classifier, generator)

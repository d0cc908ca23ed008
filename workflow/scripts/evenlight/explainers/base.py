"""What every explainer is: settings, tags and what it says of texts; and what families are given."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field

from evenlight.core.kinds import TOKENS
from evenlight.explainers.attribution import Attribution, Remark, note_of, remarks_on_items
from evenlight.explainers.fields import Output
from evenlight.settings import ForDatasets, Heading, Method

# Planning, which reads the settings of classes, needs none of these. Their names are quoted one by one: were all
# annotations texts, each explainer would compile those of the class below again, which takes half of its making.
if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pandas as pd

    from evenlight.texts.predictions import Sentence


@dataclass(frozen=True)
class Context:
    """What an explainer may use besides the sentences.

    Attributes:
        evaluator: asks the model, an :class:`evenlight.engine.evaluator.Evaluator`; None for families that do not ask.
        seed: the study seed, from which every draw derives its own generator.
        training: the training split's items, for explainers that learn from them (tag ``needs_training``).
        memory: what a family finds out once and uses for every group of sentences.
        name: of the explainer, so that two with the same settings draw differently.
    """

    # Not by its class: families that ask no model do without the engine.
    evaluator: Any
    seed: int
    training: "pd.DataFrame | None"
    memory: dict = field(default_factory=dict)
    name: str = ""

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, which is called when ``key`` is asked for the first time."""
        if key not in self.memory:
            self.memory[key] = make()
        return self.memory[key]

    def generator(self, item_id: str) -> "np.random.Generator":
        """What draws for one text: neither batches nor other texts nor other explainers change its draws."""
        from evenlight.core.seeds import generator_for

        return generator_for(self.seed, item_id, self.name)


@dataclass(frozen=True)
class Explanations:
    """What one explainer says of all sentences.

    Attributes:
        attributions: one per sentence, in order.
        remarks: what a reader of the scores must know; a plain text is one remark. Goes into the attribution file and
            the tables.
    """

    attributions: list[Attribution]
    remarks: str | Sequence[Remark] = ()

    def __post_init__(self):
        """Make a plain text a remark."""
        if isinstance(self.remarks, str):
            object.__setattr__(self, "remarks", (Remark(self.remarks),) if self.remarks else ())

    @property
    def note(self) -> str:
        """The remarks as one text, empty where there is nothing to know."""
        remarks = [remark for remark in self.remarks if isinstance(remark, Remark)]
        return note_of(remarks_on_items(remarks, len(self.attributions)))


class Explainer(Method):
    """An explainer: one class has its settings, its tags, its documentation and its code.

    What it is its tags say, and no list elsewhere. A subclass has :meth:`explain`; where explainers share their passes
    through the model, their class in common has :meth:`explain_together`.

    Attributes:
        modality: what its explanations are, see :data:`evenlight.core.kinds.MODALITIES`.
        needs_model: False where the family never asks the model, so that its jobs claim no graphics card.
        needs_internals: False where probabilities are all that it asks the model for, so that it explains services too.
        needs_training: whether it learns from the texts of the training split.
        needs_other_texts: whether an explanation may depend on more than its text, the settings and the model. Of such
            explanations none is taken over when other texts change.
        draws: whether it draws at random, so that another seed may give another explanation; None where nobody knows.
        is_random: whether its explanations know nothing of the model, so that others must get beyond them.
        is_reference: whether others are read beside it, and it is no explainer that a verdict is about.
        external: whether its explanations are read from a file, so that it cannot explain again.
        target_independent: whether it asks the model the same, whichever class it explains.
        additive: whether a score says what a token adds to the output, so that a sum of scores says what they all add.
        sums_explainer: whether it sums up the scores of another explainer, that of its key `explainer`.
        trains_network: whether it trains a network of its own for each concept.
        answered_by: of answers in words, the architectures of models that can be asked for them; none where any can.
        follows: of answers in words, what can be known of what follows from them, for metrics that need it.
    """

    section: ClassVar[str] = "explainers"
    key: ClassVar[str] = "method"
    entries: ClassVar[dict[str, type["Explainer"]]] = {}
    modality: ClassVar[str] = TOKENS
    needs_model: ClassVar[bool] = True
    needs_internals: ClassVar[bool] = True
    needs_training: ClassVar[bool] = False
    needs_other_texts: ClassVar[bool] = False
    draws: ClassVar[bool | None] = False
    is_random: ClassVar[bool] = False
    is_reference: ClassVar[bool] = False
    external: ClassVar[bool] = False
    target_independent: ClassVar[bool] = False
    additive: ClassVar[bool] = False
    sums_explainer: ClassVar[bool] = False
    trains_network: ClassVar[bool] = False
    answered_by: ClassVar[tuple[str, ...]] = ()
    follows: ClassVar[tuple[str, ...]] = ()

    method: str
    label: Heading | None = Field(None, description="Heading in tables and figures; `null` is the name of the entry.")
    datasets: ForDatasets = None

    @classmethod
    def __pydantic_init_subclass__(cls, **more: Any) -> None:
        """Register the class; others are held against explanations that know nothing of the model."""
        cls.is_reference = cls.is_reference or cls.is_random
        super().__pydantic_init_subclass__(**more)

    @classmethod
    def estimates(cls) -> bool:
        """Whether it estimates by random draws, so that some texts are explained twice to tell how much is chance."""
        return bool(cls.draws and not cls.is_random)

    def rows(self, sentence: "Sentence") -> float:
        """How many rows it is likely to ask about a sentence, of which the words may be missing."""
        return 1

    def explain(self, sentences: "Sequence[Sentence]", context: Context) -> Explanations:
        """What it says of each sentence, in order."""
        raise NotImplementedError(f"{type(self).__name__}.explain")

    @classmethod
    def explain_together(
        cls, entries: Mapping[str, Self], sentences: "Sequence[Sentence]", context: Context
    ) -> dict[str, Explanations]:
        """What explainers of one family say, by their names: each by itself, where they share no passes."""
        return {name: entry.explain(sentences, replace(context, name=name)) for name, entry in entries.items()}


class GradientExplainer(Explainer):
    """What the methods that differentiate the model have in common."""

    output: Output = "logit"


def explain(
    entries: Mapping[str, Explainer], sentences: "Sequence[Sentence]", context: Context
) -> dict[str, Explanations]:
    """Explain ``sentences`` with explainers of one family.

    Args:
        entries: the explainers, by the name of each.
        sentences: what to explain.
        context: model, seed and training items.

    Returns:
        The explanations by explainer name.

    Raises:
        InputError: a contrast is asked for, and a sentence has no foil; or what the family refuses.
    """
    from evenlight.texts.predictions import require_foils

    require_foils(sentences, [name for name, each in entries.items() if getattr(each, "output", None) == "contrast"])
    explanations = next(iter(entries.values())).explain_together(entries, sentences, context)
    return {name: _without_prompt(sentences, explained) for name, explained in explanations.items()}


def _without_prompt(sentences: "Sequence[Sentence]", explained: Explanations) -> Explanations:
    """The same with a score of 0 for every token of a prompt: only the text is explained."""
    import numpy as np

    if not any(sentence.is_prompt.any() for sentence in sentences):
        return explained
    attributions = [
        replace(attribution, token_score=np.where(sentence.is_prompt, 0.0, attribution.token_score))
        for sentence, attribution in zip(sentences, explained.attributions, strict=True)
    ]
    return replace(explained, attributions=attributions)


def training_items(items: "Path", entries: Iterable[Explainer]) -> "pd.DataFrame | None":
    """The training split of a table of items, where one of some explainers needs it; else None."""
    from evenlight.core.contracts.texts import ITEMS
    from evenlight.core.tables import read_table

    if not any(entry.needs_training for entry in entries):
        return None
    table = read_table(items, ITEMS.only("label", "words", "split"))
    return table[table["split"] == "train"]

"""The explainers, in families that share their passes through the model.

A family is a module of this package with one function ``explain(sentences, methods, context)``; the
configuration (``configuration.explainers``) says which family a method belongs to and what its parameters are.
"""

import importlib
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table
from evenlight.explainers.attribution import Attribution, Remark, note_of, remarks_on_items
from evenlight.jobs.own_files import module_of
from evenlight.texts.predictions import Sentence, require_foils


@dataclass(frozen=True)
class Context:
    """What a family may use besides the sentences.

    Attributes:
        evaluator: asks the model, an :class:`evenlight.engine.evaluator.Evaluator`; None for families that do not ask.
        seed: the study seed, from which every draw derives its own generator.
        training: the training split's items, for explainers that learn from them (tag ``needs_training``).
        memory: what a family finds out once and uses for every group of sentences.
    """

    # Not by its class: families that ask no model do without the engine.
    evaluator: Any
    seed: int
    training: pd.DataFrame | None
    memory: dict = field(default_factory=dict)

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, which is called when ``key`` is asked for the first time."""
        if key not in self.memory:
            self.memory[key] = make()
        return self.memory[key]


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
        return note_of(remarks_on_items(self.remarks, len(self.attributions)))


def explain(
    family: str, sentences: Sequence[Sentence], methods: dict[str, dict], context: Context
) -> dict[str, Explanations]:
    """Explain ``sentences`` with the configured explainers of one family.

    Args:
        family: name of a module of this package, or of a class of one's own.
        sentences: what to explain.
        methods: explainer name to its completed settings (``method`` and its parameters).
        context: model, seed and training items.

    Returns:
        The explanations by explainer name.

    Raises:
        InputError: a contrast is asked for, and a sentence has no foil; or what the family refuses.
    """
    require_foils(sentences, methods)
    explanations = module_named(family).explain(sentences, methods, context)
    return {name: _without_prompt(sentences, explained) for name, explained in explanations.items()}


def module_named(family: str) -> ModuleType:
    """The module of a family; imported at the first call, which may take longer than to explain a text."""
    return importlib.import_module(f"{__name__}.{module_of(family)}")


def _without_prompt(sentences: Sequence[Sentence], explained: Explanations) -> Explanations:
    """The same with a score of 0 for every token of a prompt: only the text is explained."""
    if not any(sentence.is_prompt.any() for sentence in sentences):
        return explained
    attributions = [
        replace(attribution, token_score=np.where(sentence.is_prompt, 0.0, attribution.token_score))
        for sentence, attribution in zip(sentences, explained.attributions, strict=True)
    ]
    return replace(explained, attributions=attributions)


def training_items(items: Path, *tags: Collection[str]) -> pd.DataFrame | None:
    """The training split of a table of items, where one of the explainers with these tags needs it; else None."""
    if not any("needs_training" in said for said in tags):
        return None
    table = read_table(items, ITEMS.only("label", "words", "split"))
    return table[table["split"] == "train"]

"""What every architecture is: the settings of a model, and how it is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field, model_validator

from evenlight.models.fields import LearnedTokenizer, LongItems, MaxTokens, Overlap, Tokenizer, TrainingName
from evenlight.settings import Entry, ForDatasets, refusal

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedTokenizerBase

    from evenlight.models.classifier import Classifier
    from evenlight.models.trainings import Training


class Architecture(Entry):
    """A model: one class has its settings and how it is made.

    What is trained here has :meth:`build`, and what is trained already, and predicts classes, :meth:`load`.

    Attributes:
        is_loaded: whether it is trained already, and predicts the classes of a dataset.
        answers_only: whether nothing is known of it but what it answers in words: it has no network, predicts no class,
            and only explainers in words ask about it.
    """

    section: ClassVar[str] = "models"
    key: ClassVar[str] = "architecture"
    entries: ClassVar[dict[str, type[Architecture]]] = {}
    is_loaded: ClassVar[bool] = False
    answers_only: ClassVar[bool] = False

    architecture: str
    datasets: ForDatasets = None

    @model_validator(mode="after")
    def _windows_overlap(self) -> Self:
        overlap = getattr(self, "overlap", None)
        if getattr(self, "long_items", None) == "windows":
            if overlap is None:
                self.overlap = self.max_tokens // 4
            elif overlap > self.max_tokens // 2:
                half = f"at most half of max_tokens ({self.max_tokens})"
                raise refusal((("overlap",), f"found {overlap}; allowed is {half}"))
        elif overlap is not None:
            said = f'found {overlap} with long_items "{self.long_items}", which has no windows'
            raise refusal((("overlap",), f"{said}; leave the key out, or set long_items to windows"))
        return self

    def build(
        self, sentences: Sequence[Sequence[str]], classes: int, training: Training
    ) -> tuple[nn.Module, PreTrainedTokenizerBase]:
        """The network and its tokenizer before the training.

        Args:
            sentences: the training split's sentences, from which a tokenizer may be learned.
            classes: number of classes.
            training: how it will be trained.
        """
        raise NotImplementedError(f"{type(self).__name__}.build")

    def load(self, classes: Sequence[str], sentences: Sequence[Sequence[str]]) -> tuple[Classifier, dict]:
        """The classifier of one run (``configuration.checkpoint``), and what its manifest says of it.

        Args:
            classes: names of the dataset's classes, in the order of its labels.
            sentences: words of the texts that it will read.
        """
        raise NotImplementedError(f"{type(self).__name__}.load")


class FromScratch(Architecture):
    """What models that are trained from scratch have in common."""

    tokenizer: Tokenizer = Field(default_factory=LearnedTokenizer)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName

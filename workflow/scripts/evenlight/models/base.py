"""What every architecture is: the settings of a model, and how it is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, Tag, model_validator

from evenlight.models.fields import LearnedTokenizer, LongItems, MaxTokens, Overlap, Tokenizer, TrainingName
from evenlight.settings import LIST, TEXT, TEXT_OR_LIST, Entry, ForDatasets, LocationWithFields, refusal

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
    """What models that are trained from scratch have in common; each has a ``hidden_size`` and a :meth:`network`."""

    tokenizer: Tokenizer = Field(default_factory=LearnedTokenizer)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName

    def build(
        self, sentences: Sequence[Sequence[str]], classes: int, training: Training
    ) -> tuple[nn.Module, PreTrainedTokenizerBase]:
        """The network with random weights, and the tokenizer that the settings describe."""
        from evenlight.models.tokenizers import learned_tokenizer, loaded_tokenizer, special_token_id

        if isinstance(self.tokenizer, LearnedTokenizer):
            tokenizer = learned_tokenizer(sentences, self.tokenizer.vocabulary_size, self.max_tokens)
        else:
            tokenizer = loaded_tokenizer(self.tokenizer.source, self.tokenizer.revision, key="tokenizer.source")
        sizes = {"vocab_size": len(tokenizer), "hidden_size": self.hidden_size, "num_labels": classes}
        return self.network(pad_token_id=special_token_id(tokenizer, "pad"), **sizes), tokenizer

    def network(self, **common: int | None) -> nn.Module:
        """A network with random weights; ``common`` is what the configuration of every network says."""
        raise NotImplementedError(f"{type(self).__name__}.network")


# A text for all runs of a model, or one for each.
OfRuns = Annotated[
    Annotated[LocationWithFields, Tag(TEXT)] | Annotated[list[LocationWithFields], Field(min_length=1), Tag(LIST)],
    TEXT_OR_LIST,
]

# The keys of a model that is trained already that may differ from run to run.
OF_RUNS = ("source", "revision", "adapter", "adapter_revision", "template")


def by_key(name: str, value: str | list[str] | dict | None) -> dict[str, str | list[str] | None]:
    """What stands under a key, or below it for each dataset, by the whole key."""
    return {f"{name}.{dataset}": own for dataset, own in value.items()} if isinstance(value, dict) else {name: value}


def listed_texts(value: str | list[str] | dict | None) -> list[str]:
    """The texts of one of these keys."""
    if isinstance(value, dict):
        return [text for own in value.values() for text in listed_texts(own)]
    return value if isinstance(value, list) else [value] if value else []


class BroughtAlong(Architecture):
    """What models that are trained already have in common."""

    source: OfRuns = Field(
        description=(
            "Model id on the Hugging Face hub, or path of a local folder; or a list of them, one for each run, in the "
            "order of `seeds`. `{dataset}` and `{seed}` in it stand for the dataset and the seed of the run; with "
            "`{seed}` there is a run for each of `seeds`."
        )
    )
    revision: OfRuns | None = Field(
        None,
        description=(
            "Commit, tag or branch on the hub, or a list of them, as for `source`. Name a commit to get the same "
            "weights next year; `null` takes the newest."
        ),
    )

    @model_validator(mode="after")
    def _lists_are_of_one_length(self) -> Self:
        lengths = {
            key: len(value)
            for name in OF_RUNS
            for key, value in by_key(name, getattr(self, name, None)).items()
            if isinstance(value, list)
        }
        first = next(iter(lengths), None)
        for name, length in lengths.items():
            if length != lengths[first]:
                said = f"has {length} entries, and {first} has {lengths[first]}; give one for each run"
                raise refusal(((name,), said))
        return self

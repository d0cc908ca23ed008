"""A sequence classifier that is trained already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.models.base import BroughtAlong, OfRuns
from evenlight.models.fields import LongItems, MaxTokens, Overlap, SpecialTokens
from evenlight.settings import Text

if TYPE_CHECKING:
    from evenlight.models.classifier import Classifier


class Trained(BroughtAlong):
    """A sequence classifier that is trained already, with its own head: nothing is trained. A model with one checkpoint
    has one run, under the first of `seeds`, and the study is about these weights. Several checkpoints, of trainings
    that differ by chance only, are what seeds are to a model that is trained here. The model's labels are matched with
    the dataset's classes by name; where the names do not agree, both are listed and `classes` is asked for.
    """

    title: ClassVar[str] = "Model that is trained already"
    is_loaded: ClassVar[bool] = True

    architecture: Literal["trained"]
    adapter: OfRuns | None = Field(
        None,
        description=(
            "Adapter that peft saved of a training of `source`, such as LoRA: its id on the hub or path of its folder, "
            "or a list of them, as for `source`. It is merged into the weights; the head is the adapter's where it has "
            "one, whose labels have no names, so that `classes` is needed. The tokenizer is that of `source`."
        ),
    )
    adapter_revision: OfRuns | None = Field(
        None, description="Commit, tag or branch of the adapter on the hub, or a list of them, as for `revision`."
    )
    classes: dict[Text, Text | None] = Field(
        {},
        description=(
            "Label of the model for each class of the dataset, such as `{negative: LABEL_0, positive: LABEL_1}`; empty "
            "matches them by name. Labels that are left out are not predicted: probabilities are those among the "
            "labels that are named. Of a model whose labels do not exclude each other, one class has a label and the "
            "other one `null`, such as `{harmless: null, toxic: toxic}`: its probability is the sigmoid of the "
            "label's logit."
        ),
    )
    special_tokens: SpecialTokens = Field(default_factory=SpecialTokens)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128

    def load(self, classes: Sequence[str], sentences: Sequence[Sequence[str]]) -> tuple[Classifier, dict]:
        """With its own head; the manifest says which label each class is."""
        from evenlight.models.ready import ready_classifier

        classifier, labels = ready_classifier(self, classes, sentences)
        of_classes = dict(zip(classes, labels, strict=True))
        for name, label in of_classes.items():
            print(f"class {name}: {'none of the labels' if label is None else f'label {label}'}")
        return classifier, {"labels": of_classes}

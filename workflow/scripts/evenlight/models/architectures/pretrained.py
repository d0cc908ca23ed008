"""A sequence classifier of Transformers with a new head."""

from typing import ClassVar, Literal

from pydantic import Field

from evenlight.models.base import Architecture
from evenlight.models.fields import LongItems, MaxTokens, Overlap, SpecialTokens, TrainingName
from evenlight.settings import Location, Text


class Pretrained(Architecture):
    """A sequence classifier of Transformers (docs/architectures.md lists which types work), fine-tuned with a new
    classification head; it brings its own tokenizer.
    """

    title: ClassVar[str] = "Pretrained model"

    architecture: Literal["pretrained"]
    source: Location = Field(
        description="Model id on the Hugging Face hub (`bert-base-uncased`) or path of a local folder."
    )
    revision: Text | None = Field(
        None,
        description=(
            "Commit, tag or branch on the hub. Name a commit to get the same weights next year; `null` takes the "
            "newest."
        ),
    )
    special_tokens: SpecialTokens = Field(default_factory=SpecialTokens)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName

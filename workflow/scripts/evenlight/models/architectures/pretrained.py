"""A sequence classifier of Transformers with a new head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.models.base import Architecture
from evenlight.models.fields import LongItems, MaxTokens, Overlap, SpecialTokens, TrainingName
from evenlight.settings import Location, Text

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedTokenizerBase

    from evenlight.models.trainings import Training


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

    def build(
        self, sentences: Sequence[Sequence[str]], classes: int, training: Training
    ) -> tuple[nn.Module, PreTrainedTokenizerBase]:
        """From a hub id or a folder, with a new classification head.

        With a training that starts at ``random`` weights, only its configuration and its tokenizer (Dhaini et al. 2025,
        Section 5.4).
        """
        from evenlight.models.building import renew_head
        from evenlight.models.classifier import load_network, untrained_network
        from evenlight.models.layers import begin_anew
        from evenlight.models.networks import text_config
        from evenlight.models.tokenizers import loaded_tokenizer, special_token_id

        tokenizer = loaded_tokenizer(self.source, self.revision, self.special_tokens.model_dump())
        options = {"revision": self.revision} if self.revision else {}
        if training.start == "random":
            network = untrained_network(self.source, num_labels=classes, **options)
        else:
            network = load_network(self.source, num_labels=classes, ignore_mismatched_sizes=True, **options)
        # For whoever reads the trained model in batches; one that names a token counts on it.
        if text_config(network).pad_token_id is None:
            text_config(network).pad_token_id = network.config.pad_token_id = special_token_id(tokenizer, "pad")
        renew_head(network)
        begin_anew(network, training.fresh)
        return network, tokenizer

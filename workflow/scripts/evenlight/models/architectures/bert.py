"""A BERT of any size, trained from scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.models.base import FromScratch
from evenlight.models.fields import Dropout
from evenlight.settings import refusal

if TYPE_CHECKING:
    from torch import nn


class Bert(FromScratch):
    """A BERT encoder (Devlin et al. 2019) of any size with a classification head, trained from scratch."""

    title: ClassVar[str] = "BERT trained from scratch"

    architecture: Literal["bert"]
    layers: int = Field(ge=1, description="Number of transformer layers.")
    heads: int = Field(ge=1, description="Attention heads per layer; must divide `hidden_size`.")
    hidden_size: int = Field(ge=1, description="Dimensions of the token embeddings and of every layer.")
    intermediate_size: int | None = Field(
        None, ge=1, description="Dimensions inside the feed-forward blocks; `null` is four times `hidden_size`."
    )
    dropout: Dropout = 0.1

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.hidden_size % self.heads:
            size = f"hidden_size ({self.hidden_size})"
            raise refusal((("heads",), f"found {self.heads}, which does not divide {size}; allowed are its divisors"))
        return self

    def network(self, **common: int | None) -> nn.Module:
        """A BERT with random weights."""
        from transformers import BertConfig, BertForSequenceClassification

        config = BertConfig(
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            intermediate_size=self.intermediate_size or 4 * self.hidden_size,
            hidden_dropout_prob=self.dropout,
            attention_probs_dropout_prob=self.dropout,
            max_position_embeddings=self.max_tokens,
            **common,
        )
        return BertForSequenceClassification(config)

"""A BERT of any size, trained from scratch."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.models.base import Architecture
from evenlight.models.fields import Dropout, LearnedTokenizer, LongItems, MaxTokens, Overlap, Tokenizer, TrainingName
from evenlight.settings import refusal


class Bert(Architecture):
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
    tokenizer: Tokenizer = Field(default_factory=LearnedTokenizer)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.hidden_size % self.heads:
            size = f"hidden_size ({self.hidden_size})"
            raise refusal((("heads",), f"found {self.heads}, which does not divide {size}; allowed are its divisors"))
        return self

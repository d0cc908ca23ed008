"""The one-layer attention model of GECOBench."""

from typing import ClassVar, Literal

from pydantic import Field

from evenlight.models.base import Architecture
from evenlight.models.fields import Dropout, LearnedTokenizer, LongItems, MaxTokens, Overlap, Tokenizer, TrainingName


class OneLayerAttention(Architecture):
    """The one-layer attention model of GECOBench (Wilming et al.): embedding, one self-attention layer and a linear
    classifier, all trained from scratch.
    """

    title: ClassVar[str] = "One-layer attention (OLA-CEA)"

    architecture: Literal["one_layer_attention"]
    hidden_size: int = Field(64, ge=1, description="Dimensions of the token embeddings.")
    dropout: Dropout = 0.0
    tokenizer: Tokenizer = Field(default_factory=LearnedTokenizer)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName

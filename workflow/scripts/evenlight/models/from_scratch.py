"""What models whose weights all begin at random have in common: a tokenizer of their own, and a training."""

from pydantic import Field

from evenlight.models.base import Architecture
from evenlight.models.fields import LearnedTokenizer, LongItems, MaxTokens, Overlap, Tokenizer, TrainingName


class FromScratch(Architecture):
    """What models that are trained from scratch have in common."""

    tokenizer: Tokenizer = Field(default_factory=LearnedTokenizer)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName

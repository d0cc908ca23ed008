"""A recurrent network with attention."""

from typing import ClassVar, Literal

from pydantic import Field

from evenlight.models.base import Architecture
from evenlight.models.fields import Dropout, LearnedTokenizer, LongItems, MaxTokens, Overlap, Tokenizer, TrainingName
from evenlight.settings import Location


class LstmAttention(Architecture):
    """A recurrent network: embedding, an LSTM and attention over its states, trained from scratch."""

    title: ClassVar[str] = "LSTM with attention"

    architecture: Literal["lstm_attention"]
    hidden_size: int = Field(64, ge=1, description="Dimensions of the token embeddings.")
    vectors: Location | None = Field(
        None,
        description=(
            "File of word vectors, a word and its numbers in each line as GloVe, word2vec and fastText write them: the "
            "embeddings of tokens that are spelled so begin with these, and `hidden_size` must be their number. The "
            "tokenizers that are learned write all in lower case. Left out, all embeddings begin at random."
        ),
    )
    state_size: int = Field(64, ge=1, description="Dimensions of the LSTM's states.")
    dropout: Dropout = 0.1
    tokenizer: Tokenizer = Field(default_factory=LearnedTokenizer)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName

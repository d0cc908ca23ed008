"""The architectures: one class for each entry of ``evenlight.models.architectures``, with its parameters."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.configuration.settings import (
    Entry,
    Settings,
    Text,
    first_with_all_keys,
    refusal,
)

Dropout = Annotated[
    float, Field(ge=0, lt=1, description="Probability with which an activation is set to zero in training.")
]
LongItems = Annotated[
    Literal["refuse", "drop"],
    Field(
        description=(
            "What happens to items with more than `max_tokens` tokens: `refuse` stops with their names, `drop` "
            "leaves them out and reports how many. Nothing is ever cut off."
        )
    ),
]
TrainingName = Annotated[Text, Field(description="How the model is trained: the name of one of `trainings`.")]
MaxTokens = Annotated[int, Field(ge=3, description="Longest item in tokens, special tokens included.")]


class SpecialTokens(Settings):
    """Tokens of the vocabulary that stand in where the tokenizer has none of its own. Most decoders have neither."""

    pad: Text | None = Field(
        None, description="Token that fills up short items in a batch; `null` uses the tokenizer's own."
    )
    mask: Text | None = Field(
        None, description="Token that hides others from the model; `null` uses the tokenizer's own."
    )


class LearnedTokenizer(Settings):
    """Learned from the training split."""

    title: ClassVar[str] = "Learned"

    vocabulary_size: int = Field(
        4000, ge=50, description="Largest number of WordPiece tokens learned from the training split."
    )


class GivenTokenizer(Settings):
    """Taken from elsewhere."""

    title: ClassVar[str] = "Taken from elsewhere"

    source: Text = Field(description="Tokenizer on the Hugging Face hub or path of a local folder.")


Tokenizer = Annotated[
    LearnedTokenizer | GivenTokenizer,
    first_with_all_keys((LearnedTokenizer, GivenTokenizer)),
    Field(description="Learned from the training split, or taken from elsewhere; give one of the two keys."),
]


class Architecture(Entry):
    """A model."""

    key: ClassVar[str] = "architecture"
    entries: ClassVar[dict[str, type[Entry]]] = {}

    architecture: str


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
    max_tokens: MaxTokens = 128
    training: TrainingName


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
    max_tokens: MaxTokens = 128
    training: TrainingName

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.hidden_size % self.heads:
            size = f"hidden_size ({self.hidden_size})"
            raise refusal((("heads",), f"found {self.heads}, which does not divide {size}; allowed are its divisors"))
        return self


class Pretrained(Architecture):
    """Any Hugging Face encoder or decoder, fine-tuned with a new classification head; it brings its own tokenizer."""

    title: ClassVar[str] = "Pretrained model"

    architecture: Literal["pretrained"]
    source: Text = Field(
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
    max_tokens: MaxTokens = 128
    training: TrainingName

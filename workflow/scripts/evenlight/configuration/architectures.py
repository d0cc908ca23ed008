"""The architectures: one class for each entry of ``evenlight.models.architectures``, with its parameters."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.configuration.settings import (
    Entry,
    NumberPerDataset,
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


class Training(Settings):
    """How the model is trained; the epoch with the lowest validation loss is kept."""

    optimizer: Literal["adam", "adamw"] = Field(
        "adamw", description="AdamW decays the weights apart from the gradient, Adam with it."
    )
    learning_rate: float = Field(gt=0, description="Highest learning rate.")
    batch_size: int = Field(ge=1, description="Items per step.")
    epochs: int = Field(ge=1, description="Passes over the training split.")
    epochs_on: NumberPerDataset = Field(
        {}, description="Passes on single datasets, in place of `epochs`, such as `{compas: 5}`."
    )
    weight_decay: float = Field(0.0, ge=0, description="Strength of the weight decay.")
    schedule: Literal["constant", "linear"] = Field(
        "linear", description="Learning rate after the warm-up, `constant` or falling to zero along a line."
    )
    warmup_share: float = Field(
        0.1, ge=0, lt=1, description="Share of all steps over which the learning rate rises from zero along a line."
    )
    warmup_steps: int | None = Field(
        None,
        ge=0,
        description=(
            "Number of these steps, in place of `warmup_share`. A training that has fewer steps ends before the "
            "rate is at its highest, like that of the disparity study's RoBERTa."
        ),
    )
    gradient_clipping: float | None = Field(
        1.0, gt=0, description="Largest norm of the gradient, to which longer ones are shortened; `null` clips nothing."
    )
    patience: int | None = Field(
        None, ge=1, description="Stop after this many epochs without a lower validation loss; `null` runs all epochs."
    )


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
    training: Training


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
    training: Training

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
    weights: Literal["published", "random"] = Field(
        "published",
        description=(
            "`published` fine-tunes the weights of the source; `random` takes its configuration and tokenizer "
            "only and trains from scratch."
        ),
    )
    special_tokens: SpecialTokens = Field(default_factory=SpecialTokens)
    long_items: LongItems = "refuse"
    max_tokens: MaxTokens = 128
    training: Training

"""Fields that several architectures have."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evenlight.settings import Location, Settings, Text, first_with_all_keys

Dropout = Annotated[
    float, Field(ge=0, lt=1, description="Probability with which an activation is set to zero in training.")
]
LongItems = Annotated[
    Literal["refuse", "drop", "windows"],
    Field(
        description=(
            "What happens to items with more than `max_tokens` tokens: `refuse` stops with their names, `drop` leaves "
            "them out and reports how many, `windows` reads them in windows, whose logits are averaged. Nothing is "
            "ever cut off."
        )
    ),
]
Overlap = Annotated[
    int | None,
    Field(
        ge=0,
        description=(
            "Tokens that neighbouring windows have in common, at least; windows begin and end between words. `null` is "
            "a quarter of `max_tokens`. Only with `long_items: windows`."
        ),
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

    source: Location = Field(description="Tokenizer on the Hugging Face hub or path of a local folder.")
    revision: Text | None = Field(None, description="Commit, tag or branch on the hub; `null` takes the newest.")


Tokenizer = Annotated[
    LearnedTokenizer | GivenTokenizer,
    first_with_all_keys((LearnedTokenizer, GivenTokenizer)),
    Field(description="Learned from the training split, or taken from elsewhere; give one of the two keys."),
]

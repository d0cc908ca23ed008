"""The trainings: recipes by which models are trained."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from evenlight.configuration.settings import MAPPING, NUMBER, Name, Settings, refusal


def _with_default(numbers: dict[str, int]) -> dict[str, int]:
    if "default" not in numbers:
        raise refusal((("default",), "is missing; required is the number of epochs on all datasets that are not named"))
    return numbers


Passes = Annotated[int, Field(ge=1)]
Epochs = Annotated[
    Annotated[Passes, Tag(NUMBER)]
    | Annotated[
        dict[Name, Passes],
        AfterValidator(_with_default),
        Field(json_schema_extra={"required": ["default"]}),
        Tag(MAPPING),
    ],
    Discriminator(lambda epochs: MAPPING if isinstance(epochs, dict) else NUMBER),
    Field(
        description=(
            "Passes over the training split: a number, or numbers by the name of a dataset, such as "
            "`{default: 20, compas: 5}`."
        )
    ),
]


class Training(Settings):
    """How models are trained; the epoch with the lowest validation loss is kept."""

    start: Literal["published", "random"] = Field(
        "published",
        description=(
            "Which weights a `pretrained` model begins with: `published` fine-tunes those of its source, `random` "
            "takes the source's configuration and tokenizer only. Other architectures have random weights in any case."
        ),
    )
    optimizer: Literal["adam", "adamw"] = Field(
        "adamw", description="AdamW decays the weights apart from the gradient, Adam with it."
    )
    learning_rate: float = Field(gt=0, description="Highest learning rate.")
    batch_size: int = Field(ge=1, description="Items per step.")
    epochs: Epochs
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

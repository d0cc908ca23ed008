"""The trainings: recipes by which models are trained."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from evenlight.models.base import Architecture
from evenlight.settings import (
    LIST,
    MAPPING,
    NUMBER,
    TEXT,
    TEXT_OR_LIST,
    Different,
    Name,
    Settings,
    Text,
    refusal,
    shown,
)


def _with_default(numbers: dict[str, int]) -> dict[str, int]:
    if "default" not in numbers:
        raise refusal((("default",), "is missing; required is the number of epochs on all datasets that are not named"))
    return numbers


Part = Literal["embeddings", "layers", "pooler", "head"]
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


class Lora(Settings):
    """Low-rank adapters (Hu et al. 2022), by peft."""

    rank: int = Field(8, ge=1, description="Rank of the matrix that is added to a layer's weights.")
    alpha: int = Field(8, ge=1, description="This, divided by the rank, is the factor on that matrix.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on what goes into the adapters, in training.")
    target_modules: (
        Annotated[
            Annotated[Text, Tag(TEXT)] | Annotated[list[Text], Field(min_length=1), Tag(LIST)],
            TEXT_OR_LIST,
        ]
        | None
    ) = Field(
        None,
        description=(
            "Layers that get adapters: ends of their names, such as `[query, value]`; a regular expression of whole "
            "names; or `all-linear`. `null` takes those that peft lists for the architecture."
        ),
    )


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
    batch_size: int = Field(ge=1, description="Items that go through the model at once.")
    gradient_accumulation_steps: int = Field(
        1,
        ge=1,
        description=(
            "Batches whose gradients are added up for one step: a `batch_size` of 8 with 4 of them equals 32 with 1, "
            "to rounding and where there is no dropout."
        ),
    )
    group_by_length: bool = Field(
        False,
        description="Whether the items of a step are of like length, so that less is padding.",
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description=(
            "`bfloat16` computes what torch's autocast chooses in half the bits; weights, gradients, optimizer and "
            "validation stay `float32`."
        ),
    )
    lora: Lora | None = Field(
        None,
        description=(
            "Trains low-rank adapters (Hu et al. 2022), the head and a pooler, and leaves all other weights of a "
            "`pretrained` model as they are; `{}` takes the defaults. The adapters are merged into the weights in the "
            "end; `null` trains all weights."
        ),
    )
    trained: Annotated[Different[Part], Field(min_length=1)] | None = Field(
        None,
        description=(
            "Parts of the network that are trained, while the others stay as they are, such as `[embeddings, head]`; "
            "`null` trains all weights."
        ),
    )
    fresh: Different[Literal["embeddings", "layers", "pooler"]] = Field(
        [],
        description=(
            "Parts of a `pretrained` model that begin with the random weights of a new one, such as `[embeddings]`. "
            "Its head always does."
        ),
    )
    dropout: bool = Field(
        True,
        description="Whether there is dropout in training; GECOBench's code has none, as no model is in training mode.",
    )
    gradients: Literal["cleared", "kept"] = Field(
        "cleared",
        description=(
            "Whether gradients are `cleared` before each step. `kept` adds those of all steps up, and shortens their "
            "sum to `gradient_clipping` behind each step, as GECOBench's code does for its smallest model; for the "
            "others it is `gradient_clipping: null`."
        ),
    )
    kept_epoch: Literal["best", "last"] = Field(
        "best", description="Whether the epoch with the lowest validation loss is kept or the `last` one."
    )
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

    @model_validator(mode="after")
    def _says_once_what_is_trained(self) -> Self:
        if self.lora is not None and self.start == "random":
            said = "adapts weights that are trained already, but `start` is random; take one of the two out"
            raise refusal((("lora",), said))
        if self.fresh and self.start == "random":
            said = (
                f"found {shown(self.fresh)}, but `start` is random, so that everything is new; take one of the two out"
            )
            raise refusal((("fresh",), said))
        for key in ("trained", "fresh") if self.lora is not None else ():
            if found := getattr(self, key):
                said = f"found {shown(found)}, but `lora` says what is trained; take one of the two out"
                raise refusal(((key,), said))
        return self


def recipe_of(settings: Mapping) -> tuple[Architecture, Training]:
    """A model and its training, as a job is told them in one mapping (``configuration.recipe``)."""
    training = Training.model_validate(settings["training"])
    # Which of the study's trainings it is nobody asks any more.
    return Architecture.parse({**settings, "training": "its own"}), training

"""What models that are trained already have in common: a checkpoint, or one for each run."""

from typing import Annotated, Self

from pydantic import Field, Tag, model_validator

from evenlight.models.base import Architecture
from evenlight.settings import LIST, TEXT, TEXT_OR_LIST, LocationWithFields, refusal

# A text for all runs of a model, or one for each.
OfRuns = Annotated[
    Annotated[LocationWithFields, Tag(TEXT)] | Annotated[list[LocationWithFields], Field(min_length=1), Tag(LIST)],
    TEXT_OR_LIST,
]

# The keys of a model that is trained already that may differ from run to run.
OF_RUNS = ("source", "revision", "adapter", "adapter_revision", "template")


def by_key(name: str, value: str | list[str] | dict | None) -> dict[str, str | list[str] | None]:
    """What stands under a key, or below it for each dataset, by the whole key."""
    return {f"{name}.{dataset}": own for dataset, own in value.items()} if isinstance(value, dict) else {name: value}


def listed_texts(value: str | list[str] | dict | None) -> list[str]:
    """The texts of one of these keys."""
    if isinstance(value, dict):
        return [text for own in value.values() for text in listed_texts(own)]
    return value if isinstance(value, list) else [value] if value else []


class BroughtAlong(Architecture):
    """What models that are trained already have in common."""

    source: OfRuns = Field(
        description=(
            "Model id on the Hugging Face hub, or path of a local folder; or a list of them, one for each run, in the "
            "order of `seeds`. `{dataset}` and `{seed}` in it stand for the dataset and the seed of the run; with "
            "`{seed}` there is a run for each of `seeds`."
        )
    )
    revision: OfRuns | None = Field(
        None,
        description=(
            "Commit, tag or branch on the hub, or a list of them, as for `source`. Name a commit to get the same "
            "weights next year; `null` takes the newest."
        ),
    )

    @model_validator(mode="after")
    def _lists_are_of_one_length(self) -> Self:
        lengths = {
            key: len(value)
            for name in OF_RUNS
            for key, value in by_key(name, getattr(self, name, None)).items()
            if isinstance(value, list)
        }
        first = next(iter(lengths), None)
        for name, length in lengths.items():
            if length != lengths[first]:
                said = f"has {length} entries, and {first} has {lengths[first]}; give one for each run"
                raise refusal(((name,), said))
        return self

"""A language model that answers in words."""

from typing import ClassVar, Literal

from evenlight.models.base import BroughtAlong


class Decoder(BroughtAlong):
    """A causal language model that answers in words and predicts no class: nothing is trained, and only the explainer
    `local_generation` asks it. There is a run for each checkpoint, as of `trained` models. It is loaded where it lies,
    and no copy of it is kept. See [the guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Language model that answers in words"
    answers_only: ClassVar[bool] = True

    architecture: Literal["decoder"]

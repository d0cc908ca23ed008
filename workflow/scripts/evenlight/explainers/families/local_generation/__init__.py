"""Answers in words that a language model of the study writes."""

from typing import ClassVar, Literal

from pydantic import Field

from evenlight.explainers.in_words import Answering


class LocalGeneration(Answering):
    """Answers in words that a causal language model of the study writes here, each with its reasons. A model of the
    architecture `prompted` also predicts, so that its words stand beside its attributions. See [the
    guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Generated answers"
    answered_by: ClassVar[tuple[str, ...]] = ("prompted", "decoder")
    follows: ClassVar[tuple[str, ...]] = (*Answering.follows, "contributions")

    method: Literal["local_generation"]
    temperature: float = Field(
        1.0, ge=0, description="Temperature of sampling; 0 writes the most probable token, and has one answer."
    )
    top_p: float = Field(
        1.0,
        gt=0,
        le=1,
        description=(
            "Only the most probable tokens are drawn, as many as have this probability together (Holtzman et al. 2020)."
        ),
    )
    chat_template: bool = Field(
        True, description="Whether the prompt is put into the chat template of the tokenizer, where it has one."
    )

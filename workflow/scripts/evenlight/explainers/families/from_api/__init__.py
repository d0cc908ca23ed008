"""Answers in words that a language model behind an address gives."""

from typing import ClassVar, Literal

from evenlight.explainers.in_words import Answering


class FromApi(Answering):
    """Answers in words that a language model behind an address gives, asked by its chat API. Each answer is a request
    of its own, with a seed of its own. It is kept, so that none is asked for twice, in any study. It needs models of
    architecture `chat`, the network, and where the service has one, its key. See [the guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Asked of a service"
    needs_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False
    answered_by: ClassVar[tuple[str, ...]] = ("chat",)

    method: Literal["from_api"]

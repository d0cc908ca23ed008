"""A language model behind an address."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.core.addresses import names_secret
from evenlight.models.architectures.service import Connecting, with_safe_address
from evenlight.models.base import Architecture
from evenlight.models.services.shapes import SET_HERE
from evenlight.settings import Settings, Text, refusal, shown


class AskingForAnswers(Connecting):
    """How a language model is asked; nothing here changes an answer."""

    batch: ClassVar[int] = 1

    timeout: float = Field(300.0, gt=0, description="Seconds within which an answer must be there.")


class Prices(Settings):
    """What a million tokens cost, in whatever currency."""

    read: float = Field(ge=0, description="A million tokens of questions.")
    written: float = Field(ge=0, description="A million tokens of answers.")


class Limits(Settings):
    """The most that is left to be asked on one dataset. What goes beyond it is refused before the first question;
    answers that are kept do not count.
    """

    questions: int | None = Field(None, ge=0, description="Requests; `null` sets no limit.")
    tokens: int | None = Field(None, ge=0, description="Tokens, read and written; `null` sets no limit.")
    cost: float | None = Field(None, ge=0, description="Cost by `prices`; `null` sets no limit.")


class Chat(Architecture):
    """A language model behind an address that speaks the chat API (`/v1/chat/completions`), as OpenAI, vLLM, llama.cpp,
    Ollama and others have it. Only explainers in words ask about it. Every answer is kept in `results/answers/`. It has
    one run, under the first of `seeds`. See [the guide](../docs/answers.md#answers-of-a-service).
    """

    title: ClassVar[str] = "Language model behind an address"
    answers_only: ClassVar[bool] = True

    architecture: Literal["chat"]
    address: Text = Field(
        description="Where questions are sent (POST), such as `http://localhost:8000/v1/chat/completions`; no key."
    )
    called: Text | None = Field(
        None, description="The name of the model in requests, such as `gpt-4o`; `null` is the name of the entry."
    )
    plain_http: bool = Field(
        False,
        description=(
            "Whether texts and key may be sent unencrypted (`http://`) to another machine; to this one they always may."
        ),
    )
    version: Text | None = Field(
        None,
        description=(
            "What distinguishes the model at this address from earlier ones, such as a date. Another version is asked "
            "again."
        ),
    )
    seed_field: Text | None = Field(
        "seed", description="Name of the field in which the server takes a seed; `null` sends none."
    )
    tokens_field: Text = Field(
        "max_tokens",
        description="Name of the field for `max_tokens`; newer models of OpenAI want `max_completion_tokens`.",
    )
    extra: dict[Text, Any] = Field(
        {}, description="Further fields of each request, as the server takes them, such as `{top_p: 0.9}`."
    )
    prices: Prices | None = Field(None, description="What tokens cost, for estimates and limits; `null` is unknown.")
    limits: Limits = Field(default_factory=Limits)
    asking: AskingForAnswers = Field(default_factory=AskingForAnswers)

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        for key in (*SET_HERE, self.tokens_field, self.seed_field):
            if key in self.extra:
                said = f"found {shown(key)}, which the explainer or another key of the model sets; take it out"
                raise refusal((("extra",), said))
        if secrets := [key for key in self.extra if names_secret(key)]:
            said = f"found {shown(secrets[0])}, which would stand in every result; name the variable that holds the key"
            raise refusal((("extra",), f"{said} (asking.key_variable)"))
        if self.limits.cost is not None and self.prices is None:
            raise refusal((("limits", "cost"), "cannot be known without prices; name them, or limit the tokens"))
        return with_safe_address(self)

"""A classifier behind an address."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evenlight.core.addresses import checked_address, without_secrets
from evenlight.core.errors import InputError
from evenlight.models.base import Architecture
from evenlight.models.services.shapes import HUGGING_FACE, compiled
from evenlight.settings import Settings, Text, refusal, shown


def _expression(text: str) -> str:
    try:
        compiled(text)
    except InputError as error:
        raise refusal(((), f"found {shown(text)}, which {error}")) from None
    return text


Expression = Annotated[Text, AfterValidator(_expression)]


class Connecting(Settings):
    """How a service is asked; nothing here changes an answer."""

    connections: int = Field(1, ge=1, le=64, description="Requests that are on their way at the same time.")
    requests_per_minute: float | None = Field(
        None, gt=0, description="No more requests than these in a minute, evenly spread; `null` sets no limit."
    )
    retries: int = Field(
        5,
        ge=0,
        description=(
            "Further attempts where a request has no answer, or HTTP 408, 429 or 500 and more: after 1, 2, 4 and so "
            "on up to 60 seconds, or after as many as the service asks for. An answer that says nothing usable has "
            "one."
        ),
    )
    timeout: float = Field(
        60.0,
        gt=0,
        description="Seconds within which an answer must be there; by default 300 of a language model (`chat`).",
    )
    key_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = Field(
        None,
        description=(
            "Name of the environment variable that holds the key of the service, never the key itself; `null` sends "
            "none."
        ),
    )
    key_header: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+: ?[\x20-\x7e]*\{key\}[\x20-\x7e]*$")] = Field(
        "Authorization: Bearer {key}",
        description="Header that the key is sent in, such as `X-Api-Key: {key}`, with `{key}` where it stands.",
    )


def with_safe_address(service):
    """A service, if texts may be sent to its address."""
    try:
        checked_address(service.address, service.plain_http)
    except InputError as error:
        raise refusal((("address",), f"found {shown(without_secrets(service.address))}, which {error}")) from None
    return service


class Asking(Connecting):
    """How a service is asked; nothing here changes an answer."""

    batch: int = Field(32, ge=1, description="Most texts of a request; only of a classifier.")
    asked_again: int = Field(
        8,
        ge=0,
        description=(
            "Texts that every job asks about a second time, to see whether the answers change; a note says so if they "
            "do. Only of a classifier."
        ),
    )


class Service(Architecture):
    """A classifier behind an address, which is asked about texts and says the probabilities of their classes. Each word
    is a token, and hidden words are hidden in the text. Every answer is kept in `results/answers/`, so that no text is
    paid for twice, in any study. It has one run, under the first of `seeds`. Explainers and metrics that look into a
    network are refused. See [the guide](../docs/service.md).
    """

    title: ClassVar[str] = "Classifier behind an address"

    architecture: Literal["service"]
    address: Text = Field(
        description="Where texts are sent (POST), such as `https://host/models/name`, without any key in it."
    )
    plain_http: bool = Field(
        False,
        description=(
            "Whether texts and key may be sent unencrypted (`http://`) to another machine; to this one they always may."
        ),
    )
    request: Expression = Field(
        HUGGING_FACE["request"],
        description=(
            "What is sent: an expression of [JMESPath](https://jmespath.org) on an object with the key `texts`, a "
            "list; by default that of Hugging Face's endpoints for text classification."
        ),
    )
    answers: Expression = Field(
        HUGGING_FACE["answers"],
        description=(
            "Where the probabilities stand in what comes back: an expression of JMESPath that gives a list with one "
            "entry for each text. An entry is a list of objects with `label` and `score` (as Hugging Face has it), or "
            "an object of probabilities by label. It may also be a list of probabilities, whose labels are then `0`, "
            "`1` and so on."
        ),
    )
    classes: dict[Text, Text | None] = Field(
        {},
        description=(
            "Label of the service for each class of the dataset, as for models that are `trained`. Empty matches them "
            "by name. Of labels that do not exclude each other one class has a label and the other one `null`, such "
            "as `{harmless: null, toxic: toxicity}`."
        ),
    )
    version: Text | None = Field(
        None,
        description=(
            "What distinguishes the classifier at this address from earlier ones, such as a date. Another version is "
            "asked again."
        ),
    )
    hidden_word: Text | None = Field(
        None,
        description=(
            "What stands in the text in place of a hidden word (`hidden_token: mask`), such as `[MASK]` or `...`; "
            "`null` leaves the word out."
        ),
    )
    empty_text: str = Field(
        "", description="What is sent in place of a text without any word, which some services refuse."
    )
    long_items: Literal["refuse", "drop"] = Field(
        "refuse",
        description=(
            "What happens to items with more than `max_tokens` words: `refuse` stops with their names, `drop` leaves "
            "them out and reports how many."
        ),
    )
    max_tokens: int = Field(512, ge=1, description="Longest item in words. What the service cuts off, nobody knows.")
    asking: Asking = Field(default_factory=Asking)

    @model_validator(mode="after")
    def _texts_may_be_sent(self) -> Self:
        return with_safe_address(self)

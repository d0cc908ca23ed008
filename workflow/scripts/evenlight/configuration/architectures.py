"""The architectures: one class for each entry of ``evenlight.models.architectures``, with its parameters."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from evenlight.core.addresses import checked_address, names_secret, without_secrets
from evenlight.core.errors import InputError
from evenlight.models.services.shapes import HUGGING_FACE, SET_HERE, compiled
from evenlight.settings import (
    LIST,
    MAPPING,
    TEXT,
    Entry,
    ForDatasets,
    Location,
    LocationWithFields,
    Name,
    Settings,
    Text,
    first_with_all_keys,
    refusal,
    shown,
)

Dropout = Annotated[
    float, Field(ge=0, lt=1, description="Probability with which an activation is set to zero in training.")
]
LongItems = Annotated[
    Literal["refuse", "drop", "windows"],
    Field(
        description=(
            "What happens to items with more than `max_tokens` tokens: `refuse` stops with their names, `drop` "
            "leaves them out and reports how many, `windows` reads them in windows of at most `max_tokens` tokens, "
            "whose logits are averaged. Nothing is ever cut off."
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
# A text for all runs of a model, or one for each.
OfRuns = Annotated[
    Annotated[LocationWithFields, Tag(TEXT)] | Annotated[list[LocationWithFields], Field(min_length=1), Tag(LIST)],
    Discriminator(lambda value: LIST if isinstance(value, list) else TEXT),
]


def _with_default(templates: dict) -> dict:
    if "default" not in templates:
        raise refusal((("default",), "is missing; required is the template for all datasets that are not named"))
    return templates


# A prompt for all runs, one for each, or either of these by the name of a dataset.
_Wording = Annotated[Text, Tag(TEXT)]
_Wordings = Annotated[list[Text], Field(min_length=1), Tag(LIST)]
Templates = Annotated[
    _Wording
    | _Wordings
    | Annotated[
        dict[
            Name,
            Annotated[_Wording | _Wordings, Discriminator(lambda value: LIST if isinstance(value, list) else TEXT)],
        ],
        AfterValidator(_with_default),
        Field(json_schema_extra={"required": ["default"]}),
        Tag(MAPPING),
    ],
    Discriminator(lambda value: {list: LIST, dict: MAPPING}.get(type(value), TEXT)),
]


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


class Architecture(Entry):
    """A model.

    Attributes:
        answers_only: whether nothing is known of it but what it answers in words: it has no network, predicts no class,
            and only explainers in words ask about it.
    """

    section: ClassVar[str] = "models"
    key: ClassVar[str] = "architecture"
    entries: ClassVar[dict[str, type[Entry]]] = {}
    answers_only: ClassVar[bool] = False

    architecture: str
    datasets: ForDatasets = None

    @model_validator(mode="after")
    def _windows_overlap(self) -> Self:
        overlap = getattr(self, "overlap", None)
        if getattr(self, "long_items", None) == "windows":
            if overlap is None:
                self.overlap = self.max_tokens // 4
            elif overlap > self.max_tokens // 2:
                half = f"at most half of max_tokens ({self.max_tokens})"
                raise refusal((("overlap",), f"found {overlap}; allowed is {half}"))
        elif overlap is not None:
            said = f'found {overlap} with long_items "{self.long_items}", which has no windows'
            raise refusal((("overlap",), f"{said}; leave the key out, or set long_items to windows"))
        return self


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
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName


class LstmAttention(Architecture):
    """A recurrent network: embedding, an LSTM and attention over its states, trained from scratch."""

    title: ClassVar[str] = "LSTM with attention"

    architecture: Literal["lstm_attention"]
    hidden_size: int = Field(64, ge=1, description="Dimensions of the token embeddings.")
    vectors: Location | None = Field(
        None,
        description=(
            "File of word vectors, a word and its numbers in each line as GloVe, word2vec and fastText write them: the "
            "embeddings of tokens that are spelled so begin with these, and `hidden_size` must be their number. The "
            "tokenizers that are learned write all in lower case. Left out, all embeddings begin at random."
        ),
    )
    state_size: int = Field(64, ge=1, description="Dimensions of the LSTM's states.")
    dropout: Dropout = 0.1
    tokenizer: Tokenizer = Field(default_factory=LearnedTokenizer)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName


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
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.hidden_size % self.heads:
            size = f"hidden_size ({self.hidden_size})"
            raise refusal((("heads",), f"found {self.heads}, which does not divide {size}; allowed are its divisors"))
        return self


class Pretrained(Architecture):
    """A sequence classifier of Transformers (docs/architectures.md lists which types work), fine-tuned with a new
    classification head; it brings its own tokenizer.
    """

    title: ClassVar[str] = "Pretrained model"

    architecture: Literal["pretrained"]
    source: Location = Field(
        description="Model id on the Hugging Face hub (`bert-base-uncased`) or path of a local folder."
    )
    revision: Text | None = Field(
        None,
        description=(
            "Commit, tag or branch on the hub. Name a commit to get the same weights next year; `null` takes the "
            "newest."
        ),
    )
    special_tokens: SpecialTokens = Field(default_factory=SpecialTokens)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128
    training: TrainingName


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


class Trained(BroughtAlong):
    """A sequence classifier that is trained already, with its own head: nothing is trained. A model with one checkpoint
    has one run, under the first of `seeds`, and the study is about these weights. Several checkpoints, of trainings
    that differ by chance only, are what seeds are to a model that is trained here. The model's labels are matched with
    the dataset's classes by name; where the names do not agree, both are listed and `classes` is asked for.
    """

    title: ClassVar[str] = "Model that is trained already"

    architecture: Literal["trained"]
    adapter: OfRuns | None = Field(
        None,
        description=(
            "Adapter that peft saved of a training of `source`, such as LoRA: its id on the hub or path of its folder, "
            "or a list of them, as for `source`. It is merged into the weights; the head is the adapter's where it has "
            "one, whose labels have no names, so that `classes` is needed. The tokenizer is that of `source`."
        ),
    )
    adapter_revision: OfRuns | None = Field(
        None, description="Commit, tag or branch of the adapter on the hub, or a list of them, as for `revision`."
    )
    classes: dict[Text, Text | None] = Field(
        {},
        description=(
            "Label of the model for each class of the dataset, such as `{negative: LABEL_0, positive: LABEL_1}`; empty "
            "matches them by name. Labels that are left out are not predicted: probabilities are those among the "
            "labels that are named. Of a model whose labels do not exclude each other, one class has a label and the "
            "other one `null`, such as `{harmless: null, toxic: toxic}`: its probability is the sigmoid of the "
            "label's logit."
        ),
    )
    special_tokens: SpecialTokens = Field(default_factory=SpecialTokens)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: MaxTokens = 128


class Answers(Architecture):
    """A model of which only recorded answers are known. It has no network: nothing is trained or predicted, and only
    explainers in words are asked about it. It has one run, under the first of `seeds`. See [the
    guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Model of which answers were recorded"
    answers_only: ClassVar[bool] = True

    architecture: Literal["answers"]
    called: Text | None = Field(
        None,
        description="What tables of answers call it in their column of models; `null` is the name of the entry.",
    )


class Decoder(BroughtAlong):
    """A causal language model that answers in words and predicts no class: nothing is trained, and only the explainer
    `generated` asks it. There is a run for each checkpoint, as of `trained` models. It is loaded where it lies, and no
    copy of it is kept. See [the guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Language model that answers in words"
    answers_only: ClassVar[bool] = True

    architecture: Literal["decoder"]


class Prompted(BroughtAlong):
    """A language model that is asked by a prompt which class a text has; nothing is trained. The class with the most
    probable label words is predicted. There is a run for each checkpoint, as of `trained` models, or for each wording
    of the prompt. Only the text is explained; the template around it is never hidden or changed, and scores nothing.
    """

    title: ClassVar[str] = "Language model with a prompt"

    architecture: Literal["prompted"]
    language_model: Literal["auto", "decoder", "masked"] = Field(
        "auto",
        description=(
            "Whether the label comes next (`decoder`) or stands where the mask is (`masked`); `auto` finds it in the "
            "checkpoint's `config.json`."
        ),
    )
    template: Templates = Field(
        description=(
            "What the model reads, with `{text}` where the text stands and `{label}` where the label does, each once. "
            "A decoder's label stands at the end; spaces before it belong to the label words. A list has a wording for "
            "each run, in the order of `seeds`, so that tables have the mean over wordings; a mapping has texts or "
            "lists by the name of a dataset, such as `{default: '{text} It was {label}.', news: '{label}: {text}'}`."
        )
    )
    label_words: dict[Text, Annotated[list[Text], Field(min_length=1)]] = Field(
        min_length=1,
        description=(
            "For each class of the dataset one or several words that stand for it, such as `{negative: [bad], "
            "positive: [good, great]}`; each may be several tokens. The probabilities of a class's words are added."
        ),
    )
    content_free: list[str] = Field(
        [],
        description=(
            'Texts without content, such as `["N/A", "[MASK]", ""]`: what the model says of them on average is taken '
            "for the prior of the classes, by which probabilities are divided (Zhao et al. 2021). Empty corrects "
            "nothing."
        ),
    )
    special_tokens: SpecialTokens = Field(default_factory=SpecialTokens)
    long_items: LongItems = "refuse"
    overlap: Overlap = None
    max_tokens: Annotated[
        int, Field(ge=3, description="Longest item in tokens, special tokens and the template included.")
    ] = 512

    @model_validator(mode="after")
    def _template_has_both(self) -> Self:
        for template in listed_texts(self.template):
            where = "" if template == self.template else f" in {shown(template)}"
            for slot in ("{text}", "{label}"):
                if (count := template.count(slot)) != 1:
                    raise refusal((("template",), f"found {slot} {count} times{where}; write it once"))
            if self.language_model == "decoder" and not template.rstrip().endswith("{label}"):
                raise refusal((("template",), f"does not end in {{label}}{where}; the label of a decoder comes last"))
        return self


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
        return _with_safe_address(self)


def _with_safe_address(service):
    """A service, if texts may be sent to its address."""
    try:
        checked_address(service.address, service.plain_http)
    except InputError as error:
        raise refusal((("address",), f"found {shown(without_secrets(service.address))}, which {error}")) from None
    return service


class AskingForAnswers(Connecting):
    """How a language model is asked; nothing here changes an answer."""

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
        return _with_safe_address(self)


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


def is_trained_here(config: dict, model: str) -> bool:
    """Whether a model of a complete configuration is trained by the study, as opposed to brought along or asked."""
    return "training" in Architecture.entries[config["models"][model]["architecture"]].model_fields


def services_of(config: dict) -> dict[str, dict]:
    """The models of a complete configuration that are services, by name."""
    return {name: model for name, model in config["models"].items() if model["architecture"] == "service"}


def chats_of(config: dict) -> dict[str, dict]:
    """The models of a complete configuration that are asked by a chat API, by name, each with what it is called."""
    chats = {name: model for name, model in config["models"].items() if model["architecture"] == "chat"}
    return {name: model | {"called": model["called"] or name} for name, model in chats.items()}


def answers_only(config: dict) -> list[str]:
    """The models of a complete configuration of which only answers in words are known."""
    return [
        name for name, model in config["models"].items() if Architecture.entries[model["architecture"]].answers_only
    ]


def seeds_of(config: dict, model: str) -> list[int]:
    """The seeds of a model's runs: those of the study, or of them one for each checkpoint that a model brings along.

    >>> config = {"seeds": [3, 7, 9], "models": {"ready": {"architecture": "trained", "source": ["a", "b"]}}}
    >>> seeds_of(config, "ready")
    [3, 7]
    """
    if is_trained_here(config, model):
        return config["seeds"]
    settings = config["models"][model]
    values = [value for name in OF_RUNS for value in by_key(name, settings.get(name)).values()]
    if any("{seed}" in part for value in values for part in listed_texts(value)):
        return config["seeds"]
    return config["seeds"][: max([len(value) for value in values if isinstance(value, list)], default=1)]

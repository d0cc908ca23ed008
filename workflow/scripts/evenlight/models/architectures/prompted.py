"""A language model with a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from evenlight.models.base import BroughtAlong, listed_texts
from evenlight.models.fields import LongItems, Overlap, SpecialTokens
from evenlight.settings import LIST, MAPPING, TEXT, TEXT_OR_LIST, Name, Text, refusal, shown

if TYPE_CHECKING:
    from evenlight.models.classifier import Classifier


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
            Annotated[_Wording | _Wordings, TEXT_OR_LIST],
        ],
        AfterValidator(_with_default),
        Field(json_schema_extra={"required": ["default"]}),
        Tag(MAPPING),
    ],
    Discriminator(lambda value: {list: LIST, dict: MAPPING}.get(type(value), TEXT)),
]


class Prompted(BroughtAlong):
    """A language model that is asked by a prompt which class a text has; nothing is trained. The class with the most
    probable label words is predicted. There is a run for each checkpoint, as of `trained` models, or for each wording
    of the prompt. Only the text is explained; the template around it is never hidden or changed, and scores nothing.
    """

    title: ClassVar[str] = "Language model with a prompt"
    is_loaded: ClassVar[bool] = True

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
            'Texts without content, such as `["N/A", "[MASK]", ""]`: what the model says of them on average is the '
            "prior by which probabilities are divided (Zhao et al. 2021). Empty corrects nothing."
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

    def load(self, classes: Sequence[str], sentences: Sequence[Sequence[str]]) -> tuple[Classifier, dict]:
        """As a classifier; the manifest says by which tokens it tells the classes apart."""
        from evenlight.models.prompted import prompted_classifier

        classifier, about = prompted_classifier(self, classes, sentences)
        for name, words in about["label_tokens"].items():
            print(f"class {name}: {', '.join(f'{word} ({chr(32).join(tokens)})' for word, tokens in words.items())}")
        if prefix := classifier.model_inputs.prefix:
            print(f"the first {len(prefix)} tokens of the prompt are computed once for all texts")
        return classifier, about

"""Language models that classify texts by a prompt, without any training: which tokens are read, and where.

A template has the text and the label; a class has one or several label words. The ids of a row are those that the
tokenizer gives for the filled template as one text: with the mask in the place of the label, or without the label at
the end. The tokens of a label word are those that stand there once the word is filled in.
"""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np
import torch
from transformers import AutoConfig, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from evenlight.core.errors import InputError
from evenlight.models.architectures.prompted import Prompted
from evenlight.models.building import MOST_TOKENS, Sentences, checked_classifier
from evenlight.models.classifier import Classifier, load_network, name_classes
from evenlight.models.language_model import DECODER, KINDS, MASKED, Prompt, as_classifier
from evenlight.models.location import located
from evenlight.models.networks import word_table
from evenlight.models.tokenizers import (
    NO_CODE,
    cannot_load,
    loaded_tokenizer,
    read_words,
    required_token_id,
    set_prompt,
    special_token_id,
    token_ids,
)
from evenlight.texts.rows import common_prefix, row_of
from evenlight.texts.words import joined_text

TEXT, LABEL = "{text}", "{label}"
NAMES = {DECODER: MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MASKED: MODEL_FOR_MASKED_LM_MAPPING_NAMES}
# So many texts are tokenised at once.
AT_ONCE = 256
KEY = "models.<model>"
WITH_HEAD = (
    "name a checkpoint that was published with the head of a language model, such as google-bert/bert-base-uncased, or "
    "train a new head on the dataset: architecture: pretrained"
)


def prompted_classifier(
    model: Prompted,
    classes: Sequence[str],
    sentences: Sentences,
    network: PreTrainedModel | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
) -> tuple[Classifier, dict]:
    """A classifier that asks a language model for the label words of the classes.

    The logit of class c is log Σ p(w | prompt) over its label words w, less the logarithm of its prior p̄(c), the mean
    over the ``content_free`` texts of the classes' probabilities. So p(c | text) is in proportion to p̂(c | text) /
    p̄(c): contextual calibration with W = diag(p̄)⁻¹ and b = 0 (Zhao et al. 2021, Section 5), divided by its sum; with
    one text that names the domain, pointwise mutual information in that domain (Holtzman et al. 2021).

    Args:
        model: in one run (``configuration.checkpoint``).
        classes: names of the dataset's classes, in the order of its labels.
        sentences: words of the texts that it will read.
        network, tokenizer: in place of those at its source.

    Returns:
        the classifier, and what its manifest says of it: ``language_model``, ``label_tokens`` by class and word, and
        ``prior`` by class, None where nothing is corrected.

    Raises:
        InputError: the source cannot be loaded or is no such language model; the template or the label words do not
            suit its tokenizer; it is shorter than ``max_tokens``, cannot be asked by word embeddings with the logits
            that it gives by token ids, or reads other tokens once it is saved.
    """
    source, revision = model.source, model.revision
    options = {"revision": revision} if revision else {}
    words = _words_of(classes, model.label_words)
    tokenizer = tokenizer or loaded_tokenizer(source, revision, model.special_tokens.model_dump())
    kind = kind_of(source, options, model.language_model, network and network.config)
    template = Template.of(model.template, kind, tokenizer)
    set_prompt(tokenizer, template.before, template.behind)
    _refuse_too_long(tokenizer, model.max_tokens or MOST_TOKENS)
    tokens = _Tokens(template, tokenizer, [word for name in classes for word in words[name]])
    texts = sentences or [["a"]]
    for start in range(0, len(texts), AT_ONCE):
        tokens.read(texts[start : start + AT_ONCE])
    _refuse_read_otherwise(tokens, model.content_free)
    of_words = dict(tokens.of_words)
    _refuse_alike(words, of_words, kind, tokenizer)
    if network is None:
        network = load_network(source, with_head=True, kind=KINDS[kind], remedy=WITH_HEAD, **options)
    network.eval()
    if kind == DECODER:
        refuse_looking_ahead(network, source, f"set {KEY}.language_model to masked, or name another model")
    prompt = Prompt(
        kind=kind,
        label_tokens=tuple(tuple(of_words[word] for word in words[name]) for name in classes),
        slot=tokens.slot,
        mask_token=special_token_id(tokenizer, "mask") if kind == MASKED else None,
        prefix=tokens.prefix if kind == DECODER else (),
        log_prior=(0.0,) * len(classes),
    )
    network = as_classifier(network, prompt)
    name_classes(network, classes)
    classifier = checked_classifier(network, tokenizer, model.max_tokens, sentences)
    classifier = replace(classifier, check_texts=tokens.read)
    prior = None
    if model.content_free:
        prior = _prior(classifier, model.content_free)
        as_classifier(network, replace(prompt, log_prior=tuple(np.log(prior).tolist())))
    return classifier, {
        "language_model": kind,
        "label_tokens": {
            name: {word: tokenizer.convert_ids_to_tokens(list(of_words[word])) for word in words[name]}
            for name in classes
        },
        "prior": prior and dict(zip(classes, prior, strict=True)),
    }


def kind_of(source: str, options: dict, wanted: str = "auto", config: PreTrainedConfig | None = None) -> str:
    """Whether the language model at ``source`` is asked as ``decoder`` or ``masked``.

    ``wanted`` is one of the two, or ``auto``, which takes the class that the files name.

    Raises:
        InputError: they name neither, or Transformers has no such language model of the type.
    """
    try:
        with located(source, options.get("revision")) if config is None else nullcontext():
            config = config or AutoConfig.from_pretrained(source, **NO_CODE, **options)
    except InputError:
        raise
    except Exception as error:
        raise InputError(cannot_load(source, error)) from None
    if wanted != "auto":
        if config.model_type not in NAMES[wanted]:
            raise InputError(
                f"{KEY}.language_model is {wanted}, and model {source} is of the type {config.model_type}, of which "
                "Transformers has no such language model; set it to auto, or name another model"
            )
        return wanted
    named = set(config.architectures or ())
    kinds = [kind for kind in NAMES if named & {*_names(NAMES[kind].values())}]
    kinds = kinds or [kind for kind in NAMES if not named and config.model_type in NAMES[kind]]
    if len(kinds) == 1:
        return kinds[0]
    if named and not kinds:
        raise InputError(
            f"model {source}: its config.json names {', '.join(sorted(named))} (architectures), which has no head of a "
            f"language model, so that it cannot be asked for a word; {WITH_HEAD}. If its weights have one, set "
            f"{KEY}.language_model to decoder or masked"
        )
    raise InputError(
        f"model {source}: its config.json names {', '.join(sorted(named)) or 'no class'} (architectures), which does "
        f"not say whether it is a decoder or a masked language model; set {KEY}.language_model to decoder or masked"
    )


def _names(values) -> Iterator[str]:
    for value in values:
        yield from [value] if isinstance(value, str) else value


# The template -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Template:
    """What stands around a text.

    Attributes:
        kind: ``decoder`` or ``masked``.
        before: what the model reads before the text.
        behind: what it reads behind the text.
        label: the side of the text where the label is, ``before`` or ``behind``.
        start: of the label, counted in characters from the start of that side.
        gap: spaces between a decoder's prompt and the label, which are the label's: tokenizers put them to the word.
        mask: the mask, which the model reads in the place of the label; empty for decoders.
    """

    kind: str
    before: str
    behind: str
    label: str
    start: int
    gap: str
    mask: str

    @classmethod
    def of(cls, template: str, kind: str, tokenizer: PreTrainedTokenizerBase) -> "Template":
        """A template with one ``{text}`` and one ``{label}``.

        Raises:
            InputError: a decoder's label does not stand at the end, or the tokenizer has no mask.
        """
        before, behind = template.split(TEXT)
        if kind == DECODER:
            prompt, has_label, rest = behind.partition(LABEL)
            if not has_label or rest.strip():
                raise InputError(
                    f"{KEY}.template: a decoder reads from left to right, and its label comes last; here "
                    f"{(rest if has_label else TEXT).strip()!r} stands behind {LABEL}. Put {LABEL} at the end, or name "
                    "a masked language model"
                )
            read = prompt.rstrip(" ")
            return cls(kind, before, read, "behind", len(read), prompt[len(read) :], "")
        required_token_id(tokenizer, "mask", "masked language")
        mask = tokenizer.convert_ids_to_tokens(special_token_id(tokenizer, "mask"))
        side = "before" if LABEL in before else "behind"
        start = (before if side == "before" else behind).index(LABEL)
        return cls(kind, before.replace(LABEL, mask), behind.replace(LABEL, mask), side, start, "", mask)

    def filled(self, words: Sequence[str], label: str | None = None) -> str:
        """The template with the words of a text: what the model reads, or with the ``label`` in its place."""
        sides = {"before": self.before, "behind": self.behind}
        if label is not None:
            side, end = sides[self.label], self.start + len(self.mask)
            sides[self.label] = f"{side[: self.start]}{self.gap}{label}{side[end:]}"
        return f"{sides['before']}{joined_text(words)}{sides['behind']}"

    def label_start(self, words: Sequence[str]) -> int:
        """The first character of the label in the filled template."""
        return self.start if self.label == "before" else len(self.before) + len(joined_text(words)) + self.start


@dataclass
class _Tokens:
    """What the tokenizer makes of the filled template, which must be the same for all texts.

    Attributes:
        template: the template.
        tokenizer: whose prompt is set.
        words: all label words.
        of_words: token ids of each.
        slot: where the mask stands, or -1, see :class:`evenlight.models.language_model.Prompt`.
        prefix: ids with which all rows begin, before anything of the text.
    """

    template: Template
    tokenizer: PreTrainedTokenizerBase
    words: Sequence[str]
    of_words: dict[str, tuple[int, ...]] = field(default_factory=dict)
    slot: int | None = None
    prefix: tuple[int, ...] | None = None

    def read(self, sentences: Sentences) -> None:
        """Look at some more texts, given as words."""
        encodings = read_words(self.tokenizer, sentences)
        last = int(encodings[0].token_id[-1])
        if self.template.kind == DECODER and last in self.tokenizer.all_special_ids:
            raise InputError(
                f"{KEY}.language_model: the tokenizer puts {self.tokenizer.convert_ids_to_tokens(last)} behind every "
                "text, so that no label can follow; set it to masked, or name a decoder whose tokenizer puts nothing "
                "there"
            )
        for words, reading in zip(sentences, encodings, strict=True):
            slot = self._slot(words, len(reading.token_id))
            if self.slot not in (None, slot):
                raise InputError(self._joined(words, "the label"))
            self.slot = slot
            before = reading.token_id[: np.flatnonzero(reading.word_id >= 0).min(initial=len(reading.token_id))]
            before = tuple(before.tolist())
            self.prefix = common_prefix([before, before if self.prefix is None else self.prefix])
        for word in dict.fromkeys(self.words):
            filled = self.tokenizer([self.template.filled(words, word) for words in sentences], verbose=False)
            for words, reading, with_word in zip(sentences, encodings, filled["input_ids"], strict=True):
                row = reading.token_id.tolist()
                # What the label is put behind, and what comes behind it.
                kept = len(row) if self.template.kind == DECODER else self.slot % len(row)
                rest = row[kept + 1 :]
                length = len(with_word) - kept - len(rest)
                if length < 1 or row[:kept] != with_word[:kept] or rest != with_word[kept + length :]:
                    raise InputError(self._joined(words, f"the label word '{word}'"))
                tokens = tuple(with_word[kept : kept + length])
                if self.of_words.setdefault(word, tokens) != tokens:
                    raise InputError(self._joined(words, f"the label word '{word}'"))

    def _slot(self, words: Sequence[str], tokens: int) -> int:
        """Of the filled template with so many ``tokens``; from the start where the label stands before the text."""
        if self.template.kind == DECODER:
            return -1
        encoding = self.tokenizer(self.template.filled(words), return_offsets_mapping=True, verbose=False)
        start = self.template.label_start(words)
        for place, (span, token) in enumerate(zip(encoding["offset_mapping"], encoding["input_ids"], strict=True)):
            if token == special_token_id(self.tokenizer, "mask") and span[0] <= start < span[1]:
                return place if self.template.label == "before" else place - tokens
        raise InputError(self._joined(words, "the label"))

    def _joined(self, words: Sequence[str], what: str) -> str:
        return (
            f"{KEY}.template: in '{self.template.filled(words)}' the tokenizer reads {what} together with what stands "
            f"beside it, so that its tokens depend on the text; put a space or a line break beside {LABEL}, or choose "
            "another model"
        )


# What is refused ------------------------------------------------------------------------------------------------------


def _words_of(classes: Sequence[str], label_words: dict[str, list[str]]) -> dict[str, list[str]]:
    """The label words of the dataset's classes; those of other datasets may stand beside them."""
    for name in classes:
        if name not in label_words:
            raise InputError(
                f"{KEY}.label_words: there is no entry for class {name}; it has {', '.join(label_words)}, and the "
                f"classes of the dataset are {', '.join(classes)}. Give every class its label words"
            )
    return {name: label_words[name] for name in classes}


def _refuse_too_long(tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> None:
    [row] = token_ids(tokenizer, [[]])
    if len(row) >= max_tokens:
        raise InputError(
            f"{KEY}.template: has {len(row)} tokens without any text, and {KEY}.max_tokens is {max_tokens}; make the "
            "template shorter or raise max_tokens up to the model's limit"
        )


def _refuse_alike(
    words: dict[str, list[str]], of_words: dict[str, tuple[int, ...]], kind: str, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Refuse label words that the model cannot tell apart.

    A decoder that is asked for a word whose tokens another word begins with finds both: the longer is never more
    probable than the shorter.
    """
    for name, listed in words.items():
        for word in listed:
            if special := set(of_words[word]) & set(tokenizer.all_special_ids):
                raise InputError(
                    f"{KEY}.label_words.{name}: the tokenizer reads '{word}' as "
                    f"{tokenizer.convert_ids_to_tokens(min(special))}; choose a word of its vocabulary"
                )
    every = [(name, word) for name, listed in words.items() for word in listed]
    for (name, word), (other_name, other) in permutations(every, 2):
        first, second = of_words[word], of_words[other]
        same = first == second
        if same or (kind == DECODER and second[: len(first)] == first):
            how = "has the same tokens as" if same else "begins with the tokens of"
            listed = " ".join(tokenizer.convert_ids_to_tokens(list(first)))
            raise InputError(
                f"{KEY}.label_words.{other_name}: '{other}' {how} '{word}' of class {name} ({listed}), so that the two "
                "cannot be told apart; choose another word"
            )


def _refuse_read_otherwise(tokens: _Tokens, content_free: Sequence[str]) -> None:
    """Refuse texts without content around which template and label words have other tokens than around the texts."""
    # Of its own, since they do not count for what all rows begin with.
    tokens = replace(tokens)
    for text in content_free:
        try:
            tokens.read([[text]])
        except InputError as error:
            raise InputError(
                f"{KEY}.content_free: '{text}' is not read as the texts of the dataset are; choose another. {error}"
            ) from None


@torch.no_grad()
def refuse_looking_ahead(network: PreTrainedModel, source: str, remedy: str) -> None:
    """Refuse a network that is no decoder: what follows a token changes what comes out at it."""
    row = torch.arange(8)[None] % len(word_table(network))
    try:
        whole, part = network(input_ids=row).logits, network(input_ids=row[:, :5]).logits
    # Whatever a foreign network says; what is made of it is tried out as any other.
    except Exception:
        return
    if (whole[:, :5] - part).abs().max() > 1e-3 * part.abs().max():
        raise InputError(
            f"model {source}: a {network.config.model_type} model with these settings sees what follows, and is no "
            f"decoder; {remedy}"
        )


@torch.no_grad()
def _prior(classifier: Classifier, texts: Sequence[str]) -> list[float]:
    """The mean over texts without content of the classes' probabilities, (classes,)."""
    rows = token_ids(classifier.tokenizer, [[text] for text in texts])
    if (longest := max(map(len, rows))) > classifier.max_tokens:
        raise InputError(
            f"{KEY}.content_free: a text has {longest} tokens in the template, and {KEY}.max_tokens is "
            f"{classifier.max_tokens}; give shorter ones"
        )
    of_texts = []
    for row in rows:
        row = row_of(row, is_padding=classifier.model_inputs.padding_in(row))
        token_id, mask = classifier.padded([row])
        of_texts.append(classifier.logits(classifier.embed(token_id), mask)[0].double().softmax(-1))
    return torch.stack(of_texts).mean(0).tolist()

"""Load, keep, ask and explain a tiny language model of a type with a prompt, beside Transformers' own forward pass."""

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np
import torch
from measure_classifiers import TEXTS, TOLERANCE, batched_logits, explanations, sentences_for
from scipy.special import softmax
from sweeping import asked_of, line, markdown, named, refusals, told, where, works
from tiny_models import has_fast_tokenizer, tokenizer_kind, write_model
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from evenlight.core.errors import InputError
from evenlight.engine import training
from evenlight.engine.evaluator import Evaluator
from evenlight.models import Architecture
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.language_model import DECODER, KINDS, MASKED
from evenlight.models.prompted import NAMES, kind_of, prompted_classifier

TYPES = [f"{model_type}.{kind}" for kind in (DECODER, MASKED) for model_type in NAMES[kind]]
MAX_TOKENS = 140
BEFORE = "They say : "
TEMPLATES = {
    DECODER: BEFORE + "{text}\nWho returns before dawn ? {label}",
    MASKED: BEFORE + "{text} . Who returns ? {label} , she says .",
}
# Of one token and of several.
LABEL_WORDS = {"sea": ["He", "the harbour"], "land": ["brother", "won't"]}
# What a vocabulary is learned from.
WORDS = [*(text.split() for text in TEXTS), *(template.split() for template in TEMPLATES.values())]
EXPLAINERS = ("saliency", "kernel_shap")
# How far probabilities may be from Transformers' own, and log-odds as a share of what texts differ in.
CLOSE, CLOSE_ODDS = 1e-5, 1e-3


def measured(name: str, folder: Path) -> dict:
    """All that is found out about a type.

    Args:
        name: one of :data:`TYPES`.
        folder: empty, for models.
    """
    about = named(name)
    model_type, kind = about["type"], about["kind"]
    row = about | {
        "tokenizer": tokenizer_kind(model_type, kind == DECODER),
        "has_fast_tokenizer": has_fast_tokenizer(model_type),
    }
    source = folder / "source"
    try:
        special = write_model(model_type, source, WORDS, row["tokenizer"], KINDS[kind], kind == DECODER)
    except Exception as error:  # Transformers itself cannot make one, such as for want of another library
        return row | {"outcome": "not made", "reason": line(error), "where": where(error)}
    try:
        network = plain_network(source, kind)
        with torch.no_grad():
            network(input_ids=torch.arange(8)[None])
    except Exception as error:
        return row | {"outcome": "not run", "reason": line(error), "where": where(error)}
    settings = {
        "source": str(source),
        "revision": None,
        "language_model": kind,
        "template": TEMPLATES[kind],
        "label_words": LABEL_WORDS,
        "content_free": [],
        "special_tokens": special,
        "max_tokens": MAX_TOKENS,
    }
    try:
        row |= {"auto": found_kind(source)}
        words = [text.split() for text in TEXTS]
        classifier, _ = prompted_classifier(
            Architecture.parse({"architecture": "prompted"} | settings), list(LABEL_WORDS), words
        )
        training.save_classifier(classifier, folder / "kept", None, {})
        classifier = load_saved(folder / "kept", MAX_TOKENS)
        sentences = sentences_for(classifier)
    except InputError as error:
        return row | {
            "outcome": "refused",
            "reason": str(error).replace(f"model {source}: a", "a").replace(str(source), "…"),
        }
    except Exception as error:
        return row | {"outcome": "traceback", "reason": line(error), "where": where(error)}
    row |= works(classifier) | {
        "shared": len(classifier.model_inputs.prefix),
        "prompt": len(classifier.network.prompt.prefix),
    }
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        if kind == MASKED and tokenizer.mask_token is None:
            tokenizer.mask_token = special["mask"]
        logits = their_logits(network, tokenizer, kind, TEMPLATES[kind])
        expected, found = softmax(logits, axis=1), probabilities(classifier, sentences)
        odds, own = (values[:, 0] - values[:, 1] for values in (logits, batched_logits(classifier, sentences)))
        row |= {"difference": np.abs(found - expected).max(), "spread": np.ptp(expected, axis=0).mean()}
        row |= {"odds_difference": np.abs(own - odds).max(), "odds_spread": np.ptp(odds)}
        if row["shared"]:
            alone = replace(classifier, model_inputs=replace(classifier.model_inputs, prefix=()))
            row |= {"difference_of_sharing": np.abs(found - probabilities(alone, sentences)).max()}
        row |= explanations(classifier, folder, sentences, EXPLAINERS)
    except Exception as error:
        return row | {"outcome": "traceback", "reason": line(error), "where": where(error)}
    if row["odds_spread"] < 1e-4:
        return row | {"outcome": "reads nothing", "reason": "every text has the same probabilities"}
    apart = max(row["difference"], row.get("difference_of_sharing", 0))
    if not apart <= CLOSE or not row["odds_difference"] <= CLOSE_ODDS * row["odds_spread"]:
        reason = f"probabilities by {apart:.0e}, log-odds by {row['odds_difference']:.0e} of {row['odds_spread']:.1f}"
        return row | {"outcome": "differs", "reason": reason}
    return row


def plain_network(folder: Path, kind: str) -> torch.nn.Module:
    """The language model as Transformers loads it."""
    return KINDS[kind].from_pretrained(folder, dtype=torch.float32).eval()


def found_kind(source: Path) -> str:
    """What ``language_model: auto`` finds; empty where it asks for a word."""
    try:
        return kind_of(str(source), {})
    except InputError:
        return ""


def probabilities(classifier: Classifier, sentences: list) -> np.ndarray:
    """Of all sentences in one go, (sentences, classes)."""
    return Evaluator(classifier, 4096).probabilities([sentence.row for sentence in sentences])


# Transformers' own call ------------------------------------------------------------------------------------------


def their_logits(network: torch.nn.Module, tokenizer: PreTrainedTokenizerBase, kind: str, template: str) -> np.ndarray:
    """Logits of the classes for :data:`TEXTS`, (texts, classes), by the ids of one filled template at a time."""
    ask = {DECODER: of_decoder, MASKED: of_masked}[kind]
    logits = [
        [np.logaddexp.reduce([ask(network, tokenizer, filled, word) for word in own]) for own in LABEL_WORDS.values()]
        for filled in (template.replace("{text}", text) for text in TEXTS)
    ]
    return np.array(logits)


def of_decoder(network: torch.nn.Module, tokenizer: PreTrainedTokenizerBase, template: str, word: str) -> float:
    """Logarithm of the probability that the word comes next."""
    length = len(tokenizer(template.replace("{label}", "").rstrip(" "))["input_ids"])
    row = tokenizer(template.replace("{label}", word))["input_ids"]
    return log_probability(network, row, [(place - 1, row[place]) for place in range(length, len(row))])


def of_masked(network: torch.nn.Module, tokenizer: PreTrainedTokenizerBase, template: str, word: str) -> float:
    """The same of the word in the place of masks, token by token."""
    mask = tokenizer.mask_token_id
    masked = tokenizer(template.replace("{label}", tokenizer.mask_token), return_offsets_mapping=True)
    row = tokenizer(template.replace("{label}", word))["input_ids"]
    # By its characters, since a token that stands in for the mask may be in the text, too.
    start = template.index("{label}")
    first = next(place for place, (before, end) in enumerate(masked["offset_mapping"]) if before <= start < end)
    length = len(row) - len(masked["input_ids"]) + 1
    total = 0.0
    for place in range(first, first + length):
        hidden = [*row[:place], *[mask] * (first + length - place), *row[first + length :]]
        total += log_probability(network, hidden, [(place, row[place])])
    return total


@torch.no_grad()
def log_probability(network: torch.nn.Module, row: Sequence[int], tokens: Sequence[tuple[int, int]]) -> float:
    """Of some tokens, each by the output at the place that stands with it."""
    given = {"input_ids": torch.tensor([row])}
    # As the tokenizer's call gives it; some take the id of padding for padding without it, wherever it stands.
    if "attention_mask" in signature(network.forward).parameters:
        given["attention_mask"] = torch.ones_like(given["input_ids"])
    logits = network(**given).logits[0].double()
    return sum(float(logits[place].log_softmax(-1)[token]) for place, token in tokens)


# The table -------------------------------------------------------------------------------------------------------

INTRODUCTION = """\
## Language models with a prompt

For `architecture: prompted`, the same was done with each of the {types} types of causal and of masked language models
that Transformers knows. A small model has random weights and a tokenizer of the kind that published models have. It is
loaded with a template and label words of one and of several tokens, saved, and loaded again. Then it is asked about
eight texts at once, and explained with one gradient method and one that only asks.

**{works} of them work, {decoder} as a decoder and {masked} as a masked model; the others stand below.**{failed}

[architectures_language_models.csv](architectures_language_models.csv) has what was found out about each that works:

- **as**: `decoder`, the label comes next, or `masked`, it stands where the mask is. In parentheses where
  `language_model: auto` does not find this in the `config.json` that Transformers saves.
- **probabilities**: the largest difference between ours and those of Transformers' own forward pass over the ids of the
  filled template, each text and each label word by itself; and how much they differ between texts. Where one class is
  certain, the logarithm of the odds says more: a type works only where it is the same, too, to {odds:g} of what texts
  differ in.
- **shared**: how many of the tokens before the text are read once for all texts, and what that changes in the
  probabilities; `no` where the network keeps something else than keys and values, or answers otherwise with them.
- **saliency**, **kernel_shap**: where nothing stands, a sentence alone has the scores that it has among others, to
  {tolerance:g} of the largest. Otherwise a note, or the reason for which a type is refused, stands there.
"""


def table(rows: list[dict]) -> str:
    """The part of the page about language models: which types work, and why the others do not."""
    rows = sorted(rows, key=lambda row: (row["kind"], row["type"]))
    working = [row for row in rows if row["outcome"] == "works"]
    failed = sum(row["outcome"] in ("traceback", "differs") for row in rows)
    counts = {kind: sum(row["kind"] == kind for row in working) for kind in (DECODER, MASKED)}
    introduction = INTRODUCTION.format(
        types=len(rows),
        works=len(working),
        failed=f" {failed} end in an error." if failed else "",
        **counts,
        tolerance=TOLERANCE,
        odds=CLOSE_ODDS,
    )
    others = refusals((row for row in rows if row not in working), "kind")
    heading = "### What does not work with a prompt, and why"
    return "\n".join([introduction, heading, "", *markdown(["type", "as", "", "reason"], others), ""])


def shown(row: dict) -> dict[str, str]:
    """What the file of comma-separated values says of a type that works."""
    shared = f"{row['shared']} of {row['prompt']}, {row['difference_of_sharing']:.0e}" if row["shared"] else "no"
    return {
        "type": row["type"],
        "as": row["kind"] if row["auto"] == row["kind"] else f"({row['kind']})",
        **asked_of(row),
        "probabilities": f"{row['difference']:.0e} of {row['spread']:.0e}",
        "shared": shared if row["kind"] == DECODER else "",
        **{name: answer["text"] or told(answer) for name, answer in row["explainers"].items()},
    }

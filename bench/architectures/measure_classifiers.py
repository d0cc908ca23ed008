"""Load, train, keep and explain a tiny sequence classifier of a type, beside Transformers' own call."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import transformers
from scipy.stats import spearmanr
from sweeping import asked_of, line, machine, markdown, refusals, told, where, works
from tiny_models import has_fast_tokenizer, tokenizer_kind, write_model
from transformers import AutoModelForSequenceClassification
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from evenlight.core.errors import InputError
from evenlight.engine import training
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import tokenize
from evenlight.explainers import Context, Explainer, Explanations, explain
from evenlight.models import Architecture
from evenlight.models.building import new_classifier
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.trainings import Training

TYPES = list(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES)
MAX_TOKENS = 96
TEXTS = [
    "Mara leaves the harbour before dawn .",
    "He waits .",
    "But her brother , a watchmaker , won't follow , and she sails alone .",
    "The old captain ( once a famous diver ) sells his boat or loses it .",
    "Nobody returns , whispers the widow , but the girl keeps rowing !",
    "They find the lighthouse-keeper's daughter asleep . Who lit the lamp ?",
    "A storm breaks over the island , the mast falls , and the sailors ( all but one ) swim ashore .",
    "Unforgivable debts follow him , or so the fishermen say ; she doesn't believe them .",
]
EXPLAINED = (0, 1, 3)
MODEL = {
    "architecture": "pretrained",
    "revision": None,
    "max_tokens": MAX_TOKENS,
    "training": "short",
}
TRAINING = Training(learning_rate=1e-3, batch_size=4, epochs=1, weight_decay=0.01, warmup_share=0.0)
# Fewer steps and rows than anyone should take, for time.
SMALL = {
    "adaptive_integrated_gradients": {"maximum_steps": 33},
    "gradient_shap": {"samples": 3},
    "integrated_gradients": {"steps": 12},
    "kernel_shap": {"evaluations": 40},
    "lime": {"samples": 40},
    "partition_shap": {"evaluations": 30},
    "path_gradient": {"steps": 12},
    "shapley_sampling": {"permutations": 3},
}
# How far scores of a sentence alone and among others may be apart, as a share of the largest score.
TOLERANCE = 1e-3


def explainers() -> dict[str, tuple[str, dict]]:
    """Every explainer that asks the model, with its family and its settings; differentiating ones at both layers."""
    chosen = {}
    for method, entry in Explainer.entries.items():
        # Ranks, which rounding may exchange, have no share by which they differ.
        if entry.needs_model and method != "upper_bound":
            settings = entry.model_validate({"method": method} | SMALL.get(method, {})).model_dump()
            chosen[method] = (entry.family, settings)
    layer = {"layer": "embedding_output"}
    return chosen | {"saliency at embedding_output": (chosen["saliency"][0], chosen["saliency"][1] | layer)}


def sentences_for(classifier: Classifier) -> list:
    """The texts as a model reads them, with its classes as targets in turn."""
    items = pd.DataFrame({"item_id": [f"text {i}" for i in range(len(TEXTS))], "words": [t.split() for t in TEXTS]})
    return tokenize(classifier, items, np.arange(len(TEXTS)) % classifier.classes)


def measured(model_type: str, folder: Path) -> dict:
    """All that is found out about a type.

    Args:
        model_type: a key of Transformers' mapping.
        folder: empty, for models.
    """
    row = {
        "type": model_type,
        "tokenizer": tokenizer_kind(model_type),
        "has_fast_tokenizer": has_fast_tokenizer(model_type),
    }
    words = [text.split() for text in TEXTS]
    try:
        special = write_model(model_type, folder / "source", words)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        # Transformers itself cannot make one, such as for want of another library.
        return row | {"outcome": "not made", "reason": line(error), "where": where(error)}
    try:
        settings = MODEL | {"source": str(folder / "source"), "special_tokens": special}
        classifier = new_classifier(Architecture.parse(settings), TRAINING, words, 2, seed=0)
        # As rule train does; of two classes without names nothing would be kept.
        classifier.network.config.id2label = {0: "no", 1: "yes"}
        classifier.network.config.label2id = {"no": 0, "yes": 1}
        sentences = sentences_for(classifier)
        history = training.train(classifier, sentences, sentences, TRAINING, 0)
        training.save_classifier(classifier, folder / "trained", history, {})
        classifier = load_saved(folder / "trained", MAX_TOKENS)
    except InputError as error:
        return row | {"outcome": "refused", "reason": str(error).replace(str(folder), "")}
    except Exception as error:
        return row | {"outcome": "traceback", "reason": line(error), "where": where(error)}
    row |= works(classifier)
    if not spread_of_logits(folder / "trained", sentences):
        reason = "Transformers' own call gives every text the same logits, so there is nothing to explain"
        return row | {"outcome": "reads nothing", "reason": reason}
    for measure in (agreement, rounding, explanations):
        try:
            row |= measure(classifier, folder / "trained", sentences)
        except Exception as error:
            row |= {"outcome": "traceback", "reason": f"{measure.__name__}: {line(error)}", "where": where(error)}
    return row


def plain_network(folder: Path) -> torch.nn.Module:
    """The network as Transformers loads it."""
    return AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()


@torch.no_grad()
def batched_logits(classifier: Classifier, sentences: list) -> np.ndarray:
    """Logits of all sentences in batches as explainers have them, (sentences, classes)."""
    rows = [sentence.token_id for sentence in sentences]

    def compute(batch: np.ndarray) -> np.ndarray:
        token_id, mask = classifier.padded([rows[index] for index in batch])
        return classifier.logits(classifier.embed(token_id), mask).double().numpy()

    return np.array(Evaluator(classifier, 4096).in_batches([len(row) for row in rows], compute))


@torch.no_grad()
def logits_alone(folder: Path, sentences: list) -> np.ndarray:
    """Transformers' own logits of each text by itself, by its ids, (sentences, classes)."""
    network = plain_network(folder)
    alone = [network(input_ids=torch.from_numpy(sentence.token_id)[None]).logits[0] for sentence in sentences]
    return torch.stack(alone).double().numpy()


def spread_of_logits(folder: Path, sentences: list) -> float:
    """How far the logits of texts are apart, mean over the classes; 0 where that is rounding."""
    logits = logits_alone(folder, sentences)
    spread = float(np.ptp(logits, axis=0).mean())
    return spread if spread > 1e-6 * np.abs(logits).max() else 0.0


def agreement(classifier: Classifier, folder: Path, sentences: list) -> dict:
    """How far our logits, in batches by embeddings, are from Transformers' own, a text at a time by ids."""
    difference = np.abs(batched_logits(classifier, sentences) - logits_alone(folder, sentences)).max()
    return {"difference": difference, "spread": spread_of_logits(folder, sentences)}


def rounding(classifier: Classifier, folder: Path, sentences: list) -> dict:
    """What fast layers and bfloat16 change: logits, and the order of a sentence's tokens by their Saliency."""
    plain = replace(classifier, network=plain_network(folder).requires_grad_(False))
    logits = batched_logits(classifier, sentences)
    fast = [module for module in classifier.network.modules() if type(module).__name__.startswith("Fast")]
    row = {
        "fast_layers": len(fast),
        "fast_difference": np.abs(logits - batched_logits(plain, sentences)).max(),
    }
    try:
        rough = load_saved(folder, MAX_TOKENS, precision="bfloat16")
    except InputError as error:
        return row | {"bfloat16_refused": str(error)}
    pairs = zip(saliency(classifier, sentences), saliency(rough, sentences), strict=True)
    ranks = [spearmanr(exact, rounded).statistic for exact, rounded in pairs if len(exact) > 2]
    return row | {
        "bfloat16_difference": np.abs(logits - batched_logits(rough, sentences)).max(),
        "bfloat16_rank": float(np.mean(ranks)),
    }


def saliency(classifier: Classifier, sentences: list) -> list[np.ndarray]:
    """Scores of each sentence's tokens."""
    family, settings = explainers()["saliency"]
    result = explained(classifier, sentences, family, "saliency", settings)
    return [attribution.token_score for attribution in result.attributions]


def explained(classifier: Classifier, sentences: list, family: str, name: str, settings: dict) -> Explanations:
    """What one explainer says of sentences, as many in a batch as fit."""
    return explain(Explainer.parse_all({name: settings}), sentences, Context(Evaluator(classifier, 4096), 0, None))[
        name
    ]


def explanations(classifier: Classifier, folder: Path, sentences: list, names: Collection[str] = ()) -> dict:
    """What comes of each explainer, or of some, and how far a sentence alone is from the same among others."""
    chosen = [sentences[index] for index in EXPLAINED]
    verdicts = {}
    for name, (family, settings) in explainers().items():
        if names and name not in names:
            continue
        try:
            together = explained(classifier, chosen, family, name, settings)
            alone = [explained(classifier, [sentence], family, name, settings) for sentence in chosen]
        except InputError as error:
            verdicts[name] = {"verdict": "refused", "text": str(error)}
            continue
        except Exception as error:
            verdicts[name] = {"verdict": "traceback", "text": line(error), "where": where(error)}
            continue
        scores = [attribution.token_score for attribution in together.attributions]
        single = [result.attributions[0].token_score for result in alone]
        apart = max(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30) for a, b in zip(single, scores, strict=True))
        note = together.note
        if not all(np.isfinite(score).all() for score in scores):
            verdicts[name] = {"verdict": "traceback", "text": "scores that are not finite"}
        elif apart > TOLERANCE and not note:
            verdicts[name] = {
                "verdict": "traceback",
                "text": f"alone and among others differ by {apart:.0e} of the largest",
            }
        else:
            verdicts[name] = {"verdict": "note" if note else "holds", "text": note, "apart": apart}
    return {"explainers": verdicts}


# The table -------------------------------------------------------------------------------------------------------

INTRODUCTION = """\
# Which architectures work

`bench/architectures/measure_architectures.py` made this page with Transformers {version} on {machine}. For each of
the {types} types of sequence classifier that Transformers knows it writes a small model. The model has random
weights, uneven attention and a tokenizer of the kind that published models of the type have. It is loaded as a study
does it (`architecture: pretrained`), trained for two steps, saved, and loaded again. Then three sentences are
explained with every explainer, with few steps and rows. The page says that explanations are what their method says of
the model as Transformers runs it. It does not say that they mean something for a type.

**{works} types work, the others stand at the end.**{failed}

[architectures_classifiers.csv](architectures_classifiers.csv) has what was found out about each that works:

- **tokenizer**: the kind that was tried. It is in parentheses where published models of the type have none that is fast
  (made by the library `tokenizers`), or none for words. They are refused unless one lies beside them.
- **padding**: on which side of the text it stands, found by trying. `none`: the network reads padding, so only texts of
  one length share a batch.
- **by**: `embeddings`, asked by word embeddings alone. With `ids too`, ids that say where a text ends go in as well,
  and the embeddings take the place of what the network makes of them.
- **logits**: the largest difference between ours, eight texts in batches, and Transformers' own, each text alone by its
  ids. Beside it stands how much the logits of the texts differ.
- **fast**: how many layers are replaced by faster ones, and what that changes in the logits.
- **bfloat16**: what rounding in the linear layers changes in the logits. Beside it stands the rank correlation of
  Saliency with that in float32, mean over the texts.
- **the explainers**: where nothing stands, a sentence alone has the scores that it has among others, to {tolerance:g}
  of the largest. Otherwise a note, or the reason for which a type is refused, stands there.
"""


def table(rows: list[dict]) -> str:
    """The page: which types work, and why the others do not."""
    rows = sorted(rows, key=lambda row: row["type"])
    working = [row for row in rows if row["outcome"] == "works"]
    failed = sum(row["outcome"] == "traceback" for row in rows)
    introduction = INTRODUCTION.format(
        version=transformers.__version__,
        machine=machine(),
        types=len(rows),
        works=len(working),
        failed=f" {failed} end in an error." if failed else "",
        tolerance=TOLERANCE,
    )
    others = refusals(row for row in rows if row not in working)
    lines = [introduction, "## What does not work, and why", "", *markdown(["type", "", "reason"], others), ""]
    return "\n".join(lines)


def shown(row: dict) -> dict[str, str]:
    """What the file of comma-separated values says of a type that works."""
    half = f"{row['bfloat16_difference']:.0e}, {row['bfloat16_rank']:.2f}" if "bfloat16_rank" in row else "refused"
    return {
        **asked_of(row),
        "logits": f"{row['difference']:.0e} of {row['spread']:.1f}",
        "fast": f"{row['fast_layers']}, {row['fast_difference']:.0e}",
        "bfloat16": half,
        **{name: answer["text"] or told(answer) for name, answer in row["explainers"].items()},
    }

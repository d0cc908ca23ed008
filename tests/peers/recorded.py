"""The recorded outputs of ferret that the parity tests read."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.models.classifier import Classifier, load_saved

# ferret's names for the methods, and ours.
METHODS = {
    "grad": {"method": "saliency", "output": "logit", "layer": "word_embeddings", "definition": "paper"},
    "gxi": {"method": "input_x_gradient", "output": "logit", "layer": "word_embeddings", "definition": "paper"},
    "ig": {
        "method": "path_gradient",
        "output": "logit",
        "layer": "word_embeddings",
        "steps": 50,
        "baseline": "pad",
    },
    "igxi": {
        "method": "integrated_gradients",
        "output": "logit",
        "layer": "word_embeddings",
        "steps": 50,
        "baseline": "pad",
    },
    "lime": {
        "method": "lime",
        "features": "token",
        "definition": "paper",
        "special_tokens": "unscored",
        "samples": None,
        "maximum_samples": 5000,
        "asked": None,
        "kernel_width": 25,
        "ridge": 1.0,
    },
    "shap": {"method": "partition_shap", "evaluations": 500},
}
FAMILIES = {"gradient": ["grad", "gxi"], "path": ["ig", "igxi"], "lime": ["lime"], "partition_shap": ["shap"]}


def cases(folder: Path) -> list[dict]:
    """The recorded sentences."""
    return json.loads((folder / "ferret_tiny_bert.json").read_text())


def classifier(folder: Path) -> Classifier:
    """The recorded model."""
    return load_saved(folder / "tiny_bert_geco_all", max_tokens=128)


def sentences(folder: Path, model: Classifier) -> list[Sentence]:
    """The recorded sentences, tokenised by us."""
    recorded = cases(folder)
    items = pd.DataFrame(
        {
            "item_id": [f"{case['sentence_idx']}-{case['gender']}" for case in recorded],
            "words": [case["words"] for case in recorded],
        }
    )
    return tokenize(model, items, [case["target"] for case in recorded])


def evaluator(model: Classifier) -> Evaluator:
    """An evaluator with small batches, so that several are needed."""
    return Evaluator(model, tokens_per_batch=4096)


def scores(recorded: list[dict], name: str) -> list[np.ndarray]:
    """ferret's scores of one explainer."""
    return [np.array(case["explainers"][name]["scores"]) for case in recorded]

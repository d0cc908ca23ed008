"""This project's engine, on the same sentences."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from protocol import serve

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.configuration import complete, explainer_families
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.explainers import Context, explain
from evenlight.metrics import Explanation, score
from evenlight.models.classifier import load_classifier

folder, threads, device, precision, tokens_per_batch = sys.argv[1:]
torch.set_num_threads(int(threads))
classifier = load_classifier(folder, max_tokens=128, device=device, precision=precision)
evaluator = Evaluator(classifier, int(tokens_per_batch))

# The benchmark's methods with the defaults of the configuration.
STUDY = complete(
    {
        "study": "bench",
        "datasets": {"demo": {"reader": "demo"}},
        "models": {
            "any": {
                "architecture": "pretrained",
                "source": folder,
                "training": {"learning_rate": 1, "batch_size": 1, "epochs": 1},
            }
        },
        "explainers": {
            "grad": {"method": "saliency"},
            "gxi": {"method": "input_x_gradient"},
            "ig": {"method": "path_gradient"},
            "igxi": {"method": "integrated_gradients"},
            "lime": {"method": "lime"},
            "shap": {"method": "partition_shap"},
        },
        "metrics": {
            "comprehensiveness": {"metric": "aopc_comprehensiveness"},
            "sufficiency": {"metric": "aopc_sufficiency"},
        },
        "statistics": {"groups": [["male", "female"]]},
    }
)


def tokenized(sentences: list[dict]) -> list[Sentence]:
    """The sentences as the engine reads them."""
    items = pd.DataFrame(
        {
            "item_id": [str(place) for place in range(len(sentences))],
            "pair_id": [str(place) for place in range(len(sentences))],
            "words": [one["words"] for one in sentences],
        }
    )
    return tokenize(classifier, items, [one["target"] for one in sentences])


def explaining(family: str, names: list[str]):
    """A task that explains with one family of explainers."""

    def task(sentences: list[dict]) -> dict:
        context = Context(evaluator, seed=0, training=None)
        found = explain(family, tokenized(sentences), {name: STUDY["explainers"][name] for name in names}, context)
        return {
            "scores": {name: [one.token_score.tolist() for one in found[name].attributions] for name in names},
            "rows": sum(one.forward_rows for one in found[names[0]].attributions),
        }

    return task


def aopc(sentences: list[dict]) -> dict:
    """Both AOPC metrics of the scores that the request brings along."""
    explanations = [
        Explanation(text.item_id, text.target, text.token_id, text.word_id, np.array(one["scores"]))
        for text, one in zip(tokenized(sentences), sentences, strict=True)
    ]
    before = evaluator.rows_computed
    values = score("faithfulness", explanations, STUDY["metrics"], evaluator)
    both = np.stack([values["comprehensiveness"], values["sufficiency"]], axis=1)
    return {"scores": {"aopc": both.tolist()}, "rows": evaluator.rows_computed - before}


serve({family: explaining(family, names) for family, names in explainer_families(STUDY).items()} | {"aopc": aopc})

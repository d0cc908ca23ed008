"""This project's engine, on the same sentences."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from protocol import serve
from suites import SUITES

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.configuration import complete, explainer_families
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.explainers import Context, Explainer, explain
from evenlight.metrics import Metric, score
from evenlight.metrics.explanations import Explanation
from evenlight.models.classifier import load_saved
from evenlight.models.devices import use_processor

# The methods of each suite with the defaults of the configuration.
RELEASED = {"layer": "embedding_output", "output": "probability", "definition": "released"}
EXPLAINERS = {
    "grad": {"method": "saliency"},
    "gxi": {"method": "input_x_gradient"},
    "ig": {"method": "path_gradient"},
    "igxi": {"method": "integrated_gradients"},
    "lime": {"method": "lime"},
    "shap": {"method": "partition_shap"},
    "saliency": {"method": "saliency", **RELEASED},
    "input_x_gradient": {"method": "input_x_gradient", **RELEASED},
    "deeplift": {"method": "deeplift", **RELEASED},
    "guided_backprop": {"method": "guided_backprop", **RELEASED},
    "integrated_gradients": {
        "method": "integrated_gradients",
        "layer": "embedding_output",
        "output": "probability",
        "steps": 200,
    },
    "gradient_shap": {"method": "gradient_shap", "samples": 5, **RELEASED},
    "kernel_shap": {"method": "kernel_shap", "evaluations": 25, "definition": "released", "hidden_token": "pad"},
    "word_lime": {"method": "lime", "features": "word", "samples": 100, "definition": "released"},
    "token_gxi": {"method": "input_x_gradient"},
    "token_igxi": {"method": "integrated_gradients", "baseline": "zero"},
    "token_lime": {"method": "lime", "samples": 400},
    "token_kernel_shap": {"method": "kernel_shap", "evaluations": 400},
    "token_occlusion": {"method": "occlusion"},
}
STUDY = complete(
    {
        "study": "bench",
        "datasets": {"demo": {"reader": "demo"}},
        "trainings": {"any": {"learning_rate": 1, "batch_size": 1, "epochs": 1}},
        "models": {"any": {"architecture": "pretrained", "source": "any", "training": "any"}},
        "explainers": EXPLAINERS,
        "metrics": {
            "comprehensiveness": {"metric": "aopc_comprehensiveness"},
            "sufficiency": {"metric": "aopc_sufficiency"},
        },
        "statistics": {"compare": {"gender": [["male", "female"]]}},
    }
)
FAMILY = {name: family for family, names in explainer_families(STUDY).items() for name in names}


def tasks_of(
    folder: str, threads: str, device: str, precision: str, tokens_per_batch: str
) -> dict[str, Callable[[list[dict]], dict]]:
    """The tasks of all suites for a model, see :func:`protocol.serve`."""
    use_processor(int(threads))
    classifier = load_saved(folder, 128, device, "float32" if precision == "float64" else precision)
    if precision == "float64":
        classifier.network.double()
    evaluator = Evaluator(classifier, int(tokens_per_batch))
    # As in a run, what a family finds out of the model once it knows for all sentences.
    context = Context(evaluator, seed=0, training=None)

    def tokenized(sentences: list[dict]) -> list[Sentence]:
        """The sentences as the engine reads them."""
        ids = [str(place) for place in range(len(sentences))]
        items = pd.DataFrame({"item_id": ids, "words": [one["words"] for one in sentences]})
        return tokenize(classifier, items, [one["target"] for one in sentences])

    def explaining(names: list[str]) -> Callable[[list[dict]], dict]:
        """A task that explains with some explainers of one family."""

        def task(sentences: list[dict]) -> dict:
            methods = {name: STUDY["explainers"][name] for name in names}
            found = explain(Explainer.parse_all(methods), tokenized(sentences), context)
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
        values = score(Metric.parse_all(STUDY["metrics"]), explanations, evaluator)
        both = np.stack([values["comprehensiveness"], values["sufficiency"]], axis=1)
        return {"scores": {"aopc": both.tolist()}, "rows": evaluator.rows_computed - before}

    asked = {task: names for suite in SUITES.values() for task, names in suite.items()}
    return {task: explaining(names) for task, names in asked.items() if task != "aopc"} | {"aopc": aopc}


if __name__ == "__main__":
    serve(tasks_of(*sys.argv[1:]))

"""This project's estimators on one text, with so many rows, as a study calls them; see bench/worker_error.py."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
from protocol import serve

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.configuration import completed_entry
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.explainers import Context, Explainer, explain
from evenlight.models.classifier import load_saved
from evenlight.models.devices import use_processor

# Rows of each of the runs whose mean is a long run, and the copies that LIME draws of which it asks few.
BLOCK, COPIES = 1024, 20_000


def settings_of(task: str, rows: int, players: int) -> dict | None:
    """An explainer's settings by the name of the task; None where the rows do not suffice."""
    orders = (BLOCK if task == "long run" else rows) // max(players - 1, 1) // 2 * 2
    if task in ("adjusted", "long run"):
        return {"method": "shapley_sampling", "estimator": "adjusted", "permutations": orders} if orders else None
    if task == "exact":
        return {"method": "kernel_shap", "evaluations": 2**players}
    if task == "lime":
        return {"method": "lime", "samples": rows}
    if task == "lime, asked":
        return {"method": "lime", "samples": COPIES, "asked": rows}
    return {"method": "kernel_shap", "estimator": task, "evaluations": rows}


def tasks_of(folder: Path, threads: int) -> dict[str, Callable[[list[dict]], dict]]:
    """The tasks for a model, see :func:`protocol.serve`; ``scores`` are of tokens, or null."""
    use_processor(threads)
    classifier = load_saved(folder, max_tokens=128)
    evaluator = Evaluator(classifier)

    def read(sentences: list[dict]) -> list[Sentence]:
        items = pd.DataFrame({"item_id": ["0"], "words": [sentences[0]["words"]]})
        return tokenize(classifier, items, [sentences[0]["target"]])

    def explained(task: str, sentences: list[dict]) -> dict:
        [sentence] = read(sentences)
        given = settings_of(task, sentences[0]["rows"], int((~sentence.is_special).sum()))
        if given is None:
            return {"scores": [None]}
        settings = completed_entry("explainers", "it", given)
        context = Context(evaluator, seed=sentences[0]["seed"], training=None)
        [found] = explain(Explainer.parse_all({"it": settings}), [sentence], context)["it"].attributions
        return {"scores": [found.token_score[~sentence.is_special].tolist()]}

    names = ("leverage", "surrogate", "chosen", "adjusted", "lime", "lime, asked", "exact", "long run")
    warm_up = partial(explained, "lime")
    return {"warm up": warm_up} | {name: partial(explained, name) for name in names}


if __name__ == "__main__":
    serve(tasks_of(Path(sys.argv[1]), int(sys.argv[2])))

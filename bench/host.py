"""What the program takes beside the network: processor time a row, with a network that answers at once.

The network adds up a number for each token; what it takes itself is the first row. Texts have 28 tokens, batches are as
large as on a graphics card, and everything is in one thread. Nothing is downloaded.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from report import machine, markdown

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from models_for_tests import by_hand
from threadpoolctl import threadpool_limits

from evenlight import explainers
from evenlight.configuration import completed_entry
from evenlight.engine.evaluator import TOKENS_ON_CUDA, Evaluator
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.models.classifier import Classifier
from evenlight.models.devices import use_processor
from evenlight.texts.rows import Rows

TOKENS = 28
WORDS = [f"w{number}" for number in range(300)]
METHODS = ("lime", "kernel_shap", "partition_shap", "occlusion")


def classifier_of() -> Classifier:
    """A network that adds up a number for each token."""
    worth = np.random.default_rng(0).normal(size=len(WORDS))

    def rule(embedding: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        total = (embedding[..., 0] * mask).sum(1).tanh()
        return torch.stack([-total, total], dim=1)

    return by_hand({word: (float(value),) for word, value in zip(WORDS, worth, strict=True)}, rule)


def texts_of(classifier: Classifier, count: int) -> list[Sentence]:
    """Texts of different words."""
    special = TOKENS - len(_read(classifier, ["probe"], [WORDS[: TOKENS - 2]])[0].token_id)
    random = np.random.default_rng(0)
    words = [list(random.choice(WORDS, TOKENS - 2 + special, replace=False)) for _ in range(count)]
    return _read(classifier, [f"text{number}" for number in range(count)], words)


def _read(classifier: Classifier, names: list[str], words: list[list[str]]) -> list[Sentence]:
    return tokenize(classifier, pd.DataFrame({"item_id": names, "words": words}), [1] * len(words))


def tasks_of(classifier: Classifier, texts: list[Sentence]) -> dict[str, Callable[[], int]]:
    """What is timed, by name; each says how many rows it asks about."""
    rows = [np.where(np.random.default_rng(0).random((1000, TOKENS)) < 0.5, text.row, 4) for text in texts]
    matrix, token_id = Rows.alike(np.concatenate(rows)), torch.from_numpy(np.concatenate(rows))
    batches = [(batch, torch.ones_like(batch)) for batch in token_id.split(TOKENS_ON_CUDA // TOKENS)]

    def network() -> int:
        logits = [classifier.network(classifier.embed(batch), mask).logits for batch, mask in batches]
        return len(torch.cat([of_batch.float().softmax(-1) for of_batch in logits]))

    def probabilities() -> int:
        return len(Evaluator(classifier, TOKENS_ON_CUDA).probabilities(matrix))

    def explained(method: str) -> int:
        settings = completed_entry("explainers", method, {"method": method})
        context = explainers.Context(Evaluator(classifier, TOKENS_ON_CUDA), 0, None)
        found = explainers.explain(explainers.Explainer.parse_all({method: settings}), texts, context)
        return sum(one.forward_rows for one in found[method].attributions)

    tasks = {"the network itself": network, "probabilities": probabilities}
    return tasks | {name: lambda name=name: explained(name) for name in METHODS}


def main(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    use_processor(1)
    classifier = classifier_of()
    lines = []
    with threadpool_limits(1), torch.inference_mode():
        for name, task in tasks_of(classifier, texts_of(classifier, arguments.texts)).items():
            seconds = []
            for _ in range(arguments.repeats):
                started = time.process_time()
                rows = task()
                seconds.append(time.process_time() - started)
            # The first time has what is done once only.
            each = [1e6 * value / rows for value in seconds[1:] or seconds]
            # Other work on the machine only adds to it.
            spread = f"{min(each):.2f} ({np.median(each):.2f})"
            lines.append(
                {
                    "task": name,
                    "rows a text": round(rows / arguments.texts),
                    "microseconds of the processor a row, least (median)": spread,
                }
            )
            print(lines[-1], file=sys.stderr, flush=True)
    print(f"Processor time in one thread; {machine('torch', 'numpy')}.\n\n{markdown(pd.DataFrame(lines))}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=32, help="explained together")
    parser.add_argument("--repeats", type=int, default=4, help="of each task; the first is left out")
    main(parser.parse_args())

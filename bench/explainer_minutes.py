"""How many minutes explainers take for how many texts of how many words, on the machine at hand.

    python bench/explainer_minutes.py --model results/pretrained/minilm --output results/bench/explainer_minutes.md

A text's time depends on its length and on the model's sizes, not on what its words and weights are. So texts of common
words are explained by a network with random weights: some of each length, in the seconds that they may take. What would
take longer is told by its rows and by the pace of a full batch (``planned``), as the plan of an audit tells it. On a
processor the time is that of one core, which other work on the machine changes little.

Writes a table (Markdown).
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from report import command, machine, markdown

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight import explainers
from evenlight.configuration.study import Study
from evenlight.core.tables import replacing
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.pace import seconds_per_row
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.explainers.planned import planned_rows
from evenlight.jobs.command_line import add_device_flags, run
from evenlight.models.classifier import Classifier, pick_device, prepared, untrained_network
from evenlight.models.processor import use_processor
from evenlight.models.tokenizers import loaded_tokenizer

COMMON = ["the", "a", "of", "to", "and", "in", "is", "was", "he", "she", "for", "on", "with", "at", "by", "from"]
# Those of an audit that names none, and others to choose from.
EXPLAINERS = Study.model_fields["explainers"].default | {
    "lime, as published": {"method": "lime"},
    "kernel_shap": {"method": "kernel_shap"},
    "integrated_gradients": {"method": "integrated_gradients"},
}
TEXTS = (100, 1000, 10_000)


def sentences_of(classifier: Classifier, words: int, count: int) -> list[Sentence]:
    """Texts of so many words."""
    generator = np.random.default_rng(words)
    drawn = [generator.choice(COMMON, words).tolist() for _ in range(count)]
    return tokenize(
        classifier, pd.DataFrame({"item_id": [f"text{place}" for place in range(count)], "words": drawn}), [0] * count
    )


def seconds_of_text(
    given: dict,
    sentences: list[Sentence],
    evaluator: Evaluator,
    seconds_of_row: float,
    most: float,
    clock: Callable[[], float],
) -> tuple[float, bool]:
    """Seconds that a text takes, and whether they are measured: at most about ``most`` seconds go into that."""
    entries = {"it": explainers.Explainer.parse(given)}
    rows = planned_rows(entries, sentences)
    some = sentences[: int(most / max(rows.mean() * seconds_of_row, most / len(sentences)))]
    if not some:
        return rows.mean() * seconds_of_row, False
    started = clock()
    explainers.explain(entries, some, explainers.Context(evaluator, 0, None))
    return (clock() - started) / len(some), True


def shown(seconds: float) -> str:
    """Minutes, in hours where they are many."""
    minutes = seconds / 60
    if minutes < 1:
        return "< 1"
    return f"{minutes:,.0f}" if minutes < 120 else f"{minutes / 60:,.0f} h"


def main(arguments: argparse.Namespace) -> None:
    """Write the table."""
    use_processor(1)
    device = pick_device(arguments.device)
    clock = time.perf_counter if device.type == "cuda" else time.process_time
    network = prepared(untrained_network(arguments.model).eval().requires_grad_(False)).to(device)
    classifier = Classifier(network, loaded_tokenizer(arguments.model), max(arguments.words) * 4)
    evaluator = Evaluator(classifier)
    lines = []
    for words in arguments.words:
        sentences = sentences_of(classifier, words, arguments.most_texts)
        seconds_of_row = seconds_per_row(sentences[:1], evaluator, clock)(len(sentences[0].token_id))
        for name, given in EXPLAINERS.items():
            if given["method"] == "uniform_random":
                continue
            seconds, is_measured = seconds_of_text(
                given, sentences, evaluator, seconds_of_row, arguments.seconds, clock
            )
            lines.append(
                {"words": words, "explainer": name}
                | {f"{texts:,} texts": shown(texts * seconds) for texts in TEXTS}
                | {"seconds a text": f"{seconds:.2f}{'' if is_measured else ' (planned)'}"}
            )
            print(lines[-1], flush=True)
    size = sum(parameter.numel() for parameter in network.parameters()) / 1e6
    clocked = "minutes" if device.type == "cuda" else "minutes of one core"
    told = f"In {clocked}, of a {network.config.model_type} with {size:.0f} million weights on {device}"
    made = f"{machine('torch', 'transformers', 'numpy')}. Made by `{command()}`."
    page = f"{markdown(pd.DataFrame(lines))}\n\n{told}: {made}\n"
    with replacing(arguments.output) as temporary:
        temporary.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of a model that Transformers can load")
    parser.add_argument("--words", type=int, nargs="+", default=[10, 20, 40, 80, 160], help="lengths of texts")
    parser.add_argument("--seconds", type=float, default=15, help="that a length and an explainer may take")
    parser.add_argument("--most-texts", type=int, default=8, help="texts of a length that are explained at most")
    add_device_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="the table (Markdown)")
    run(main, parser)

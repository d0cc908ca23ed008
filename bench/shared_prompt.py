"""What it saves that the rows of a prompted decoder share the prefix of their prompt.

A decoder of GPT-2's architecture with random weights reads sentences of the demo behind
prompts of several lengths. Occlusion, Kernel SHAP and both AOPC metrics ask about the same rows with the keys and
values of the prefix, and with the prefix in every row, in turn. It prints ratios of processor time, and how far
the probabilities are apart. Nothing is downloaded.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from report import machine, markdown
from transformers import GPT2Config, GPT2LMHeadModel

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from hub_tokenizers import write_tokenizer

from evenlight import explainers, metrics
from evenlight.configuration import completed_entry
from evenlight.datasets.readers.demo import read_source_sentences
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import tokenize
from evenlight.engine.training import save_classifier
from evenlight.metrics.explanations import explanation_of
from evenlight.models import Architecture
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.devices import use_processor
from evenlight.models.prompted import prompted_classifier

ROOT = Path(__file__).parents[1]
LAYERS, WIDTH, VOCABULARY = 4, 256, 2000
WORDS = {"female": ["she"], "male": ["he"]}
EXPLAINERS = {"occlusion": {}, "kernel_shap": {"evaluations": 64}}
METRICS = ("aopc_comprehensiveness", "aopc_sufficiency")


def example_prompt(sentences: list[list[str]], examples: int) -> str:
    """A template with so many sentences as examples before the text."""
    shown = [
        f"Sentence: {' '.join(words)}\nIt is about {'she' if place % 2 else 'he'}\n"
        for place, words in enumerate(sentences[:examples])
    ]
    return "".join([*shown, "Sentence: {text}\nIt is about {label}"])


def decoder(folder: Path, sentences: list[list[str]]) -> None:
    """A language model and a tokenizer, saved by Transformers."""
    torch.manual_seed(0)
    sizes = {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": WIDTH // 64, "n_positions": 1024}
    GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, initializer_range=0.1, **sizes)).save_pretrained(folder)
    write_tokenizer("gpt2", folder, [*sentences, ["Sentence:", "It", "is", "about"]])


def prompted(folder: Path, template: str, sentences: list[list[str]], output: Path) -> Classifier:
    """The classifier of a prompt, as it is when a job explains it."""
    settings = {"source": str(folder), "revision": None, "language_model": "auto", "template": template}
    settings |= {"label_words": WORDS, "content_free": [], "max_tokens": 900}
    settings |= {"special_tokens": {"pad": "<|endoftext|>", "mask": "<|endoftext|>"}}
    classifier, _ = prompted_classifier(
        Architecture.parse({"architecture": "prompted"} | settings), list(WORDS), sentences
    )
    save_classifier(classifier, output, None, {})
    return load_saved(output, 900)


def tokenized(classifier: Classifier, sentences: list[list[str]]) -> list:
    """The sentences in their prompt."""
    items = pd.DataFrame({"item_id": [f"item {number}" for number in range(len(sentences))], "words": sentences})
    return tokenize(classifier, items, [0] * len(items))


def work(classifier: Classifier, sentences: list[list[str]]) -> dict[str, Callable[[], object]]:
    """What is timed, by name."""
    read = tokenized(classifier, sentences)

    def explained(method: str, parameters: dict):
        settings = completed_entry("explainers", method, {"method": method, **parameters})
        context = explainers.Context(Evaluator(classifier), 0, None)
        return explainers.explain(explainers.Explainer.parse_all({method: settings}), read, context)[
            method
        ].attributions

    tasks = {name: lambda name=name, given=given: explained(name, given) for name, given in EXPLAINERS.items()}
    generator = np.random.default_rng(0)
    scored = [explanation_of(sentence, generator.normal(size=len(sentence.token_id)), None) for sentence in read]
    settings = {name: completed_entry("metrics", name, {"metric": name}) for name in METRICS}
    tasks["both AOPC metrics"] = lambda: metrics.score(
        metrics.Metric.parse_all(settings), scored, Evaluator(classifier)
    )
    tasks["probabilities"] = lambda: Evaluator(classifier).probabilities([sentence.token_id for sentence in read])
    return tasks


def seconds(task: Callable[[], object]) -> float:
    """Processor time of a call."""
    started = time.process_time()
    task()
    return time.process_time() - started


def main(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    use_processor(1)
    demo = read_source_sentences(ROOT / "resources" / "demo" / "sentences.yaml")
    sentences = [sentence.variant("female", "all") for sentence in demo]
    rows = []
    with TemporaryDirectory() as name:
        decoder(Path(name), sentences)
        explained = sentences[-arguments.sentences :]
        for examples in arguments.examples:
            template = example_prompt(sentences, examples)
            shared = prompted(Path(name), template, explained, Path(name) / f"prompt{examples}")
            alone = replace(shared, model_inputs=replace(shared.model_inputs, prefix=(), longest_in_tree=0))
            tasks = {True: work(shared, explained), False: work(alone, explained)}
            apart = np.abs(tasks[True]["probabilities"]() - tasks[False]["probabilities"]()).max()
            tokens = np.mean([len(sentence.token_id) for sentence in tokenized(shared, explained)])
            for task in [name for name in tasks[True] if name != "probabilities"]:
                ratio = [seconds(tasks[False][task]) / seconds(tasks[True][task]) for _ in range(arguments.repeats)]
                rows.append(
                    {
                        "tokens before the text": len(shared.model_inputs.prefix),
                        "tokens of a row": f"{tokens:.0f}",
                        "task": task,
                        "without sharing / with": f"{np.median(ratio):.1f} ({min(ratio):.1f}–{max(ratio):.1f})",
                        "probabilities differ by": f"{apart:.0e}",
                    }
                )
    print(markdown(pd.DataFrame(rows)))
    print(
        f"\n{LAYERS} layers of width {WIDTH}, {arguments.sentences} sentences, {arguments.repeats} times in turn, one "
        "thread,"
    )
    print(f"on {machine('torch', 'transformers')}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, nargs="+", default=[0, 2, 6], help="examples in the prompt")
    parser.add_argument("--sentences", type=int, default=4, help="how many are explained and scored")
    parser.add_argument("--repeats", type=int, default=3, help="how often each task is timed in either way")
    main(parser.parse_args())

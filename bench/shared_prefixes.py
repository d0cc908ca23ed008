"""What it saves that each prefix of a decoder's rows is computed once.

Classifiers of GPT-2's and of Llama's architecture with random weights, 6 layers of
width 384, read a text of 20, 28 and 60 tokens. LIME and Kernel SHAP of 400 rows, Occlusion and both AOPC metrics ask
about the same rows as a tree of their prefixes, and each row whole, in turn. It prints which share of the tokens the
tree has less, and ratios of processor time. Nothing is downloaded.
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
from transformers import (
    GPT2Config,
    GPT2ForSequenceClassification,
    LlamaConfig,
    LlamaForSequenceClassification,
    PreTrainedModel,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from hub_tokenizers import write_tokenizer

from evenlight import explainers, metrics
from evenlight.configuration import completed_entry
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.engine.training import save_classifier
from evenlight.metrics.explanations import explanation_of
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.devices import use_processor
from evenlight.models.tokenizers import loaded_tokenizer, special_token_id

LAYERS, WIDTH, VOCABULARY, MAX_TOKENS = 6, 384, 2000, 256
TOKENIZERS = {"gpt2": ("gpt2", "<|endoftext|>"), "llama": ("llama3", "<|begin_of_text|>")}
EXPLAINERS = {"lime": {"samples": 400}, "kernel_shap": {"evaluations": 400}, "occlusion": {}}
METRICS = ("aopc_comprehensiveness", "aopc_sufficiency")
WORDS = [f"w{number}" for number in range(300)]
# Short tasks are done so often in a row.
OFTEN = {"occlusion": 5, "both AOPC metrics": 5}


class Counting(Evaluator):
    """An evaluator that counts tokens of distinct rows, and their distinct prefixes."""

    tokens = prefixes = 0

    def probabilities(self, rows: list[np.ndarray]) -> np.ndarray:
        """See :meth:`Evaluator.probabilities`."""
        self.tokens += sum(len(row) for row in {row.tobytes(): row for row in rows}.values())
        self.prefixes += len({row[:length].tobytes() for row in rows for length in range(1, len(row) + 1)})
        return super().probabilities(rows)


def network_of(kind: str) -> PreTrainedModel:
    """A network of the kind with random weights."""
    torch.manual_seed(0)
    if kind == "gpt2":
        sizes = {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": WIDTH // 64, "n_positions": MAX_TOKENS}
        return GPT2ForSequenceClassification(GPT2Config(vocab_size=VOCABULARY, initializer_range=0.1, **sizes))
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": WIDTH // 64}
    # Gates have a third matrix, which two thirds of the width make up for.
    sizes |= {"intermediate_size": WIDTH * 8 // 3, "max_position_embeddings": MAX_TOKENS}
    return LlamaForSequenceClassification(LlamaConfig(vocab_size=VOCABULARY, initializer_range=0.1, **sizes))


def classifier_of(kind: str, folder: Path) -> Classifier:
    """A classifier as it is when a job explains it."""
    tokenizer, pad = TOKENIZERS[kind]
    write_tokenizer(tokenizer, folder, [WORDS])
    read = loaded_tokenizer(str(folder), None, {"pad": pad, "mask": pad})
    network = network_of(kind)
    network.config.pad_token_id = special_token_id(read, "pad")
    save_classifier(Classifier(network, read, MAX_TOKENS), folder / "saved", None, {})
    return load_saved(folder / "saved", MAX_TOKENS)


def text_of(classifier: Classifier, tokens: int) -> Sentence:
    """A text of random words that has at least so many tokens."""
    random, words = np.random.default_rng(tokens), []
    while True:
        words.append(WORDS[random.integers(len(WORDS))])
        [sentence] = tokenize(classifier, pd.DataFrame({"item_id": ["text"], "words": [words]}), [0])
        if len(sentence.token_id) >= tokens:
            return sentence


def work(sentence: Sentence) -> dict[str, Callable[[Evaluator], object]]:
    """What is timed, by name."""

    def explained(method: str, evaluator: Evaluator) -> object:
        settings = completed_entry("explainers", method, {"method": method, **EXPLAINERS[method]})
        context = explainers.Context(evaluator, 0, None)
        return explainers.explain(explainers.Explainer.parse_all({method: settings}), [sentence], context)

    scored = [explanation_of(sentence, np.random.default_rng(0).normal(size=len(sentence.token_id)), None)]
    settings = {name: completed_entry("metrics", name, {"metric": name}) for name in METRICS}
    tasks = {method: lambda evaluator, method=method: explained(method, evaluator) for method in EXPLAINERS}
    return tasks | {
        "both AOPC metrics": lambda evaluator: metrics.score(metrics.Metric.parse_all(settings), scored, evaluator)
    }


def seconds(task: Callable[[Evaluator], object], classifier: Classifier, times: int) -> float:
    """Processor time of a task."""
    started = time.process_time()
    for _ in range(times):
        task(Evaluator(classifier))
    return time.process_time() - started


def main(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    use_processor(1)
    rows = []
    for kind in arguments.kinds:
        with TemporaryDirectory() as folder:
            shared = classifier_of(kind, Path(folder))
        whole = replace(shared, model_inputs=replace(shared.model_inputs, longest_in_tree=0))
        for tokens in arguments.tokens:
            sentence = text_of(shared, tokens)
            for name, task in work(sentence).items():
                counted, times = Counting(shared), OFTEN.get(name, 1)
                task(counted)
                ratio = [seconds(task, whole, times) / seconds(task, shared, times) for _ in range(arguments.repeats)]
                rows.append(
                    {
                        "shape": kind,
                        "tokens": len(sentence.token_id),
                        "task": name,
                        "share of tokens saved": f"{1 - counted.prefixes / counted.tokens:.0%}",
                        "whole rows / tree": f"{np.median(ratio):.2f} ({min(ratio):.2f}–{max(ratio):.2f})",
                    }
                )
    print(markdown(pd.DataFrame(rows)))
    print(f"\n{LAYERS} layers of width {WIDTH}, {arguments.repeats} times in turn, one thread,")
    print(f"on {machine('torch', 'transformers')}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=list(TOKENIZERS), choices=list(TOKENIZERS), help="shapes")
    parser.add_argument("--tokens", type=int, nargs="+", default=[20, 28, 60], help="lengths of the texts")
    parser.add_argument("--repeats", type=int, default=3, help="how often each task is timed in either way")
    main(parser.parse_args())

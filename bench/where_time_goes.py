"""Where the processor's time goes when the benchmark's tasks explain and score: shares by kind of operation.

Torch's profiler tells how long each operation of a task took by itself, on one thread.
A GELU that is applied within a product counts as product. *Outside* is the time in which no operation of torch ran:
rows are made, answers sorted, and Python and the profiler do their own work, most where batches are small.
"""

import argparse
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import torch
from compare import sentences_of
from report import machine, markdown, parser_of_models
from suites import SUITES
from worker_evenlight import tasks_of

# A part of the operation's name tells its kind; the first one that fits.
KINDS = {
    "normalisation": ("norm",),
    "activation": ("gelu", "silu", "tanh", "relu", "sigmoid"),
    "attention": ("attention", "softmax", "bmm", "masked_fill", "matmul"),
    "products": ("linear", "addmm", "aten::mm", "convolution"),
    "embedding": ("embedding", "index_select"),
    "copies": ("copy", "clone", "contiguous", "aten::to", "cat", "stack", "pad", "index", "gather", "slice", "fill"),
}
LEAST = 2.0  # seconds
OTHER, OUTSIDE = "other operations", "outside"


def kind_of(operation: str) -> str:
    """The kind of an operation, by its name in the profile."""
    name = operation.lower()
    return next((kind for kind, parts in KINDS.items() if any(part in name for part in parts)), OTHER)


def shares(operations: dict[str, float], seconds: float) -> dict[str, float]:
    """Share of ``seconds`` by kind, from those of each operation by itself."""
    spent = Counter(dict.fromkeys([*KINDS, OTHER], 0.0))
    for operation, own in operations.items():
        spent[kind_of(operation)] += own
    spent[OUTSIDE] = seconds - spent.total()
    return {kind: own / seconds for kind, own in spent.items()}


def profiled(task, sentences: list[dict]) -> tuple[dict[str, float], float]:
    """Seconds of each operation by itself, and of the whole task, as often as ``LEAST`` seconds take."""
    task(sentences[:2])
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        started = time.perf_counter()
        seconds = 0.0
        while seconds < LEAST:
            task(sentences)
            seconds = time.perf_counter() - started
    return {one.key: one.self_cpu_time_total / 1e6 for one in profile.key_averages()}, seconds


def measured(folder: Path, sentences: list[dict], precision: str, wanted: list[str]):
    """A line of the table for each task."""
    tasks = tasks_of(str(folder), "1", "cpu", precision, "0")
    scores = tasks["path"](sentences)["scores"]["igxi"]
    asked = [one | {"scores": own} for one, own in zip(sentences, scores, strict=True)]
    for task in wanted:
        for kind, share in shares(*profiled(tasks[task], asked)).items():
            yield {"task": task, "kind": kind, "share": f"{share:.0%}"}


def main(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    sentences = sentences_of(arguments.items, arguments.sentences)
    for name, folder in arguments.models:
        for precision in arguments.precision:
            lines = pd.DataFrame(measured(folder, sentences, precision, arguments.tasks))
            wide = lines.pivot(index="task", columns="kind", values="share")
            wide = wide.loc[arguments.tasks, lines["kind"].unique()]
            print(f"{name}, {precision}:\n\n{markdown(wide.reset_index())}\n", flush=True)
    print(f"{len(sentences)} sentences, one thread of {machine('torch', 'transformers')}.")


if __name__ == "__main__":
    parser = parser_of_models(__doc__)
    every = [task for suite in SUITES.values() for task in suite]
    parser.add_argument("--tasks", nargs="+", default=every, choices=every, help="default: all")
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--sentences", type=int, default=4, help="how many are explained and scored")
    main(parser.parse_args())

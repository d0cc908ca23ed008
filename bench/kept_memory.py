"""What it saves that jobs keep the memory that torch frees: the benchmark's tasks with and without that, in turn.

Both workers are this engine, on one thread; one leaves freed memory to the C library,
which gives much of it back to the kernel. How much depends on the sizes that were freed before, so a process is fast or
slow by chance: each of the *starts* begins with two new ones.
"""

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pandas as pd
import torch
import worker_evenlight
from compare import sentences_of
from protocol import Worker, serve
from report import machine, markdown, parser_of_models
from suites import SUITES

TASKS = ["lime", "shap", "path", "integrated_gradients"]
WAYS = ("left", "kept")


def measured(folder: Path, precision: str, sentences: list[dict], arguments: argparse.Namespace) -> pd.DataFrame:
    """A line for each task: time without over time with, by start the median of the alternations.

    Raises:
        RuntimeError: the scores are not the same.
    """
    ratios, peaks = defaultdict(list), defaultdict(list)
    for _ in range(arguments.starts):
        with tempfile.TemporaryDirectory() as logs:
            workers = {
                way: Worker(sys.executable, Path(__file__), "serve", way, str(folder), precision, log=Path(logs) / way)
                for way in WAYS
            }
            for task in arguments.tasks:
                found = [{way: worker.ask(task, sentences) for way, worker in workers.items()} for _ in range(3)]
                if any(answer["left"]["scores"] != answer["kept"]["scores"] for answer in found):
                    raise RuntimeError(f"{task}: other scores where memory is kept")
                # The first time is to warm up.
                ratios[task].append(
                    statistics.median(one["left"]["seconds"] / one["kept"]["seconds"] for one in found[1:])
                )
                peaks[task].append([found[-1][way]["peak_mib"] for way in WAYS])
            for worker in workers.values():
                worker.stop()
    return pd.DataFrame(
        {
            "task": task,
            "ratio (range of the starts)": f"{statistics.median(own):.2f} ({min(own):.2f}–{max(own):.2f})",
            "peak MiB, left / kept": " / ".join(f"{max(each):.0f}" for each in zip(*peaks[task], strict=True)),
        }
        for task, own in ratios.items()
    )


def tasks_of(way: str, folder: str, precision: str) -> dict:
    """The tasks of a worker that leaves freed memory to the C library, or keeps it."""
    if way == "left":
        worker_evenlight.use_processor = torch.set_num_threads
    return worker_evenlight.tasks_of(folder, "1", "cpu", precision, "0")


def main(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    sentences = sentences_of(arguments.items, arguments.sentences)
    for name, folder in arguments.models:
        for precision in arguments.precision:
            table = measured(folder, precision, sentences, arguments)
            print(f"{name}, {precision}:\n\n{markdown(table)}\n", flush=True)
    print(f"{len(sentences)} sentences, {arguments.starts} starts, one thread of {machine('torch', 'transformers')}.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(tasks_of(*sys.argv[2:]))
        sys.exit()
    parser = parser_of_models(__doc__)
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=[task for own in SUITES.values() for task in own])
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--sentences", type=int, default=6, help="how many are explained")
    parser.add_argument("--starts", type=int, default=5, help="how often both processes begin again")
    main(parser.parse_args())

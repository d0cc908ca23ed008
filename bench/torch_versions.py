"""Time the engine with this torch beside the same engine with another one: same machine, models and sentences, in turn.

The other one has an environment of its own (``envs/torch.txt``), which takes all else from ``.venv``.
It writes a table of processor time. Scores are compared, too: they must differ by rounding alone.
"""

import argparse
import statistics
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from compare import sentences_of
from protocol import Worker
from report import command, machine, markdown
from suites import SUITES
from texts import named_folder

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.core.tables import replacing
from evenlight.jobs import command_line

HERE = Path(__file__).parent


def difference(here: dict, there: dict) -> float:
    """The largest difference of two answers' scores, by the largest score of its text."""
    pairs = [
        (np.array(mine), np.array(other))
        for name in here["scores"]
        for mine, other in zip(here["scores"][name], there["scores"][name], strict=True)
    ]
    return max(float(np.abs(mine - other).max() / np.abs(mine).max()) for mine, other in pairs)


def compared(name: str, folder: Path, sentences: list[dict], arguments: argparse.Namespace) -> list[dict]:
    """A line for each task of a model."""
    flags = (str(folder), str(arguments.threads), "cpu", arguments.precision, "0")
    log = arguments.output.parent
    workers = {
        side: Worker(python, HERE / "worker_evenlight.py", *flags, log=log / f"torch_{side}.log")
        for side, python in (("here", sys.executable), ("there", arguments.other_python))
    }
    lines = []
    try:
        for task in arguments.tasks:
            seconds: dict[str, list[float]] = {side: [] for side in workers}
            # The first turn is for warming up.
            for turn in range(-1, arguments.alternations):
                answers = {side: worker.ask(task, sentences) for side, worker in workers.items()}
                for side, answer in answers.items():
                    seconds[side] += [answer["processor_seconds"]] * (turn >= 0)
            ratios = [there / here for here, there in zip(seconds["here"], seconds["there"], strict=True)]
            lines.append(
                {
                    "model": name,
                    "task": task,
                    "ms here": f"{1000 * statistics.median(seconds['here']) / len(sentences):.3g}",
                    "there / here": f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
                    "difference": f"{difference(answers['here'], answers['there']):.1g}",
                }
            )
            print(lines[-1], flush=True)
    finally:
        for worker in workers.values():
            worker.stop()
    return lines


def main(arguments: argparse.Namespace) -> None:
    """Compare, print and write."""
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    sentences = sentences_of(arguments.items, arguments.sentences)
    lines = [line for name, folder in arguments.models for line in compared(name, folder, sentences, arguments)]
    text = f"{markdown(pd.DataFrame(lines))}\n\n`{command()}` on {machine('torch', 'transformers')}.\n"
    print(text)
    with replacing(arguments.output) as path:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", type=named_folder, required=True, help="name=folder, each")
    parser.add_argument("--items", type=Path, required=True, help="table of items whose test sentences are explained")
    parser.add_argument("--other-python", required=True, help="interpreter with the other torch")
    parser.add_argument("--tasks", nargs="+", default=["gradient", "path", "lime", "shap"], choices=SUITES["ferret"])
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--sentences", type=int, default=6)
    parser.add_argument("--alternations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("results/bench/torch.md"), help="the table")
    command_line.run(main, parser)

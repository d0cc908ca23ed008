"""How much memory and time the statistics of a large study need, on generated scores.

One model on one dataset, whose units have a text of every level: items, levels, explainers, metrics and seeds as asked.
The first two levels are compared.
Only one explainer's scores are in memory at a time, so that peak memory does not depend on the number of explainers,
and time is proportional to it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import SCORES
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path, score_path, units_path
from evenlight.statistics.results import Result

COMPUTE = Path(__file__).parents[1] / "workflow" / "scripts" / "results" / "compute.py"
FACTOR = "group"
VERDICTS = {
    "alpha": 0.05,
    "as_often_bound": 0.2,
    "smallest_effects": {},
    "primary": {},
    "noise": [],
    "confidence": 0.95,
    "bootstrap_draws": 2000,
}
# The settings of each step, beside the names of the study.
STEPS = {
    "summarise_scores": {"factors": [FACTOR]},
    "measure_disparity": {},
    "estimate_effects": VERDICTS,
    "permute_verdicts": VERDICTS | {"verdict_permutations": 20},
    "permute_groups": {"alpha": 0.05, "control_draws": 200},
    "adjust_for_covariates": {"confidence": 0.95, "control_draws": 200, "from_probability": []},
}


def write_dataset(folder: Path, items: int, levels: list[str]) -> np.ndarray:
    """Write a dataset of so many texts, each unit with one of every level, below ``folder``; return their ids."""
    item = np.array([f"item{n}" for n in range(items)])
    unit = np.array([f"unit{n // len(levels)}" for n in range(items)])
    texts = {"item_id": item, "words": [["a", "b", "c"]] * items, "ground_truth": [[0, 1, 0]] * items}
    texts |= {"label": 0, "split": "test", "cluster": unit}
    tables.write_table(pd.DataFrame(texts), items_path(folder, "large"), ITEMS)
    level = np.array(levels)[np.arange(items) % len(levels)]
    units = pd.DataFrame({"unit_id": unit, "item_id": item, "role": "form", "factor": FACTOR, "level": level})
    tables.write_table(units, units_path(folder, "large"), UNITS)
    return item


def write_predictions(folder: Path, item: np.ndarray, seed: int) -> None:
    """Write how a model reads the texts, in two to six tokens and with a random confidence, below ``folder``."""
    random = np.random.default_rng([seed])
    word_id = [np.sort(random.integers(0, 3, count)).tolist() for count in random.integers(2, 7, len(item))]
    confidence = random.uniform(0.5, 1, len(item))
    columns = {
        "item_id": item,
        "split": "test",
        "token_id": word_id,
        "word_id": word_id,
        "token_text": [["a"] * len(words) for words in word_id],
        "target": 1,
        "left_out": None,
        "probability": np.column_stack([1 - confidence, confidence]).tolist(),
        "predicted": 1,
    }
    columns |= {name: None for name in PREDICTIONS.schema.names if name not in columns}
    tables.write_table(pd.DataFrame(columns), predictions_path(folder, Run("large", "model", seed)), PREDICTIONS)


def write_scores(folder: Path, item: np.ndarray, seed: int, names: dict) -> None:
    """Write random scores of all explainers below ``folder``."""
    contract = SCORES.only("item_id", *names["metrics"])
    for number, explainer in enumerate(names["explainers"]):
        random = np.random.default_rng([seed, number])
        columns = {metric: random.normal(size=len(item)) for metric in names["metrics"]}
        scores = pd.DataFrame({"item_id": item} | columns)
        tables.write_table(scores, score_path(folder, Run("large", "model", seed), "any", explainer), contract)


def command(step: str, folder: Path, names: dict, levels: list[str]) -> list:
    """The command of a step, on the study that lies below ``folder``."""
    compared = {"comparisons": {FACTOR: [levels[:2]]}}
    settings = names | STEPS[step] | ({} if step == "summarise_scores" else compared)
    folders = ["scores", "datasets", *(["predictions"] if step == "adjust_for_covariates" else [])]
    flags = [part for name in folders for part in (f"--{name}", folder / name)]
    outputs = [folder / f"{name}.parquet" for name in Result.entries[step].tables]
    return [sys.executable, COMPUTE, "--result", step, "--settings", json.dumps(settings), *flags, "--output", *outputs]


def measure(command: list) -> tuple[float, float]:
    """Run a command: its seconds and its highest memory in GiB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[3]} ended with status {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - start, usage.ru_maxrss / 2**20


def main(arguments: argparse.Namespace) -> None:
    """Write the study and print what each step needs."""
    seeds = list(range(arguments.seeds))
    levels = [f"level{n}" for n in range(arguments.levels)]
    names = {
        "datasets": ["large"],
        "models": {"model": seeds},
        "explainers": [f"explainer{n}" for n in range(arguments.explainers)],
        "metrics": {f"metric{n}": "any" for n in range(arguments.metrics)},
    }
    item = write_dataset(arguments.folder / "datasets", arguments.items, levels)
    for seed in seeds:
        write_predictions(arguments.folder / "predictions", item, seed)
        write_scores(arguments.folder / "scores", item, seed, names)
    for step in arguments.steps:
        seconds, gib = measure(command(step, arguments.folder, names, levels))
        print(f"{step}: {seconds:.0f} s; {gib:.2f} GiB", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the generated study is written")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--levels", type=int, default=2, help="of the factor that is compared")
    parser.add_argument("--explainers", type=int, default=18)
    parser.add_argument("--metrics", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", nargs="+", choices=list(STEPS), default=list(STEPS))
    main(parser.parse_args())

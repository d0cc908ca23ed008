"""How much memory and time the statistics of a large study need, on generated scores.

One model on one dataset of pairs: items, explainers, metrics and seeds as asked. Only one explainer's scores are in
memory at a time, so that peak memory does not depend on the number of explainers, and time is proportional to it.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight import tables
from evenlight.statistics.files import Run, items_path, score_path, units_path

SCRIPTS = Path(__file__).parents[1] / "workflow" / "scripts" / "statistics"
STEPS = {
    "measure_disparity": {"equivalence_bound": 0.2, "sign_flips": 10000},
    "permute_groups": {"alpha": 0.05, "control_draws": 200, "sign_flips": 10000},
    "estimate_effects": {
        "alpha": 0.05,
        "equivalence_bound": 0.2,
        "confidence": 0.95,
        "bootstrap_draws": 2000,
        "power": 0.8,
    },
}


def write_study(folder: Path, items: int, names: dict) -> None:
    """Write a dataset of pairs and random scores of all explainers below ``folder``."""
    item = np.array([f"item{n}" for n in range(items)])
    unit = np.array([f"unit{n // 2}" for n in range(items)])
    level = np.where(np.arange(items) % 2, "female", "male")
    texts = {"item_id": item, "words": [["a"]] * items, "ground_truth": None, "label": 0, "split": "test"}
    texts |= {"cluster": unit}
    tables.write_table(pd.DataFrame(texts), items_path(folder / "datasets", "large"), tables.ITEMS)
    units = pd.DataFrame({"unit_id": unit, "item_id": item, "role": "form", "factor": "gender", "level": level})
    tables.write_table(units, units_path(folder / "datasets", "large"), tables.UNITS)
    contract = tables.SCORES.only("item_id", *names["metrics"])
    for seed in names["models"]["model"]:
        for number, explainer in enumerate(names["explainers"]):
            random = np.random.default_rng([seed, number])
            columns = {metric: random.normal(size=items) for metric in names["metrics"]}
            scores = pd.DataFrame({"item_id": item} | columns)
            path = score_path(folder / "scores", Run("large", "model", seed), "any", explainer)
            tables.write_table(scores, path, contract)


def main(arguments: argparse.Namespace) -> None:
    """Write the study and print what each step needs."""
    names = {
        "datasets": ["large"],
        "models": {"model": list(range(arguments.seeds))},
        "explainers": [f"explainer{n}" for n in range(arguments.explainers)],
        "metrics": {f"metric{n}": "any" for n in range(arguments.metrics)},
        "comparisons": {"gender": [["male", "female"]]},
    }
    write_study(arguments.folder, arguments.items, names)
    for step in arguments.steps:
        settings = json.dumps(names | STEPS[step])
        folders = [part for name in ("scores", "datasets") for part in (f"--{name}", arguments.folder / name)]
        output = arguments.folder / f"{step}.parquet"
        start = time.monotonic()
        subprocess.run(
            [sys.executable, SCRIPTS / f"{step}.py", "--settings", settings, *folders, "--output", output], check=True
        )
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        print(f"{step}: {time.monotonic() - start:.0f} s; highest so far {peak:.2f} GiB", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the generated study is written")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--explainers", type=int, default=18)
    parser.add_argument("--metrics", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", nargs="+", choices=list(STEPS), default=list(STEPS))
    main(parser.parse_args())

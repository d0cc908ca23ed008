"""What bfloat16 changes in the result: the same study of the same models in both precisions, cell by cell.

``make bench-precision`` runs it. It needs the models that ``make bench`` trains, and trains them where they are not.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

EXPLAINERS = {
    "grad": {"method": "saliency"},
    "gxi": {"method": "input_x_gradient"},
    "igxi": {"method": "integrated_gradients"},
    "lime": {"method": "lime", "maximum_samples": 300},
    "shap": {"method": "partition_shap", "evaluations": 200},
}
METRICS = {
    "comprehensiveness": {"metric": "aopc_comprehensiveness"},
    "sufficiency": {"metric": "aopc_sufficiency"},
    "gini": {"metric": "gini"},
    "sparsity": {"metric": "sparsity"},
    "mass_accuracy": {"metric": "mass_accuracy"},
}
CELL = ["model", "explainer", "metric"]


def disparity(study: dict, precision: str, folder: Path, cores: str) -> pd.DataFrame:
    """The study's table of disparities when models are explained and scored in ``precision``."""
    explain = {"pairs": 60, "precision": precision}
    asked = study | {"explain": explain, "explainers": EXPLAINERS, "metrics": METRICS}
    path = folder / f"{precision}.yaml"
    path.write_text(yaml.safe_dump(asked, sort_keys=False))
    table = f"results/{study['study']}/tables/disparity.parquet"
    command = [sys.executable, "-m", "snakemake", "--cores", cores, table, "--configfile", str(path)]
    subprocess.run(command, check=True)
    return pd.read_parquet(table).set_index(CELL).sort_index()


def compared(before: pd.DataFrame, after: pd.DataFrame, alpha: float = 0.05) -> pd.DataFrame:
    """Per model: cells, significant ones in each precision, those that change, and changes of Cohen's d."""
    together = before.merge(after, on=CELL, suffixes=("_32", "_16"), validate="one_to_one")
    together = together.assign(
        significant_32=together["p_32"] <= alpha,
        significant_16=together["p_16"] <= alpha,
        change_of_d=(together["cohens_d_16"] - together["cohens_d_32"]).abs(),
    )
    rows = {}
    for model, cells in together.groupby("model"):
        rows[model] = {
            "cells": len(cells),
            "significant, float32": cells["significant_32"].sum(),
            "significant, bfloat16": cells["significant_16"].sum(),
            "cells that change": (cells["significant_32"] != cells["significant_16"]).sum(),
            "change of d, median": np.round(cells["change_of_d"].median(), 4),
            "change of d, largest": np.round(cells["change_of_d"].max(), 4),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def main(arguments: argparse.Namespace) -> None:
    """Run both, compare, print and write."""
    study = yaml.safe_load(arguments.study.read_text())
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    both = [disparity(study, one, arguments.output.parent, arguments.cores) for one in ("float32", "bfloat16")]
    table = compared(*both)
    print(table.to_string())
    table.to_csv(arguments.output, index_label="model", lineterminator="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="configuration with the models")
    parser.add_argument("--cores", default="all")
    parser.add_argument("--output", type=Path, default=Path("results/bench/precision/effect.csv"))
    main(parser.parse_args())

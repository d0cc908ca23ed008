"""Hold the effects that one explainer estimates against what the edits really do: ICaCE-Error, change by change."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core.contracts.explanations import CHANGE_EFFECTS, CHANGES, REPRESENTATIONS, SCORES
from evenlight.core.tables import read_table, write_table
from evenlight.jobs import command_line
from evenlight.metrics import Metric


def main(arguments: argparse.Namespace) -> None:
    """Write a column for each metric."""
    changes = read_table(arguments.changes, CHANGES).set_index("change_id")
    effects = read_table(arguments.effects, CHANGE_EFFECTS)
    probability = read_table(arguments.representations, REPRESENTATIONS.only("item_id", "probability"))
    of_item = probability.set_index("item_id")["probability"]
    changes = changes.loc[effects["change_id"]]
    base, edited = (np.stack(of_item.loc[changes[end]]) for end in ("base", "edit"))
    metrics = Metric.parse_all(arguments.settings["metrics"])
    estimated = np.stack(effects["effect"])
    columns = {name: metric.of_effects(edited - base, estimated) for name, metric in metrics.items()}
    write_table(pd.DataFrame({"item_id": effects["change_id"], **columns}), arguments.output, SCORES)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    for name in ("changes", "representations", "effects"):
        parser.add_argument(f"--{name}", type=Path, required=True, help=f"table of {name} (Parquet)")
    parser.add_argument("--output", required=True, help="table of scores (Parquet)")
    command_line.run(main, parser)

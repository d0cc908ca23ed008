"""Compare the scores of every two explainers of one run, text by text."""

import argparse
from pathlib import Path

from evenlight.core import tables
from evenlight.core.contracts.explanations import AGREEMENT
from evenlight.jobs import command_line
from evenlight.statistics.analyses.explainer_agreement import agreement_by_text


def main(arguments: argparse.Namespace) -> None:
    """Write one row per text, with a column for each pair of explainers and measure."""
    attribution_files = {path.stem: path for path in arguments.attributions}
    table = agreement_by_text(arguments.predictions, arguments.items, attribution_files, arguments.settings["top"])
    tables.write_table(table, arguments.output, AGREEMENT)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--predictions", type=Path, required=True, help="table of predictions (Parquet)")
    parser.add_argument(
        "--attributions", type=Path, required=True, nargs="+", help="attribution files, <explainer>.parquet"
    )
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)

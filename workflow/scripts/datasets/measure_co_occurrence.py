"""Measure the co-occurrence bias of a dataset's groups."""

import argparse

from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table, replacing
from evenlight.jobs import command_line
from evenlight.statistics.analyses.co_occurrence import co_occurrence_bias


def main(arguments: argparse.Namespace) -> None:
    """Write one row per group."""
    bias = co_occurrence_bias(read_table(arguments.items, ITEMS.only("words", "split", "attribute.gender")))
    with replacing(arguments.output) as temporary:
        bias.to_csv(temporary, index=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", required=True, help="the items table (Parquet)")
    parser.add_argument("--output", required=True, help="CSV: group, co_occurrences, bias, balance")
    command_line.run(main, parser)

"""Measure how well the models classify each group, per seed and over the seeds, and whether they have learnt."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import BALANCED_ACCURACY, QUALITY, QUALITY_PER_SEED
from evenlight.figures.chance_level import said_of_chance
from evenlight.statistics.model_quality import balanced_accuracies, quality_per_seed, summarise_quality


def main(arguments: argparse.Namespace) -> None:
    """Write the tables, with what the readings say of texts that were left out; say which models only guess."""
    per_seed, notes = quality_per_seed(arguments.datasets, arguments.readings, **arguments.settings)
    tables.write_table(per_seed, arguments.per_seed, QUALITY_PER_SEED)
    tables.write_table(summarise_quality(per_seed), arguments.output, QUALITY, {"notes": notes})
    of_runs = {name: arguments.settings[name] for name in ("datasets", "models")}
    balanced = balanced_accuracies(arguments.datasets, arguments.readings, **of_runs)
    tables.write_table(balanced, arguments.balanced, BALANCED_ACCURACY)
    for text in said_of_chance(balanced):
        print(f"warning: {text}", flush=True)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "datasets", "readings")
    parser.add_argument("--output", required=True, metavar="PARQUET", help="over the seeds")
    parser.add_argument("--per-seed", required=True, metavar="PARQUET")
    parser.add_argument("--balanced", required=True, metavar="PARQUET", help="balanced accuracy beside chance")
    command_line.run(main, parser)

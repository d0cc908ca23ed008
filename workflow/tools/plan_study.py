"""How many pairs and seeds does a study need? The power of its adjusted verdicts, from the variances of a pilot study.

    PYTHONPATH=workflow/scripts python workflow/tools/plan_study.py --effects results/pilot/tables/effects.parquet \\
        --units 24 50 100 322 --seeds 2 3 5 10 --effect 0.5

Prints a row for each size: in how many per cent of such studies a difference of so many standard deviations would be
called a disparity, and a disparity of these models at least, in the median cell of a family.
"""

import argparse
from pathlib import Path

from evenlight import command_line, tables
from evenlight.errors import InputError
from evenlight.statistics.planning import planned_studies


def main(arguments: argparse.Namespace) -> None:
    """Print the table."""
    effects = tables.read_table(arguments.effects, tables.EFFECTS)
    families = effects["family"].unique().tolist()
    family = arguments.family or next((name for name in ("primary", "study") if name in families), None)
    if family not in families:
        raise InputError(f"--family: found {family}; {arguments.effects} has {', '.join(families) or 'none'}")
    sizes = {"units": arguments.units, "seeds": arguments.seeds}
    plan = planned_studies(
        effects[effects["family"] == family], **sizes, effect=arguments.effect, alpha=arguments.alpha
    )
    print(f"family '{family}', {plan['cells'].iloc[0]} cells, an effect of {arguments.effect:g} standard deviations\n")
    print("| units | seeds | disparity | … of these models |\n| ---: | ---: | ---: | ---: |")
    for row in plan.itertuples():
        power = f"{100 * row.disparity:.0f} % | {100 * row.disparity_of_these_models:.0f} %"
        print(f"| {row.units} | {row.seeds} | {power} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effects", type=Path, required=True, help="table of the pilot study")
    parser.add_argument("--units", type=int, nargs="+", default=[24, 50, 100, 322], help="pairs, or texts of a level")
    parser.add_argument("--seeds", type=int, nargs="+", default=[2, 3, 5, 10])
    parser.add_argument("--effect", type=float, default=0.5, help="in standard deviations within levels")
    parser.add_argument("--alpha", type=float, default=0.05, help="level of a family")
    parser.add_argument("--family", help="cells that count; default: primary, else study")
    command_line.run(main, parser)

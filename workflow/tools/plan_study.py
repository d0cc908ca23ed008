"""How many pairs does a study need? The chance that each size finds who is explained better more often.

    PYTHONPATH=workflow/scripts python workflow/tools/plan_study.py --pairs 24 50 100 322 --comparisons 117 --ties 0.1
    PYTHONPATH=workflow/scripts python workflow/tools/plan_study.py --pilot results/pilot --pairs 50 100 200

Exact power of the sign test, for net benefits P(win) − P(loss), in the first step of Holm's method; later steps find at
least as much. A pilot study says how many comparisons there are, and of each metric how many pairs are tied. With
``--looks 50 100 200`` a row is a look of a plan (docs/looks.md), with its part of the level alone.
"""

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from evenlight.core import tables
from evenlight.core.contracts.results import EFFECTS
from evenlight.core.errors import InputError
from evenlight.jobs import command_line
from evenlight.statistics.analyses.planning import pairs_for, planned_power
from evenlight.statistics.arrays.multiple_testing import OBRIEN_FLEMING, POCOCK, Looks
from evenlight.statistics.comparisons.study import PRIMARY, STUDY


def of_pilot(results: Path) -> tuple[int, dict[str, float]]:
    """How many comparisons a pilot's hypothesis has, and of each metric the mean share of pairs that are tied.

    Args:
        results: the folder of the pilot study.

    Raises:
        InputError: it has no effects, or none of pairs.
    """
    path = results / "tables" / "effects.parquet"
    if not path.is_file():
        raise InputError(f"--pilot: {path}: no such file; name the folder results/<study> of a study that was run")
    effects = tables.read_table(path, EFFECTS)
    asked = effects[effects["family"].isin([STUDY, PRIMARY])]
    pairs = asked[asked["paired"] & (asked["units_a"] > 0)]
    if pairs.empty:
        raise InputError(f"--pilot: {path}: has no comparison of pairs; leave --pilot out, and give --comparisons")
    return len(asked), (pairs["ties"] / pairs["units_a"]).astype(float).groupby(pairs["metric"]).mean().to_dict()


def plan_of(looks: Sequence[int], spending: str) -> Looks:
    """A plan of all these looks.

    Raises:
        InputError: they do not rise.
    """
    if len(looks) < 2 or any(second <= first for first, second in pairwise(looks)):
        raise InputError(f"--looks: found {' '.join(map(str, looks))}; allowed are two numbers or more, that rise")
    return Looks(tuple(looks), tuple(range(len(looks))), spending)


def _refuse(arguments: argparse.Namespace) -> None:
    """Refuse numbers that cannot be, and bring net benefits in order.

    Raises:
        InputError: with the flag and what is allowed.
    """
    arguments.net_benefits = sorted(arguments.net_benefits)
    for number in (arguments.alpha, arguments.power, *arguments.net_benefits):
        if not 0 < number < 1:
            raise InputError(f"--alpha, --power, --net-benefits: found {number:g}; allowed is what is between 0 and 1")
    if not 0 <= arguments.ties < 1:
        raise InputError(f"--ties: found {arguments.ties:g}; allowed is a share from 0 to below 1")
    for number in (*arguments.pairs, *(arguments.looks or []), arguments.comparisons or 1):
        if number < 1:
            raise InputError(f"--pairs, --looks, --comparisons: found {number}; allowed are numbers from 1")


def main(arguments: argparse.Namespace) -> None:
    """Print the table."""
    _refuse(arguments)
    comparisons, ties = arguments.comparisons, {"": arguments.ties}
    if arguments.pilot:
        of_study, ties = of_pilot(arguments.pilot)
        comparisons = comparisons or of_study
    comparisons = comparisons or 1
    looks = plan_of(arguments.looks, arguments.spending) if arguments.looks else None
    print(
        f"{comparisons} comparisons at the level {arguments.alpha:g}; net benefit: share of wins less share of losses\n"
    )
    heads = ["tied", "pairs", "level", *(f"net benefit {benefit:g}" for benefit in arguments.net_benefits)]
    print(f"| metric | {' | '.join(heads)} |\n| --- |{' ---: |' * len(heads)}")
    for metric, share in ties.items():
        # Ties leave room for so much; where all are tied nothing can be found.
        benefits = [benefit for benefit in arguments.net_benefits if benefit <= 1 - share]
        about = {"ties": share, "comparisons": comparisons, "alpha": arguments.alpha}
        rest = ["–"] * (len(arguments.net_benefits) - len(benefits))
        sizes = looks.planned if looks else arguments.pairs
        rows = [
            (f"{size}", level, [f"{100 * power:.0f} %" for power in powers])
            for size, level, powers in planned_power(sizes, net_benefits=benefits, looks=looks, **about)
        ]
        needed = [pairs_for(benefit, arguments.power, **about) for benefit in benefits]
        rows.append((f"for {100 * arguments.power:.0f} %", arguments.alpha, [f"{n:,}" if n else "–" for n in needed]))
        for size, level, found in rows:
            print(f"| {' | '.join([metric, f'{100 * share:.0f} %', size, f'{level:.2g}', *found, *rest])} |")


def parser() -> argparse.ArgumentParser:
    """The flags of the command."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--pilot", type=Path, metavar="FOLDER", help="results/<study> of a study that was run")
    flags.add_argument("--pairs", type=int, nargs="+", default=[24, 50, 100, 322], help="sizes; clusters count once")
    flags.add_argument("--looks", type=int, nargs="+", help="in place of pairs: those of each look of a plan")
    flags.add_argument("--spending", choices=[OBRIEN_FLEMING, POCOCK], default=OBRIEN_FLEMING)
    flags.add_argument("--comparisons", type=int, help="of the family; default: those of the pilot, else 1")
    flags.add_argument("--ties", type=float, default=0.0, help="share of pairs that are tied; a pilot has its own")
    flags.add_argument("--net-benefits", type=float, nargs="+", default=[0.2, 0.4, 0.6, 0.8])
    flags.add_argument("--alpha", type=float, default=0.05)
    flags.add_argument("--power", type=float, default=0.8, help="of the last row, which has so many pairs")
    return flags


if __name__ == "__main__":
    command_line.run(main, parser())

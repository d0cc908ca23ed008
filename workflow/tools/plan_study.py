"""How many pairs and seeds does a study need? The power of its verdicts, from the scores of a pilot study.

    PYTHONPATH=workflow/scripts python workflow/tools/plan_study.py --configfile config/studies/pilot.yaml \\
        --units 24 50 100 322 --seeds 2 3 5 10 --effect 0.5

Draws studies of each size from the pilot's scores, with a difference of so many standard deviations in half of the
cells, and judges them. Prints a row for each size: in how many per cent of these cells it is called a disparity, and a
disparity for these trained models at least, each with the range in which nine of ten pilots of this size would answer.

With ``--looks 50 100 200`` a row is a look of a plan (docs/looks.md): what is found by then, how many cells are
decided, with how many pairs each has been asked, and how long their explanations take, by what the pilot's have taken.
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight import configuration
from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.errors import InputError
from evenlight.core.kinds import MODALITIES
from evenlight.jobs import command_line
from evenlight.results import Inputs
from evenlight.statistics.looks import Looks
from evenlight.statistics.planning import PARTS, TOO_WIDE, planned_looks, planned_studies, units_to_tell

# What of the statistics leads to a verdict.
JUDGED = ("strata", "alpha", "equivalence_bound", "smallest_effects", "confidence", "bootstrap_draws")


def settings_of(config: dict) -> dict:
    """What verdicts of a study depend on, from its complete configuration."""
    statistics = config["statistics"]
    metrics = configuration.metric_annotations(config)
    return {
        "datasets": list(config["datasets"]),
        "models": {name: configuration.seeds_of(config, name) for name in config["models"]},
        "explainers": list(config["explainers"]),
        "metrics": {name: metrics[name]["family"] for name in config["metrics"]},
        "comparisons": statistics["compare"],
        "modalities": configuration.scored_modalities(config),
        "smallest_group": statistics["smallest_group"],
        "primary": {section[:-1]: names for section, names in statistics["primary"].items() if names},
        "noise": configuration.no_hypotheses(config),
        "reach": configuration.reach_of_metrics(config),
        **{key: statistics[key] for key in JUDGED},
    }


def main(arguments: argparse.Namespace) -> None:
    """Print the table."""
    config = configuration.of_file(arguments.configfile)
    results = arguments.results or Path("results") / config["study"]
    settings = settings_of(config)
    settings["bootstrap_draws"] = min(settings["bootstrap_draws"], arguments.draws)
    folders = ("scores", "predictions", *(MODALITIES[name].units for name in configuration.modalities(config)))
    study, judging, _ = Inputs({name: results / name for name in folders}).judged(settings)
    asked = {"seeds": arguments.seeds, "effect": arguments.effect, "studies": arguments.studies}
    if arguments.looks:
        looks = plan_of(arguments.looks, config["statistics"])
        plan = planned_looks(study, judging, looks=looks, **asked)
    else:
        plan = planned_studies(study, judging, units=arguments.units, **asked)
    sizes = "the whole plan" if arguments.looks else "each size"
    print(
        f"{plan['cells'].iloc[0]} cells, an effect of {arguments.effect:g} standard deviations in half of them; "
        f"{arguments.studies} studies of {sizes}; in brackets the range of the answer, as far as a pilot of "
        f"{plan['pilot'].iloc[0]} units can tell\n"
    )
    if arguments.looks:
        print_looks(plan, looks, seconds_per_unit(results / "costs", plan["pilot"].iloc[0]))
    else:
        print_sizes(plan)
    needed = [
        units_to_tell(row["pilot"], row[f"{part}_low"], row[f"{part}_high"])
        for row in plan.to_dict("records")
        for part in PARTS
        if not np.isnan(row[part])
    ]
    if any(needed):
        print(
            f"\nThis pilot cannot tell the power of every size: a range is wider than {100 * TOO_WIDE:.0f} points. "
            f"A pilot of about {max(number for number in needed if number)} units could."
        )


def plan_of(looks: list[int], statistics: dict) -> Looks:
    """A plan of all these looks, which spends the level as the pilot's study says.

    Raises:
        InputError: they do not rise, or the study has parts for another number of looks.
    """
    if len(looks) < 2 or any(second <= first for first, second in pairwise(looks)):
        raise InputError(f"--looks: found {' '.join(map(str, looks))}; allowed are two numbers or more, that rise")
    shares = tuple(statistics["spending_shares"])
    if shares and len(shares) != len(looks):
        raise InputError(
            f"--looks: found {len(looks)} looks, and statistics.spending_shares has {len(shares)} parts; name as many"
        )
    return Looks(tuple(looks), tuple(range(len(looks))), shares or statistics["spending"])


def seconds_per_unit(costs: Path, units: int) -> float | None:
    """How long all explanations of a unit of the pilot took on one core, over its runs; None where nobody knows."""
    paths = sorted(costs.rglob("*.parquet"))
    known: dict[tuple, float] = {}
    for path in paths:
        for part in tables.read_table(path, COSTS).itertuples():
            # The time of all that were computed together, which each of their files has.
            known[path.parent, *part.together, part.texts, part.seconds] = part.seconds
    return sum(known.values()) / units if paths else None


def print_sizes(plan: pd.DataFrame) -> None:
    """A row for each size."""
    print("| units | seeds | disparity | … for these trained models |\n| ---: | ---: | ---: | ---: |")
    for row in plan.itertuples():
        power = [said_of_power(*(getattr(row, part + end) for end in ("", "_low", "_high"))) for part in PARTS]
        print(f"| {row.units} | {row.seeds} | {' | '.join(power)} |", flush=True)


def print_looks(plan: pd.DataFrame, looks: Looks, seconds: float | None) -> None:
    """A row for each look, and how long explanations take up to it."""
    heads = ["look", "units", "seeds", "disparity", "… for these trained models", "decided", "units a cell", "hours"]
    print(f"| {' | '.join(heads)} |\n|{' ---: |' * len(heads)}")
    for row in plan.itertuples():
        shares = [
            said_of_power(*(getattr(row, part + end) for end in ("", "_low", "_high"))) for part in (*PARTS, "decided")
        ]
        expected = f"{row.expected:.0f} [{row.expected_low:.0f}, {row.expected_high:.0f}]"
        ends = [f"{units * (seconds or 0) / 3600:.2g}" for units in (row.expected, row.units)]
        hours = "–" if seconds is None else " to ".join(dict.fromkeys(ends))
        print(
            f"| {row.look} | {row.units} | {row.seeds} | {' | '.join(shares)} | {expected} | {hours} |",
            flush=True,
        )
    print(
        "\nUnits a cell: with how many a cell has been asked by then, if it is asked no more once it is decided. "
        + (
            "The pilot does not say how long its explanations took."
            if seconds is None
            else "Hours are of explanations by a core like the pilot's; scores come on top. The first number "
            "is for units a cell, the last one for all units: an explainer goes on until all its questions are decided."
        )
    )


def said_of_power(share: float, low: float, high: float) -> str:
    """A power with its range in per cent.

    >>> said_of_power(0.5, 0.312, 0.66), said_of_power(float("nan"), float("nan"), float("nan"))
    ('50 % [31, 66]', '–')
    """
    return "–" if np.isnan(share) else f"{100 * share:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, required=True, help="the pilot study")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="its results; default: results/<study>")
    parser.add_argument(
        "--units", type=int, nargs="+", default=[24, 50, 100, 322], help="pairs, or texts or changes of a level"
    )
    parser.add_argument("--looks", type=int, nargs="+", help="in place of units: those of each look of a plan")
    parser.add_argument("--seeds", type=int, nargs="+", default=[2, 3, 5, 10])
    parser.add_argument("--effect", type=float, default=0.5, help="in standard deviations within levels")
    parser.add_argument("--studies", type=int, default=40, help="that are drawn of each size")
    parser.add_argument("--draws", type=int, default=500, help="resamples behind each verdict, at most")
    command_line.run(main, parser)

"""How many pairs and seeds does a study need? The power of its verdicts, from the scores of a pilot study.

    PYTHONPATH=workflow/scripts python workflow/tools/plan_study.py --configfile config/studies/pilot.yaml \\
        --units 24 50 100 322 --seeds 2 3 5 10 --effect 0.5

Draws studies of each size from the pilot's scores, with a difference of so many standard deviations in half of the
cells, and judges them. Prints a row for each size: in how many per cent of these cells it is called a disparity, and a
disparity for these trained models at least, each with the range in which nine of ten pilots of this size would answer.
"""

import argparse
from pathlib import Path

import numpy as np

from evenlight import configuration
from evenlight.core.kinds import MODALITIES
from evenlight.jobs import command_line
from evenlight.results import Inputs
from evenlight.statistics.planning import PARTS, TOO_WIDE, planned_studies, units_to_tell

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
    plan = planned_studies(
        study,
        judging,
        units=arguments.units,
        seeds=arguments.seeds,
        effect=arguments.effect,
        studies=arguments.studies,
    )
    print(
        f"{plan['cells'].iloc[0]} cells, an effect of {arguments.effect:g} standard deviations in half of them; "
        f"{arguments.studies} studies of each size; in brackets the range of the answer, as far as a pilot of "
        f"{plan['pilot'].iloc[0]} units can tell\n"
    )
    print("| units | seeds | disparity | … for these trained models |\n| ---: | ---: | ---: | ---: |")
    for row in plan.itertuples():
        power = [said_of_power(*(getattr(row, part + end) for end in ("", "_low", "_high"))) for part in PARTS]
        print(f"| {row.units} | {row.seeds} | {' | '.join(power)} |", flush=True)
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
    parser.add_argument("--seeds", type=int, nargs="+", default=[2, 3, 5, 10])
    parser.add_argument("--effect", type=float, default=0.5, help="in standard deviations within levels")
    parser.add_argument("--studies", type=int, default=40, help="that are drawn of each size")
    parser.add_argument("--draws", type=int, default=500, help="resamples behind each verdict, at most")
    command_line.run(main, parser)

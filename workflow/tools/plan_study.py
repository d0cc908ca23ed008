"""How many pairs and seeds does a study need? The power of its verdicts, from the scores of a pilot study.

    PYTHONPATH=workflow/scripts python workflow/tools/plan_study.py --configfile config/studies/pilot.yaml \\
        --units 24 50 100 322 --seeds 2 3 5 10 --effect 0.5

Draws studies of each size from the pilot's scores, with a difference of so many standard deviations in half of the
cells, and judges them. Prints a row for each size: in how many per cent of these cells it is called a disparity, and a
disparity of these models at least.
"""

import argparse
from pathlib import Path

import numpy as np
import yaml

from evenlight import command_line, configuration
from evenlight.statistics.planning import planned_studies

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
        "smallest_group": statistics["smallest_group"],
        "primary": {section[:-1]: names for section, names in statistics["primary"].items() if names},
        "noise": configuration.random_explainers(config),
        **{key: statistics[key] for key in JUDGED},
    }


def main(arguments: argparse.Namespace) -> None:
    """Print the table."""
    config = configuration.complete(yaml.safe_load(arguments.configfile.read_text(encoding="utf-8")))
    results = arguments.results or Path("results") / config["study"]
    settings = settings_of(config)
    settings["bootstrap_draws"] = min(settings["bootstrap_draws"], arguments.draws)
    plan = planned_studies(
        results / "scores",
        results / "datasets",
        units=arguments.units,
        seeds=arguments.seeds,
        effect=arguments.effect,
        studies=arguments.studies,
        readings=results / "readings",
        **settings,
    )
    print(
        f"{plan['cells'].iloc[0]} cells, an effect of {arguments.effect:g} standard deviations in half of them; "
        f"{arguments.studies} studies of each size, ± one standard error\n"
    )
    print("| units | seeds | disparity | … of these models |\n| ---: | ---: | ---: | ---: |")
    for row in plan.itertuples():
        power = [
            "–" if np.isnan(share) else f"{100 * share:.0f} ± {100 * error:.0f} %"
            for share, error in (
                (row.disparity, row.error),
                (row.disparity_of_these_models, row.error_of_these_models),
            )
        ]
        print(f"| {row.units} | {row.seeds} | {' | '.join(power)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, required=True, help="the pilot study")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="its results; default: results/<study>")
    parser.add_argument("--units", type=int, nargs="+", default=[24, 50, 100, 322], help="pairs, or texts of a level")
    parser.add_argument("--seeds", type=int, nargs="+", default=[2, 3, 5, 10])
    parser.add_argument("--effect", type=float, default=0.5, help="in standard deviations within levels")
    parser.add_argument("--studies", type=int, default=40, help="that are drawn of each size")
    parser.add_argument("--draws", type=int, default=500, help="resamples behind each verdict, at most")
    command_line.run(main, parser)

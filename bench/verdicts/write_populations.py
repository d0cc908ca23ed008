"""Populations of real scores in which no group differs: what `make verdicts` draws studies from.

    PYTHONPATH=workflow/scripts python bench/verdicts/write_populations.py \\
        --configfile config/studies/populations_cpu.yaml --output resources/populations

Of every comparison of a study that has been run, all units with their scores in all cells: of pairs the differences, of
texts the scores, less their mean (within level and stratum). So skewness, equal scores and the dependence of cells stay
as they are, and every difference of means is zero. A file has a row for each unit, and columns ``level`` (0 or 1; 0 for
pairs), ``stratum`` (-1 without strata) and one for each cell and seed, ``model/explainer/metric/seed``. Scores are in
the metric's own units. No text and no word is in them. An explainer whose scores are random is called ``random``; its
cells are no hypothesis.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from laws import RANDOM

from evenlight import configuration
from evenlight.core.tables import replacing
from evenlight.jobs import command_line
from evenlight.statistics.comparisons.cells import Design
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.study import StudyScores


def settings_of(config: dict) -> dict:
    """What a study compares, from its complete configuration, and which explainers are noise."""
    metrics = configuration.metric_annotations(config)
    return {
        "datasets": list(config["datasets"]),
        "models": {name: configuration.seeds_of(config, name) for name in config["models"]},
        "only": configuration.for_some_datasets(config),
        "explainers": list(config["explainers"]),
        "metrics": {name: metrics[name]["family"] for name in config["metrics"]},
        "comparisons": config["statistics"]["compare"],
        "strata": config["statistics"]["strata"],
        "noise": configuration.no_hypotheses(config),
    }


def populations(results: Path, settings: dict, folder: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """A name and the table of each comparison of the study; cells without any variance are left out.

    ``folder`` has the units, below ``results``.
    """
    folders = {"scores": results / "scores", "units": results / folder, "predictions": results / "predictions"}
    study = StudyScores(**{name: settings[name] for name in settings if name != "noise"}, folders=folders)
    found: dict[str, list[pd.DataFrame]] = {}
    for model in read_models(study):
        scores = list(model.explainers)
        for design in model.designs:
            columns = {
                f"{of.model}/{RANDOM if of.explainer in settings['noise'] else of.explainer}/{metric}/{seed}": centred(
                    of.values[row, place], design, place
                )
                for of in scores
                for row, metric in enumerate(of.metrics)
                for place, seed in enumerate(of.seeds)
            }
            name = f"{model.dataset}_{'_'.join(design.comparison.levels)}"
            found.setdefault(name, [_units(design)]).append(pd.DataFrame(columns))
    for name, parts in found.items():
        cells = pd.concat(parts[1:], axis=1)
        cells = cells.loc[:, (cells.std() > 1e-9) & (cells.notna().mean() > 0.9)]
        if not cells.empty:
            yield name, pd.concat([parts[0], cells.astype(np.float32)], axis=1)


def centred(scores: np.ndarray, design: Design, seed: int) -> np.ndarray:
    """The units' scores less their mean, (units,), from the items'; of texts both levels one after the other."""
    sides = [side.scores(scores) for side in (design.a, design.b)]
    if design.paired:
        difference = sides[0] - sides[1]
        return difference - np.nanmean(difference)
    strata = [
        np.zeros(len(side.items), int) if side.strata is None else side.strata[seed] for side in (design.a, design.b)
    ]
    of_levels = []
    for values, codes in zip(sides, strata, strict=True):
        means = pd.Series(values).groupby(codes).transform("mean").to_numpy()
        of_levels.append(np.where(codes < 0, np.nan, values - means))
    return np.concatenate(of_levels)


def _units(design: Design) -> pd.DataFrame:
    sides = [design.a] if design.paired else [design.a, design.b]
    strata = [np.full(len(side.items), -1) if side.strata is None else side.strata[0] for side in sides]
    return pd.DataFrame(
        {
            "level": np.repeat(np.arange(len(sides)), [len(side.items) for side in sides]).astype(np.int8),
            "stratum": np.concatenate(strata).astype(np.int8) if not design.paired else np.int8(-1),
        }
    )


def main(arguments: argparse.Namespace) -> None:
    """Write a file for each comparison."""
    config = configuration.of_file(arguments.configfile)
    results = arguments.results or Path("results") / config["study"]
    folder = "changes" if config["kind"] == "concepts" else "datasets"
    for name, table in populations(results, settings_of(config), folder):
        path = arguments.output / f"{name}.parquet"
        with replacing(path) as temporary:
            table.to_parquet(temporary, compression="zstd", compression_level=19, index=False)
        print(f"{path}: {len(table)} units, {table.shape[1] - 2} cells and seeds, {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, required=True, help="a study that has been run")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="its results; default: results/<study>")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    command_line.run(main, parser)

"""What do verdicts find in worlds with known causes, beside what is there?

Reads the study `config/studies/known_disparity.yaml` and the same with fresh texts and further trainings
(`bench/fresh/known_disparity.yaml`), which tell the truth. Writes a table of all cells (CSV), a figure and a page
(Markdown).
"""

import argparse
import sys
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd
import yaml
from matplotlib import colormaps
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from report import machine, markdown

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight import command_line, configuration
from evenlight.errors import InputError
from evenlight.figures.contrast import ink_on
from evenlight.figures.style import draw
from evenlight.statistics.cells import read_models
from evenlight.tables import DISPARITY, EFFECTS, ITEMS, QUALITY_PER_SEED, read_metadata, read_table, replacing

CELL = ["dataset", "model", "explainer", "metric"]
GENDER, PLACEBO = "gender", "placebo"
# A true difference of so many standard deviations is one that a verdict should find.
CONSIDERABLE = 0.2
ALPHA = 0.05
RANDOM = "uniform_random"
DIALS = ("base_rates", "label_effect", "longer_texts", "more_evidence", "late_evidence", "weak_evidence")
# What a verdict claims, and its sign in the figure and in tables.
TRAININGS, MODELS, EQUIVALENT, NOTHING = "trainings", "models", "equivalent", "nothing"
SIGNS = {TRAININGS: "●", MODELS: "○", EQUIVALENT: "=", NOTHING: ""}

PAGE = """# Known disparities

```
make known-disparity
```

runs `config/studies/known_disparity.yaml`, the same worlds with fresh texts and further trainings
(`bench/fresh/known_disparity.yaml`), and writes this page with `bench/known_disparity.py`. Made on
{machine}.

Do verdicts find a disparity that is there, and none that is not? In
[worlds with known causes](../causal_world.md) that can be asked: in one of them the gender does nothing, in the others
a dial says what it does. Explainers know no gender, and men and women are exchangeable but for the dial. So **every
disparity here is made by the texts or by what the model has learned from them, and none by an explainer**.

| world | dial | test accuracy | men | women |
| --- | --- | --- | --- | --- |
{worlds}

{runs}.

## What the truth is

The study says of each cell (world, explainer, metric) by how much the scores of a man's text exceed those of the
woman's text of the same pair, in the mean over pairs and trainings. The truth of this number is taken from pairs of the
same world that the study has not seen:

- **of these models**: the study's own models, trained again from the same seeds, on {fresh_pairs} fresh pairs;
- **of further trainings**: {further} models that the study does not have, trained on the same texts from other seeds,
  on the same fresh pairs. In the world without an effect it is 0 exactly: of every unit both texts are learned from, so
  that men and women are exchangeable over trainings.

Both are estimates. Their standard errors come from the variance over pairs and, of further trainings, over models as
well. The training texts are the same in all: the truth is that of this training set. *d* is the true difference over
the standard deviation within groups; from {considerable} on it is called considerable.

## Verdicts by world

- *trainings*: cells with a verdict of disparity in the mean of further trainings; *these models*: of these models only.
  Verdicts are adjusted over all cells of the gender but those of random scores, which are controls.
- *published*: share of the single tests (one seed, Mann–Whitney, p ≤ {alpha}) that are significant, as published
  studies count them.
- *considerable*: cells whose true difference of further trainings is considerable; *found*: how many of them have a
  verdict of disparity for further trainings, and in brackets also those for these models.
- *wrong sign*: verdicts of disparity whose sign is not that of the truth they speak of.
- *within*: intervals that hold the truth, of further trainings and of these models; in brackets those that do when the
  truth's own error is allowed for.

{by_world}

{size_text}

{placebo_text}

{power_text}

{coverage_text}

## Which explainer and metric raise an alarm, and for what

{sign_text}

![Verdicts by world, metric and explainer]({figure})

{grid}

## Does any explanation have it?

Where random scores have a considerable true disparity of the same sign, the metric has it whatever is explained: it is
made by the texts (their length) or by the model (what it says of a text with words missing). Cells with a considerable
true disparity, random scores themselves left out:

{by_metric}

{random_text}
"""


def merged(config: dict, changes: dict) -> dict:
    """``config`` with the keys of ``changes``, into the depth."""
    result = dict(config)
    for key, value in changes.items():
        both_are_mappings = isinstance(value, dict) and isinstance(config.get(key), dict)
        result[key] = merged(config[key], value) if both_are_mappings else value
    return result


# Truth -------------------------------------------------------------------------------------------------------------


def truth_of(differences: np.ndarray, over_trainings: bool) -> tuple[float, float]:
    """(mean, standard error) of differences (seeds, pairs), NaN where one is undefined.

    The variance of the mean over pairs counts that of seeds and pairs together once, divided by both; that over seeds
    is added where further trainings are meant, so that the error is rather too large.
    """
    differences = differences[:, ~np.isnan(differences).all(axis=0)]
    of_pairs, of_seeds = np.nanmean(differences, axis=0), np.nanmean(differences, axis=1)
    variance = of_pairs.var(ddof=1) / len(of_pairs)
    if over_trainings:
        variance += of_seeds.var(ddof=1) / len(of_seeds)
    return float(np.nanmean(of_seeds)), float(np.sqrt(variance))


def truths(folder: Path, config: dict, seeds_of_study: list[int]) -> pd.DataFrame:
    """The truth of every cell, from a run with other seeds, too, on other pairs."""
    families = {name: family for family, names in configuration.metric_families(config).items() for name in names}
    rows = []
    for model in read_models(
        folder / "scores",
        folder / "datasets",
        datasets=list(config["datasets"]),
        models=dict.fromkeys(config["models"], config["seeds"]),
        explainers=list(config["explainers"]),
        metrics={name: families[name] for name in config["metrics"]},
        comparisons={GENDER: config["statistics"]["compare"][GENDER]},
    ):
        is_of_study = np.isin(model.seeds, seeds_of_study)
        [design] = model.designs
        if not design.paired or is_of_study.sum() < len(seeds_of_study) or (~is_of_study).sum() < 2:
            raise InputError(
                f"{folder}: the truth needs pairs, all seeds of the study, and at least two others; give them in the "
                "configuration of the fresh texts"
            )
        for explainer in model.explainers:
            for cell, a, b in explainer.cells_with_scores(design):
                of_models, error_of_models = truth_of((a - b)[is_of_study], over_trainings=False)
                of_trainings, error_of_trainings = truth_of((a - b)[~is_of_study], over_trainings=True)
                sd = np.sqrt((np.nanvar(a, axis=1, ddof=1) + np.nanvar(b, axis=1, ddof=1)).mean() / 2)
                rows.append(
                    {name: cell[name] for name in CELL}
                    | {"true_of_models": of_models, "error_of_models": error_of_models}
                    | {"true_of_trainings": of_trainings, "error_of_trainings": error_of_trainings}
                    | {"sd": float(sd), "fresh_pairs": a.shape[1]}
                )
    return pd.DataFrame(rows)


# Cells -------------------------------------------------------------------------------------------------------------


def claim(verdict: str) -> str:
    """What a verdict claims: a disparity, of further trainings or of these models only, or that there is none.

    >>> claim("negligible disparity"), claim("disparity of these models"), claim("undecided")
    ('trainings', 'models', 'nothing')
    """
    if "disparity" in verdict:
        return MODELS if "these models" in verdict else TRAININGS
    return EQUIVALENT if "equivalent" in verdict else NOTHING


def dials_of(folder: Path, dataset: str) -> dict[str, float]:
    """The dials of a world that are not 0."""
    settings = read_metadata(folder / "datasets" / dataset / "items.parquet", ITEMS)["settings"]
    return {dial: settings[dial] for dial in DIALS if settings[dial]}


def cells_of(folder: Path, truth: pd.DataFrame, dials: dict[str, dict]) -> pd.DataFrame:
    """What the study says of every cell beside the truth; without a dial, further trainings have no disparity."""
    columns = [*CELL, "difference", "low", "high", "models_low", "models_high", "verdict"]
    effects = of_factor(read_table(folder / "tables" / "effects.parquet", EFFECTS.only(*columns, "factor")), GENDER)
    tests = read_table(folder / "tables" / "disparity.parquet", DISPARITY.only(*CELL, "factor", "p"))
    tests = of_factor(tests, GENDER)
    tests = tests.assign(significant=tests["p"] <= ALPHA).groupby(CELL, sort=False)["significant"]
    tests = tests.agg(significant_seeds="sum", seeds="count").reset_index()
    cells = effects[columns].merge(tests, on=CELL, how="left").merge(truth, on=CELL, how="left")
    if cells["sd"].isna().any():
        missing = cells.loc[cells["sd"].isna(), CELL].iloc[0]
        raise InputError(f"{folder}: no truth of {', '.join(missing)}; both runs need the same worlds and methods")
    has_dial = cells["dataset"].map(dials).map(bool)
    cells["true_of_trainings"] = cells["true_of_trainings"].where(has_dial, 0.0)
    cells["error_of_trainings"] = cells["error_of_trainings"].where(has_dial, 0.0)
    # Scores that are always the same have no disparity.
    cells["d"] = (cells["true_of_trainings"] / cells["sd"]).where(cells["sd"] > 0, 0.0)
    return cells.assign(claim=cells["verdict"].map(claim))


def of_factor(table: pd.DataFrame, factor: str) -> pd.DataFrame:
    """The rows about one factor."""
    return table[table["factor"] == factor]


def placebo_text(effects: pd.DataFrame) -> str:
    """The sentence that says what verdicts find between halves of the pairs that were drawn by lot."""
    placebo = of_factor(effects, PLACEBO)
    claims = placebo["verdict"].map(claim).value_counts()
    return (
        "**Placebo.** Between two halves of the pairs, drawn by lot, there is nothing in any world: of "
        f"{len(placebo)} cells {claims.get(TRAININGS, 0)} have a verdict of disparity for further trainings and "
        f"{claims.get(MODELS, 0)} for these models. They are in one family with random scores, the controls; were "
        "all of them without a difference, of a hundred studies at most five should have a verdict of either kind."
    )


def has_wrong_sign(cells: pd.DataFrame) -> pd.Series:
    """Whether a cell claims a disparity in the other direction than the truth that it speaks of has."""
    of_trainings = (cells["claim"] == TRAININGS) & (np.sign(cells["true_of_trainings"]) != np.sign(cells["difference"]))
    of_models = (cells["claim"] == MODELS) & (np.sign(cells["true_of_models"]) != np.sign(cells["difference"]))
    return of_trainings | of_models


def holds_truth(cells: pd.DataFrame, claim: str, allow_error: bool) -> pd.Series:
    """Whether the interval of further trainings, or of these models, holds its truth; of cells that have an interval.

    With ``allow_error`` either half of the interval is widened by 1.96 standard errors of the truth, in squares.
    """
    ends = ["low", "high"] if claim == TRAININGS else ["models_low", "models_high"]
    cells = cells.dropna(subset=ends)
    truth, slack = cells[f"true_of_{claim}"], 1.96 * cells[f"error_of_{claim}"] * allow_error
    below, above = (np.hypot((cells["difference"] - cells[end]).abs(), slack) for end in ends)
    return (truth >= cells["difference"] - below) & (truth <= cells["difference"] + above)


def is_considerable(cells: pd.DataFrame) -> pd.Series:
    """Whether the true disparity of further trainings is considerable."""
    return cells["d"].abs() >= CONSIDERABLE


# Tables ------------------------------------------------------------------------------------------------------------


def by_world(cells: pd.DataFrame) -> pd.DataFrame:
    """What verdicts find in each world."""
    rows = []
    for world, part in cells.groupby("dataset", sort=False):
        considerable = part[is_considerable(part)]
        found, with_models = (considerable["claim"].isin(claims).sum() for claims in ([TRAININGS], [TRAININGS, MODELS]))
        held = {
            claim: [holds_truth(part, claim, allow_error) for allow_error in (False, True)]
            for claim in (TRAININGS, MODELS)
        }
        rows.append(
            {
                "world": world,
                "cells": len(part),
                "trainings": (part["claim"] == TRAININGS).sum(),
                "these models": (part["claim"] == MODELS).sum(),
                "published": f"{part['significant_seeds'].sum() / part['seeds'].sum():.0%}",
                "considerable": len(considerable),
                "found": f"{found} ({with_models})",
                "wrong sign": has_wrong_sign(part).sum(),
            }
            | {
                f"within, {claim}": f"{within.sum()} ({with_error.sum()}) of {len(within)}"
                for claim, (within, with_error) in held.items()
            }
        )
    return pd.DataFrame(rows)


def by_metric(cells: pd.DataFrame) -> pd.DataFrame:
    """How many considerable true disparities random scores have, too, by metric and world."""
    keys = ["dataset", "model", "metric"]
    random = cells[cells["explainer"] == RANDOM].set_index(keys)["d"]
    others = cells[(cells["explainer"] != RANDOM) & is_considerable(cells)]
    of_random = random.reindex(pd.MultiIndex.from_frame(others[keys])).to_numpy()
    shared = (np.sign(of_random) == np.sign(others["d"])) & (np.abs(of_random) >= CONSIDERABLE)
    counts = others.assign(shared=shared).groupby(["metric", "dataset"], sort=False)["shared"].agg(["sum", "count"])
    return counts.rename(columns={"sum": "random scores, too", "count": "considerable"}).reset_index()


def grid(cells: pd.DataFrame, labels: dict[str, str]) -> pd.DataFrame:
    """One row per metric and explainer, one column per world: the sign of the verdict and the true d."""
    said = cells["claim"].map(SIGNS).str.cat(cells["d"].map("{:+.2f}".format), sep=" ").str.strip()
    table = cells.assign(said=said).pivot_table(
        index=["metric", "explainer"], columns="dataset", values="said", aggfunc="first", sort=False
    )
    return table.reset_index().replace({"metric": labels, "explainer": labels})


# The figure --------------------------------------------------------------------------------------------------------


def figure_of(cells: pd.DataFrame, labels: dict[str, str]) -> Figure:
    """True d as colour, verdicts as signs, significant seeds of the published test as small numbers."""
    worlds = list(cells["dataset"].unique())
    rows = cells[["metric", "explainer"]].drop_duplicates().sort_values("metric", kind="stable", key=_places)
    rows = list(rows.itertuples(index=False, name=None))
    figure = Figure(figsize=(1.6 + 0.85 * len(worlds), 1.4 + 0.26 * len(rows)), layout="constrained")
    axes = figure.subplots()
    colours, scale = colormaps["PuOr"], TwoSlopeNorm(0, -1, 1)
    true_d = np.full((len(rows), len(worlds)), np.nan)
    for cell in cells.itertuples():
        row, column = rows.index((cell.metric, cell.explainer)), worlds.index(cell.dataset)
        true_d[row, column] = cell.d
        colour = ink_on(colours(scale(cell.d))[:3])
        axes.text(column - 0.18, row, SIGNS[cell.claim], ha="center", va="center", color=colour)
        said = f"{cell.significant_seeds:.0f}/{cell.seeds:.0f}"
        axes.text(column + 0.22, row, said, ha="center", va="center", size=6, color=colour)
    image = axes.imshow(true_d, cmap=colours, norm=scale, aspect="auto")
    axes.set_xticks(range(len(worlds)), [world.removeprefix("world_").replace("_", "\n") for world in worlds], size=8)
    axes.set_yticks(range(len(rows)), [labels.get(explainer, explainer) for _, explainer in rows], size=8)
    for number, metric in enumerate(dict.fromkeys(metric for metric, _ in rows)):
        places = [place for place, (name, _) in enumerate(rows) if name == metric]
        axes.text(len(worlds) - 0.4, np.mean(places), labels.get(metric, metric), rotation=270, va="center", size=8)
        if number:
            axes.axhline(places[0] - 0.5, color="black", linewidth=0.8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("Verdicts in worlds with known causes", loc="left")
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.5, aspect=40, extend="both")
    bar.set_ticks([-1, -0.5, 0, 0.5, 1])
    signs = "● disparity   ○ of these models   = equivalent   3/5 seeds significant as published"
    bar.set_label(f"true d, men − women     {signs}", size=8)
    return figure


def _places(names: pd.Series) -> pd.Series:
    """Names as numbers in the order in which they first occur."""
    return names.map({name: place for place, name in enumerate(names.unique())})


# The page ----------------------------------------------------------------------------------------------------------


def quality_of(folder: Path, dials: dict[str, dict]) -> str:
    """Lines of a table: the dial of each world, and the mean test accuracy, overall and of either group."""
    table = read_table(folder / "tables" / "models_per_seed.parquet", QUALITY_PER_SEED)
    accuracy = table[table["measure"] == "accuracy"].groupby(["dataset", "subset"])["value"].mean()
    lines = []
    for world, own in dials.items():
        dial = ", ".join(f"`{name}` {value:g}" for name, value in own.items()) or "none"
        values = " | ".join(f"{accuracy[world, subset]:.1%}" for subset in ("all", "male", "female"))
        lines.append(f"| {world} | {dial} | {values} |")
    return "\n".join(lines)


def texts(cells: pd.DataFrame, dials: dict[str, dict]) -> dict[str, str]:
    """The sentences of the page that say its numbers."""
    has_dial = cells["dataset"].map(dials).map(bool)
    null = cells[~has_dial]
    alarms = null[null["claim"] == TRAININGS]
    named = ", ".join(f"{cell.explainer} × {cell.metric}" for cell in alarms.itertuples())
    of_models = (null["claim"] == MODELS).sum()
    published = null["significant_seeds"].sum() / null["seeds"].sum()
    dialled = cells[has_dial]
    considerable = dialled[is_considerable(dialled)]
    found = (considerable["claim"] == TRAININGS).sum()
    also_models = considerable["claim"].isin([TRAININGS, MODELS]).sum()
    metric = by_metric(dialled)
    return {
        "size_text": (
            f"**Size.** Where the gender does nothing, {len(alarms)} of {len(null)} cells have a verdict for further "
            f"trainings{f' ({named})' if named else ''}, and {of_models} for these models only, which may differ by "
            f"the luck of their training. The published test of single seeds is significant in {published:.0%} of all "
            "tests there."
        ),
        "power_text": (
            f"**Power.** Of {len(considerable)} cells with a considerable true disparity {found} have a verdict for "
            f"further trainings and {also_models} one at all; {has_wrong_sign(cells).sum()} verdicts of all "
            f"{cells['claim'].isin([TRAININGS, MODELS]).sum()} have the wrong sign."
        ),
        "coverage_text": "**Coverage.** "
        + " ".join(
            f"Of the intervals {of}, {holds_truth(cells, claim, False).mean():.0%} hold the truth, "
            f"{holds_truth(cells, claim, True).mean():.0%} when its own error is allowed for."
            for claim, of in ((TRAININGS, "for the mean of further trainings"), (MODELS, "for these models"))
        ),
        "sign_text": "; ".join(
            f"{sign} {meaning}"
            for sign, meaning in zip(
                "●○=",
                ("disparity, for further trainings", "for these models only", "equivalent"),
                strict=True,
            )
        )
        + "; no sign: nothing is claimed. The number is the true *d* of further trainings, positive where men's texts "
        "score higher.",
        "random_text": (
            f"Of {metric['considerable'].sum()} considerable disparities {metric['random scores, too'].sum()} are "
            "there with random scores, too."
        ),
    }


def main(arguments: argparse.Namespace) -> None:
    """Read, compute and write."""
    written = yaml.safe_load(arguments.configfile.read_text(encoding="utf-8"))
    config = configuration.complete(written)
    fresh = yaml.safe_load(arguments.fresh_configfile.read_text(encoding="utf-8"))
    truth = truths(arguments.fresh, configuration.complete(merged(written, fresh)), config["seeds"])
    dials = {world: dials_of(arguments.results, world) for world in config["datasets"]}
    cells = cells_of(arguments.results, truth, dials)
    labels = {name: own["label"] for part in ("explainers", "metrics") for name, own in config[part].items()}
    with replacing(arguments.table) as path:
        cells.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    draw([arguments.figure], lambda: figure_of(cells, labels), "Verdicts in worlds with known causes")
    effects = read_table(arguments.results / "tables" / "effects.parquet", EFFECTS.only(*CELL, "factor", "verdict"))
    said = texts(cells, dials) | {"placebo_text": placebo_text(effects)}
    page = PAGE.format(
        machine=machine("torch", "transformers", "numpy"),
        worlds=quality_of(arguments.results, dials),
        runs=(
            f"{len(config['datasets'])} worlds, {len(config['models'])} model, {len(config['seeds'])} seeds, "
            f"{len(config['explainers'])} explainers, {len(config['metrics'])} metrics; {config['explain']['pairs']} "
            "pairs are explained"
        ),
        fresh_pairs=truth["fresh_pairs"].max(),
        further=len(set(fresh["seeds"]) - set(config["seeds"])),
        considerable=CONSIDERABLE,
        alpha=ALPHA,
        figure=arguments.figure.name,
        by_world=markdown(by_world(cells)),
        grid=markdown(grid(cells, labels)),
        by_metric=markdown(by_metric(cells)),
        **{name: fill(text, 118) for name, text in said.items()},
    )
    with replacing(arguments.page) as path:
        path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configfile", type=Path, required=True, help="the study")
    parser.add_argument("--results", type=Path, required=True, help="folder of its results")
    parser.add_argument("--fresh-configfile", type=Path, required=True, help="what is other where the truth comes from")
    parser.add_argument("--fresh", type=Path, required=True, help="folder of these results")
    parser.add_argument("--table", type=Path, required=True, help="all cells (CSV)")
    parser.add_argument("--figure", type=Path, required=True, help="figure (SVG, PDF or PNG)")
    parser.add_argument("--page", type=Path, required=True, help="page (Markdown), in the figure's folder")
    command_line.run(main, parser)

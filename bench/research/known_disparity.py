"""What do verdicts find in worlds with known causes, beside what is there?

Reads the study `config/studies/known_disparity.yaml` and the same with fresh texts and models that are trained again
(`bench/research/fresh/known_disparity.yaml`), which tell the truth and are a second study. Writes a table of all cells
(CSV), a figure and a page (Markdown).
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd
import yaml
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.stats import norm
from scipy.stats import t as student

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from report import machine, markdown

from evenlight import configuration
from evenlight.core.contracts.results import DISPARITY, EFFECTS, LOOKS, QUALITY_PER_SEED, VERDICT_CONTROL
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata, read_table, replacing
from evenlight.jobs import command_line
from evenlight.reports.style import draw
from evenlight.statistics.cells import ExplainerScores, ModelScores, read_models
from evenlight.statistics.designs import Design
from evenlight.statistics.effects import effect_table, gathered, pooled_rows
from evenlight.statistics.intervals import share_interval
from evenlight.statistics.study import StudyScores, VerdictSettings
from evenlight.statistics.texts_needed import texts_needed
from evenlight.statistics.verdicts import CONTROL, hypothesis_family, judged

CELL = ["dataset", "model", "explainer", "metric"]
GENDER, PLACEBO = "gender", "placebo"
# A true difference of so many standard deviations is one that a verdict should find.
CONSIDERABLE = 0.2
CONFIDENCE = 0.95
# What a dial changes: the wording of the texts, or what is associated with the gender.
WORDING, CLASS = "wording", "class"
DIALS = {
    "longer_texts": WORDING,
    "more_evidence": WORDING,
    "late_evidence": WORDING,
    "weak_evidence": WORDING,
    "base_rates": CLASS,
    "label_effect": CLASS,
}
# What a verdict claims, and of what.
DISPARITY_IS_THERE, NEGLIGIBLE, EQUIVALENT, NOTHING = "disparity", "negligible disparity", "equivalent", "nothing"
TRAININGS, MODELS = "trainings", "models"
SIGNS = {
    (DISPARITY_IS_THERE, TRAININGS): "●",
    (DISPARITY_IS_THERE, MODELS): "○",
    (NEGLIGIBLE, TRAININGS): "≈",
    (NEGLIGIBLE, MODELS): "≈",
    (EQUIVALENT, TRAININGS): "=",
    (EQUIVALENT, MODELS): "=",
}
HEADINGS = {WORDING: "wording differs", CLASS: "class goes with gender"}
# Only so dark that black signs can be read.
COLOURS = LinearSegmentedColormap.from_list("PuOr", colormaps["PuOr"](np.linspace(0.2, 0.8, 256)))
SCALE = TwoSlopeNorm(0, -1, 1)

PAGE = """# Known disparities

```
make known-disparity
```

goes through `config/studies/known_disparity.yaml` from [look](../looks.md) to look, and runs the same worlds with fresh
texts and models that are trained again (`bench/research/fresh/known_disparity.yaml`). It writes this page with
`bench/research/known_disparity.py`. Made on {machine}.

Do verdicts find a disparity that is there, and none that is not? In
[worlds with known causes](../causal_world.md) that can be asked. In one of them the gender does nothing, in the others
a dial says what it does. Explainers know no gender, and men and women are exchangeable but for the dial. So **every
disparity here is made by the texts or by what the model has learned from them, and none by an explainer**. The
[glossary](../glossary.md) says what words mean.

| world | dial | test accuracy | men | women |
| --- | --- | --- | --- | --- |
{worlds}

{runs}.

## What looks decide

{looks_text}

{looks}

The first row is of the first look's pairs, looked at once without a plan. The other rows count what was found for these
trained models by then, with the verdict that it has after the last look: a claim across retraining may have come later.
In brackets are claims for these trained models only.

The {questions} questions are all those of the gender that the study had before it had a plan. Then it asked 100 pairs
once, of which 47 are among the 100 of the first look. They decided 62 questions, 13 of them across retraining. That was
known when the plan was written.

## Which explainer and metric raise an alarm because the texts or the model differ

![Verdicts by world, metric and explainer]({figure})

A row is an explainer, a column a world. The colour is the true difference *d*. ● is an alarm: the verdict *disparity*,
across retraining; ○ is one for these trained models only; = is *equivalent*, ≈ *negligible disparity*. A box is round
what is wrong. [All cells]({table}) are a table.

{alarm_text}

In this table *true* counts the worlds in which the true difference is considerable (*d* of at least {considerable}).
*Random, too* counts the alarms that random explanations have in the same world, metric and direction. In brackets are
alarms for these trained models only, besides. Either the women's wording differs, or the class and its causes are
associated with the gender.

{alarms}

## What the truth is

The study says of each cell (world, explainer, metric) by how much the scores of a man's text exceed those of the
woman's text of the same pair. It is a mean over pairs and trainings. The truth of this number is taken from pairs of
the same world that the study has not seen:

- **for these trained models**: the study's own models, trained again from the same seeds to the same weights, on
  {fresh_pairs} fresh pairs;
- **across retraining**: {further} models that the study does not have, trained on the same texts from other seeds,
  on the same fresh pairs. In the world without an effect it is 0 exactly. There both texts of every unit are learned
  from, so that men and women are exchangeable over trainings.

Both are estimates with a 95 % half-width. It comes from the variance over pairs and, across retraining, over models
as well. The two are added as Banerjee's inequality has it, so rather too wide. The truth is that of this training set,
and of what models learn from it: a dial of the class acts through that. Where trainings learn it to different degrees,
the truth is their mean, and not what the dial alone would give. *d* is the true difference over the standard deviation
within groups.

## Verdicts by world

{power_text}

Cells of random scores are controls, not counted here.

- *disparity*, *negligible*, *equivalent*: cells with these verdicts across retraining, and in brackets those for these
  trained models only.
- *true*: as above; *found*: those that have an alarm in the right direction, which a negligible disparity is not.
- *wrong*: verdicts that contradict the truth that they speak of. A disparity is wrong in the other direction, an
  equivalent one beyond the bound, a negligible one in either way.
- *published*: share of the single tests (one seed, Mann–Whitney, p ≤ {alpha}) that are significant, as published
  studies count them.

{by_world}

{missed_text}

{missed}

{wrong_text}

{wrong}

## Where there is nothing

{null_text}

{evidence}

*At most* is the largest chance of a wrong verdict in a study with which so few would still be seen in one of twenty
cases. It is the {confidence:.0%} bound of Clopper and Pearson.

- *{null} alone*: the verdicts of its cells as a family of their own, in this study and in a second one. The second one
  is of the {further} models that are trained again and the fresh pairs. In the larger family of all worlds they are
  stricter.
- *Trainings reversed*: in this world a training that favours men is as likely as its mirror image. Reversing
  any of the trainings of either study gives others that are as likely, given how far each is from 0. Permuted labels,
  which leave no effect of trainings at all, cannot ask that.
- *Halves*: of the pairs, drawn by lot, in all worlds of a study. Worlds share pairs, so a study counts once.
- *Labels permuted*: within pairs, in all worlds, as in `tables/verdict_control.csv`; it speaks of these scores.

## Do intervals hold the truth

{coverage_text}

{coverage}
"""


def merged(config: dict, changes: dict) -> dict:
    """``config`` with the keys of ``changes``, into the depth."""
    result = dict(config)
    for key, value in changes.items():
        both_are_mappings = isinstance(value, dict) and isinstance(config.get(key), dict)
        result[key] = merged(config[key], value) if both_are_mappings else value
    return result


# What was scored ---------------------------------------------------------------------------------------------------


def names_of(config: dict) -> dict:
    """The names of a study's scores, and what is compared."""
    families = {name: family for family, names in configuration.metric_families(config).items() for name in names}
    return {
        "datasets": list(config["datasets"]),
        "models": dict.fromkeys(config["models"], config["seeds"]),
        "explainers": list(config["explainers"]),
        "metrics": {name: families[name] for name in config["metrics"]},
        "comparisons": config["statistics"]["compare"],
    }


def scores_below(folder: Path, names: dict) -> StudyScores:
    """The scores of a study whose results are in a folder."""
    return StudyScores(scores=folder / "scores", units=folder / "datasets", **names)


def judging(config: dict) -> VerdictSettings:
    """What verdicts depend on, as the rules have it."""
    keys = ("alpha", "equivalence_bound", "smallest_effects", "confidence", "bootstrap_draws")
    statistics = config["statistics"]
    return VerdictSettings(
        **{key: statistics[key] for key in keys},
        primary={section[:-1]: names for section, names in statistics["primary"].items() if names},
        noise=configuration.random_explainers(config),
        reach=configuration.reach_of_metrics(config),
    )


def check_same_models(study: Path, fresh: Path, config: dict) -> None:
    """Refuse fresh texts whose models of the study's seeds are others than the study's."""
    for dataset, model, seed in product(config["datasets"], config["models"], config["seeds"]):
        weights = [
            folder / "models" / dataset / model / f"seed{seed}" / "model.safetensors" for folder in (study, fresh)
        ]
        if len({sha256(path.read_bytes()).digest() for path in weights}) > 1:
            raise InputError(f"{weights[1]}: other weights than {weights[0]}; make both studies on one machine")


# Truth -------------------------------------------------------------------------------------------------------------


def truth_of(a: np.ndarray, b: np.ndarray, over_trainings: bool) -> dict[str, float]:
    """The mean difference of scores (seeds, pairs), its half-width, and the standard deviation within groups.

    A score that is undefined is NaN. The variance of the mean over pairs is that of the pairs' means over seeds; that
    over seeds, divided by their number, is added where retraining is meant. Each counts with the quantile of
    its own t (Banerjee 1960).
    """
    differences = a - b
    known = ~np.isnan(differences)
    differences = differences[:, known.any(axis=0)]
    parts = [np.nanmean(differences, axis=0), np.nanmean(differences, axis=1)][: 2 if over_trainings else 1]
    quantile = (1 + CONFIDENCE) / 2
    squares = [student.ppf(quantile, len(part) - 1) ** 2 * part.var(ddof=1) / len(part) for part in parts]
    variances = [np.nanvar(np.where(known, side, np.nan), axis=1, ddof=1) for side in (a, b)]
    return {
        "true": float(np.nanmean(differences, axis=1).mean()),
        "half": float(np.sqrt(sum(squares))),
        "sd": float(np.sqrt(sum(variances) / 2).mean()),
    }


def truths(folder: Path, config: dict, seeds_of_study: list[int]) -> pd.DataFrame:
    """The truth of every cell, from a run with other seeds, too, on other pairs."""
    bounds = config["statistics"]["smallest_effects"]
    rows = []
    names = names_of(config) | {"comparisons": {GENDER: config["statistics"]["compare"][GENDER]}}
    for model in read_models(scores_below(folder, names)):
        is_of_study = np.isin(model.seeds, seeds_of_study)
        [design] = model.designs
        if not design.paired or is_of_study.sum() < len(seeds_of_study) or (~is_of_study).sum() < 2:
            raise InputError(
                f"{folder}: the truth needs pairs, all seeds of the study, and at least two others; give them in the "
                "configuration of the fresh texts"
            )
        for explainer in model.explainers:
            for cell, a, b in explainer.cells_with_scores(design):
                row = {name: cell[name] for name in CELL} | {"fresh_pairs": a.shape[1]}
                for of, seeds in ((MODELS, is_of_study), (TRAININGS, ~is_of_study)):
                    truth = truth_of(a[seeds], b[seeds], of == TRAININGS)
                    in_sds = config["statistics"]["equivalence_bound"] * truth["sd"]
                    truth["bound"] = bounds.get(cell["metric"], in_sds)
                    row |= {f"{name}_of_{of}": value for name, value in truth.items()}
                rows.append(row)
    return pd.DataFrame(rows)


# Cells -------------------------------------------------------------------------------------------------------------


def claim(verdict: str) -> tuple[str, str]:
    """What a verdict claims, and whether across retraining or for these trained models only.

    >>> claim("negligible disparity"), claim("disparity for these trained models"), claim("undecided")
    (('negligible disparity', 'trainings'), ('disparity', 'models'), ('nothing', ''))
    """
    for kind in (DISPARITY_IS_THERE, NEGLIGIBLE, EQUIVALENT):
        if verdict.startswith(kind):
            return kind, MODELS if "these trained models" in verdict else TRAININGS
    return NOTHING, ""


def with_claims(effects: pd.DataFrame) -> pd.DataFrame:
    """The table with what each verdict claims (``kind``) and of what (``of``)."""
    kinds, of = zip(*effects["verdict"].map(claim), strict=True)
    return effects.assign(kind=kinds, of=of)


def dials_of(folder: Path, dataset: str) -> dict[str, float]:
    """The dials of a world that are not 0."""
    settings = read_metadata(folder / "datasets" / dataset / "items.parquet", ITEMS)["settings"]
    return {dial: settings[dial] for dial in DIALS if settings[dial]}


def cells_of(folder: Path, truth: pd.DataFrame, dials: dict[str, dict], alpha: float) -> pd.DataFrame:
    """What the study says of every cell beside the truth; without a dial, there is none across retraining."""
    columns = [*CELL, "family", "difference", "low", "high", "models_low", "models_high", "verdict"]
    columns += ["units_error", "trainings_error", "look"]
    effects = of_factor(read_table(folder / "tables" / "effects.parquet", EFFECTS.only(*columns, "factor")), GENDER)
    tests = read_table(folder / "tables" / "disparity.parquet", DISPARITY.only(*CELL, "factor", "p"))
    tests = of_factor(tests, GENDER)
    tests = tests.assign(significant=tests["p"] <= alpha).groupby(CELL, sort=False)["significant"]
    tests = tests.agg(significant_seeds="sum", seeds="count").reset_index()
    cells = effects[columns].merge(tests, on=CELL, how="left").merge(truth, on=CELL, how="left")
    if cells["sd_of_trainings"].isna().any():
        missing = cells.loc[cells["sd_of_trainings"].isna(), CELL].iloc[0]
        raise InputError(f"{folder}: no truth of {', '.join(missing)}; both runs need the same worlds and methods")
    has_dial = cells["dataset"].map(dials).map(bool)
    for name in ("true_of_trainings", "half_of_trainings"):
        cells[name] = cells[name].where(has_dial, 0.0)
    # Scores that are always the same have no disparity.
    sd = cells["sd_of_trainings"]
    cells["d"] = (cells["true_of_trainings"] / sd).where(sd > 0, 0.0)
    return with_claims(cells)


def of_factor(table: pd.DataFrame, factor: str) -> pd.DataFrame:
    """The rows about one factor."""
    return table[table["factor"] == factor]


def spoken_of(cells: pd.DataFrame, name: str) -> pd.Series:
    """A column of the truth that each cell's verdict speaks of."""
    return cells[f"{name}_of_{TRAININGS}"].where(cells["of"] != MODELS, cells[f"{name}_of_{MODELS}"])


def is_wrong(cells: pd.DataFrame, for_sure: bool = False) -> pd.Series:
    """Whether a verdict contradicts the truth that it speaks of; ``for_sure`` with the truth anywhere in its interval.

    A disparity, negligible or not, claims a direction; a negligible one and equivalence claim that the difference is
    within the bound.
    """
    truth, bound = spoken_of(cells, "true"), spoken_of(cells, "bound")
    slack = spoken_of(cells, "half") * for_sure
    in_other_direction = np.sign(cells["difference"]) * truth + slack <= 0
    return (is_directed(cells) & in_other_direction) | (is_bounded(cells) & (truth.abs() - slack > bound))


def is_directed(cells: pd.DataFrame) -> pd.Series:
    """Whether a verdict claims a direction."""
    return cells["kind"].isin([DISPARITY_IS_THERE, NEGLIGIBLE])


def is_bounded(cells: pd.DataFrame) -> pd.Series:
    """Whether a verdict claims that the difference is within the bound."""
    return cells["kind"].isin([NEGLIGIBLE, EQUIVALENT])


def is_alarm(cells: pd.DataFrame, of: str) -> pd.Series:
    """Whether a verdict is a disparity, across retraining or for these trained models only, that is not negligible."""
    return (cells["kind"] == DISPARITY_IS_THERE) & (cells["of"] == of)


def is_considerable(cells: pd.DataFrame) -> pd.Series:
    """Whether the true disparity across retraining is considerable."""
    return cells["d"].abs() >= CONSIDERABLE


def is_found(cells: pd.DataFrame, of: str) -> pd.Series:
    """Whether a considerable true disparity has an alarm that is not wrong."""
    return is_considerable(cells) & is_alarm(cells, of) & ~is_wrong(cells)


def random_has_it(cells: pd.DataFrame, noise: list[str]) -> pd.Series:
    """Whether random scores have an alarm in the same world, metric and direction."""
    keys = ["dataset", "model", "metric"]
    alarms = (is_alarm(cells, TRAININGS) | is_alarm(cells, MODELS)) & cells["explainer"].isin(noise)
    there = cells[alarms].assign(direction=np.sign(cells["difference"]))
    own = cells.assign(direction=np.sign(cells["difference"]))
    columns = [*keys, "direction"]
    return pd.Series(
        pd.MultiIndex.from_frame(own[columns]).isin(pd.MultiIndex.from_frame(there[columns])), index=cells.index
    )


def holds_truth(cells: pd.DataFrame, of: str, allow_error: bool) -> pd.Series:
    """Whether the interval across retraining, or for these trained models, holds its truth; of cells that have an
    interval.

    With ``allow_error`` the interval is that of the difference between the study and the estimated truth: the halves of
    both are added in squares.
    """
    ends = ["low", "high"] if of == TRAININGS else ["models_low", "models_high"]
    cells = cells.dropna(subset=ends)
    truth, slack = cells[f"true_of_{of}"], cells[f"half_of_{of}"] * allow_error
    below, above = (np.hypot((cells["difference"] - cells[end]).abs(), slack) for end in ends)
    return (truth >= cells["difference"] - below) & (truth <= cells["difference"] + above)


# Where there is nothing --------------------------------------------------------------------------------------------


def reversed_trainings(scores: ExplainerScores, design: Design, seeds: np.ndarray) -> ExplainerScores:
    """The scores with both forms of every pair exchanged in some seeds, bool (seeds,)."""
    first, second = (side.columns[np.argsort(side.unit_index)] for side in (design.a, design.b))
    exchanged = np.arange(scores.values.shape[-1])
    exchanged[first], exchanged[second] = second, first
    return replace(scores, values=np.where(seeds[:, None], scores.values[..., exchanged], scores.values))


def arrangements(model: ModelScores, judged_by: VerdictSettings) -> Iterator[pd.DataFrame]:
    """Judged cells of one world, trainings reversed in all ways that differ; the first has none reversed.

    To reverse all trainings changes no verdict but its direction, so the last one stays.
    """
    [design] = model.designs
    explainers = list(model.explainers)
    for turned in product((False, True), repeat=len(model.seeds) - 1):
        seeds = np.array([*turned, False])
        scores = [reversed_trainings(explainer, design, seeds) for explainer in explainers]
        rows, statistics = gathered([pooled_rows(scores, [design], judged_by)])
        families = [hypothesis_family(row, judged_by.primary, judged_by.noise) for row in rows]
        table = pd.DataFrame(rows).assign(family=families)
        yield with_claims(judged(table, statistics, judged_by.alpha))


def world_without_dials(dials: dict[str, dict]) -> str:
    """The one world in which the gender does nothing."""
    worlds = [world for world, own in dials.items() if not own]
    if len(worlds) != 1:
        raise InputError(f"datasets: found {len(worlds)} worlds without a dial ({', '.join(worlds)}); give exactly one")
    return worlds[0]


def alarms_of_arrangements(folder: Path, names: dict, judged_by: VerdictSettings) -> list[int]:
    """How many cells are wrongly a disparity across retraining in each arrangement of a world without an effect.

    Cells of random scores are controls and do not count.
    """
    [model] = read_models(scores_below(folder, names))
    return [
        int((is_directed(table) & (table["of"] == TRAININGS) & (table["family"] != CONTROL)).sum())
        for table in arrangements(model, judged_by)
    ]


def at_most(wrong: int, studies: int) -> float:
    """The largest chance with which at most so many of independent studies are wrong in one of twenty cases.

    >>> round(at_most(0, 1), 2), round(at_most(0, 20), 3), at_most(2, 2)
    (0.95, 0.139, 1.0)
    """
    return share_interval(wrong, studies, 2 * CONFIDENCE - 1)[1]


def evidence(
    null: str, by_arrangement: list[list[int]], placebos: list[pd.DataFrame], control: pd.DataFrame
) -> pd.DataFrame:
    """How often something is found where there is nothing.

    Args:
        null: the world without an effect.
        by_arrangement: of this study and the second, :func:`alarms_of_arrangements`.
        placebos: of both, the cells of the halves, with what their verdicts claim.
        control: verdicts with permuted labels (``VERDICT_CONTROL``).
    """

    def row(what: str, about: str, wrong: list[bool], independent: bool = True) -> dict:
        bound = f"{at_most(sum(wrong), len(wrong)):.2f}" if independent else "–"
        counts = {"studies": len(wrong), "with a wrong verdict": sum(wrong), "at most": bound}
        return {"nothing by": what, "verdicts of": about} | counts

    def any_of(table: pd.DataFrame, *of: str) -> bool:
        return bool((is_directed(table) & table["of"].isin(of)).any())

    of_permutations = control[control["family"] != CONTROL].groupby("permutation")["disparities_of_models"].sum()
    further, these = "across retraining", "these trained models"
    return pd.DataFrame(
        [
            row(f"{null} alone", further, [counts[0] > 0 for counts in by_arrangement]),
            row("trainings reversed", further, [n > 0 for counts in by_arrangement for n in counts], False),
            row("halves drawn by lot", further, [any_of(table, TRAININGS) for table in placebos]),
            row("halves drawn by lot", these, [any_of(table, TRAININGS, MODELS) for table in placebos]),
            row("labels permuted", these, list(of_permutations > 0)),
        ]
    )


# Tables ------------------------------------------------------------------------------------------------------------


def by_look(cells: pd.DataFrame, made: pd.DataFrame, alone: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """How many questions each look has decided, by the verdicts of the last one.

    Args:
        cells: with claims and ``look``; random scores, which ask nothing, are left out.
        made: the rows of a plan in the record of looks.
        alone: with claims, of the first look's pairs without a plan.
        alpha: the level, all of which a look without a plan spends.
    """
    rows = [_decided("no plan", made["units"].iloc[0], alpha, alone, pd.Series(True, alone.index))]
    rows += [_decided(row.look, row.units, row.spent, cells, cells["look"] <= row.look) for row in made.itertuples()]
    return pd.DataFrame(rows)


def _decided(name: str | int, pairs: int, spent: float, cells: pd.DataFrame, found: pd.Series) -> dict:
    """A row: what is claimed of the questions that were found."""
    is_question = cells["family"] != CONTROL
    part = cells[is_question & found]
    return {
        "look": name,
        "pairs": pairs,
        "spent": f"{spent:.3f}",
        **_kinds(part),
        "open": int(is_question.sum() - (part["kind"] != NOTHING).sum()),
    }


def _kinds(part: pd.DataFrame) -> dict[str, str]:
    """How many cells are claimed to be what, across retraining, and in brackets for these trained models only."""
    return {
        name: counted(*((part["kind"] == kind) & (part["of"] == of) for of in (TRAININGS, MODELS)))
        for name, kind in (("disparity", DISPARITY_IS_THERE), ("negligible", NEGLIGIBLE), ("equivalent", EQUIVALENT))
    }


def looks_text(cells: pd.DataFrame, made: pd.DataFrame, planned: list[int], needed: pd.Series) -> str:
    """Which looks of a plan were made, what is decided, and how many pairs would decide the rest.

    Args:
        cells: with claims; random scores are left out.
        made: as for :func:`by_look`.
        planned: the pairs of every look.
        needed: the pairs that would decide each open question, NaN where that is not known.
    """
    own = cells[cells["family"] != CONTROL]
    decided, known = own[own["kind"] != NOTHING], needed.dropna()
    across = (decided["of"] == TRAININGS).sum()
    said = (
        f"Of {len(planned)} planned looks ({', '.join(map(str, planned))} pairs) {len(made)} "
        f"{'was' if len(made) == 1 else 'were'} made. "
        f"{len(decided)} of {len(own)} primary questions are decided after {made['units'].max()} pairs, "
        f"{across} of them across retraining."
    )
    if len(known):
        within = (known <= planned[-1]).sum()
        said += (
            f" Of the {len(own) - len(decided)} others {within} would show the smallest disparity of interest with "
            f"{planned[-1]} pairs. Of the {len(known)} of which that can be said, half would with "
            f"{known.median():,.0f}."
        )
    return said


def counted(first: pd.Series, besides: pd.Series) -> str:
    """Two counts as one text.

    >>> counted(pd.Series([True, True]), pd.Series([True, False])), counted(pd.Series([True]), pd.Series([False]))
    ('2 (+1)', '1')
    """
    return f"{first.sum()}" + (f" (+{besides.sum()})" if besides.sum() else "")


def by_world(cells: pd.DataFrame) -> pd.DataFrame:
    """What verdicts find in each world, random scores left out."""
    rows = []
    for world, part in cells[cells["family"] != CONTROL].groupby("dataset", sort=False):
        rows.append(
            {"world": world, "cells": len(part)}
            | _kinds(part)
            | {
                "no claim": (part["kind"] == NOTHING).sum(),
                "true": is_considerable(part).sum(),
                "found": counted(is_found(part, TRAININGS), is_found(part, MODELS)),
                "wrong": is_wrong(part).sum(),
                "published": f"{part['significant_seeds'].sum() / part['seeds'].sum():.0%}",
            }
        )
    return pd.DataFrame(rows)


def missed(cells: pd.DataFrame) -> pd.DataFrame:
    """Of the considerable true differences of each world, how large they are beside both parts of the error.

    All in standard deviations within groups, middle of the cells: the true difference, the standard error that pairs
    and that trainings leave in the mean, and how many of them are found.
    """
    own = cells[is_considerable(cells) & (cells["family"] != CONTROL)]
    rows = []
    for world, part in own.groupby("dataset", sort=False):
        sizes = {
            "true difference": part["d"].abs(),
            "error of pairs": part["units_error"] / part["sd_of_trainings"],
            "error of trainings": part["trainings_error"] / part["sd_of_trainings"],
        }
        rows.append(
            {"world": world, "true": len(part)}
            | {name: f"{values.median():.2f}" for name, values in sizes.items()}
            | {"found": counted(is_found(part, TRAININGS), is_found(part, MODELS))}
        )
    return pd.DataFrame(rows)


def coverage(cells: pd.DataFrame) -> pd.DataFrame:
    """How many intervals hold the truth in each world, as it is estimated and with its error allowed for."""
    rows = []
    for world, part in cells.groupby("dataset", sort=False):
        row = {"world": world}
        for of in (TRAININGS, MODELS):
            held, with_error = (holds_truth(part, of, allow_error) for allow_error in (False, True))
            row[f"of {of}"] = f"{held.sum()} of {len(held)}"
            row[f"of {of}, error allowed for"] = f"{with_error.sum()} of {len(with_error)}"
        rows.append(row)
    return pd.DataFrame(rows)


def wrong_verdicts(cells: pd.DataFrame) -> pd.DataFrame:
    """Every verdict that contradicts the truth, with both, in standard deviations."""
    part = cells[is_wrong(cells)]
    sd = spoken_of(part, "sd")
    in_sds = {
        name: (values / sd).map("{:.3f}".format)
        for name, values in (
            ("found", part["difference"]),
            ("truth", spoken_of(part, "true")),
            ("±", spoken_of(part, "half")),
        )
    }
    ratio = (spoken_of(part, "true").abs() / spoken_of(part, "bound")).map("{:.2f}".format)
    sure = is_wrong(part, for_sure=True).map({True: "yes", False: "no"})
    return part[["dataset", "metric", "explainer", "verdict"]].assign(
        **in_sds, **{"truth / bound": ratio, "sure": sure}
    )


def alarms(cells: pd.DataFrame, dials: dict[str, dict], labels: dict[str, str], noise: list[str]) -> pd.DataFrame:
    """One row per metric and explainer: true disparities, alarms, and those that random explanations have, too."""
    cells = cells.assign(shared=random_has_it(cells, noise), changed=cells["dataset"].map(changed_by(dials)))
    rows = []
    for (metric, explainer), part in cells.groupby(["metric", "explainer"], sort=False):
        row = {"metric": labels.get(metric, metric), "explainer": labels.get(explainer, explainer)}
        for changed in (WORDING, CLASS):
            worlds = part[part["changed"] == changed]
            raised = [is_alarm(worlds, of) for of in (TRAININGS, MODELS)]
            shared = counted(*(alarm & worlds["shared"] for alarm in raised))
            row |= {
                f"{changed}: true": f"{is_considerable(worlds).sum()} of {len(worlds)}",
                f"{changed}: alarms": counted(*raised),
                f"{changed}: random, too": "–" if explainer in noise else shared,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def changed_by(dials: dict[str, dict]) -> dict[str, str]:
    """What differs between the genders in each world: the wording, what is associated with the gender, or nothing."""
    return {world: next((DIALS[dial] for dial in own), NOTHING) for world, own in dials.items()}


# The figure --------------------------------------------------------------------------------------------------------


def figure_of(cells: pd.DataFrame, dials: dict[str, dict], labels: dict[str, str], noise: list[str]) -> Figure:
    """True d as colour, verdicts as signs, a box round what is wrong; a block of rows for each metric, noise last."""
    metrics, explainers = (list(cells[name].unique()) for name in ("metric", "explainer"))
    explainers.sort(key=lambda name: name in noise)
    block = len(explainers) + 1.2
    rows = {
        (metric, explainer): block * number + place + 0.2 * (explainer in noise)
        for number, metric in enumerate(metrics)
        for place, explainer in enumerate(explainers)
    }
    columns = _columns(dials)
    figure = Figure(figsize=(8, 2.1 + 0.23 * block * len(metrics)), layout="constrained")
    axes = figure.subplots()
    for cell, wrong in zip(cells.itertuples(), is_wrong(cells), strict=True):
        x, y = columns[cell.dataset], rows[cell.metric, cell.explainer]
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=COLOURS(SCALE(cell.d)), edgecolor="white"))
        axes.text(x, y, SIGNS.get((cell.kind, cell.of), ""), ha="center", va="center_baseline", size=11)
        if wrong:
            axes.add_patch(Rectangle((x - 0.42, y - 0.4), 0.84, 0.8, fill=False, edgecolor="black", linewidth=1.8))
    axes.set_xlim(-0.6, max(columns.values()) + 0.6)
    axes.set_ylim(max(rows.values()) + 0.6, -1.4)
    axes.set_xticks(list(columns.values()), [_dial_label(dials[world]) for world in columns], size=9)
    axes.set_yticks(list(rows.values()), [labels.get(explainer, explainer) for _, explainer in rows], size=9)
    for number, metric in enumerate(metrics):
        place = block * number - 0.6
        axes.text(-0.5, place, labels.get(metric, metric), size=10, weight="bold", va="bottom")
    changed = pd.Series(changed_by(dials))
    for name, heading in HEADINGS.items():
        if places := [columns[world] for world in changed.index[changed == name]]:
            above = {"xycoords": ("data", "axes fraction"), "xytext": (0, 48), "textcoords": "offset points"}
            axes.annotate(heading, (np.mean(places), 1), **above, ha="center", size=10, weight="bold")
    axes.tick_params(length=0)
    axes.xaxis.set_ticks_position("top")
    axes.spines[:].set_visible(False)
    bar = ScalarMappable(SCALE, COLOURS)
    bar = figure.colorbar(bar, ax=axes, location="bottom", shrink=0.5, aspect=40, extend="both", pad=0.02)
    bar.set_ticks([-1, -0.5, 0, 0.5, 1])
    bar.ax.tick_params(labelsize=9)
    bar.set_label("true difference d: above 0, men's texts score higher; below 0, women's", size=9)
    signs = [
        "● alarm",
        "○ for these trained models only",
        "≈ negligible",
        "= equivalent",
        "no sign: no claim",
        "box: wrong",
    ]
    # A browser would join plain spaces.
    figure.supxlabel((3 * "\N{NO-BREAK SPACE}").join(signs), size=10)
    return figure


def _columns(dials: dict[str, dict]) -> dict[str, float]:
    """Where each world stands from left to right, with a gap where something else differs than in the one before."""
    changed = changed_by(dials)
    gaps = np.cumsum([0, *(before != after for before, after in pairwise(changed.values()))])
    return {world: number + 0.25 * gap for number, (world, gap) in enumerate(zip(dials, gaps, strict=True))}


def _dial_label(dials: dict[str, float]) -> str:
    """The dials of a world in a few short lines."""
    return "\n".join(f"{name.replace('_', chr(10))}\n{value:g}" for name, value in dials.items()) or "nothing"


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


def texts(
    cells: pd.DataFrame, dials: dict[str, dict], noise: list[str], pairs: int, fresh_pairs: int, alpha: float
) -> dict[str, str]:
    """The sentences of the page that say its numbers."""
    own, seeds = cells[~cells["explainer"].isin(noise)], int(cells["seeds"].max())
    raised = own[is_alarm(own, TRAININGS) | is_alarm(own, MODELS)]
    shared = random_has_it(cells, noise).loc[raised.index].sum()
    considerable = own[is_considerable(own)]
    found = [is_found(considerable, of).sum() for of in (TRAININGS, MODELS)]
    negligible = (considerable["kind"] == NEGLIGIBLE).sum()
    wrong = own[is_wrong(own)]
    changed = own["dataset"].map(changed_by(dials))
    null = own[changed == NOTHING]
    alarms_of_null = [is_alarm(null, of).sum() for of in (TRAININGS, MODELS)]
    published = null["significant_seeds"].sum() / null["seeds"].sum()
    expected = 2 * norm.cdf(norm.ppf((1 + CONFIDENCE) / 2) / np.sqrt(1 + pairs / fresh_pairs)) - 1

    def of_trainings(what: str) -> str:
        """In how many of the considerable cells trainings alone make an interval wider than the true difference."""
        part = considerable[changed[considerable.index] == what]
        half = student.ppf((1 + CONFIDENCE) / 2, seeds - 1) * part["trainings_error"]
        return f"{(half > part[f'true_of_{TRAININGS}'].abs()).sum()} of {len(part)}"

    def found_at_all(what: str) -> int:
        part = considerable[changed[considerable.index] == what]
        return sum(is_found(part, of).sum() for of in (TRAININGS, MODELS))

    return {
        "alarm_text": (
            f"Of {len(raised)} alarms ({is_alarm(own, MODELS).sum()} for these trained models only) {shared} are there "
            "with random explanations, too. The metric has them whatever is explained. In the other "
            f"{len(raised) - shared} random explanations show none, which does not say that they have none. All of "
            "them say that texts or models differ, and none that the explainer is at fault."
        ),
        "power_text": (
            f"Of {len(considerable)} cells with a considerable true disparity {found[0]} have an alarm and {found[1]} "
            f"more one for these trained models only. {negligible} are called negligible. {len(wrong)} of "
            f"{(own['kind'] != NOTHING).sum()} claims are wrong, {is_wrong(own, for_sure=True).sum()} of them "
            "wherever in its interval the truth is."
        ),
        "missed_text": (
            "Why so many are missed, in standard deviations within groups (middle of the world's considerable cells). "
            "The errors are standard errors of the mean difference. Trainings alone make an interval "
            f"{student.ppf((1 + CONFIDENCE) / 2, seeds - 1):.1f} such errors wide to either side. That is more than "
            f"the true difference in {of_trainings(CLASS)} cells where the class is associated with the gender. "
            "Trainings learn that to different degrees: there more pairs would not help. Where the wording or the "
            f"evidence differs it is in {of_trainings(WORDING)}, and {found_at_all(WORDING)} are found at least for "
            f"these trained models. But of the error of {seeds} trainings little is known: the first of {len(own)} "
            f"cells must be {student.isf(alpha / 2 / len(own), seeds - 1):.0f} times it from 0. More trainings mend "
            "both."
        ),
        "wrong_text": (
            "The wrong verdicts, in standard deviations (*found* is the study's difference, *±* the half-width of the "
            "truth); *sure* where the whole interval of the truth contradicts the claim:"
            if len(wrong)
            else "No verdict is wrong."
        ),
        "null_text": (
            f"Where the gender does nothing, {alarms_of_null[0]} of {len(null)} cells have an alarm, and "
            f"{alarms_of_null[1]} one for these trained models only. These may differ by the luck of their training. "
            f"The published test of single seeds is significant in {published:.0%} of all tests there. One study that "
            f"finds nothing says little. With a chance of {at_most(0, 1):.2f} of a wrong verdict it would still be "
            "seen in one of twenty cases. What else there is:"
        ),
        "coverage_text": (
            "How many of the intervals hold the truth as it is estimated, and how many do when its error is allowed "
            "for. Cells of a world, and worlds, share texts, so no interval is given for these shares. Where the pairs "
            "of a world are unlike the fresh ones, many of its cells miss the truth together. Of right 95 % "
            f"intervals for these trained models {expected:.0%} would hold a truth that is itself estimated, from "
            f"{fresh_pairs} pairs beside {pairs}. At least 95 % would with its error allowed for. In the world without "
            "an effect the truth across retraining is no estimate."
        ),
    }


def main(arguments: argparse.Namespace) -> None:
    """Read, compute and write."""
    written = yaml.safe_load(arguments.configfile.read_text(encoding="utf-8"))
    config = configuration.complete(written)
    changes = yaml.safe_load(arguments.fresh_configfile.read_text(encoding="utf-8"))
    fresh = configuration.complete(merged(written, changes))
    study, second = arguments.results, arguments.fresh
    check_same_models(study, second, config)
    truth = truths(second, fresh, config["seeds"])
    dials = {world: dials_of(study, world) for world in config["datasets"]}
    judged_by, noise = judging(config), configuration.random_explainers(config)
    alpha = judged_by.alpha
    cells = cells_of(study, truth, dials, alpha)
    labels = {name: own["label"] for part in ("explainers", "metrics") for name, own in config[part].items()}
    with replacing(arguments.table) as path:
        cells.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    draw([arguments.figure], lambda: figure_of(cells, dials, labels, noise), "Verdicts in worlds with known causes")

    further = [seed for seed in fresh["seeds"] if seed not in config["seeds"]]
    in_second = names_of(fresh) | {"models": dict.fromkeys(fresh["models"], further)}
    null = world_without_dials(dials)
    alone = {"datasets": [null], "comparisons": {GENDER: config["statistics"]["compare"][GENDER]}}
    by_arrangement = [
        alarms_of_arrangements(folder, names | alone, judged_by)
        for folder, names in ((study, names_of(config)), (second, in_second))
    ]
    effects = read_table(study / "tables" / "effects.parquet", EFFECTS)
    plan, power = config["statistics"], config["statistics"]["power"]
    made = read_table(study / "tables" / "looks.parquet", LOOKS)
    made = made[made["plan"] == plan["plan"]].sort_values("look")
    of_gender = {"comparisons": {GENDER: config["statistics"]["compare"][GENDER]}}
    first = replace(scores_below(study, names_of(config) | of_gender), first=int(made["units"].min()))
    alone = with_claims(effect_table(first, judged_by, power=power))
    interest = {name: plan[name] for name in ("equivalence_bound", "smallest_effects")}
    needed = texts_needed(of_factor(effects, GENDER), **interest)["needed"]
    effects_of_second = effect_table(scores_below(second, in_second), judged_by, power=power)
    placebos = [with_claims(of_factor(table, PLACEBO)) for table in (effects, effects_of_second)]
    control = read_table(study / "tables" / "verdict_control.parquet", VERDICT_CONTROL)
    fresh_pairs = int(truth["fresh_pairs"].max())
    own = cells[~cells["explainer"].isin(noise)]
    page = PAGE.format(
        machine=machine("torch", "transformers", "numpy"),
        worlds=quality_of(study, dials),
        runs=(
            f"{len(config['datasets'])} worlds, {len(config['models'])} model, {len(config['seeds'])} seeds, "
            f"{len(config['explainers'])} explainers, {len(config['metrics'])} metrics; {made['units'].max()} "
            "pairs are explained"
        ),
        figure=arguments.figure.name,
        table=arguments.table.name,
        considerable=CONSIDERABLE,
        confidence=CONFIDENCE,
        alpha=alpha,
        fresh_pairs=fresh_pairs,
        further=len(further),
        null=null,
        alarms=markdown(alarms(cells, dials, labels, noise)),
        looks_text=fill(looks_text(cells, made, plan["looks"], needed), 118),
        looks=markdown(by_look(cells, made, alone, alpha)),
        questions=len(own),
        by_world=markdown(by_world(cells)),
        missed=markdown(missed(cells)),
        wrong=markdown(wrong_verdicts(own)) if is_wrong(own).any() else "",
        evidence=markdown(evidence(null, by_arrangement, placebos, control)),
        coverage=markdown(coverage(cells)),
        **{
            name: fill(text, 118)
            for name, text in texts(cells, dials, noise, int(made["units"].max()), fresh_pairs, judged_by.alpha).items()
        },
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

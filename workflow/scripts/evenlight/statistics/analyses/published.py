"""This study's disparities beside those that Dhaini et al. (2025) print, and how far the two agree.

The printed figures are in ``resources/published``. A cell of this study has a published counterpart where the dataset
and the metric have the published names, the explainer has one in any case (``igxi`` is IGxI), the groups are male and
female, and ``statistics.published`` of the configuration says which published model one of this study stands beside.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import PUBLISHED, PUBLISHED_AGREEMENT, PUBLISHED_QUALITY, QUALITY, SUMMARY
from evenlight.core.errors import InputError
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, Result

RUNS = 5  # seeds of every published cell
GROUPS = ("male", "female")  # a positive published d means that male sentences have the higher scores (Eq. 7)
CELL = ["dataset", "training", "published_model", "explainer", "metric"]
PARTS = ["dataset", "model", "explainer", "metric"]

THEIRS = ["published_significant", "published_d", "published_sd_d", "table", "effects_table"]

PREDICTION_DIFFERENCE = ("average_prediction_difference", " – ".join(GROUPS))
RATES = ("tpr", "tnr", "apd")
# Where ours stand among the measures of quality: measure and subset of each rate.
_OURS = {
    "geco_all": [("accuracy", "male"), ("accuracy", "female"), PREDICTION_DIFFERENCE],
    "geco_subj": [("accuracy", "male"), ("accuracy", "female"), PREDICTION_DIFFERENCE],
    "compas": [("recall", "recidivism"), ("recall", "no_recidivism"), PREDICTION_DIFFERENCE],
    "stereotypes": [("recall", "stereotype"), ("recall", "anti_stereotype"), PREDICTION_DIFFERENCE],
}
MEASURES = {dataset: dict(zip(RATES, measures, strict=True)) for dataset, measures in _OURS.items()}


@dataclass(frozen=True)
class Published:
    """The printed figures: ``cells`` (Tables 3-5 with the effects of Tables 8-11; columns ``CELL`` and ``THEIRS``) and
    ``quality`` (Table 7; ``dataset``, ``published_model``, ``measure``, ``published_mean``, ``published_sd``)."""

    cells: pd.DataFrame
    quality: pd.DataFrame


def read_published(folder: str | Path) -> Published:
    """The printed figures from the tables in ``folder``, ``resources/published`` of the repository."""
    cells, effects, quality = (
        pd.read_csv(Path(folder) / f"{name}.csv")
        for name in ("disparity_counts", "disparity_effect_sizes", "model_bias")
    )
    # Both have the same counts.
    effects = effects.drop(columns="significant_runs_of_5").assign(training="finetuned")
    effects = effects.rename(columns={"table": "effects_table"})
    cells = cells.merge(effects, on=["training", *PARTS], how="left")
    cells = cells.rename(
        columns={
            "model": "published_model",
            "significant_runs_of_5": "published_significant",
            "cohens_d_mean": "published_d",
            "cohens_d_sd": "published_sd_d",
        }
    )[CELL + THEIRS]
    whole = dict.fromkeys(("published_significant", "table", "effects_table"), "Int64")
    means = [
        quality[["dataset"]].assign(
            published_model=quality["model"],
            measure=name,
            published_mean=quality[name],
            published_sd=quality[f"{name}_sd"],
        )
        for name in RATES
    ]
    return Published(cells.astype(whole), pd.concat(means, ignore_index=True))


def counterparts(beside: Mapping[str, str], cells: pd.DataFrame) -> pd.DataFrame:
    """Which published model each model of this study stands beside: ``model``, ``published_model``, ``training``.

    ``beside`` is ``statistics.published`` of the configuration: models of the study to names of published ones, such as
    ``GPT2`` or ``GPT2 from scratch``. :class:`InputError` where one is nothing that is printed (``cells`` of
    :class:`Published`).
    """
    printed = {
        name if training == "finetuned" else f"{name} from scratch": (name, training)
        for name, training in cells[["published_model", "training"]].drop_duplicates().itertuples(index=False)
    }
    rows = []
    for model, entry in beside.items():
        if entry not in printed:
            listing = ", ".join(printed)
            raise InputError(f"configuration: 'statistics.published.{model}' is {entry}; published are {listing}")
        rows.append((model, *printed[entry]))
    return pd.DataFrame(rows, columns=["model", "published_model", "training"])


def _oriented(summary: pd.DataFrame) -> pd.DataFrame:
    """The rows about male and female, with d positive where the male scores are the higher ones."""
    straight, mirrored = (
        summary[(summary["level_a"] == level_a) & (summary["level_b"] == level_b)]
        for level_a, level_b in (GROUPS, GROUPS[::-1])
    )
    mirrored = mirrored.assign(**{column: -mirrored[column] for column in ("mean_d", "mean_d_significant")})
    return pd.concat([straight, mirrored])


def join_published(
    summary: pd.DataFrame,
    published: Published,
    *,
    datasets: Sequence[str],
    models: Sequence[str],
    explainers: Sequence[str],
    metrics: Sequence[str],
    beside: Mapping[str, str],
) -> pd.DataFrame:
    """The cells that both studies have, a row each, in the configuration's order: columns of :data:`PUBLISHED`.

    ``summary`` is that of :func:`evenlight.statistics.analyses.summary.summarise_disparity`; for ``beside`` see
    :func:`counterparts`. Besides what both report:

    - ``within_one``: whether the shares of significant seeds differ by at most one run of five,
      |``significant_seeds`` / ``seeds`` − ``published_significant`` / 5| ≤ 1/5;
    - ``same_direction``: whether ``mean_d_significant`` and ``published_d`` have the same sign. Missing where one has
      none: no significant seed, training from scratch (Table 5 prints no effects), or an effect of zero, which a
      published one may be by rounding;
    - ``same_direction_all_seeds``: likewise with our mean over all seeds, which is not selected by significance.
    """
    ours = _oriented(summary).merge(counterparts(beside, published.cells), on="model")
    ours["key"] = ours["explainer"].str.lower()
    theirs = published.cells.assign(key=published.cells["explainer"].str.lower()).drop(columns="explainer")
    table = ours.merge(theirs, on=["dataset", "training", "published_model", "key", "metric"])
    names = dict(zip(PARTS, (datasets, models, explainers, metrics), strict=True))
    for part in reversed(PARTS):
        rank = {name: number for number, name in enumerate(names[part])}
        table = table.sort_values(part, key=lambda column, rank=rank: column.map(rank), kind="stable")
    table["within_one"] = within_one(table["significant_seeds"], table["seeds"], table["published_significant"])
    for suffix, effect in (("", "mean_d_significant"), ("_all_seeds", "mean_d")):
        table[f"same_direction{suffix}"] = _same_direction(table[effect], table["published_d"])
    return table[PUBLISHED.schema.names].reset_index(drop=True)


def within_one(significant, seeds, published):
    """Whether ``significant`` of ``seeds`` and ``published`` of 5 differ by at most one fifth, exactly (integers).

    >>> within_one(2, 3, 4), within_one(1, 2, 4)
    (True, False)
    """
    return abs(RUNS * significant - seeds * published) <= seeds


def _same_direction(ours: pd.Series, published: pd.Series) -> pd.Series:
    """Whether the signs are equal; missing where either is zero or missing."""
    product = np.sign(ours.astype(float)) * np.sign(published.astype(float))
    return (product > 0).astype("boolean").mask(~(product.abs() > 0))


def agreement_beside(
    comparison: pd.DataFrame,
    *,
    datasets: Sequence[str],
    models: Sequence[str],
    explainers: Sequence[str],
    metrics: Sequence[str],
) -> pd.DataFrame:
    """How far the two studies agree, overall and per dataset, model, explainer and metric (``part`` and ``name``).

    ``comparison`` is that of :func:`join_published`. Columns: ``cells``; ``within_one``, the share of cells within one;
    ``directed``, the cells with a direction on both sides; ``same_direction``, the share of these with the same one;
    ``kappa``, Cohen's (1960). The last three again for our mean over all seeds, ending in ``_all_seeds``. Columns
    ending in ``_by_chance`` are the shares expected if our cells were shuffled among those of the same row: from
    all pairs of our and published cells, for directions pq + (1 − p)(1 − q) with p and q the shares of positive d.
    Kappa is NaN where chance alone agrees fully. Cells of one model share its training and its test items and are not
    independent, so there is no test.
    """
    rows = []
    if len(comparison):
        rows.append({"part": "overall", "name": "all"} | _agreement(comparison))
    for part, names in zip(PARTS, (datasets, models, explainers, metrics), strict=True):
        by_name = dict(list(comparison.groupby(part)))
        present = [name for name in names if name in by_name]
        rows += [{"part": part, "name": name} | _agreement(by_name[name]) for name in present]
    return pd.DataFrame(rows, columns=PUBLISHED_AGREEMENT.schema.names)


_DIRECTIONS = ["directed", "same_direction", "same_direction_by_chance", "kappa"]


def _agreement(cells: pd.DataFrame) -> dict:
    significant, seeds, published = (
        cells[column].to_numpy(int) for column in ("significant_seeds", "seeds", "published_significant")
    )
    shuffled = within_one(significant[:, None], seeds[:, None], published[None, :])
    counts = {
        "cells": len(cells),
        "within_one": cells["within_one"].mean(),
        "within_one_by_chance": shuffled.mean(),
    }
    selected = _directions(cells, "mean_d_significant", "same_direction")
    unselected = _directions(cells, "mean_d", "same_direction_all_seeds")
    return counts | selected | {f"{name}_all_seeds": value for name, value in unselected.items()}


def _directions(cells: pd.DataFrame, effect: str, same: str) -> dict:
    directed = cells[cells[same].notna()]
    if directed.empty:
        return dict(zip(_DIRECTIONS, [0, np.nan, np.nan, np.nan], strict=True))
    p, q = (directed[effect] > 0).mean(), (directed["published_d"] > 0).mean()
    observed, chance = float(directed[same].mean()), p * q + (1 - p) * (1 - q)
    kappa = (observed - chance) / (1 - chance) if chance < 1 else np.nan
    return dict(zip(_DIRECTIONS, [len(directed), observed, chance, kappa], strict=True))


def quality_beside(
    quality: pd.DataFrame, published: Published, *, datasets: Sequence[str], beside: Mapping[str, str]
) -> pd.DataFrame:
    """True positive and true negative rate and average prediction difference beside Table 7, :data:`PUBLISHED_QUALITY`.

    ``quality`` is that of :func:`evenlight.statistics.analyses.model_quality.summarise_quality`. Models trained from
    scratch are not in Table 7.

    *Rates.* Eq. 8 and 9 call male items positive. On GECO the label is the gender, so these are the accuracies of the
    groups. They cannot be that elsewhere: RoBERTa has 0.000 and 1.000 on COMPAS, in each of five runs. A model that is
    always wrong on men and always right on women would have to read gender and label exactly; one that always answers
    "no recidivism" has just these recalls, while its accuracy for men is about one half. Likewise 0.800 ± 0.400 on
    Stereotypes is four runs with 1 and one with 0. So there the rates are taken for the recalls of recidivism and no
    recidivism, of stereotype and anti-stereotype. That recidivism is the positive class follows from "no recidivism"
    being the more frequent label, which a model that learned nothing answers; which class of Stereotypes is positive is
    a guess.

    *Average prediction difference.* Eq. 10 takes the two forms of one sentence. COMPAS has no such pairs, and the
    paper does not say what its 0.115 to 0.249 are. The difference between men's and women's mean probability and the
    mean over some pairing of unrelated items are both possible, and no printed figure decides; ours is left out there.
    """
    theirs = counterparts(beside, published.cells)
    theirs = theirs[theirs["training"] == "finetuned"]
    # The pair of groups is named in the order of the configuration, which this measure does not depend on.
    mirrored = (quality["measure"] == PREDICTION_DIFFERENCE[0]) & (quality["subset"] == " – ".join(GROUPS[::-1]))
    quality = quality.assign(subset=quality["subset"].mask(mirrored, PREDICTION_DIFFERENCE[1]))
    runs = set(zip(quality["dataset"], quality["model"], strict=True))
    asked = [
        (dataset, model, *ours, rate)
        for dataset in datasets
        for model in theirs["model"]
        if (dataset, model) in runs
        for rate, ours in MEASURES.get(dataset, {}).items()
    ]
    keys = ["dataset", "model", "measure", "subset"]
    table = pd.DataFrame(asked, columns=[*keys, "rate"]).merge(quality.drop_duplicates(keys), on=keys, how="left")
    table = table.drop(columns="measure").rename(columns={"rate": "measure"}).merge(theirs, on="model")
    return table.merge(published.quality, on=["dataset", "published_model", "measure"])[PUBLISHED_QUALITY.schema.names]


class ComparePublished(Result):
    """Lay this study's disparities beside the published ones: cell by cell, and how far both agree."""

    tables: ClassVar[Mapping[str, Contract]] = {
        "published": PUBLISHED,
        "published_agreement": PUBLISHED_AGREEMENT,
        "published_models": PUBLISHED_QUALITY,
    }
    reads: ClassVar[Mapping[str, Contract]] = {"disparity_summary": SUMMARY, "models": QUALITY}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    resources: ClassVar[Sequence[str]] = (
        "resources/published/disparity_counts.csv",
        "resources/published/disparity_effect_sizes.csv",
        "resources/published/model_bias.csv",
    )

    result: Literal["compare_published"]
    datasets: list[str]
    models: list[str]
    explainers: list[str]
    metrics: list[str]
    beside: dict[str, str]

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The names of what is compared, and what stands beside what."""
        names = {part: list(study.config[part]) for part in ("datasets", "models", "explainers", "metrics")}
        return names | {"beside": study.config["statistics"]["published"]}

    def compute(self, inputs: Inputs) -> Computed:
        """The cells of both studies, how far they agree, and the quality of the models beside the published one."""
        summary, models = inputs.tables
        names = {name: getattr(self, name) for name in ("datasets", "models", "explainers", "metrics")}
        published = read_published(inputs.folders["published"])
        cells = join_published(summary, published, **names, beside=self.beside)
        quality = quality_beside(models, published, datasets=self.datasets, beside=self.beside)
        return Computed([cells, agreement_beside(cells, **names), quality], inputs.notes[0])

"""Is an explainer better than all others that ask the model? Each challenger beside every other one, on the same texts.

A challenger is better than the best of the others where it is better than each of them. So the least convincing of
these comparisons decides, at the level of a single one (an intersection-union test, Berger 1982), and nothing has to be
guessed about which of them is the best. It is not the best where any other is better than it, which is adjusted for
their number: with the largest of so many statistics in resamples of the texts.

Over the rows of a study both claims are adjusted as those on cells are (:mod:`evenlight.statistics.verdicts`): a t test
of few texts that hold no rare bad one is too sure, and the other rows show it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import CHALLENGER_PAIRS, CHALLENGERS
from evenlight.statistics.cells import ExplainerScores, read_models
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows
from evenlight.statistics.familywise import deviate_of
from evenlight.statistics.looks import ONE_LOOK, Looks
from evenlight.statistics.regimes import common_seeds, run_of_seed
from evenlight.statistics.study import ALL, UNDECIDABLE, UNDECIDED, Comparison, StudyScores, VerdictSettings
from evenlight.statistics.verdicts import EXPLORATORY, PRIMARY, adjusted, decidable

FACTOR = "explainer"
BEST, BEHIND = "better than all others", "not the best"
FOR_MODELS = " for these trained models"
_NAMES = ("dataset", "model", "explainer", "metric")
_CLAIMS = ("best", "behind")


def challenger_tables(
    study: StudyScores,
    *,
    challengers: Sequence[str],
    rivals: Sequence[str],
    higher_is_better: Mapping[str, bool],
    primary: Sequence[str],
    alpha: float,
    confidence: float,
    bootstrap_draws: int,
    looks: Looks = ONE_LOOK,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdict on every challenger, and what it is made of: its difference from each of the others.

    Models that are no regime do not count. ``rivals`` are the explainers that a challenger has to be better than: not
    random ones, nor yardsticks that know the data and not the model, beside which it stands all the same. ``primary``
    names the metrics that the study is about, all where it is empty.

    The second table has a row per dataset, model, metric, challenger and other explainer, over all texts of which both
    have a score. The model ``all`` is the mean over all models, text by text. Columns, besides the names: ``seeds``;
    ``texts``; ``mean`` and ``mean_other``; their ``difference`` with the ends of two intervals, for these trained
    models and further texts (``models_low``, ``models_high``) and for the mean across retraining (``low``, ``high``);
    and its two-sided p-values ``p_models`` and ``p``, of this pair alone. They are those of the difference
    (:func:`evenlight.statistics.effects.effect_table`), not below what exchanges of so few texts could show. No p where
    nothing can be decided.

    The first has a row per dataset, model, metric and challenger:

    - ``family``: ``primary`` for primary metrics in the mean of all models, else ``exploratory``;
    - ``others``, ``best_other``: how many rivals, and which of them has the best mean;
    - ``p_best_models``, ``p_best``: that the challenger is better than each of the rivals, for these trained models and
      across retraining: the largest p of the pairs, 1 where another one has the better mean;
    - ``p_behind_models``, ``p_behind``: that another is better than it: twice the share of resamples in which any pair
      is as far from its difference as the farthest is from 0; not below the least p of the pairs, times their number,
      nor below what exchanges could show;
    - these with ``_adjusted``: over the rows of the family, as :func:`evenlight.statistics.verdicts.adjusted` has it;
      NaN where so few texts could not show the claim beside so many rows;
    - ``verdict``: :func:`verdict_of`.

    With ``looks`` the adjusted p-values and the verdicts hold over all looks of the plan.
    """
    of_regimes = {model: study.models[model] for named in study.regimes.values() for model in named.values()}
    others = [name for name in study.explainers if name not in challengers]
    # Nothing is said of equivalence, so that the bound does not matter.
    judging = VerdictSettings.plain(
        alpha=alpha, equivalence_bound=1.0, confidence=confidence, bootstrap_draws=bootstrap_draws
    )

    def seen(first: int | None) -> tuple[pd.DataFrame, list[dict[str, _Claim]], list[pd.DataFrame]]:
        """The rows of challengers, what they claim, and those of their pairs, of the first units."""
        verdicts, claims, pairs = [], [], []
        for dataset in study.datasets:
            of_dataset = replace(
                study, first=first, datasets=[dataset], models=of_regimes, explainers=[*challengers, *others]
            )
            for model, seeds, items, values in read_scores_of(of_dataset):
                for challenger in challengers:
                    beside = {other: (values[challenger], values[other]) for other in others}
                    names = (dataset, model, challenger)
                    table, resampled = _pairs(names, seeds, items, beside, list(study.metrics), judging)
                    pairs.append(table)
                    for metric, better_is_higher in higher_is_better.items():
                        places = np.flatnonzero((table["metric"] == metric) & table["other"].isin(rivals))
                        if len(places):
                            row, of_row = _of_pairs(table.iloc[places], resampled[:, places], better_is_higher)
                            verdicts.append(dict(zip(_NAMES, (*names, metric), strict=True)) | row)
                            claims.append(of_row)
        return pd.DataFrame(verdicts), claims, pairs

    verdicts, claims, pairs = seen(study.first)
    if verdicts.empty:
        return tuple(pd.DataFrame(columns=contract.schema.names) for contract in (CHALLENGERS, CHALLENGER_PAIRS))
    earlier = [seen(units)[:2] for units in looks.units[:-1]]
    return (
        _judged([*earlier, (verdicts, claims)], primary, alpha, looks),
        pd.concat(pairs)[CHALLENGER_PAIRS.schema.names],
    )


@dataclass(frozen=True)
class _Claim:
    """How convincing a claim of one row is, in normal deviates: at most, really, and in resamples (draws,)."""

    most: float
    real: float
    resampled: np.ndarray


def _judged(
    seen: Sequence[tuple[pd.DataFrame, Sequence[Mapping[str, _Claim]]]],
    primary: Sequence[str],
    alpha: float,
    looks: Looks,
) -> pd.DataFrame:
    """The rows of the last look with their families, p-values over these and over looks, and verdicts.

    ``seen`` has the rows and claims of each look that was made.
    """
    verdicts = seen[-1][0]
    of_study = (verdicts["model"] == ALL) & (verdicts["metric"].isin(primary) if primary else True)
    verdicts["family"] = np.where(of_study, PRIMARY, EXPLORATORY)
    for claim in _CLAIMS:
        names = [f"p_{claim}_models", f"p_{claim}"]
        of_looks = [_of_rows(*of_look, claim, names, verdicts) for of_look in seen]
        most, p_values = (np.stack([of_look[part] for of_look in of_looks]) for part in (1, 2))
        asked = ~np.isnan(p_values[..., 0])
        of_families = np.full(p_values.shape[1:], np.nan)
        for family in (PRIMARY, EXPLORATORY):
            rows = np.flatnonzero((verdicts["family"] == family) & asked.any(axis=0))
            if len(rows):
                statistics = [of_look[0][:, rows] for of_look in of_looks]
                resampled = [of_look[1:] for of_look in statistics]
                _, reached = decidable(resampled, most[:, rows], alpha, None, looks, asked[:, rows])
                found = reached.any(axis=0)
                if found.any():
                    statistics = [of_look[:, found] for of_look in statistics]
                    of_found = np.moveaxis(p_values[:, rows[found]], -1, 0)
                    *values, _ = adjusted(statistics, *of_found, alpha, None, looks, reached[:, found])
                    of_families[rows[found]] = np.stack(values, axis=1)
        verdicts[[f"{name}_adjusted" for name in names]] = of_families
    columns = [f"p_{claim}{of}_adjusted" for claim in _CLAIMS for of in ("_models", "")]
    verdicts["verdict"] = [
        verdict_of(*values, alpha) for values in verdicts[columns].itertuples(index=False, name=None)
    ]
    return verdicts[CHALLENGERS.schema.names]


def _of_rows(
    verdicts: pd.DataFrame, claims: Sequence[Mapping[str, _Claim]], claim: str, names: list[str], rows: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a look has of one claim of ``rows``: the statistics (1 + draws, rows), how convincing they can be at most
    (rows,), and the p-values (rows, 2), NaN where it does not ask.
    """
    p_values = np.full((len(rows), len(names)), np.nan)
    asked = {}
    if not verdicts.empty:
        of_look = verdicts.set_index(list(_NAMES))[names]
        keys = pd.MultiIndex.from_frame(rows[list(_NAMES)])
        p_values = of_look.reindex(keys).to_numpy(float)
        places = of_look.index.get_indexer(keys)
        asked = {row: claims[places[row]][claim] for row in np.flatnonzero(~np.isnan(p_values[:, 0]))}
    draws = next((len(of_row.resampled) for of_row in asked.values()), 1)
    statistics, most = np.zeros((1 + draws, len(rows))), np.zeros(len(rows))
    for row, of_row in asked.items():
        statistics[:, row], most[row] = np.append(of_row.real, of_row.resampled), of_row.most
    return statistics, most, p_values


def read_scores_of(study: StudyScores) -> Iterator[tuple[str, list[int], pd.DataFrame, dict[str, np.ndarray]]]:
    """The scores of explainers in the mean of all models, named ``all``, and in each of several models.

    Yields:
        the model; its seeds; ``item_id`` and ``cluster`` of its texts; float (metrics, seeds, texts) by explainer, NaN
        where undefined, in the mean where it is so in any model.
    """
    read = list(read_models(replace(study, comparisons={})))
    of_models = [{of.explainer: of.values for of in model.explainers} for model in read]
    if len(read) > 1:
        seeds = common_seeds(ALL, study.models)
        texts = set.intersection(*(set(model.items["item_id"]) for model in read))
        items = read[0].items[read[0].items["item_id"].isin(texts)].reset_index(drop=True)
        columns = [pd.Index(model.items["item_id"]).get_indexer(items["item_id"]) for model in read]
        runs = [[list(model.seeds).index(run_of_seed(model.seeds, seed)) for seed in seeds] for model in read]
        yield (
            ALL,
            seeds,
            items,
            {
                name: np.mean(
                    [
                        values[name][:, rows][..., places]
                        for values, rows, places in zip(of_models, runs, columns, strict=True)
                    ],
                    axis=0,
                )
                for name in study.explainers
            },
        )
    for model, values in zip(read, of_models, strict=True):
        yield model.model, list(model.seeds), model.items, values


def _pairs(
    names: tuple[str, str, str],
    seeds: Sequence[int],
    items: pd.DataFrame,
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray]],
    metrics: list[str],
    judging: VerdictSettings,
) -> tuple[pd.DataFrame, np.ndarray]:
    """A row for each metric and other explainer, and how far resamples are from its difference, (draws, rows).

    ``pairs`` has the scores (metrics, seeds, texts) of the challenger and of each of the others.
    """
    texts = len(items)
    identifiers, clusters = (items[name].to_numpy(object) for name in ("item_id", "cluster"))

    def side(block: int) -> Side:
        return Side(identifiers, clusters, block * texts + np.arange(texts), np.arange(texts))

    designs, blocks = [], []
    for other, scores in pairs.items():
        comparison = Comparison(FACTOR, names[-1], other)
        designs.append(Design(comparison, True, side(len(blocks)), side(len(blocks) + 1)))
        unknown = np.isnan(scores[0] - scores[1])
        blocks += [np.where(unknown, np.nan, values) for values in scores]
    values = np.concatenate(blocks, axis=-1)
    means = {
        (other, metric): [_mean_of_runs(values[..., design_side.columns][number]) for design_side in (of.a, of.b)]
        for of, other in zip(designs, pairs, strict=True)
        for number, metric in enumerate(metrics)
    }
    present = ~np.isnan(values).all(axis=0)
    scores = ExplainerScores(*names, seeds, metrics, values, present)
    rows, deviates = gathered([pooled_rows([scores], designs, judging)])
    if not rows:
        return pd.DataFrame(columns=["metric", "other"]), np.empty((judging.bootstrap_draws, 0))
    table, statistics = pd.DataFrame(rows), deviates[0]
    found = [means[names] for names in zip(table["level_b"], table["metric"], strict=True)]
    # No p is below what exchanges of so few texts can show.
    p_models = np.maximum(table["p_models"], table["rarest"])
    return table.assign(
        other=table["level_b"],
        texts=table["units_a"],
        mean=[of_both[0] for of_both in found],
        mean_other=[of_both[1] for of_both in found],
        real=statistics[0],
        p_models=p_models,
        p=np.maximum(table["p"], p_models),
    ), statistics[1:]


def _mean_of_runs(values: np.ndarray) -> float:
    """The mean over seeds of the mean over texts, from (seeds, texts); seeds without any do not count."""
    there = ~np.isnan(values).all(axis=1)
    return float(np.nanmean(values[there], axis=1).mean())


def _of_pairs(
    pairs: pd.DataFrame, resampled: np.ndarray, higher_is_better: bool
) -> tuple[dict[str, Any], dict[str, _Claim]]:
    """What follows for a challenger from its rows, one for each rival, and their resamples (draws, rows)."""
    lead = pairs["difference"].to_numpy() * (1 if higher_is_better else -1)
    p_values = {f"p_{claim}{of}": np.nan for claim in _CLAIMS for of in ("_models", "")}
    row = {"others": len(pairs), "best_other": pairs["other"].iloc[lead.argmin()]} | p_values
    known = pairs["p_models"].notna().to_numpy()
    if not known.any():
        return row, {}
    most, real = deviate_of(pairs["rarest"].to_numpy()), pairs["real"].to_numpy()
    is_behind = known & (lead < 0)
    farthest = max(real[is_behind], default=0.0)
    any_resampled = resampled[:, known].max(axis=1)
    # The pair that convinces least: where a rival is ahead, the farthest one.
    least = np.where(known, np.sign(lead) * real, np.inf).argmin()
    claims = {
        "best": _Claim(most[least], max(0.0, np.sign(lead[least]) * real[least]), resampled[:, least]),
        "behind": _Claim(most[known].max(), farthest, any_resampled),
    }
    any_as_far = 2 * (any_resampled >= farthest).mean() if is_behind.any() else 0.0
    rarest = pairs["rarest"].to_numpy()[is_behind].min(initial=1) if is_behind.any() else 0.0
    for of in ("_models", ""):
        p = pairs[f"p{of}"].to_numpy()
        if not np.isnan(p[known]).all():
            row[f"p_best{of}"] = np.where(known & (lead > 0), p, 1).max()
            smallest = np.where(is_behind, pairs[f"p{of}"], 1).min()
            row[f"p_behind{of}"] = min(1, max(len(pairs) * smallest, any_as_far, rarest))
    return row, claims


def verdict_of(best_models: float, best: float, behind_models: float, behind: float, alpha: float) -> str:
    """What four adjusted p-values allow to say of a challenger.

    >>> verdict_of(0.001, 0.2, 1.0, 1.0, 0.05), verdict_of(1.0, 1.0, 0.001, 0.01, 0.05)
    ('better than all others for these trained models', 'not the best')
    >>> verdict_of(0.3, 0.4, 1.0, 1.0, 0.05)
    'undecided'
    """
    if np.isnan([best_models, behind_models]).all():
        return UNDECIDABLE
    for claim, p_best, p_behind in (("", best, behind), (FOR_MODELS, best_models, behind_models)):
        if p_best <= alpha:
            return f"{BEST}{claim}"
        if p_behind <= alpha:
            return f"{BEHIND}{claim}"
    return UNDECIDED

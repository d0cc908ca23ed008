"""What is left of a disparity beyond that of random explanations, which is the model's and not the explainer's.

A metric that asks the model about changed texts has a disparity of its own where the model reads the changed texts of
one group otherwise than the other's: a model that takes a text without words for "male" loses little of a male
sentence, whatever is taken away. The study's random explainers show it. What an explainer adds is its score less the
mean score of the random explainers for the same text, and the effect of this difference is its disparity beyond random.

Where the study has the best attainable explanations of a metric too, a group's mean score is placed between both ends,
(score − random) / (attainable − random).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenlight.statistics.cells import CELL, ExplainerScores, ModelScores, read_models, rows_by_comparison
from evenlight.statistics.designs import Design
from evenlight.statistics.disparity import adjusted
from evenlight.statistics.effect_sizes import pooled_sd, stratum_weight
from evenlight.statistics.jackknife import interval, t_test_p, without_each
from evenlight.statistics.rounding import OF_SUMS

_EFFECTS = ["effect", "beyond_random"]
_REACHED = ["reached_a", "reached_b", *(f"reached_difference{end}" for end in ("", "_low", "_high"))]
ADJUSTED = tuple(f"p_{name}" for name in _EFFECTS)
_COMPARED = [column for name in _EFFECTS for column in (name, f"{name}_low", f"{name}_high", f"p_{name}")]
_COMPARED += ["random", "difference", "difference_beyond_random"]
COMPUTED = ["seeds", "units_a", "units_b", *_COMPARED, *_REACHED]


def beyond_random_table(
    scores: str | Path,
    datasets_folder: str | Path,
    *,
    random: Sequence[str],
    attainable: Mapping[str, str],
    confidence: float,
    **scored: Any,
) -> pd.DataFrame:
    """The effects of all cells beside those beyond random explanations.

    ``random`` are the names of the random explainers, ``attainable`` the explainer that has the best attainable scores
    of a metric, where there is one; for the folders and ``scored`` see
    :func:`evenlight.statistics.cells.read_models`. One row per dataset, model, explainer that is not random, metric and
    pair of levels, see :func:`effects_beyond` (within strata, where a dataset has any) and :func:`reached`, from the
    texts that have a score of the explainer and of a random one; both p adjusted over all rows (``_holm``, ``_bh``).
    Cells without a run that can be compared have no row.
    """
    rows = []
    explainers = [name for name in scored["explainers"] if name not in random]
    ends = [*random, *dict.fromkeys(attainable.values())]
    models, models_ends = (
        read_models(scores, datasets_folder, **scored | {"explainers": names}) for names in (explainers, ends)
    )
    for model, model_ends in zip(models, models_ends, strict=True):
        values = {end.explainer: _in_order(end, model_ends, model) for end in model_ends.explainers}
        noise = _mean([values[name] for name in random])
        best = np.full_like(noise, np.nan)
        for metric, name in attainable.items():
            place = list(scored["metrics"]).index(metric)
            best[place] = values[name][place] - noise[place]

        def rows_of(
            scores: ExplainerScores, design: Design, noise: np.ndarray = noise, best: np.ndarray = best
        ) -> Iterator[dict]:
            (clusters, _), strata = design.numbered_clusters, (design.a.strata, design.b.strata)
            beyond = scores.values - noise
            sides = (
                np.stack([side.scores(part) for part in (scores.values, beyond, best)]) for side in (design.a, design.b)
            )
            for cell, a, b in zip(
                scores.cells(design.comparison), *(np.moveaxis(side, 1, 0) for side in sides), strict=True
            ):
                row = effects_beyond(a[:2], b[:2], clusters, design.paired, confidence, strata)
                if row is not None:
                    places = reached(a[1:], b[1:], clusters, design.paired, confidence)
                    yield cell | row | dict(zip(_REACHED, places, strict=True))

        rows += rows_by_comparison(model.explainers, model.designs, rows_of)
    return adjusted(pd.DataFrame(rows, columns=[*CELL, *COMPUTED]), ADJUSTED)


def _in_order(scores: ExplainerScores, of: ModelScores, model: ModelScores) -> np.ndarray:
    """The scores (metrics, seeds, items) in the order of the items of ``model``, NaN where there are none."""
    columns = pd.Index(of.items["item_id"]).get_indexer(model.items["item_id"])
    return np.where(columns < 0, np.nan, scores.values[..., columns])


def _mean(arrays: list[np.ndarray]) -> np.ndarray:
    """The mean of what is defined, NaN where nothing is."""
    count = sum((~np.isnan(array)).astype(float) for array in arrays)
    with np.errstate(invalid="ignore"):
        return sum(map(np.nan_to_num, arrays)) / count


def effects_beyond(
    a: np.ndarray,
    b: np.ndarray,
    clusters: np.ndarray,
    paired: bool,
    confidence: float,
    strata: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
) -> dict[str, float] | None:
    """The effect of the scores beside that of what is beyond random; None without a seed that can be compared.

    Args:
        a, b: of either level's units, the scores and what of them is beyond random, float (2, seeds, units), NaN where
            undefined; with ``paired``, unit i of both is one pair.
        clusters: of the units, see :attr:`evenlight.statistics.designs.Design.numbered_clusters`.
        paired, confidence: of the design, and of the intervals.
        strata: of either level's units, int (seeds, units), -1 where a unit is in none; None where there are none. Of
            pairs those count whose forms are in one stratum. Differences of groups are those within strata with at
            least two units of either, weighted by n_a n_b / (n_a + n_b + 1) (van Elteren 1960).

    Returns:
        differences of means over units and seeds: ``effect``, of the scores, and ``beyond_random``, each in its own
        standard deviations (the root of the mean square over seeds of Cohen's d's) with ``_low``, ``_high`` and p by
        the jackknife over clusters, for further texts and these trained models; ``random``, of the random
        explanations, likewise; ``difference`` and ``difference_beyond_random`` in units of the scores, whose difference
        is that of the random ones. ``seeds`` counts those with scores of two clusters in either level. An effect is NaN
        where its scores are constant; all are where in some seed no stratum has both groups.
    """
    known_a, known_b = ~np.isnan(a).any(axis=0), ~np.isnan(b).any(axis=0)
    codes_a, codes_b = (
        np.zeros(known.shape, dtype=int) if codes is None else codes
        for known, codes in zip((known_a, known_b), strata, strict=True)
    )
    known_a, known_b = known_a & (codes_a >= 0), known_b & (codes_b >= 0)
    if paired:
        known_a = known_b = known_a & known_b & (codes_a == codes_b)
        # The difference within a pair is one within a stratum.
        codes_a, codes_b = np.zeros_like(codes_a), np.zeros_like(codes_b)
    seeds = np.array([_can_be_compared(*known, clusters, paired) for known in zip(known_a, known_b, strict=True)])
    if not seeds.any():
        return None
    a, b = a[:, seeds], b[:, seeds]
    known_a, known_b, codes_a, codes_b = (of[seeds] for of in (known_a, known_b, codes_a, codes_b))
    row = {
        "seeds": int(seeds.sum()),
        "units_a": int(known_a.any(axis=0).sum()),
        "units_b": int(known_b.any(axis=0).sum()),
    }
    least = OF_SUMS * max(np.abs(a[:, known_a]).max(), np.abs(b[:, known_b]).max())
    sd, sd_beyond, sd_random = (
        _spread(of_a, of_b, known_a, known_b, least)
        for of_a, of_b in ((a[0], b[0]), (a[1], b[1]), (a[0] - a[1], b[0] - b[1]))
    )
    number = 1 + max(codes_a.max(), codes_b.max())
    terms = _by_group(
        *(
            np.stack([known, *np.where(known, of, 0)], -1)[..., None, :]
            * (codes[..., None, None] == np.arange(number)[:, None])
            for known, of, codes in ((known_a, a, codes_a), (known_b, b, codes_b))
        ),
        paired,
    )  # (units, groups, seeds, strata, number and sums)
    enough = terms.sum(axis=0)[..., 0].min(axis=0) >= 2
    if not enough.any(axis=1).all():
        return row | dict.fromkeys(_COMPARED, np.nan)

    def differences(sums: np.ndarray) -> np.ndarray:
        """Of scores and of what is beyond random, (…, 2), from sums (…, groups, seeds, strata, 3)."""
        of_a, of_b = sums[..., 0, :, :, :], sums[..., 1, :, :, :]
        count_a, count_b = of_a[..., :1], of_b[..., :1]
        weight = np.where(enough[..., None], stratum_weight(count_a, count_b), 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            within = np.where(weight > 0, of_a[..., 1:] / count_a - of_b[..., 1:] / count_b, 0)
        found = ((weight * within).sum(axis=-2) / weight.sum(axis=-2)).mean(axis=-2)
        return np.where(np.abs(found) <= least, 0, found)

    whole, without = differences(terms.sum(axis=0)), differences(without_each(terms, clusters))
    counts = [len(np.unique(clusters[(terms[:, group, ..., 0] > 0).any(axis=(1, 2))])) for group in (0, 1)]
    low, high = interval(whole, without, min(counts) - 1, confidence)
    p = t_test_p(whole, without, min(counts) - 1)
    for name, scale, *values, of_test in zip(_EFFECTS, (sd, sd_beyond), whole, low, high, p, strict=True):
        columns = (name, f"{name}_low", f"{name}_high")
        row |= {column: float(value / scale) for column, value in zip(columns, values, strict=True)}
        row |= {f"p_{name}": float(of_test) if scale > 0 else np.nan}
    return row | {
        "random": float((whole[0] - whole[1]) / sd_random),
        "difference": float(whole[0]),
        "difference_beyond_random": float(whole[1]),
    }


def _spread(a: np.ndarray, b: np.ndarray, known_a: np.ndarray, known_b: np.ndarray, least: float) -> float:
    """The standard deviation within levels over seeds; NaN where it is the error of rounding."""
    by_seed = zip(a, b, known_a, known_b, strict=True)
    sd = np.sqrt(np.mean([pooled_sd(of_a[in_a], of_b[in_b]) ** 2 for of_a, of_b, in_a, in_b in by_seed]))
    return sd if sd > least else np.nan


def _can_be_compared(known_a: np.ndarray, known_b: np.ndarray, clusters: np.ndarray, paired: bool) -> bool:
    of_a, of_b = (clusters, clusters) if paired else np.split(clusters, [len(known_a)])
    return min(len(np.unique(numbers[known])) for numbers, known in ((of_a, known_a), (of_b, known_b))) > 1


def _by_group(of_a: np.ndarray, of_b: np.ndarray, paired: bool) -> np.ndarray:
    """Terms (seeds, units, …) of both groups as (units, groups, seeds, …), 0 where a unit is not of a group."""
    of_a, of_b = np.moveaxis(of_a, 0, 1), np.moveaxis(of_b, 0, 1)
    if not paired:
        nothing = [(0, 0)] * (of_a.ndim - 1)
        of_a, of_b = np.pad(of_a, ((0, len(of_b)), *nothing)), np.pad(of_b, ((len(of_a), 0), *nothing))
    return np.stack([of_a, of_b], axis=1)


def reached(
    a: np.ndarray, b: np.ndarray, clusters: np.ndarray, paired: bool, confidence: float
) -> tuple[float, float, float, float, float]:
    """Where the groups' means stand between random (0) and the best attainable (1).

    Args:
        a, b: of either level's units, what is beyond random in the explainer's and in the best scores, float (2, seeds,
            units), NaN where undefined.
        clusters, paired, confidence: as for :func:`effects_beyond`.

    Returns:
        both groups' ratios of means over all units and seeds, their difference, and the ends of its interval by the
        jackknife over clusters, for further units and these trained models. NaN where there are no best scores, and
        where the best of a group are not beyond random (the interval of their mean has 0): a ratio to nothing.
    """
    known = [~np.isnan(of).any(axis=0) for of in (a, b)]
    terms = [np.stack([is_known, *np.where(is_known, of, 0)], -1) for is_known, of in zip(known, (a, b), strict=True)]
    terms = _by_group(*terms, paired).sum(axis=2)  # over seeds
    degrees = min(len(np.unique(clusters[terms[:, group, 0] > 0])) for group in (0, 1)) - 1
    if degrees < 1:
        return (np.nan,) * 5
    whole, without = terms.sum(axis=0), without_each(terms, clusters)
    low, high = interval(*(sums[..., 2] / sums[..., 0] for sums in (whole, without)), degrees, confidence)
    if (low * high <= 0).any():
        return (np.nan,) * 5
    share, shares = (sums[..., 1] / sums[..., 2] for sums in (whole, without))
    low, high = interval(share[0] - share[1], shares[..., 0] - shares[..., 1], degrees, confidence)
    return float(share[0]), float(share[1]), float(share[0] - share[1]), float(low), float(high)

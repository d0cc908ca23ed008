"""What is left of a disparity beyond that of random explanations, which is the model's and not the explainer's.

A metric that asks the model about changed texts has a disparity of its own where the model reads the changed texts of
one group otherwise than the other's: a model that takes a text without words for "male" loses little of a male
sentence, whatever is taken away. The study's random explainers show it. What an explainer adds is its score less the
mean score of the random explainers for the same text, so that each disparity is the sum of two, that of the random
scores and that beyond them. Both are told in one standard deviation, that of the scores, and the disparity and the part
beyond random are judged as all effects are (:mod:`evenlight.statistics.effects`).

Where the study has the best attainable explanations of a metric too, a group's mean score is placed between both ends,
(score − random) / (attainable − random), and each disparity beyond random is the sum of two again: of what the
attainable makes at one share for both groups, and of what the groups' different shares make, the explainer's own part
(:func:`own_part`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import BEYOND_RANDOM
from evenlight.statistics.cells import CELL, ExplainerScores, ModelScores, read_models
from evenlight.statistics.designs import Design
from evenlight.statistics.effects import PooledRows, gathered, pooled_rows
from evenlight.statistics.looks import ONE_LOOK, Looks, sequential_p
from evenlight.statistics.many_groups import holm
from evenlight.statistics.pooled import Estimate, pooled_effects
from evenlight.statistics.study import Comparison, StudyScores, VerdictSettings
from evenlight.statistics.verdicts import UNDECIDABLE, UNDECIDED, check_level, hypothesis_family, judged

# The scores, what of them is beyond random, and what of that is the explainer's own.
PLAIN, BEYOND, OWN = "plain", "beyond", "own"
# What becomes of a disparity beyond random, or of the explainer's own part.
LEFT, REVERSED, GONE = "left", "reversed", "gone"
# Who makes a disparity: the model or the metric, whatever explains; these for the most part; the explainer; or both.
MODEL, MOSTLY_MODEL, EXPLAINER, BOTH = "model", "mostly model", "explainer", "both"
_ENDS = ("", "_models_low", "_models_high", "_low", "_high")
_P = ("p_models", "p", "p_models_equivalence", "p_equivalence")
_MEANS = [f"{of}_{level}" for of in ("score", "random", "attainable") for level in "ab"]
_REACHED = ["reached_a", "reached_b", *(f"reached_difference{end}" for end in ("", "_low", "_high"))]


def beyond_random_table(
    study: StudyScores,
    judging: VerdictSettings,
    *,
    attainable: Mapping[str, str],
    random: Sequence[str],
    lower_is_better: Sequence[str] = (),
    looks: Looks = ONE_LOOK,
) -> pd.DataFrame:
    """The differences of all cells, and those beyond random explanations.

    ``random`` are the names of the random explainers, ``attainable`` the explainer that searches the best scores of a
    metric, where there is one, and ``lower_is_better`` those of these metrics of which the lowest are the best. Where
    any explainer of the study has a better score than the search, that is attainable, too. One row per dataset, model,
    explainer that is not random, metric and pair of levels, from the texts that have a score of the explainer and of a
    random one, see :func:`beyond_random`. With ``looks`` what is claimed holds over all looks of the plan.
    """
    check_level(judging.alpha, judging.bootstrap_draws)

    def of_models(study: StudyScores) -> Iterator[PooledRows]:
        for source in study.sources().values():
            noise = [name for name in random if name in source.explainers]
            explainers = [name for name in source.explainers if name not in noise]
            if not noise or not explainers:
                continue
            models, models_again = (
                read_models(replace(source, explainers=names)) for names in (explainers, [*noise, *explainers])
            )
            for model, again in zip(models, models_again, strict=True):
                of_noise, best = _ends(model, again, noise, attainable, lower_is_better)
                yield rows_beyond(model.explainers, model.designs, of_noise, best, judging)

    rows, deviates = gathered(of_models(study))
    if not rows:
        return pd.DataFrame(columns=BEYOND_RANDOM.schema.names)
    family = partial(hypothesis_family, primary=judging.primary, noise=judging.noise)
    earlier = [gathered(of_models(replace(study, first=units))) for units in looks.units[:-1]]
    return beyond_random(rows, deviates, family, judging.alpha, looks, earlier)


def _ends(
    model: ModelScores,
    again: ModelScores,
    random: Sequence[str],
    attainable: Mapping[str, str],
    lower_is_better: Sequence[str],
) -> tuple[np.ndarray, np.ndarray]:
    """The scores of the random explainers and the best of all, as :func:`rows_beyond` has them.

    ``model`` names the items, ``again`` has the scores of all explainers; all else as in :func:`beyond_random_table`.
    """
    noise, best = {}, None
    for scores in again.explainers:
        values = _in_order(scores, again, model)
        if scores.explainer in random:
            noise[scores.explainer] = values
        sign = np.array([-1.0 if metric in lower_is_better else 1.0 for metric in scores.metrics])[:, None, None]
        best = sign * values if best is None else np.fmax(best, sign * values)
    is_sought = np.array([metric in attainable for metric in scores.metrics])[:, None, None]
    return np.stack([noise[name] for name in random]), np.where(is_sought, sign * best, np.nan)


def _in_order(scores: ExplainerScores, of: ModelScores, model: ModelScores) -> np.ndarray:
    """The scores (metrics, seeds, items) in the order of the items of ``model``, NaN where there are none."""
    columns = pd.Index(of.items["item_id"]).get_indexer(model.items["item_id"])
    return np.where(columns < 0, np.nan, scores.values[..., columns])


@dataclass(frozen=True)
class _Part(ExplainerScores):
    """The scores of an explainer, or what of them is beyond random; ``part`` stands in the rows of its cells."""

    part: str = PLAIN

    def cells(self, comparison: Comparison) -> list[dict[str, str]]:
        return [cell | {"part": self.part} for cell in super().cells(comparison)]


@dataclass(frozen=True)
class _OwnPart(_Part):
    """The explainer's own part of what is beyond random, which is another one in each comparison.

    ``best`` are the best scores beyond random, float (metrics, seeds, items).
    """

    best: np.ndarray | None = None
    confidence: float = 0.95

    def cells_with_scores(self, design: Design) -> Iterator[tuple[dict[str, str], np.ndarray, np.ndarray]]:
        beyond, best = ([side.scores(values) for side in (design.a, design.b)] for values in (self.values, self.best))
        sides, weights = own_part(beyond, best, _pooled_in(design), self.confidence)
        # A score is at most what is attainable, and counts by its weight.
        stretched = (
            cell | {"stretch": weight} for cell, weight in zip(self.cells(design.comparison), weights, strict=True)
        )
        return zip(stretched, *sides, strict=True)


def _pooled_in(design: Design, reach: np.ndarray | None = None) -> Callable[[np.ndarray, np.ndarray], Estimate]:
    """The estimate of the difference of two levels' scores (cells, seeds, units) in a design.

    ``reach``, (cells,), is how far a unit that nobody saw may lie from the mean.
    """
    strata = None if design.a.strata is None else (design.a.strata, design.b.strata)

    def pooled(a: np.ndarray, b: np.ndarray) -> Estimate:
        effects = pooled_effects(a, b, design.paired, 0.0, clusters=design.clusters, strata=strata)
        return effects.difference if reach is None else effects.alike(reach).difference

    return pooled


def rows_beyond(
    explainers: Iterator[ExplainerScores],
    designs: Sequence[Design],
    noise: np.ndarray,
    best: np.ndarray,
    judging: VerdictSettings,
) -> PooledRows:
    """What :func:`evenlight.statistics.effects.pooled_rows` makes of a model's scores, and of them beyond random.

    Args:
        explainers: the scores.
        designs: of the comparisons.
        noise: the scores of random explainers, float (random explainers, metrics, seeds, items), NaN where undefined.
        best: the best attainable ones, float (metrics, seeds, items), likewise.
        judging: how verdicts follow from them.

    Returns:
        Rows of all parts, with ``part``; those beyond random have besides what :func:`_described` enters. Of the
        explainer's own part there are rows where there are best scores.
    """
    random = _mean(noise)
    room = best - random

    def parts() -> Iterator[_Part]:
        for scores in explainers:
            beyond = scores.values - random
            plain = np.where(np.isnan(beyond), np.nan, scores.values)
            for part, values in ((PLAIN, plain), (BEYOND, beyond)):
                yield _Part(**vars(scores) | {"values": values, "sd_of": plain, "part": part})
            own = {"values": beyond, "sd_of": plain, "part": OWN, "best": room}
            yield _OwnPart(**vars(scores) | own, confidence=judging.confidence)

    described = partial(_described, random, noise - random, room, judging.confidence, judging.reach)
    return pooled_rows(parts(), designs, judging, described)


def _mean(arrays: np.ndarray) -> np.ndarray:
    """The mean over the first axis of what is defined, NaN where nothing is."""
    with np.errstate(invalid="ignore"):
        return np.nansum(arrays, axis=0) / (~np.isnan(arrays)).sum(axis=0)


def _described(
    random: np.ndarray,
    draws: np.ndarray,
    best: np.ndarray,
    confidence: float,
    reach: Mapping[str, float],
    scores: _Part,
    design: Design,
    rows: list[dict],
    a: np.ndarray,
    b: np.ndarray,
    counted: np.ndarray,
) -> None:
    """Enter into the rows beyond random what random explanations do, what is attainable, and what is reached of it.

    Into those of the explainer's own part enter the p of the claim that it is less than half of the disparity.

    Args:
        random: the mean scores of the random explainers, float (metrics, seeds, items).
        draws: what each of them is beyond their mean, float (random explainers, metrics, seeds, items).
        best: the best scores beyond random, float (metrics, seeds, items).
        confidence: of intervals.
        reach: by metric, how far a score may lie from all others that were seen.
        scores, design, rows, a, b, counted: as for ``described`` of :func:`evenlight.statistics.effects.pooled_rows`.
    """
    metrics = [scores.metrics.index(row["metric"]) for row in rows]
    if scores.part == OWN:
        plain = [side.scores(scores.sd_of[metrics]) for side in (design.a, design.b)]
        far = np.array([row["stretch"] * reach.get(row["metric"], 0.0) for row in rows])
        for row, p in zip(rows, _p_less_than_half((a, b), plain, _pooled_in(design, far)), strict=True):
            row["p_lesser"] = p
    if scores.part != BEYOND:
        return
    is_known = ~np.isnan(scores.values[metrics])

    def sides(values: np.ndarray) -> list[np.ndarray]:
        """Scores (…, cells, seeds, units) of both levels, of the texts that count in these cells."""
        known = np.where(is_known, values[..., metrics, :, :], np.nan)
        return [side.scores(known) for side in (design.a, design.b)]

    pooled = _pooled_in(design)
    of_random = pooled(*sides(random))
    columns = {"random": of_random.value}
    for prefix, trainings in (("models_", False), ("", True)):
        half = of_random.half_width(confidence, trainings)
        columns |= {f"random_{prefix}low": of_random.value - half, f"random_{prefix}high": of_random.value + half}
    columns["draws_error"] = _draws_error(*sides(draws), pooled)
    means = [
        mean for values in (scores.values + random, random, best + random) for mean in _means(*sides(values), pooled)
    ]
    columns |= dict(zip(_MEANS, means, strict=True))
    columns |= dict(zip(_REACHED, reached((a, b), sides(best), pooled, confidence), strict=True))
    for place, row in enumerate(rows):
        row |= {name: values[place] for name, values in columns.items()}


def _p_less_than_half(
    own: Sequence[np.ndarray], plain: Sequence[np.ndarray], pooled: Callable[..., Estimate]
) -> np.ndarray:
    """The one-sided p of the claim that the explainer's own part is less than half of the disparity, (cells,).

    Args:
        own, plain: of either level's units, :func:`own_part` and the scores, float (cells, seeds, units).
        pooled: the estimate of the difference of two levels.

    No resamples are drawn: where hardly any text of a group has something to attain, a few carry all that varies. What
    the next ones may change is in the reserve.
    """
    own, plain = _with_both(own, plain)
    sign = np.sign(pooled(*plain).value)[:, None, None]
    return pooled(*(sign * (scores / 2 - part) for part, scores in zip(own, plain, strict=True))).p_above(False)


def _means(a: np.ndarray, b: np.ndarray, pooled: Callable[..., Estimate]) -> tuple[np.ndarray, np.ndarray]:
    """The mean of either level of what counts in a difference of both, (cells,) each."""
    return pooled(a, 0 * b).value, -pooled(0 * a, b).value


def _draws_error(a: np.ndarray, b: np.ndarray, pooled: Callable[..., Estimate]) -> np.ndarray:
    """The standard error of the difference of mean random scores that is due to the draws, (cells,); NaN of one draw.

    Args:
        a, b: what each random explainer is beyond their mean, float (random explainers, cells, seeds, units). The texts
            do not differ in what is expected of it, and so all that varies is the draws'.
        pooled: the estimate of a difference.
    """
    number, cells = a.shape[:2]
    if number < 2:
        return np.full(cells, np.nan)
    units = pooled(*(side.reshape(-1, *side.shape[2:]) for side in (a, b))).units
    variances = sum(part.value for part in units).reshape(number, cells)
    # Each has (1 − 1/m) of the variance of a draw, and the mean of m has 1/m of it.
    return np.sqrt(variances.sum(axis=0) / (number * (number - 1)))


def reached(
    added: Sequence[np.ndarray], best: Sequence[np.ndarray], pooled: Callable[..., Estimate], confidence: float
) -> tuple[np.ndarray, ...]:
    """Where the groups' means stand between random (0) and the best attainable (1).

    The interval is that of the difference of two means: with the ratio R of the means of ``added`` and ``best``, what a
    unit adds to R is its (added − R best), divided by the mean of ``best`` (the delta method).

    Args:
        added, best: of either level's units, what is beyond random in the explainer's and in the best scores, float
            (cells, seeds, units), NaN where undefined.
        pooled: the estimate of the difference of two levels.
        confidence: of the interval.

    Returns:
        both groups' ratios of means over units and seeds, their difference, and the ends of its interval for further
        units and these trained models, each (cells,). NaN where there are no best scores, and where the best of a group
        are not beyond random (the interval of their mean has 0): a ratio to nothing.
    """
    added, best = _with_both(added, best)

    def means(a: np.ndarray, b: np.ndarray) -> tuple[Estimate, Estimate]:
        """Of the first level, and of the second with the other sign, of what counts in a difference of both."""
        return pooled(a, 0 * b), pooled(0 * a, b)

    of_best = means(*best)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [part.value / whole.value for part, whole in zip(means(*added), of_best, strict=True)]
        beyond = [np.abs(whole.value) > whole.half_width(confidence, False) for whole in of_best]
        placed = [
            share[:, None, None] + (part - share[:, None, None] * whole) / np.abs(estimate.value)[:, None, None]
            for share, part, whole, estimate in zip(shares, added, best, of_best, strict=True)
        ]
    difference = pooled(*placed)
    half = difference.half_width(confidence, False)
    columns = (*shares, difference.value, difference.value - half, difference.value + half)
    return tuple(np.where(beyond[0] & beyond[1], column, np.nan) for column in columns)


def _with_both(added: Sequence[np.ndarray], best: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Both levels' scores, NaN where one of the two is undefined."""
    both = zip(added, best, strict=True)
    sides = [(of_added + 0 * of_best, of_best + 0 * of_added) for of_added, of_best in both]
    return [added for added, _ in sides], [best for _, best in sides]


def own_part(
    added: Sequence[np.ndarray], best: Sequence[np.ndarray], pooled: Callable[..., Estimate], confidence: float
) -> tuple[list[np.ndarray], np.ndarray]:
    """What each unit adds to the explainer's own part of a disparity beyond random.

    A level's mean beyond random y is its share R = y / b of the best b. With the share of both together, R = (y_a +
    y_b) / (b_a + b_b), the disparity is y_a − y_b = R (b_a − b_b) + h (R_a − R_b), h the harmonic mean of b_a and b_b
    (after Kitagawa 1955). The first part would be there if both groups had the same share. The second is the
    explainer's own: 0 where the shares are equal, and where nothing can be attained for one of the groups and its
    explanations are as good as random ones. It is the difference of the levels' means of w (y − R b) of each unit, w
    being 2 b_b / (b_a + b_b) in the first level and 2 b_a / (b_a + b_b) in the second, by which R counts as estimated
    (the delta method).

    Args:
        added, best: of either level's units, what is beyond random in the explainer's and in the best scores, float
            (cells, seeds, units), NaN where undefined.
        pooled: the estimate of the difference of two levels.
        confidence: of the interval that decides whether anything is attainable.

    Returns:
        both levels' values, like ``added``. NaN where there are no best scores, and where those of both groups
        together are not beyond random (the interval of their sum has 0). And the larger w, (cells,).
    """
    added, best = _with_both(added, best)
    with np.errstate(divide="ignore", invalid="ignore"):
        both = pooled(best[0], -best[1])
        total = np.where(np.abs(both.value) > both.half_width(confidence, False), both.value, np.nan)
        share = sum(_means(*added, pooled)) / total
        # A search may find a little less than random explanations have where there is nothing to find.
        weights = [2 * np.clip(mean / total, 0, 1) for mean in _means(*best, pooled)][::-1]
    sides = [
        weight[:, None, None] * (part - share[:, None, None] * whole)
        for weight, part, whole in zip(weights, added, best, strict=True)
    ]
    return sides, np.maximum(*weights)


def beyond_random(
    rows: list[dict],
    deviates: np.ndarray,
    families: Callable[[Mapping[str, str]], str],
    alpha: float,
    looks: Looks = ONE_LOOK,
    earlier: Sequence[tuple[list[dict], np.ndarray]] = (),
) -> pd.DataFrame:
    """The table of cells, from what :func:`rows_beyond` gives of all models.

    ``deviates`` are the statistics, (2, 1 + draws, rows), and ``families`` names the family of a row. ``looks`` is a
    plan, and ``earlier`` has rows and statistics of each look before the last. Columns, besides the names, ``family``,
    ``seeds`` and the numbers of units:

    - ``sd``: the standard deviation of the scores within levels, in which all that follows is told;
    - ``plain``, ``random``, ``beyond``: the pooled differences of the scores, of the mean random scores, and of what is
      beyond random, of which the first is the sum of the others. Each has the ends of two intervals, ``_models_low``
      and ``_models_high`` for these trained models and further units, ``_low`` and ``_high`` for the mean across
      retraining (NaN of a single run), and ``_difference`` in the metric's own units;
    - of ``plain`` and ``beyond``, each by itself, ``_verdict``, ``_reason`` and the adjusted p of
      :func:`evenlight.statistics.verdicts.judged`. The smallest effect of interest is the same for both;
    - ``outcome``: what becomes of a disparity, :func:`outcome_of`;
    - ``draws_share``: what share of the variance of ``beyond`` over units is due to the draws of the random explainers;
    - ``score_a``, ``random_a``, ``attainable_a`` and those of ``_b``: the mean scores of both groups, and those of
      random and of the best attainable explanations;
    - ``reached_a``, ``reached_b``, ``reached_difference`` with its interval, see :func:`reached`;
    - ``own`` with the columns of ``plain``: the explainer's own part (:func:`own_part`), judged by itself;
      ``own_p_lesser_adjusted``: of the claim that it is less than half of the disparity, over looks
      (:func:`evenlight.statistics.looks.sequential_p`) and by Holm's method;
    - ``made_by``: who makes a disparity, :func:`maker_of`; None where nothing is known of the attainable.
    """
    *before, table = (pd.DataFrame(of_look) for of_look, _ in (*earlier, (rows, deviates)))
    table["family"] = [families(row) for row in rows]
    # The rows of all parts stand in the order of the scores'.
    cells = pd.MultiIndex.from_frame(table.loc[table["part"] == PLAIN, CELL])
    parts = {}
    for name in (PLAIN, BEYOND, OWN):
        *seen, now = (
            _of_part(name, of_look, statistics, deviates.shape[1])
            for of_look, statistics in zip((*before, table), (*(each for _, each in earlier), deviates), strict=True)
        )
        part = judged(*now, alpha, looks, seen)
        parts[name] = part.set_index(CELL).reindex(cells).reset_index()
    result, beyond, own = parts[PLAIN].copy(), parts[BEYOND], parts[OWN]
    sd = result["sd"].where(result["sd"] > 0)
    for name, part in parts.items():
        result[f"{name}_difference"] = part["difference"]
        for column in ("verdict", "reason", *(f"{p}_adjusted" for p in _P)):
            result[f"{name}_{column}"] = part[column]
        for end in _ENDS:
            result[f"{name}{end}"] = part[f"standardised{end}"]
    result["random_difference"] = beyond["random"]
    for column in (f"random{end}" for end in _ENDS):
        result[column] = beyond[column] / sd
    result["outcome"] = _outcomes(parts, BEYOND)
    lesser = np.stack([_p_lesser(of_look, cells) for of_look in (*before, table)])
    lesser = pd.Series(sequential_p(lesser, looks, alpha), own.index)
    result["own_p_lesser_adjusted"] = lesser.groupby(own["family"]).transform(holm)
    makers = zip(result["outcome"], _outcomes(parts, OWN), result["own_p_lesser_adjusted"] <= alpha, strict=True)
    result["made_by"] = [maker_of(*outcomes) for outcomes in makers]
    error = beyond["units_error"].where(beyond["units_error"] > 0)
    # Of two estimates the part may come out larger than the whole.
    result["draws_share"] = ((beyond["draws_error"] / error) ** 2).clip(upper=1)
    result[[*_MEANS, *_REACHED]] = beyond[[*_MEANS, *_REACHED]]
    text = dict.fromkeys(("plain_reason", "beyond_reason", "own_verdict", "own_reason", "outcome", "made_by"), "str")
    return result[BEYOND_RANDOM.schema.names].astype(text)


def _of_part(name: str, table: pd.DataFrame, statistics: np.ndarray, draws: int) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows of one part and their statistics, at a look that may have none."""
    if table.empty:
        return table, np.empty((2, draws, 0))
    places = np.flatnonzero(table["part"] == name)
    return table.iloc[places], statistics[:, :, places]


def _p_lesser(table: pd.DataFrame, cells: pd.MultiIndex) -> np.ndarray:
    """The p of each cell, (cells,), that its own part is less than half of the disparity; NaN where nobody asked."""
    if "p_lesser" not in table:
        return np.full(len(cells), np.nan)
    return table[table["part"] == OWN].set_index(CELL)["p_lesser"].reindex(cells).to_numpy(float)


def _signs(part: pd.DataFrame) -> pd.Series:
    """The sign of each difference: at the look that has found it, else now."""
    return part["side"].where(part["side"] != 0, np.sign(part["difference"]))


def _outcomes(parts: Mapping[str, pd.DataFrame], name: str) -> list[str | None]:
    """What becomes of each disparity of the scores in another part; None also where it is not known."""
    plain, part = parts[PLAIN], parts[name]
    same = _signs(plain) * _signs(part) > 0
    judgements = zip(plain["verdict"], part["verdict"], same, strict=True)
    return [None if pd.isna(judgement[1]) else outcome_of(*judgement) for judgement in judgements]


def outcome_of(verdict: str, beyond: str, same: bool) -> str | None:
    """What becomes of a cell with a verdict, by that beyond random and whether both differences have the same sign.

    None where there is no disparity. ``gone`` is what is within the smallest effect of interest, and not what is merely
    not significant.

    >>> outcome_of("disparity", "disparity for these trained models", True), outcome_of("disparity", "disparity", False)
    ('left', 'reversed')
    >>> outcome_of("disparity", "equivalent", True), outcome_of("disparity", "undecided", True)
    ('gone', 'undecided')
    >>> outcome_of("equivalent", "disparity", True)
    """
    if "disparity" not in verdict:
        return None
    if beyond in (UNDECIDED, UNDECIDABLE):
        return beyond
    if beyond.startswith(("equivalent", "negligible")):
        return GONE
    return LEFT if same else REVERSED


def maker_of(beyond: str | None, own: str | None, lesser: bool) -> str | None:
    """Who makes a disparity, by what becomes of it (:func:`outcome_of`) beyond random and as the explainer's own part.

    The explainer has a part in it where both say so. ``lesser`` is whether its own part is shown to be less than half
    of the disparity, whether there is any or not. An own part within the smallest effect of interest may be most of a
    small disparity. None where there is no disparity, or where nothing is known of the attainable.

    >>> maker_of("left", "left", False), maker_of("left", "left", True)
    ('explainer', 'both')
    >>> maker_of("left", "gone", True), maker_of("left", "undecided", True)
    ('model', 'mostly model')
    >>> maker_of("left", "gone", False), maker_of("undecided", "left", False)
    ('undecided', 'undecided')
    """
    if own is None:
        return None
    if own == LEFT and beyond == LEFT:
        return BOTH if lesser else EXPLAINER
    if own == REVERSED or (own == GONE and lesser):
        return MODEL
    return MOSTLY_MODEL if lesser else UNDECIDED

"""How large is a disparity, adjusted for a covariate, such as the length of the texts or the model's confidence?

The two forms of a sentence differ in more than the group: "herself" may be two tokens where "he" is one, and the model
may be surer of one form. The disparity is set beside the one that is found where the covariate is equal:

- in a paired design, the mean difference of all pairs beside that of the pairs whose forms have the same value of the
  covariate, or values that differ by at most :data:`CALIPER` times the usual difference (root mean square of pairs);
- in an unpaired design, by strata of the covariate, as Kitagawa (1955) splits the difference of two rates: the adjusted
  disparity is the difference within strata, weighted by the mean of both groups' shares; the covariate part is the
  difference of their shares, weighted by the mean of both groups' scores.

Nothing is fitted and nothing is drawn out beyond the data: where no texts are equal, nothing is said. Strata and equal
pairs follow from the covariate alone, without a look at the scores, so that there is nothing to cross-fit. Each
covariate is taken by itself; covariates are associated with one another, so that their parts do not add up.

This is no causal claim. What is associated with length may be due to length, or to what else long texts have.
Confidence is itself an output of the model: it may pass a disparity on, and what is associated with it is not thereby
innocent.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from evenlight.core import tables
from evenlight.core.contracts.results import COVARIATE_ADJUSTED
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.core.kinds import TOKENS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores, describe_left_out
from evenlight.statistics.arrays.effect_sizes import pooled_sd
from evenlight.statistics.arrays.jackknife import interval, without_each
from evenlight.statistics.arrays.units import OF_SUMS, settled
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, by_comparison
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.score_files import score_notes

COVARIATES = ("tokens", "ground_truth_tokens", "confidence", "correct")
# Those that are functions of the model's probability of the text.
FROM_PROBABILITY = ("confidence", "correct")
# Pairs count as equal where the covariate differs by at most this share of its root mean square over pairs. Cochran &
# Rubin (1973) take 0.2 standard deviations, which leave 1 % of the bias of a normal covariate.
CALIPER = 0.2
# A covariate hardly varies where its usual difference within pairs is below this share of its spread between texts.
HARDLY = 0.05
# Fewest pairs (clusters of pairs, where they depend on one another) that are equal, and that are not.
FEWEST = 8
# Fewest differences of equal pairs, or scores of either group, that are not the commonest one. With fewer, intervals of
# 95 % of mostly equal scores hold the adjusted disparity in 0.6 to 0.88 of studies.
FEWEST_DIFFERING = 5
# Strata of two groups: at most so many, each of at least so many texts of the smaller group, on average (Cochran 1968:
# five strata leave a tenth of the bias), and of at least so many of either group.
STRATA, STRATUM, FEWEST_IN_STRATUM = 10, 10, 3
# Least share of the texts in strata that have both groups.
SUPPORT = 0.9

# Why a part is not decidable.
PART_OF_METRIC = "part of the metric"
CONSTANT = "constant scores"
MOSTLY_EQUAL = "mostly equal"
FEW = "too few"
HARDLY_VARIES = "hardly varies"
NO_OVERLAP = "no overlap"

_PARTS = [f"{part}{end}" for part in ("covariate_part", "adjusted") for end in ("", "_low", "_high")]
_SHUFFLED = ["shuffled", "shuffled_low", "shuffled_high"]


@dataclass(frozen=True)
class Split:
    """A disparity of one run in units of Cohen's d: covariate part and adjusted disparity, in the last axis of the
    arrays.

    Attributes:
        whole: from all units, float (2,).
        without: from all but one cluster, float (clusters, 2).
        shuffled: the covariate part with the covariate shuffled over units, float (draws,).
        support: the share of pairs that are equal, or of texts in strata with both groups.
        degrees: of freedom of the jackknife's standard error.
        counted: which clusters have a unit that counts, bool (clusters,).
    """

    whole: np.ndarray
    without: np.ndarray
    shuffled: np.ndarray
    support: float
    degrees: int
    counted: np.ndarray


def split_pairs(
    a: np.ndarray, b: np.ndarray, x_a: np.ndarray, x_b: np.ndarray, clusters: np.ndarray, numbers: np.ndarray
) -> Split | str:
    """Split the disparity of pairs, or say why not.

    Args:
        a, b: scores of the forms, float (pairs,), NaN where undefined.
        x_a, x_b: their covariate, likewise.
        clusters: of each pair, int (pairs,), from 0; pairs of different clusters are independent.
        numbers: random, (draws, pairs), by whose order the covariate is shuffled.
    """
    known = ~np.isnan(a - b) & ~np.isnan(x_a - x_b)
    if len(np.unique(clusters[known])) < 2 * FEWEST:
        return FEW
    sd = _spread(a[known], b[known])
    if sd == 0:
        return CONSTANT
    difference, x = np.where(known, a - b, 0) / sd, np.where(known, np.abs(x_a - x_b), np.inf)
    usual = np.sqrt(np.mean(x[known] ** 2))
    equal = x <= CALIPER * usual
    count_equal, count_unequal = (len(np.unique(clusters[pairs])) for pairs in (equal, known & ~equal))
    if usual < HARDLY * pooled_sd(x_a[known], x_b[known]) or count_unequal < FEWEST:
        return HARDLY_VARIES
    if count_equal < FEWEST:
        return NO_OVERLAP
    if _differing(difference[equal], clusters[equal]) < FEWEST_DIFFERING:
        return MOSTLY_EQUAL

    def parts(sums: np.ndarray) -> np.ndarray:
        adjusted = sums[..., 3] / sums[..., 2]
        return np.stack([sums[..., 1] / sums[..., 0] - adjusted, adjusted], axis=-1)

    terms = np.column_stack([known, difference, equal, equal * difference]).astype(float)
    shuffled = equal[known][np.argsort(numbers[:, known], axis=1)] @ difference[known] / equal.sum()
    return Split(
        parts(terms.sum(axis=0)),
        parts(without_each(terms, clusters)),
        difference.sum() / known.sum() - shuffled,
        equal.sum() / known.sum(),
        min(count_equal, count_unequal) - 1,
        np.bincount(clusters, weights=known) > 0,
    )


def split_groups(
    a: np.ndarray, b: np.ndarray, x_a: np.ndarray, x_b: np.ndarray, clusters: np.ndarray, numbers: np.ndarray
) -> Split | str:
    """Split the disparity of two groups of texts, or say why not; total is that of the texts with support.

    The arguments are those of :func:`split_pairs`, with texts for pairs; ``clusters`` and ``numbers`` are of the first
    group's texts and then the second's. The covariate is shuffled within each group.
    """
    y, x = np.concatenate([a, b]), np.concatenate([x_a, x_b])
    group = np.repeat([0, 1], [len(a), len(b)])
    known = ~np.isnan(y) & ~np.isnan(x)
    sizes = [len(np.unique(clusters[known & (group == side)])) for side in (0, 1)]
    if min(sizes) < FEWEST:
        return FEW
    sd = _spread(y[known & (group == 0)], y[known & (group == 1)])
    if sd == 0:
        return CONSTANT
    y = np.where(known, y, 0) / sd
    stratum = _strata(x, known, max(2, min(STRATA, min(sizes) // STRATUM)))
    if len(np.unique(stratum[known])) < 2:
        return HARDLY_VARIES
    counts = np.array(
        [
            [len(np.unique(clusters[known & (group == side) & (stratum == k)])) for k in range(stratum.max() + 1)]
            for side in (0, 1)
        ]
    )
    supported = np.flatnonzero(counts.min(axis=0) >= FEWEST_IN_STRATUM)
    used = known & np.isin(stratum, supported)
    support = used.sum() / known.sum()
    if support < SUPPORT or len(supported) < 2:
        return NO_OVERLAP
    if min(_differing(y[of], clusters[of]) for of in (used & (group == side) for side in (0, 1))) < FEWEST_DIFFERING:
        return MOSTLY_EQUAL

    def parts(sums: np.ndarray) -> np.ndarray:
        count, score = sums[..., 0], sums[..., 1]
        share, mean = count / count.sum(axis=-1, keepdims=True), score / count
        adjusted = (share.mean(axis=-2) * (mean[..., 0, :] - mean[..., 1, :])).sum(axis=-1)
        covariate_part = (mean.mean(axis=-2) * (share[..., 0, :] - share[..., 1, :])).sum(axis=-1)
        return np.stack([covariate_part, adjusted], axis=-1)

    # (texts, groups, strata, number and sum of scores)
    of_group, of_stratum = group[:, None] == [0, 1], used[:, None] & (stratum[:, None] == supported)
    is_in = of_group[:, :, None] & of_stratum[:, None, :]
    terms = np.stack([is_in, is_in * y[:, None, None]], axis=-1)
    whole = terms.sum(axis=0)
    shuffled = np.broadcast_to(whole, (len(numbers), *whole.shape)).copy()
    for side in (0, 1):
        texts = used & (group == side)
        order = np.argsort(numbers[:, texts], axis=1)
        for place, k in enumerate(supported):
            shuffled[:, side, place, 1] = (stratum[texts][order] == k) @ y[texts]
    return Split(
        parts(whole),
        parts(without_each(terms, clusters)),
        parts(shuffled)[:, 0],
        support,
        min(sizes) - len(supported),
        np.bincount(clusters, weights=used) > 0,
    )


def _differing(values: np.ndarray, clusters: np.ndarray) -> int:
    """How many clusters have a value that is not the commonest one; all, where none occurs twice."""
    _, codes, counts = np.unique(settled(values)[0], return_inverse=True, return_counts=True)
    common = counts[codes] == max(counts.max(), 2)
    return len(np.unique(clusters[~common]))


def _spread(a: np.ndarray, b: np.ndarray) -> float:
    """The standard deviation of Cohen's d; 0 where it is the error of rounding."""
    sd = pooled_sd(a, b)
    return sd if sd > OF_SUMS * max(np.abs(a).max(), np.abs(b).max()) else 0.0


def _strata(x: np.ndarray, known: np.ndarray, count: int) -> np.ndarray:
    """The stratum of each text, int (texts,): its value, of few values, or else one of ``count`` quantiles."""
    values = np.unique(x[known])
    if len(values) > count:
        values = np.unique(np.quantile(x[known], np.arange(1, count) / count, method="higher"))
        return np.searchsorted(values, x, side="right")
    return np.searchsorted(values, x)


def part_columns(splits: list[Split], confidence: float) -> dict[str, float]:
    """The columns of a row from the splits of its runs: means over runs, with jackknife intervals over clusters.

    The runs have the same units, so that a cluster is left out of all of them at once; one that counts in no run is
    none. The t distribution has the fewest degrees of freedom of any run: one less than the smaller number of clusters
    with equal and with unequal pairs, or clusters of the smaller group less strata.

    With a dozen equal pairs of 24, intervals of 95 % hold the adjusted disparity of log-normal scores in 0.87 of
    studies, and of rare large ones in 0.85, since none of the equal ones may be large.
    """
    estimate = np.mean([split.whole for split in splits], axis=0)
    counted = np.any([split.counted for split in splits], axis=0)
    without = np.mean([split.without for split in splits], axis=0)[counted]
    degrees = min(split.degrees for split in splits)
    low, high = interval(estimate, without, degrees, confidence)
    shuffled = np.mean([split.shuffled for split in splits], axis=0)
    ends = np.quantile(shuffled, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {
        "support": float(np.mean([split.support for split in splits])),
        "total": float(estimate.sum()),
        **dict(zip(_PARTS, np.stack([estimate, low, high], axis=-1).ravel().tolist(), strict=True)),
        **dict(zip(_SHUFFLED, map(float, (shuffled.mean(), *ends)), strict=True)),
    }


def _row(splits: Sequence[Split | str], confidence: float) -> dict:
    decided = [split for split in splits if isinstance(split, Split)]
    if decided:
        return {"seeds": len(decided), "undecided": None} | part_columns(decided, confidence)
    return {"seeds": 0, "undecided": splits[0]}


def item_covariates(items_file: Path, predictions_file: Path) -> pd.DataFrame:
    """The covariates of every explained item of a run (:class:`AdjustForCovariates`); its index is
    ``item_id``.
    """
    items = tables.read_table(items_file, ITEMS.only("item_id", "ground_truth", "label")).set_index("item_id")
    columns = ("item_id", "target", "word_id", "probability", "predicted", "left_out")
    predictions = tables.read_table(predictions_file, PREDICTIONS.only(*columns))
    predictions = predictions[predictions["target"].notna() & predictions["left_out"].isna()]
    missing = predictions.loc[~predictions["item_id"].isin(items.index), "item_id"]
    if len(missing):
        raise InputError(
            f"{items_file}: column 'item_id' has no '{missing.iloc[0]}', which {predictions_file} explains; delete the "
            "older of both files and run the workflow again"
        )
    found = items.loc[predictions["item_id"]]
    rows = []
    for (item, truth, label), reading in zip(found.itertuples(), predictions.itertuples(index=False), strict=True):
        words = reading.word_id[reading.word_id >= 0].astype(int)  # special tokens have no word, nor have a prompt's
        if truth is not None and words.max(initial=-1) >= len(truth):
            raise InputError(
                f"{predictions_file}: column 'word_id' has {words.max()} for item '{item}', which has {len(truth)} "
                f"words in {items_file}; delete the older of both files and run the workflow again"
            )
        marked = 0 if truth is None else int(truth[words].sum())
        log_odds = _log_odds(reading.probability, int(reading.target))
        rows.append((len(words), marked, log_odds, float(reading.predicted == label)))
    return pd.DataFrame(rows, columns=COVARIATES, index=predictions["item_id"])


def _log_odds(probability: np.ndarray, target: int) -> float:
    # The others' sum and not 1 − p, of which near 1 only rounding is left.
    least = np.finfo(np.float32).tiny
    return float(np.log(max(probability[target], least)) - np.log(max(np.delete(probability, target).sum(), least)))


def _with_covariates(
    explainers: Iterable[ExplainerScores], covariates: np.ndarray, items: pd.DataFrame, files: list[Path]
) -> Iterator[ExplainerScores]:
    """The same; refuse an item with a score but without covariates: its run's predictions do not explain it."""
    for scores in explainers:
        unknown = ~np.isnan(scores.values).all(axis=0) & np.isnan(covariates).any(axis=0)
        for seed, item in np.argwhere(unknown):
            raise InputError(
                f"{files[seed]}: column 'item_id' has no '{items['item_id'].iloc[item]}', which has scores; delete the "
                "file and the run's scores and run the workflow again"
            )
        yield scores


class AdjustForCovariates(OfScores):
    """How large is every disparity, adjusted for length, confidence or correctness?

    Covariates of an item, in a unit with several items of a level their means:

    - ``tokens``: of the words;
    - ``ground_truth_tokens``: those of the words that are ground truth (0 where a dataset has none);
    - ``confidence``: the logarithm of the odds of the explained class against all others;
    - ``correct``: 1 where the model predicts the label, else 0.

    In a row, as means over ``seeds`` (those with a split), in standard deviations of the scores as Cohen's d:

    - ``total`` = ``covariate_part`` + ``adjusted``, see :class:`Split`, the two with ``_low`` and ``_high``: intervals
      for further units and these trained models, see :func:`part_columns`;
    - ``shuffled``, ``_low``, ``_high``: mean and central ``confidence`` of the covariate part over ``control_draws``
      shuffles of the covariate over the units, the same for all seeds;
    - ``support``: share of pairs that are equal, or of texts in strata with both groups;
    - ``undecided``: why there is no split in any seed, else null.

    Attributes:
        from_probability: metrics that are made of the model's probability of the text. Their disparity is not split by
            covariates that are functions of it.
    """

    version: ClassVar[int] = 3
    tables: ClassVar[Mapping[str, Contract]] = {"covariate_adjusted": COVARIATE_ADJUSTED}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    modality: ClassVar[str] = TOKENS
    folders: ClassVar[Sequence[str]] = ("scores", "datasets", "predictions")
    minutes: ClassVar[int] = 60

    result: Literal["adjust_for_covariates"]
    confidence: float
    control_draws: int
    from_probability: list[str]
    left_out: list[str] = Field([])

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of scores, and the metrics that are made of the model's probability of the text itself."""
        named = [name for name, metric in study.metrics.items() if metric["from_probability"]]
        return super().asked(study) | {"from_probability": named, "left_out": study.left_out()}

    def compute(self, inputs: Inputs) -> Computed:
        """A row per dataset, model, explainer, metric, pair of levels and covariate."""
        study = inputs.located(self.study)
        rows = []
        for model in read_models(study):
            items, predictions = items_path(study.folders["units"], model.dataset), study.folders["predictions"]
            files = [predictions_path(predictions, Run(model.dataset, model.model, seed)) for seed in model.seeds]
            by_seed = [item_covariates(items, path) for path in files]
            covariates = np.stack(
                [of_seed.reindex(model.items["item_id"]).to_numpy(float).T for of_seed in by_seed], axis=1
            )
            known = _with_covariates(model.explainers, covariates, model.items, files)

            def rows_of(scores: ExplainerScores, design: Design, covariates: np.ndarray = covariates) -> Iterator[dict]:
                clusters, _ = design.numbered_clusters
                seed = (0, "associated", scores.dataset, *design.comparison.levels)
                numbers = generator_for(*seed).random((self.control_draws, len(clusters)))
                by_side = [side.scores(covariates) for side in (design.a, design.b)]
                split = split_pairs if design.paired else split_groups
                for cell, a, b in scores.cells_with_scores(design):
                    for name, x_a, x_b in zip(COVARIATES, *by_side, strict=True):
                        if name in FROM_PROBABILITY and cell["metric"] in self.from_probability:
                            splits: Sequence[Split | str] = [PART_OF_METRIC]
                        else:
                            splits = [split(*run, clusters, numbers) for run in zip(a, b, x_a, x_b, strict=True)]
                        yield cell | {"covariate": name} | _row(splits, self.confidence)

            rows += by_comparison(known, model.designs, rows_of)
        table = pd.DataFrame(rows, columns=COVARIATE_ADJUSTED.schema.names)
        return Computed([table], describe_left_out(self.left_out) + score_notes(study))

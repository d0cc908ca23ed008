"""What of a disparity comes with differences in length, in the tokens of ground-truth words and in confidence?

The two forms of a sentence differ in more than the group: "herself" may be two tokens where "he" is one, and the model
may be surer of one form. The difference of the groups' mean scores is split exactly into what comes with each cause
and what remains, by a linear regression with heteroscedasticity-consistent errors (HC3; MacKinnon & White 1985):

- in a paired design the differences of scores within pairs on the differences of the causes. The residuals' mean is
  zero, hence mean difference = intercept + sum over causes of coefficient × mean difference of the cause;
- in an unpaired design the scores on an indicator of the first group and the causes. The residuals' mean is zero in
  either group, hence difference of means = coefficient of the indicator + sum of coefficient × difference of means.

This is a decomposition and no causal claim. Token counts are given with the text, but confidence is itself an output
of the model that is explained: it may pass a disparity on (a mediator), and what comes with it is not thereby innocent.
A cause that differs equally in all pairs cannot be told from the group at all and stays in the remainder.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.regression.linear_model import OLS

from evenlight import tables
from evenlight.errors import InputError
from evenlight.statistics.cells import CELL, ExplainerScores, read_models, rows_by_comparison
from evenlight.statistics.designs import Design
from evenlight.statistics.effect_sizes import cohens_d, pooled_sd
from evenlight.statistics.files import Run, items_path, reading_path

CAUSES = ("context_tokens", "ground_truth_tokens", "confidence")
FEWEST = len(CAUSES) + 3
COMPUTED = [
    "seeds",
    "total",
    *CAUSES,
    "remaining",
    "significant_seeds",
    "significant_seeds_remaining",
    "significant_seeds_both",
    "pairs_equal",
    "d_equal",
]
# Relative to a column's length, or in standard deviations: what is smaller is the error of rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Split:
    """A disparity in units of Cohen's d: ``total`` = sum of ``carried`` + ``remaining``.

    ``carried``: float (causes,), 0 for causes that were left out; ``used``: bool (causes,), which were not. ``p_total``
    and ``p_remaining`` are two-sided p of the t tests (HC3) of the disparity without and with the causes.
    """

    total: float
    carried: np.ndarray
    remaining: float
    used: np.ndarray
    p_total: float
    p_remaining: float


def split_disparity(a: np.ndarray, b: np.ndarray, causes_a: np.ndarray, causes_b: np.ndarray, paired: bool) -> Split:
    """Split the disparity of the scores ``a`` and ``b``, which are not both constant.

    ``a`` and ``b`` are float (units,) without NaN, ``causes_a`` and ``causes_b`` float (units, causes); with
    ``paired`` row i of all belongs to one pair. A cause is left out where it does not differ, where it is a linear
    combination of the group and the causes before it, and where one unit alone decides on its coefficient.
    """
    sd = pooled_sd(a, b)
    if paired:
        outcome, differing, group = a - b, causes_a - causes_b, np.ones((len(a), 1))
    else:
        outcome, differing = np.concatenate([a, b]), np.concatenate([causes_a, causes_b])
        group = np.column_stack([np.arange(len(outcome)) < len(a), np.ones(len(outcome))]).astype(float)
    used = _separable(group, differing)
    # Columns of one length: counts of tokens and probabilities differ by orders of magnitude.
    length = np.linalg.norm(differing[:, used], axis=0)
    total, p_total, _ = _regression(outcome / sd, group)
    remaining, p_remaining, coefficients = _regression(outcome / sd, group, differing[:, used] / length)
    carried = np.zeros(len(used))
    carried[used] = coefficients / length * (causes_a.mean(axis=0) - causes_b.mean(axis=0))[used]
    return Split(total, carried, remaining, used, p_total, p_remaining)


def _regression(outcome: np.ndarray, group: np.ndarray, *others: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Coefficient of the first column of ``group``, its p, and the coefficients of ``others``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = OLS(outcome, np.column_stack([group, *others])).fit(cov_type="HC3", use_t=True)
        effect, p = fitted.params[0], fitted.pvalues[0]
    # An exact fit leaves nothing but rounding to test.
    return float(effect), float(p) if abs(effect) > ROUNDING else 1.0, fitted.params[group.shape[1] :]


def _separable(group: np.ndarray, causes: np.ndarray) -> np.ndarray:
    """Which columns of ``causes`` have a coefficient of their own beside those before them; bool (causes,)."""
    basis = np.linalg.qr(group)[0]
    used = np.zeros(causes.shape[1], dtype=bool)
    for number, column in enumerate(causes.T):
        remainder = column
        for _ in range(2):  # once more for what rounding left of the first time
            remainder = remainder - basis @ (basis.T @ remainder)
        if np.linalg.norm(remainder) > ROUNDING * np.linalg.norm(column):
            wider = np.column_stack([basis, remainder / np.linalg.norm(remainder)])
            # A unit whose leverage is 1 is fitted exactly, and without it the column would depend on the others.
            used[number] = (wider**2).sum(axis=1).max() < 1 - ROUNDING
        if used[number]:
            basis = wider
    return used


def cause_table(
    scores: str | Path,
    datasets_folder: str | Path,
    readings: str | Path,
    *,
    alpha: float,
    **scored: Any,
) -> tuple[pd.DataFrame, list[str]]:
    """Every cell's disparity, what of it comes with each cause and what remains, and notes on what was left out.

    ``readings`` is a folder; for the other folders and ``scored`` see :func:`evenlight.statistics.cells.read_models`.
    Causes of an item, in a unit with several items of a level their means:

    - ``ground_truth_tokens``: tokens of the words that are ground truth (0 where a dataset has none);
    - ``context_tokens``: tokens of all other words, special tokens not counted;
    - ``confidence``: probability of the explained class.

    One row per dataset, model, explainer, metric and pair of levels; besides these names, as means over ``seeds``:

    - ``total`` = ``context_tokens`` + ``ground_truth_tokens`` + ``confidence`` + ``remaining``, see
      :class:`Split`; in a paired design of the pairs with both scores;
    - ``significant_seeds``, ``significant_seeds_remaining``, ``significant_seeds_both``: of these, with p ≤ ``alpha``
      for the total, for what remains, and for both, by the t tests of the regressions (counts);
    - ``pairs_equal``, ``d_equal``: number of pairs whose forms have equally many tokens, and their Cohen's d.

    ``seeds`` are those whose scores vary and that have at least :data:`FEWEST` pairs, or units of each level; without
    any the means are NaN. Notes count what was not split and what was left out.
    """
    rows, left_out = [], Counter()
    for model in read_models(scores, datasets_folder, **scored):
        files = [reading_path(readings, Run(model.dataset, model.model, seed)) for seed in model.seeds]
        by_seed = [item_causes(items_path(datasets_folder, model.dataset), path) for path in files]
        causes = np.stack(
            [causes_of_seed.reindex(model.items["item_id"]).to_numpy(float).T for causes_of_seed in by_seed], axis=1
        )
        known = _with_known_causes(model.explainers, causes, model.items, files)

        def rows_of(scores: ExplainerScores, design: Design, causes: np.ndarray = causes) -> Iterator[dict]:
            causes_of_sides = [np.moveaxis(side.scores(causes), 0, -1) for side in (design.a, design.b)]
            for cell, a, b in scores.cells_with_scores(design):
                yield cell | _row(cell, (a, b), causes_of_sides, design.paired, alpha, left_out)

        rows += rows_by_comparison(known, model.designs, rows_of)
    notes = [text.format(count=f"{count:,}") for text, count in left_out.items()]
    return pd.DataFrame(rows, columns=CELL + COMPUTED), notes


def item_causes(items_file: Path, readings_file: Path) -> pd.DataFrame:
    """The causes of every explained item of a run, see :func:`cause_table`; its index is ``item_id``."""
    items = tables.read_table(items_file, tables.ITEMS.only("item_id", "ground_truth")).set_index("item_id")
    columns = ("item_id", "target", "word_id", "probability", "left_out")
    readings = tables.read_table(readings_file, tables.READINGS.only(*columns))
    readings = readings[readings["target"].notna() & readings["left_out"].isna()]
    missing = readings.loc[~readings["item_id"].isin(items.index), "item_id"]
    if len(missing):
        raise InputError(
            f"{items_file}: column 'item_id' has no '{missing.iloc[0]}', which {readings_file} explains; delete the "
            "older of both files and run the workflow again"
        )
    truths = items["ground_truth"].reindex(readings["item_id"])
    rows = []
    columns_of_rows = (readings[name] for name in ("item_id", "target", "word_id", "probability"))
    for truth, item, target, word_id, probability in zip(truths, *columns_of_rows, strict=True):
        words = word_id[word_id >= 0].astype(int)  # special tokens have no word, nor have those of a prompt
        if truth is not None and words.max(initial=-1) >= len(truth):
            raise InputError(
                f"{readings_file}: column 'word_id' has {words.max()} for item '{item}', which has {len(truth)} "
                f"words in {items_file}; delete the older of both files and run the workflow again"
            )
        marked = 0 if truth is None else int(truth[words].sum())
        rows.append((len(words) - marked, marked, probability[int(target)]))
    return pd.DataFrame(rows, columns=CAUSES, index=readings["item_id"])


def _with_known_causes(
    explainers: Iterable[ExplainerScores], causes: np.ndarray, items: pd.DataFrame, files: list[Path]
) -> Iterator[ExplainerScores]:
    """The same; refuse an item with a score but without causes: its run's readings do not explain it."""
    for scores in explainers:
        unknown = ~np.isnan(scores.values).all(axis=0) & np.isnan(causes).any(axis=0)
        for seed, item in np.argwhere(unknown):
            raise InputError(
                f"{files[seed]}: column 'item_id' has no '{items['item_id'].iloc[item]}', which has scores; delete the "
                "file and the run's scores and run the workflow again"
            )
        yield scores


def _row(
    cell: dict[str, str],
    scores: tuple[np.ndarray, np.ndarray],
    causes: Sequence[np.ndarray],
    paired: bool,
    alpha: float,
    left_out: Counter,
) -> dict:
    """What a row says of its cell, from both levels' scores (seeds, units) and causes (seeds, units, causes).

    ``left_out`` counts notes.
    """
    splits, equal = [], []
    for a, b, causes_a, causes_b in zip(*scores, *causes, strict=True):
        known_a, known_b = ~np.isnan(a), ~np.isnan(b)
        if paired:
            known_a = known_b = known_a & known_b
        a, b, causes_a, causes_b = a[known_a], b[known_b], causes_a[known_a], causes_b[known_b]
        reason = _unfit(a, b, paired)
        if reason:
            left_out[
                f"dataset '{cell['dataset']}', metric '{cell['metric']}': no split of {{count}} runs, {reason}"
            ] += 1
            continue
        split = split_disparity(a, b, causes_a, causes_b, paired)
        splits.append(split)
        equal.append(_equal_tokens(a, b, causes_a, causes_b) if paired else (np.nan, np.nan))
        for cause in np.array(CAUSES)[~split.used]:
            about = f"dataset '{cell['dataset']}': {cause} has no coefficient in {{count}} splits and carries 0 there"
            left_out[f"{about}, since it does not vary apart from the group and the causes before it"] += 1
    if not splits:
        counts = ("seeds", *(name for name in COMPUTED if name.startswith("significant_")))
        return dict.fromkeys(COMPUTED, np.nan) | dict.fromkeys(counts, 0)
    return {
        "seeds": len(splits),
        "total": _mean([split.total for split in splits]),
        **dict(zip(CAUSES, np.mean([split.carried for split in splits], axis=0), strict=True)),
        "remaining": _mean([split.remaining for split in splits]),
        "significant_seeds": sum(split.p_total <= alpha for split in splits),
        "significant_seeds_remaining": sum(split.p_remaining <= alpha for split in splits),
        "significant_seeds_both": sum(max(split.p_total, split.p_remaining) <= alpha for split in splits),
        "pairs_equal": _mean([pairs for pairs, _ in equal]),
        "d_equal": _mean([d for _, d in equal]),
    }


def _unfit(a: np.ndarray, b: np.ndarray, paired: bool) -> str | None:
    """Why these scores cannot be split, if so."""
    if min(len(a), len(b)) < FEWEST:
        return f"which have fewer than {FEWEST} {'pairs' if paired else 'items of a group'} with scores"
    return "whose scores are constant" if np.ptp(a) == 0 and np.ptp(b) == 0 else None


def _equal_tokens(a: np.ndarray, b: np.ndarray, causes_a: np.ndarray, causes_b: np.ndarray) -> tuple[int, float]:
    """The number of pairs whose forms have equally many tokens, and their d; NaN without two, or where infinite."""
    tokens = [CAUSES.index("context_tokens"), CAUSES.index("ground_truth_tokens")]
    equal = causes_a[:, tokens].sum(axis=1) == causes_b[:, tokens].sum(axis=1)
    d = cohens_d(a[equal], b[equal]) if equal.sum() >= 2 else np.nan
    return int(equal.sum()), d if np.isfinite(d) else np.nan


def _mean(values: list[float]) -> float:
    """The mean of what is defined."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan

"""Change of decision: is a question of one form decided otherwise than one of the other, more often than by chance?

An unfair decision and an unequal explanation are different things. A metric of a decision says whether one group gets
it more often. Here it counts in which direction no decision goes: of each unit

- *changed* is the share of pairs of an answer to the one form and one to the other that decide otherwise;
- *by chance* is the same of two answers to one form, in the mean of both forms: draws of one form are the null;
- *beyond* is the one less the other, whose expectation is 0 where both forms are decided alike, and positive elsewhere.

What is beyond is skewed also where both forms are decided alike, so that the sign test of the other verdicts is none
for it. But then the draws of a question are exchangeable between its forms, which makes an exact test of the mean: with
draws exchanged at random within each question, how often is it as large (Phipson & Smyth 2010)? It takes draws that are
independent, and says that there are questions whose decision depends on the form. Answers without a decision are left
out; how often there is none is a metric (``no_decision``). Where draws are copies of each other, none of this is known:
a row is then not decidable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import scipy

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.contracts.results import DECISIONS
from evenlight.core.kinds import TEXT
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract
from evenlight.explainers.copies import is_repeated, why_answers_are_copies
from evenlight.statistics.analyses.base import Computed, Inputs, Judged
from evenlight.statistics.analyses.draws import between_and_within
from evenlight.statistics.arrays.blocks import row_blocks
from evenlight.statistics.arrays.mean import mean_limits
from evenlight.statistics.arrays.multiple_testing import holm
from evenlight.statistics.arrays.units import cluster_means, mean_of_known
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.files import Run, explainer_path
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import (
    HOLM,
    UNDECIDABLE,
    UNDECIDED,
    StudyScores,
    VerdictSettings,
    hypothesis_family,
)

CHANGES = "changes more often than by chance"
_NAMES = ["dataset", "model", "explainer", "factor", "level_a", "level_b"]


def change_of_decision(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How often the decision changes between two forms, and between two draws of one form.

    Args:
        a, b: decisions by number, float (…, draws, units), NaN where there is none; the numbers of draws may differ.

    Returns:
        Two shares of each unit, (…, units); NaN where a form has fewer than two decisions.

    >>> between, null = change_of_decision(np.array([[0.0], [0.0]]), np.array([[1.0], [0.0], [1.0]]))
    >>> between.round(3).tolist(), null.round(3).tolist()
    ([0.667], [0.333])
    """
    measures = between_and_within(a, b, size=lambda apart: np.abs(np.sign(apart)))
    return measures["absolute"], measures["null"]


def exchanged_p(a: np.ndarray, b: np.ndarray, draws: int, generator: np.random.Generator) -> float:
    """The p that decisions of both forms have one distribution in every unit, against more changes than by chance.

    Args:
        a, b: decisions by number, float (seeds, draws, units), NaN where there is none.
        draws: how many exchanges of draws within units; the p is at least one over their number and one.
        generator: of the exchanges.
    """
    pool, first = np.concatenate([a, b], axis=1), a.shape[1]
    known = ~np.isnan(pool)
    # The slots of the decisions that are there, first; as many in each exchange.
    slots, places = np.argsort(~known, axis=1, kind="stable"), np.arange(pool.shape[1])[:, None]
    is_there = places < known.sum(axis=1, keepdims=True)
    real, as_large = _mean_beyond(a, b), 0
    for rows in row_blocks(draws, pool.size):
        keys = np.where(known, generator.random((rows.stop - rows.start, *pool.shape)), np.inf)
        chosen = np.take_along_axis(np.broadcast_to(pool, keys.shape), np.argsort(keys, axis=2), axis=2)
        exchanged = np.full(keys.shape, np.nan)
        where = np.broadcast_to(slots, keys.shape)
        np.put_along_axis(exchanged, where, np.where(is_there, chosen, np.nan), axis=2)
        beyond = _mean_beyond(exchanged[:, :, :first], exchanged[:, :, first:])
        as_large += int((beyond >= real - 1e-12).sum())
    return (1 + as_large) / (1 + draws)


def _mean_beyond(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The mean over units of the mean over seeds of what is beyond chance, (…), from (…, seeds, draws, units)."""
    changed, null = change_of_decision(a, b)
    return mean_of_known(mean_of_known(changed - null, axis=-2), axis=-1)


def decision_table(study: StudyScores, judging: VerdictSettings, answers: Path) -> pd.DataFrame:
    """The change of decision of every model, explainer and pair of forms, in the contract ``DECISIONS``.

    Cells without a unit that has two decisions of either form give no row, nor do those whose units have several items
    of a form, as decisions have no mean. All are one family, with the level ``alpha`` beside that of the study's other
    verdicts, by Holm's method; primary ones and others are two. The difference has an interval for further questions.

    Args:
        study: whose units and items are compared, and the comparisons.
        judging: how verdicts follow.
        answers: the folder of the answers.
    """
    # Metrics are no part of this: what is named as primary of them is not asked here.
    primary = {column: names for column, names in judging.primary.items() if column != "metric"}
    judging = replace(judging, primary=primary)
    rows, decided = [], []
    for model in read_compared(study):
        items = pd.Index(model.items["item_id"])
        runs = [Run(model.dataset, model.model, seed) for seed in model.seeds]
        for explainer in study.explaining(model.dataset):
            codes, doubt = decision_codes([explainer_path(answers, run, explainer) for run in runs], items)
            names = {"dataset": model.dataset, "model": model.model, "explainer": explainer, "seeds": len(runs)}
            for design in model.designs:
                sides = (design.a, design.b)
                if design.paired and codes is not None and all(side.has_single_items for side in sides):
                    of_forms = _with_two_decisions(*(side.scores(codes) for side in sides))
                    if np.isnan(of_forms).all():
                        continue
                    row = _row(of_forms, design.numbered_clusters[0], judging, tuple(map(str, names.values())))
                    rows.append(names | design.comparison._asdict() | row | {"reason": doubt})
                    decided.append(of_forms)
    if not rows:
        return pd.DataFrame(columns=DECISIONS.schema.names)
    table = pd.DataFrame(rows)
    # So many that Holm's first step can find a row.
    exchanges = max(judging.bootstrap_draws, int(np.ceil(2 * len(rows) / judging.alpha)))
    generators = [generator_for(0, "exchanged", *map(str, row[_NAMES])) for _, row in table.iterrows()]
    table["p"] = [exchanged_p(a, b, exchanges, of) for (a, b), of in zip(decided, generators, strict=True)]
    smallest = np.array([smallest_exchanged_p(*both) for both in decided])
    table["family"] = [hypothesis_family(row, judging.primary, judging.noise) for row in rows]
    # A row without a verdict counts among the others.
    table["p"] = table["p"].where(table["reason"].isna(), 1.0)
    table["p_adjusted"] = table.groupby("family")["p"].transform(holm)
    size = table.groupby("family")["p"].transform("size")
    few = smallest > judging.alpha / size
    words = "so few draws have too few exchanges among " + size.astype(str) + " rows"
    table["reason"] = table["reason"].fillna(words.where(few))
    found = table["p_adjusted"] <= judging.alpha
    table["verdict"] = np.where(found, CHANGES, np.where(table["reason"].notna(), UNDECIDABLE, UNDECIDED))
    return table[DECISIONS.schema.names].astype({"reason": "str"})


def _with_two_decisions(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Decisions (2, seeds, draws, units) of both forms, NaN where one of them has fewer than two under a seed."""
    there = ~np.isnan(change_of_decision(a, b)[0])[:, None]
    return np.where(there, np.stack([a, b]), np.nan)


def smallest_exchanged_p(a: np.ndarray, b: np.ndarray) -> float:
    """The smallest p that exchanges of these decisions can have, float (seeds, draws, units) each.

    There are as many exchanges as ways to choose the decisions of one form. Where both have as many, two are alike.

    >>> round(smallest_exchanged_p(np.zeros((1, 2, 1)), np.ones((1, 2, 1))), 4)
    0.3333
    """
    size_a, size_b = ((~np.isnan(side)).sum(axis=1) for side in (a, b))
    ways = (
        scipy.special.gammaln(size_a + size_b + 1)
        - scipy.special.gammaln(size_a + 1)
        - scipy.special.gammaln(size_b + 1)
    )
    alike = np.where((size_a == size_b) & (size_a > 0), np.log(2), 0)
    return float(np.exp((alike - ways).sum()))


def _row(decisions: np.ndarray, cluster: np.ndarray, judging: VerdictSettings, seed: tuple[str, ...]) -> dict:
    """What a row says beside its verdict, of the decisions (2, seeds, draws, units) of both forms."""
    a, b = decisions
    changed, null = change_of_decision(a, b)
    beyond = cluster_means(mean_of_known(changed - null)[:, None], cluster)
    mean = mean_limits(beyond, judging.confidence, judging.bootstrap_draws, generator_for(0, "mean", *seed))
    ends = {"difference": mean.value[0], "difference_low": mean.low[0], "difference_high": mean.high[0]}
    return _shares(a, b, changed, null) | ends


def decision_codes(paths: Sequence[Path], items: pd.Index) -> tuple[np.ndarray | None, str | None]:
    """The decisions of the answers in some files, a file for each seed: a number for each different one.

    Returns:
        float (seeds, draws, items), NaN where there is no answer, no decision, or one that counts with another draw
        (:func:`evenlight.explainers.copies.is_repeated`); None where no answer has one. And why draws are taken for
        copies, None where they are not.
    """
    read = [
        tables.read_table(path, ANSWERS.only("item_id", "draw", "decision", "text", "temperature")) for path in paths
    ]
    doubt = next(filter(None, map(why_answers_are_copies, read)), None)
    read = [answers[~is_repeated(answers)].dropna(subset="decision") for answers in read]
    every = pd.concat(read)
    if every.empty:
        return None, None
    draws, decisions = (pd.Index(every[name].unique()) for name in ("draw", "decision"))
    codes = np.full((len(paths), len(draws), len(items)), np.nan)
    for seed, of_seed in enumerate(read):
        of_seed = of_seed[of_seed["item_id"].isin(items)]
        place = draws.get_indexer(of_seed["draw"]), items.get_indexer(of_seed["item_id"])
        codes[seed, *place] = decisions.get_indexer(of_seed["decision"])
    return codes, doubt


def _shares(a: np.ndarray, b: np.ndarray, between: np.ndarray, null: np.ndarray) -> dict[str, float]:
    """What a row says beside its verdict: means over units and seeds, of their decisions and both shares."""
    there = ~np.isnan(between)
    counts = {f"draws_{end}": (~np.isnan(side)).sum(axis=-2)[there].mean() for end, side in (("a", a), ("b", b))}
    of_seeds = [
        (seed[known].mean(), by_chance[known].mean())
        for seed, by_chance, known in zip(between, null, there, strict=True)
        if known.any()
    ]
    changed, by_chance = np.mean(of_seeds, axis=0)
    return {"units": int(there.any(axis=0).sum()), **counts, "changed": changed, "by_chance": by_chance}


class CompareDecisions(Judged):
    """Hold the change of decision between two forms against that between two answers to one form."""

    tables: ClassVar[Mapping[str, Contract]] = {"decisions": DECISIONS}
    modality: ClassVar[str] = TEXT
    folders: ClassVar[Sequence[str]] = ("answers", "scores", "datasets")
    minutes: ClassVar[int] = 30
    alone: ClassVar[bool] = True

    result: Literal["compare_decisions"]

    @classmethod
    def is_made(cls, study) -> bool:
        """Where answers in words are compared."""
        return bool(super().is_made(study) and study.comparisons_of(TEXT))

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of verdicts, but that no metric is part of them."""
        of_no_metric = {"smallest_effects": {}, "noise": [], "higher_is_better": {}, "adjustment": HOLM}
        return super().asked(study) | of_no_metric

    def compute(self, inputs: Inputs) -> Computed:
        """A row per model, explainer in words and pair of forms."""
        study = inputs.located(self.study)
        return Computed([decision_table(study, self.judging, inputs.folders["answers"])], score_notes(study))

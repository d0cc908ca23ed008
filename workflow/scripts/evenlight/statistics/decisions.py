"""Change of decision: is a question of one form decided otherwise than one of the other, more often than by chance?

An unfair decision and an unequal explanation are different things. A metric of a decision says whether one group gets
it more often. Here it counts in which direction no decision goes: of each unit

- *changed* is the share of pairs of an answer to the one form and one to the other that decide otherwise;
- *by chance* is the same of two answers to one form, in the mean of both forms: draws of one form are the null;
- *beyond* is the one less the other, whose expectation is 0 where both forms are decided alike, and positive elsewhere.

Both shares are the scores of two levels, as if they were forms: so verdicts follow from them as from all scores. They
are unbiased for two draws or more, whatever their number. For further answers of the model the jackknife over numbers
of draws comes on top (:func:`change_by_draw`), which takes three decisions on each form. Answers without a decision are
left out; how often there is none is a metric (``no_decision``). Where draws are copies of each other, none of this is
known: a row is then not decidable.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.contracts.results import DECISIONS
from evenlight.explainers.copies import is_repeated, why_answers_are_copies
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.compared import read_compared
from evenlight.statistics.designs import Design
from evenlight.statistics.draws import between_and_within
from evenlight.statistics.effects import gathered, pooled_rows, with_family_intervals
from evenlight.statistics.files import Run, explainer_path
from evenlight.statistics.study import DRAWS, TRAININGS, StudyScores, VerdictSettings
from evenlight.statistics.verdicts import check_level, hypothesis_family, judged

# What stands in the place of a metric's name.
CHANGE = "change of decision"


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


def change_by_draw(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the draws of each number add to both shares of :func:`change_of_decision`: values whose means these are.

    The pseudo-values of the jackknife (Tukey 1958): the share, and n − 1 times what it loses without the draws of this
    number on both forms, less the mean of that; n are the unit's numbers of draws. So the variance of their mean is the
    jackknife's of the share, with what the draws of one number have in common in all units.

    Args:
        a, b: as there, with as many draws.

    Returns:
        Two arrays (…, draws, units). NaN where a unit has no draw of this number, and in units of which some draw
        cannot be left out, as that leaves a form fewer than two decisions.

    >>> changed, _ = change_by_draw(np.array([[0.0], [0.0], [1.0]]), np.array([[1.0], [1.0], [1.0]]))
    >>> changed[:, 0].round(3).tolist()
    [1.0, 1.0, -0.0]
    """
    there = ~(np.isnan(a) & np.isnan(b))
    whole = np.stack(change_of_decision(a, b))
    left = []
    for number in range(a.shape[-2]):
        rest = [np.delete(side, number, axis=-2) for side in (a, b)]
        left.append(np.stack(change_of_decision(*rest)))
    lost = (there.sum(axis=-2, keepdims=True) - 1) * (whole[..., None, :] - np.stack(left, axis=-2))
    lost = np.where(there, lost, np.nan)
    lost[:, (np.isnan(lost[0]) & there).any(axis=-2, keepdims=True) & np.ones_like(there)] = np.nan
    mean = np.nansum(lost, axis=-2, keepdims=True) / np.maximum(there.sum(axis=-2, keepdims=True), 1)
    return tuple(whole[..., None, :] + lost - mean)


def decision_table(study: StudyScores, judging: VerdictSettings, answers: Path) -> pd.DataFrame:
    """The change of decision of every model, explainer and pair of forms, in the contract ``DECISIONS``.

    Cells without a unit that has two decisions of either form give no row, nor do those whose units have several items
    of a form, as decisions have no mean. All are one family, with the level ``alpha``
    for each kind of claim, beside that of the study's other verdicts; primary ones and others are two.

    Args:
        study: whose units and items are compared, and the comparisons.
        judging: how verdicts follow.
        answers: the folder of the answers.
    """
    check_level(judging.alpha, judging.bootstrap_draws)
    # Metrics are no part of this: what is named as primary of them is not asked here.
    primary = {column: names for column, names in judging.primary.items() if column != "metric"}
    judging = replace(judging, primary=primary, smallest_effects={}, reach={CHANGE: 1.0})
    shares, of_models = [], []
    for model in read_compared(study):
        items = pd.Index(model.items["item_id"])
        runs = [Run(model.dataset, model.model, seed) for seed in model.seeds]
        for explainer in study.explainers:
            codes, doubt = decision_codes([explainer_path(answers, run, explainer) for run in runs], items)
            names = (model.dataset, model.model, explainer, model.seeds)
            for design in model.designs:
                sides = (design.a, design.b)
                if design.paired and codes is not None and all(side.has_single_items for side in sides):
                    decided = [side.scores(codes) for side in sides]
                    changes = change_of_decision(*decided)
                    if not np.isnan(changes[0]).all():
                        shares.append(_shares(*decided, *changes))
                        by_draw = change_by_draw(*decided) if len(runs) == 1 else None
                        levels = as_levels(*names, *changes, design, by_draw, doubt)
                        of_models.append(pooled_rows(*levels, judging))
    rows, deviates = gathered(of_models)
    if not rows:
        return pd.DataFrame(columns=DECISIONS.schema.names)
    table = pd.DataFrame([row | share for row, share in zip(rows, shares, strict=True)])
    table["family"] = [hypothesis_family(row, judging.primary, judging.noise) for row in rows]
    table = with_family_intervals(judged(table, deviates, judging.alpha), judging.alpha)
    return table.reindex(columns=DECISIONS.schema.names).astype({"reason": "str"})


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


def as_levels(
    dataset: str,
    model: str,
    explainer: str,
    seeds: Sequence[int],
    between: np.ndarray,
    null: np.ndarray,
    design: Design,
    by_draw: tuple[np.ndarray, np.ndarray] | None = None,
    doubt: str | None = None,
) -> tuple[list[ExplainerScores], list[Design]]:
    """Both shares of each unit, (seeds, units), as the scores of two levels of its pair of forms.

    ``by_draw``: of a single seed, what :func:`change_by_draw` has, (1, draws, units). ``doubt``: why draws are
    taken for copies, see :func:`evenlight.explainers.copies.why_copies`.
    """
    units = np.arange(between.shape[1])
    values = np.concatenate([between, null], axis=1)
    repeated = DRAWS if len(seeds) == 1 else TRAININGS
    draws = None if by_draw is None else np.concatenate(by_draw, axis=-1)[None]
    # The standard deviation is that of the shares, as their draws are no scores.
    more = {"sd_of": values[None], "repeated": repeated, "draws": draws, "doubt": doubt}
    scores = ExplainerScores(dataset, model, explainer, seeds, [CHANGE], values[None], ~np.isnan(values), **more)
    sides = [
        replace(side, clusters=design.clusters[0], columns=first + units, unit_index=units, strata=None)
        for side, first in ((design.a, 0), (design.b, len(units)))
    ]
    return [scores], [replace(design, a=sides[0], b=sides[1])]


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

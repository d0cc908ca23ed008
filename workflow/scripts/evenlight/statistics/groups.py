"""Sets of more than two levels: is any of them explained better or worse, and which?"""

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import GROUP_PAIRS, GROUPS
from evenlight.core.errors import InputError
from evenlight.statistics.arrays.holm import holm
from evenlight.statistics.cells import ExplainerScores, ModelScores, read_models
from evenlight.statistics.designs import Side, side_of
from evenlight.statistics.disparity import with_adjusted_p
from evenlight.statistics.many_groups import dunn, friedman_p, kruskal_wallis, kruskal_wallis_within
from evenlight.statistics.rank_sum import van_elteren
from evenlight.statistics.rounding import settled
from evenlight.statistics.study import StudyScores, larger_sets_of

CELL = ["dataset", "model", "seed", "explainer", "metric", "factor", "groups"]
COLUMNS = [name for name in GROUPS.schema.names if not name.endswith(("_holm", "_bh"))]
LEAST = 5  # scores of a group: with fewer the chi-squared approximation of H does not hold
LEAST_CLUSTERS = 8  # of a group whose clusters have several scores: as many as a verdict takes


def group_tables(study: StudyScores) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """The Kruskal-Wallis tests of all sets of more than two levels, Dunn's tests, and notes.

    The first table has one row per
    dataset, model, seed, explainer, metric and set of levels, with p adjusted over all rows; the second one row for
    each pair of levels in it, with Holm's p over the pairs of its cell. Scores that differ by rounding only are equal.
    Units of one cluster depend on one another, others do not; so units that come in all levels, as the three forms of a
    sentence, which ``p_friedman`` compares within the ``blocks`` with every score defined (Friedman 1937); else it is
    NaN. Where a dataset is stratified, the same tests within strata stand beside them, which take units for
    independent; Friedman's then has the blocks that are in one stratum. A set is compared on the datasets that have at
    least three of its levels; levels with fewer than five defined scores, or with scores in fewer than eight clusters,
    are left out, with a note.
    :class:`InputError` where no dataset has three.
    """
    tests, pairs, notes = [], [], {}  # of notes the keys only: each once, in order
    for model in read_models(study):
        sets = larger_sets_of(model.comparisons)
        sides = [_sides(model, factor, levels) for factor, levels in sets]
        by_set = [([], []) for _ in sets]
        for explainer in model.explainers:
            for (factor, _), set_sides, rows in zip(sets, sides, by_set, strict=True):
                if len(set_sides) > 2:
                    _compare(explainer, factor, set_sides, *rows, notes)
        for set_tests, set_pairs in by_set:
            tests += set_tests
            pairs += set_pairs
    if not tests:
        listing = "; ".join(", ".join(levels) for _, levels in larger_sets_of(study.comparisons))
        raise InputError(
            f"configuration: 'statistics.compare' has sets of more than two levels ({listing}), and no dataset has "
            "three of one with five scores each; correct the names, explain more items, or name pairs"
        )
    table = with_adjusted_p(pd.DataFrame(tests, columns=COLUMNS), ["p", "p_friedman", "p_stratified"])
    return table[GROUPS.schema.names], pd.DataFrame(pairs, columns=GROUP_PAIRS.schema.names), list(notes)


def _sides(model: ModelScores, factor: str, levels: list[str]) -> dict[str, tuple[Side, pd.Index]]:
    """The units of each level that is there, and their names."""
    sides = {level: side_of(model.units, factor, level, model.items, model.strata) for level in levels}
    return {level: side for level, side in sides.items() if len(side[1]) >= model.smallest_group}


def _compare(
    scores: ExplainerScores,
    factor: str,
    sides: dict[str, tuple[Side, pd.Index]],
    tests: list[dict],
    pairs: list[dict],
    notes: dict[str, None],
) -> None:
    by_level = settled(*(side.scores(scores.values) for side, _ in sides.values()))
    for row, metric in enumerate(scores.metrics):
        for seed_index, seed in enumerate(scores.seeds):
            levels = {
                level: pd.DataFrame(
                    {
                        "score": of_level[row, seed_index],
                        "stratum": _strata(side, seed_index),
                        "cluster": side.clusters,
                    },
                    units,
                )
                for (level, (side, units)), of_level in zip(sides.items(), by_level, strict=True)
            }
            few = too_small(levels)
            kept = {level: part for level, part in levels.items() if level not in few}
            notes |= {f"dataset '{scores.dataset}', metric '{metric}': {said}": None for said in few.values()}
            if len(kept) > 2:
                names = (scores.dataset, scores.model, seed, scores.explainer, metric, factor, ", ".join(kept))
                cell = dict(zip(CELL, names, strict=True))
                tests.append(cell | _tested(kept))
                pairs += [cell | comparison for comparison in _compared(kept)]


def _strata(side: Side, seed_index: int) -> np.ndarray | float:
    return np.nan if side.strata is None else side.strata[seed_index]


def too_small(levels: dict[str, pd.DataFrame]) -> dict[str, str]:
    """The levels that are too small to be compared, and what is said of each.

    Clusters count where one has several scores of a level. The variance of few is known too badly, above all beside a
    group of many: of groups of 3, 3 and 30 clusters that are alike, 0.11 of the tests would be significant.
    """
    defined = {level: part[part["score"].notna()] for level, part in levels.items()}
    in_clusters = any(part["cluster"].duplicated().any() for part in defined.values())
    few = {level: f"fewer than {LEAST} scores" for level, part in defined.items() if len(part) < LEAST}
    for level, part in defined.items():
        if in_clusters and level not in few and part["cluster"].nunique() < LEAST_CLUSTERS:
            few[level] = f"scores in fewer than {LEAST_CLUSTERS} clusters"
    return {level: f"group '{level}' has {said} and is left out" for level, said in few.items()}


def _is_stratified(levels: dict[str, pd.DataFrame]) -> bool:
    return any(part["stratum"].notna().any() for part in levels.values())


def _tested(levels: dict[str, pd.DataFrame]) -> dict:
    """The tests of all levels together, from ``score``, ``stratum`` (NaN without strata) and ``cluster`` of units."""
    scores, clusters = ([part[name].to_numpy() for part in levels.values()] for name in ("score", "cluster"))
    test = kruskal_wallis(scores, clusters)
    cluster = next(iter(levels.values()))["cluster"]
    blocks = pd.concat([part["score"] for part in levels.values()], axis=1, join="inner").dropna()
    row = {
        "size": sum(int(part["score"].count()) for part in levels.values()),
        "h": test.h,
        "degrees": test.degrees,
        "p": test.p,
        "epsilon_squared": test.epsilon_squared,
        "blocks": len(blocks),
        "p_friedman": _friedman_p(blocks, cluster),
    }
    if not _is_stratified(levels):
        return row
    within = kruskal_wallis_within(scores, [part["stratum"].to_numpy() for part in levels.values()])
    strata = pd.concat([part["stratum"] for part in levels.values()], axis=1, join="inner").loc[blocks.index]
    whole = (strata.nunique(axis=1) == 1) & (strata.iloc[:, 0] >= 0)
    return row | {
        "h_stratified": within.h,
        "degrees_stratified": within.degrees,
        "p_stratified": within.p,
        "unused_stratified": within.unused,
        "p_friedman_stratified": _friedman_p(blocks[whole], cluster),
    }


def _friedman_p(blocks: pd.DataFrame, cluster: pd.Series) -> float:
    """Friedman's p of whole blocks, which are in these clusters; NaN below five."""
    return float("nan") if len(blocks) < LEAST else friedman_p(blocks.to_numpy(), cluster.loc[blocks.index])


def _compared(levels: dict[str, pd.DataFrame]) -> list[dict]:
    """Dunn's comparison of every pair of levels, and van Elteren's where there are strata."""
    names, parts = list(levels), list(levels.values())
    rows = [
        {
            "level_a": names[test.first],
            "level_b": names[test.second],
            "size_a": int(parts[test.first]["score"].count()),
            "size_b": int(parts[test.second]["score"].count()),
            "z": test.z,
            "p_dunn": test.p,
            "p_dunn_holm": test.p_holm,
        }
        for test in dunn([part["score"] for part in parts], [part["cluster"] for part in parts])
    ]
    if not _is_stratified(levels):
        return rows
    sides = [(levels[row["level_a"]], levels[row["level_b"]]) for row in rows]
    within = [van_elteren(*(side["score"] for side in both), *(side["stratum"] for side in both)) for both in sides]
    p = np.array([test.p.item() for test in within])
    return [
        row | {"p_stratified": p[place], "p_stratified_holm": p_holm, "cliffs_delta_stratified": test.delta.item()}
        for place, (row, test, p_holm) in enumerate(zip(rows, within, holm(p), strict=True))
    ]

"""How many comparisons the families of a study have, and with how few pairs nothing could be found in one.

Rules import this module, so that it waits for no library of statistics.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from evenlight.statistics.arrays.exact_tests import least_decided
from evenlight.statistics.comparisons.study import CONTROL, LEAST_TEXTS, StudyScores, hypothesis_family, pairs_of


def sizes_of_families(
    study: StudyScores, primary: Mapping[str, Collection[str]], noise: Collection[str]
) -> dict[str, int]:
    """How many comparisons each family has, where every dataset has all compared levels; none of strategies."""
    if study.strategies:
        return {}
    return Counter(
        hypothesis_family(
            {"dataset": dataset, "model": model, "explainer": explainer, "metric": metric, "factor": pair.factor},
            primary,
            noise,
        )
        for source in study.sources().values()
        for dataset in source.datasets
        for model in source.models_of(dataset)
        for explainer in source.explaining(dataset)
        for metric in source.metrics
        for pair in pairs_of(source.comparisons)
    )


def too_few_pairs(sizes: Mapping[str, int], pairs: Mapping[str, int | None], level: float) -> Iterator[str]:
    """What is said before a run, where a dataset is explained with too few pairs for any verdict, win what may.

    Args:
        sizes: of the families, by name.
        pairs: of each dataset the number that is drawn, None for all.
        level: of a family.
    """
    for family, size in sizes.items():
        least = least_decided(size, level)
        few = {name: count for name, count in pairs.items() if count is not None and count < least}
        if family != CONTROL and few:
            listed = ", ".join(f"'{name}' ({count})" for name, count in few.items())
            yield (
                f"explain.pairs: too few for a verdict among {size:,} comparisons of the family '{family}': {listed}. "
                f"Even where one group wins all pairs, {least} that are not tied are needed at the level {level:.2g}; "
                "explain more pairs, or name fewer comparisons as statistics.primary"
            )


def too_few_texts(texts: Mapping[str, int | None], groups: Mapping[str, int]) -> Iterator[str]:
    """What is said before a run, where a dataset without pairs is explained with too few texts for any verdict.

    Args:
        texts: of each dataset without pairs the number that is drawn, as many of each group; None for all.
        groups: how many are compared in each of them; none where none are.
    """
    for name, count in texts.items():
        needed = LEAST_TEXTS * groups.get(name, 0)
        if count is not None and count < needed:
            yield (
                f"explain.pairs: too few for a verdict on '{name}' ({count}). They are no pairs, and without pairs "
                f"{LEAST_TEXTS} texts of each group are needed; explain {needed:,} of it (explain.pairs_on)"
            )


def too_few_planned(sizes: Mapping[str, int], planned: Sequence[int], increments: Sequence[float]) -> Iterator[str]:
    """What is said before a run, where some interim analyses of a plan could find nothing, win what may.

    Args:
        sizes: of the families, by name.
        planned: how many pairs each analysis has.
        increments: the part of the level that each has to itself.
    """
    for family, size in sizes.items():
        # A part that is rounded to 0 needs even more.
        least = [least_decided(size, max(level, np.finfo(float).tiny)) for level in increments]
        few = [of for of in zip(planned, least, strict=True) if of[0] < of[1]]
        if family != CONTROL and few:
            listed = ", ".join(f"{pairs} (of at least {needed})" for pairs, needed in few)
            yield (
                f"statistics.looks: too few pairs for a verdict among {size:,} comparisons of the family '{family}': "
                f"{listed}. Even where one group wins all pairs, the part of the level that these analyses spend needs "
                "so many that are not tied; plan more pairs for them or leave them out, or name fewer comparisons as "
                "statistics.primary"
            )

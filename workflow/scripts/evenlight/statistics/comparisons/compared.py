"""Where the units come from that a study compares: the one place that knows which sources there are.

A source gives cells: arrays of repetitions by units, with clusters and strata. What reads them never asks which it was:

- forms of a pair, and groups of texts: the levels of a factor (:mod:`evenlight.statistics.comparisons.cells`);
- changes of a concept, which are items of their own: the same, of another modality (:meth:`StudyScores.sources`);
- models of one architecture that read the same texts: strategies (:mod:`evenlight.statistics.comparisons.strategies`).
"""

from collections.abc import Iterator
from dataclasses import replace

from evenlight.statistics.comparisons.cells import ModelScores
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.strategies import as_levels, read_strategies
from evenlight.statistics.comparisons.study import StudyScores


def read_first(study: StudyScores, units: int | None) -> Iterator[ModelScores]:
    """What a study compares, of so many units, the first ones; without a number of those of the present analysis."""
    return read_compared(study if units is None else replace(study, first=units))


def read_compared(study: StudyScores) -> Iterator[ModelScores]:
    """What a study compares: levels of texts or changes, or, where it names ``strategies``, strategies of
    architectures.

    Architectures with one strategy are left out.
    """
    if not study.strategies:
        yield from read_models(study)
        return
    compared = {architecture: models for architecture, models in study.strategies.items() if len(models) > 1}
    for of_strategies in read_strategies(replace(study, strategies=compared)):
        yield as_levels(of_strategies, study.claims)

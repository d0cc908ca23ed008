"""Where the units come from that a study compares: the one place that knows which sources there are.

A source gives cells: arrays of repetitions by units, with clusters and strata. What reads them never asks which it was:

- forms of a pair, and groups of texts: the levels of a factor (:mod:`evenlight.statistics.cells`);
- changes of a concept, which are items of their own: the same, of another modality (:meth:`StudyScores.sources`);
- models of one architecture that read the same texts: regimes (:mod:`evenlight.statistics.regimes`).
"""

from collections.abc import Iterator
from dataclasses import replace

from evenlight.statistics.cells import ModelScores, read_models
from evenlight.statistics.regimes import as_levels, read_regimes
from evenlight.statistics.study import StudyScores


def read_compared(study: StudyScores) -> Iterator[ModelScores]:
    """What a study compares: levels of texts or changes, or, where it names ``regimes``, regimes of architectures.

    Architectures with one regime are left out.
    """
    if study.regimes is None:
        yield from read_models(study)
        return
    compared = {architecture: models for architecture, models in study.regimes.items() if len(models) > 1}
    for of_regimes in read_regimes(replace(study, regimes=compared)):
        yield as_levels(of_regimes, study.claims)

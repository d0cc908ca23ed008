"""Who has the better score how often: a bar for each comparison of a table of scores, the largest surplus first."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from evenlight.core.contracts.results import EFFECTS
from evenlight.reports.verdict_bars import draw_verdict_bars
from evenlight.statistics.comparisons.study import MetricLabel

TABLE = EFFECTS
SHOWS = "Who has the better score how often?"


def draw_verdicts(effects: pd.DataFrame, metrics: dict[str, MetricLabel], title: str, **names: Mapping) -> Figure:
    """The bars of :func:`draw_verdict_bars`; of the ``names`` only those of metrics are more than the tables have."""
    return draw_verdict_bars(effects, metrics, title)

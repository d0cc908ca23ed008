"""Verdicts on a table of scores as a page and as a picture."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from evenlight.reports.html_table import Page
from evenlight.reports.pages import effects
from evenlight.reports.style import draw, our_look
from evenlight.reports.verdict_bars import draw_verdict_bars
from evenlight.reports.verdict_words import SCORED
from evenlight.statistics.comparisons.study import ALL, MetricLabel, VerdictSettings

TITLE = "Who has the better score how often?"


def verdict_page(
    verdicts: pd.DataFrame,
    counts: pd.DataFrame,
    notes: Sequence[str],
    metrics: dict[str, MetricLabel],
    settings: VerdictSettings,
) -> Page:
    """The page of effects of a study, of scores that nobody says to be those of explanations."""
    labels = {
        f"{name}s": {value: "–" if value == ALL else value for value in dict.fromkeys(verdicts[name])}
        for name in ("dataset", "model", "explainer")
    }
    how = {"as_often_bound": settings.as_often_bound, "confidence": settings.confidence, "words": SCORED}
    page = effects.page(verdicts, counts, **labels, metrics=metrics, **how)
    return replace(page, notes=[*page.notes, *notes])


def draw_verdicts(verdicts: pd.DataFrame, metrics: dict[str, MetricLabel], path: str | Path | None) -> Figure:
    """The figure of bars; written to ``path``, where one is given."""

    def make() -> Figure:
        return draw_verdict_bars(verdicts, metrics, TITLE)

    if path is not None:
        draw([path], make, TITLE)
    with our_look():
        return make()

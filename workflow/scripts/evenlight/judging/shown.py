"""Verdicts on a table of scores as a page and as a picture."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from evenlight.reports.html_table import Page
from evenlight.reports.page_parts import named
from evenlight.reports.pages import effects
from evenlight.reports.plots import verdicts as bars
from evenlight.reports.scored import scored_names
from evenlight.reports.style import draw, our_look
from evenlight.statistics.comparisons.study import VerdictSettings


def verdict_page(
    verdicts: pd.DataFrame,
    counts: pd.DataFrame,
    control: pd.DataFrame,
    notes: Sequence[str],
    settings: VerdictSettings,
) -> Page:
    """The page of effects of a study, of scores that nobody says to be those of explanations."""
    how = {"as_often_bound": settings.as_often_bound, "confidence": settings.confidence}
    page = effects.page(verdicts, counts, control, **named(scored_names(verdicts, _better(settings))), **how)
    return replace(page, notes=[*page.notes, *notes])


def draw_verdicts(verdicts: pd.DataFrame, settings: VerdictSettings, path: str | Path | None) -> Figure:
    """The figure of bars; written to ``path``, where one is given."""

    def make() -> Figure:
        return bars.draw_verdicts(verdicts, scored_names(verdicts, _better(settings))["metrics"], bars.SHOWS)

    if path is not None:
        draw([path], make, bars.SHOWS)
    with our_look():
        return make()


def _better(settings: VerdictSettings) -> dict[str, str]:
    """Of each metric which scores are better."""
    return {name: "higher" if higher else "lower" for name, higher in settings.higher_is_better.items()}

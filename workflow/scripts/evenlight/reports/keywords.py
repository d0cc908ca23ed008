"""The settings of a page or a figure as its keyword arguments."""

import pandas as pd

from evenlight.reports.scored import scored_names
from evenlight.statistics.comparisons.study import MetricLabel


def keywords(settings: dict, table: pd.DataFrame | None = None) -> dict:
    """``settings`` with a :class:`~evenlight.statistics.comparisons.study.MetricLabel` for each of ``metrics``, if
    there are any.

    A rule gives each metric as ``{"label": ..., "better": "higher"}``, or ``"lower"``; all else stays as it is. What it
    does not know of scores that were made elsewhere (``scored``), names and labels, are those of the ``table``.
    """
    if "scored" in settings:
        others = {name: value for name, value in settings.items() if name != "scored"}
        return others | scored_names(table, **settings["scored"])
    metrics = {
        name: MetricLabel(name, entry["label"], higher_is_better=entry["better"] == "higher")
        for name, entry in settings.get("metrics", {}).items()
    }
    return settings | ({"metrics": metrics} if metrics else {})

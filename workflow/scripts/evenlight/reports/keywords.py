"""The settings of a page or a figure as its keyword arguments."""

from evenlight.statistics.comparisons.study import MetricLabel


def keywords(settings: dict) -> dict:
    """``settings`` with a :class:`~evenlight.statistics.comparisons.study.MetricLabel` for each of ``metrics``, if
    there are any.

    A rule gives each metric as ``{"label": ..., "better": "higher"}``, or ``"lower"``; all else stays as it is.
    """
    metrics = {
        name: MetricLabel(name, entry["label"], higher_is_better=entry["better"] == "higher")
        for name, entry in settings.get("metrics", {}).items()
    }
    return settings | ({"metrics": metrics} if metrics else {})

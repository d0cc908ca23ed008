"""Names and labels of scores that were made elsewhere, which only their tables know."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evenlight.reports.verdict_words import SCORED
from evenlight.statistics.comparisons.study import ALL, MetricLabel

# In the place of what no column of the table says.
NOTHING = "–"


def scored_names(effects: pd.DataFrame, better: Mapping[str, str] | str, dataset: str = NOTHING) -> dict[str, Any]:
    """What pages and figures are told of verdicts on such scores: names, labels, and that scores win.

    Args:
        effects: rows of ``EFFECTS``.
        better: ``higher`` or ``lower``, of all metrics or by metric; the name of a column with scores is for all.
        dataset: what the only dataset is called, where no column says it.

    >>> row = {"dataset": "all", "model": "bert", "explainer": "all", "metric": "loss"}
    >>> told = scored_names(pd.DataFrame([row]), "lower", "mine")
    >>> told["datasets"], told["explainers"], told["metrics"]["loss"].higher_is_better
    ({'all': 'mine'}, {'all': '–'}, False)
    """
    labels = {"dataset": dataset, "model": NOTHING, "explainer": NOTHING}
    names = {
        f"{name}s": {value: label if value == ALL else value for value in dict.fromkeys(effects[name])}
        for name, label in labels.items()
    }
    metrics = list(dict.fromkeys(effects["metric"]))
    by_name = dict.fromkeys(metrics, better) if isinstance(better, str) else better
    of_all = next((way for name, way in by_name.items() if name not in metrics), "higher")
    ways = {name: by_name.get(name, of_all) for name in metrics}
    labelled = {name: MetricLabel(name, name, way == "higher") for name, way in ways.items()}
    return names | {"metrics": labelled, "words": SCORED}


def told_rows(corner: tuple[str, str], rows: list) -> tuple[tuple[str, ...], list]:
    """The headers and rows of a table (:class:`evenlight.reports.html_table.Table`) without headers that say nothing.

    >>> told_rows(("Model", "Explainer"), [("bert", [("–", ["M 9–1–0"])])])
    (('Model',), [('', [('bert', ['M 9–1–0'])])])
    >>> told_rows(("Model", "Explainer"), [("–", [("–", ["M 9–1–0"])])])
    (('Scores',), [('', [('all', ['M 9–1–0'])])])
    """
    groups, names = {group for group, _ in rows}, {name for _, of_group in rows for name, _ in of_group}
    if {NOTHING} not in (groups, names):
        return corner, rows
    place = 0 if names == {NOTHING} else 1
    lines = [((group, name)[place], cells) for group, of_group in rows for name, cells in of_group]
    if groups == names:
        return ("Scores",), [("", [("all", cells) for _, cells in lines])]
    return (corner[place],), [("", lines)]


def joined(*labels: str, by: str = " ") -> str:
    """Labels one after the other, without those that say nothing.

    >>> joined("bert", NOTHING, "mine", by=" / ")
    'bert / mine'
    """
    return by.join(label for label in labels if label not in ("", NOTHING))

"""What is said of the words on which a model relies; three tables beside the page have the numbers, and the words."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from evenlight.reports.index.comparisons import Judged
from evenlight.reports.index.found import Found
from evenlight.reports.text import signed
from evenlight.statistics.analyses.reliance import FIXED, REPEATED

# So many groups are all named in one sentence; of more, the two ends.
NAMED = 3


def describe_reliance(found: Found, judged: Judged, random: Collection[str]) -> list[dict]:
    """What is said of each model and dataset: ``place``, and of ``forms`` and ``names`` a sentence for each explainer.

    ``random`` are the explainers that know nothing, of which nothing is said.
    """
    told = []
    for dataset in judged.datasets:
        for model in judged.models:
            forms, names = (
                table[(table["dataset"] == dataset) & (table["model"] == model)].dropna(subset=known)
                for table, known in ((found["pair_invariance"], "distance"), (found["group_reliance"], "absolute"))
            )
            explainers = {name: label for name, label in judged.explainers.items() if name not in random}
            if len(forms) or len(names):
                told.append(
                    {
                        "place": judged.place(dataset, model),
                        "forms": [
                            _describe_forms(label, rows)
                            for name, label in explainers.items()
                            if len(rows := forms[forms["explainer"] == name])
                        ],
                        "names": [
                            _describe_names(label, rows)
                            for name, label in explainers.items()
                            for _, rows in names[names["explainer"] == name].groupby("factor", sort=False)
                        ],
                    }
                )
    return told


def _describe_forms(label: str, rows: pd.DataFrame) -> str:
    """One explainer over all pairs of groups; ``rows`` have a distance."""
    said = f"{label}: the forms are {_over_pairs(rows, 'distance')} apart"
    (null,) = rows["null"].unique()
    if null == FIXED:
        return f"{said}. Nothing is drawn by chance, so all of it comes from the words in which the forms differ."
    if null != REPEATED:
        return f"{said}. How much of it is chance is not known: no second explainer has these settings."
    beyond, low, high = (rows[f"beyond_null{end}"] for end in ("", "_low", "_high"))
    said += f", one text explained twice {_range(rows['null_distance'])}. "
    if len(rows) == 1:
        if low.item() > 0:
            return said + f"They differ more than chance makes them: by {_over_pairs(rows, 'beyond_null')}."
        if high.item() < 0:
            less = rows.assign(beyond_null=-beyond, beyond_null_low=-high, beyond_null_high=-low)
            return said + f"They differ less than chance makes them: by {_over_pairs(less, 'beyond_null')}."
        return said + f"That chance makes less is not shown: the difference is {_over_pairs(rows, 'beyond_null')}."
    return said + (
        f"The difference is {_range(beyond)}; in {int((low > 0).sum())} of {len(rows)} pairs of groups its interval is "
        "above 0."
    )


def _over_pairs(rows: pd.DataFrame, name: str) -> str:
    """A value with its interval; of several pairs of groups, the least and the most with their pairs."""
    if len(rows) == 1:
        return _value(next(rows.itertuples(index=False)), name)
    ordered = list(rows.sort_values(name, kind="stable").itertuples(index=False))
    ends = [f"{signed(getattr(row, name))} ({row.level_a} and {row.level_b})" for row in (ordered[0], ordered[-1])]
    return " to ".join(ends)


def _value(row, name: str) -> str:
    value, low, high = (getattr(row, f"{name}{end}") for end in ("", "_low", "_high"))
    return signed(value) + (f" ({signed(low)} to {signed(high)})" if np.isfinite(low) else "")


def _range(values: pd.Series) -> str:
    """From the smallest to the largest.

    >>> _range(pd.Series([0.2, 0.1])), _range(pd.Series([0.1, 0.101]))
    ('0.10 to 0.20', '0.10')
    """
    return " to ".join(dict.fromkeys((signed(values.min()), signed(values.max()))))


def _describe_names(label: str, rows: pd.DataFrame) -> str:
    """One explainer and attribute over its groups.

    >>> row = {"level": "male", "absolute": 0.3, "absolute_low": 0.2, "absolute_high": 0.4, "tokens": 0.1}
    >>> _describe_names("IG", pd.DataFrame([row]))
    'IG: the words that name the group have 30% of the scores in male texts (20% to 40%; they are 10% of the tokens).'
    """
    ordered = rows.sort_values("absolute", kind="stable")
    parts = []
    for row in (ordered.iloc[[0, -1]] if len(rows) > NAMED else ordered[::-1]).itertuples(index=False):
        interval = f"{row.absolute_low:.0%} to {row.absolute_high:.0%}; " if np.isfinite(row.absolute_low) else ""
        parts.append(
            f"{row.absolute:.0%} of the scores in {row.level} texts ({interval}they are {row.tokens:.0%} of the tokens)"
        )
    if len(rows) > NAMED:
        parts = [f"{part}, the {end}" for part, end in zip(parts, ("least", "most"), strict=True)]
    return f"{label}: the words that name the group have {'. They have '.join(parts)}."

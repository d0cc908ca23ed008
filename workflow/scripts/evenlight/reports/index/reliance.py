"""What is said of the words on which a model relies, as sentences and as numbers."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evenlight.reports.index.found import Found
from evenlight.reports.text import json_number, signed
from evenlight.statistics.reliance import FIXED, REPEATED
from evenlight.statistics.study import Comparison, comparisons_in, pairs_of

# So many words of an explainer and class are shown; tables/reliance.html has more, its CSV file all.
WORDS = 5
# So many groups are all named in one sentence; of more, the two ends.
NAMED = 3


def describe_reliance(
    found: Found,
    *,
    datasets: Mapping[str, str],
    models: Mapping[str, str],
    explainers: Mapping[str, str],
    comparisons: Mapping[str, list[list[str]]],
    random: list[str],
    confidence: float,
    words: bool,
) -> dict:
    """What is said of each model and dataset, as JSON values.

    Args:
        found: the tables.
        datasets, models, explainers: names to labels.
        comparisons: factors to pairs of levels.
        random: the explainers that know nothing, which stand in the tables only.
        confidence: of the intervals.
        words: whether words of the data may be told.
    """
    told = []
    for dataset, dataset_label in datasets.items():
        for model, model_label in models.items():
            parts = [
                table[(table["dataset"] == dataset) & (table["model"] == model)]
                for table in (found[name] for name in ("pair_invariance", "group_reliance", "words_by_group"))
            ]
            if any(len(part) for part in parts):
                forms, names, of_words = parts
                told.append(
                    {
                        "dataset": dataset_label,
                        "model": model_label,
                        "forms": _forms(forms, explainers, random, pairs_of(comparisons)),
                        "names": _names(names, explainers, random),
                        "words": _words(of_words, explainers, random) if words else [],
                    }
                )
    return {"confidence": confidence, "models": told}


# The forms of a text -------------------------------------------------------------------------------------------------


def _forms(rows: pd.DataFrame, explainers: Mapping[str, str], random: list[str], pairs: Sequence[Comparison]) -> dict:
    """How alike the forms of a text are explained: ``said``, a sentence or two per explainer, and ``rows``.

    ``compared`` are those of ``pairs``, of which the study has verdicts.
    """
    return {
        "said": [
            _describe_forms(label, part)
            for name, label in explainers.items()
            if name not in random and len(part := rows[rows["explainer"] == name].dropna(subset="distance"))
        ],
        "rows": [
            {
                "factor": row.factor,
                "levels": [row.level_a, row.level_b],
                "compared": pair in pairs,
                "explainer": explainers[row.explainer],
                "pairs": int(row.pairs),
                "words": json_number(row.words),
                "distance": _with_interval(row, "distance"),
                "null": None if row.null not in (REPEATED, FIXED) else row.null,
                "null_distance": json_number(row.null_distance),
                "beyond_null": _with_interval(row, "beyond_null"),
                "rank_correlation": _with_interval(row, "rank_correlation"),
                "null_rank_correlation": json_number(row.null_rank_correlation),
            }
            for pair in comparisons_in(rows)
            for row in pair.rows(rows).itertuples(index=False)
        ],
    }


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


# The words that name the group ---------------------------------------------------------------------------------------


def _names(rows: pd.DataFrame, explainers: Mapping[str, str], random: list[str]) -> dict:
    """What share of the scores the words that name the group have: ``said`` and ``rows``."""
    known = rows.dropna(subset="absolute")
    return {
        "said": [
            _describe_names(label, part)
            for name, label in explainers.items()
            if name not in random
            for _, part in known[known["explainer"] == name].groupby("factor", sort=False)
        ],
        "rows": [
            {
                "factor": row.factor,
                "level": row.level,
                "explainer": explainers[row.explainer],
                "texts": int(row.texts),
                "tokens": json_number(row.tokens),
                "absolute": _with_interval(row, "absolute"),
                "signed": _with_interval(row, "signed"),
            }
            for row in rows.itertuples(index=False)
        ],
    }


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


# All words -----------------------------------------------------------------------------------------------------------


def _words(rows: pd.DataFrame, explainers: Mapping[str, str], random: list[str]) -> list[dict]:
    """Of each explainer, attribute and explained class the words with the largest mean shares, by group."""
    told = []
    for name, label in explainers.items():
        part = rows[(rows["explainer"] == name) & (name not in random)].dropna(subset="share")
        for (factor, of_class), cell in part.groupby(["factor", "class"], sort=False):
            levels = list(part.loc[part["factor"] == factor, "level"].unique())
            largest = cell["share"].abs().groupby(cell["word"]).max().sort_values(ascending=False, kind="stable")
            by_word = {(row.word, row.level): row for row in cell.itertuples(index=False)}
            lines = [
                {
                    "word": word,
                    "shares": [
                        _with_interval(row, "share") | {"texts": int(row.texts)} if row else None
                        for row in (by_word.get((word, level)) for level in levels)
                    ],
                }
                for word in largest.index[:WORDS]
            ]
            told.append({"explainer": label, "factor": factor, "class": of_class, "levels": levels, "words": lines})
    return told


def _with_interval(row, name: str) -> dict:
    return {end or "mean": json_number(getattr(row, f"{name}{'_' if end else ''}{end}")) for end in ("", "low", "high")}

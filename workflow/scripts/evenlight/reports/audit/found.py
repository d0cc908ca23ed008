"""What an audit says of comparisons: who is explained better more often, who makes it, and what is open.

Sentences are put together here, so that the page, the section of a model card and the file for programs say the same
words, of explanations of texts as of answers in words.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenlight.reports.scored import joined
from evenlight.reports.text import json_number, signed
from evenlight.reports.verdict_words import Words, by_sign, capitalised, describe_counts, sentences, won
from evenlight.statistics.beyond_random import EXPLAINED_AWAY, EXPLAINER, MODEL, PERSISTS, REVERSED
from evenlight.statistics.cells import CELL
from evenlight.statistics.families import EXPLORATORY, PRIMARY, STUDY
from evenlight.statistics.study import AS_OFTEN, UNDECIDABLE, UNDECIDED, MetricLabel
from evenlight.statistics.wins import TEXTS

NOT_NAMED = "The study did not name this comparison beforehand: look at other texts before you rely on it."
# A verdict that names a group, whichever it is.
MORE_OFTEN = "more often"
# What comparisons of a family are called.
KINDS = {PRIMARY: "primary ", STUDY: "", EXPLORATORY: "exploratory "}
# Comparisons that are not decidable are named where they are no more.
NAMED = 3
# Means that differ by less are equal.
ROUNDING = 1e-9
# What becomes of a verdict beyond random explanations, where it is not known what is attainable.
OUTCOMES = {
    PERSISTS: "It is there beyond random explanations, too. What is attainable by this metric is not known, so the "
    "model may make it still.",
    EXPLAINED_AWAY: "Beyond random explanations both groups are better as often: texts and model make it, whatever "
    "explains.",
    REVERSED: "Beyond random explanations it is reversed: the explainer works against it.",
    UNDECIDED: "Whether it is there beyond random explanations is undecided.",
    UNDECIDABLE: "Whether it is there beyond random explanations cannot be decided with these texts.",
}
# Who makes it, by both references.
MAKERS = {
    MODEL: "So the model, or the metric, makes it: the explainer reaches no more of that for this group more often.",
    EXPLAINER: "So the explainer has a part in it: it reaches more of that for this group more often.",
    UNDECIDED: "Whether the model or the explainer makes it is undecided.",
    UNDECIDABLE: "Whether the model or the explainer makes it cannot be decided with these texts.",
}
_REACHES = Words("reaches more of what is attainable beyond random explanations", "less", "")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How a study was judged, and what readers are told in place of names.

    Attributes:
        datasets, models, explainers, metrics: names to labels.
        counts: rows of ``EFFECT_COUNTS``.
        sizes: of each family, how many comparisons the whole study has.
        as_often_bound: the largest net benefit that is *as often*.
        power: the probability with which it is to be found.
    """

    datasets: Mapping[str, str]
    models: Mapping[str, str]
    explainers: Mapping[str, str]
    metrics: Mapping[str, MetricLabel]
    counts: pd.DataFrame
    sizes: Mapping[str, int]
    as_often_bound: float
    power: float


def json_row(row: Any, leave_out: Sequence[str] = CELL) -> dict[str, Any]:
    """A row of a table as JSON values, under the names of its contract.

    >>> json_row(pd.Series({"side": np.int64(1), "p": 1 / 3, "look": None, "metric": "gini"}))
    {'side': 1, 'p': 0.333333, 'look': None}
    """
    fields = row.to_dict() if isinstance(row, pd.Series) else row._asdict()
    return {name: _json(value) for name, value in fields.items() if name not in leave_out}


def _json(value: Any) -> Any:
    if pd.isna(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return json_number(value) if isinstance(value, float) else value


# The version of what an audit says for programs (``workflow/schemas/audit.schema.yaml``).
VERSION = 1
# What of a row of the effects an audit says for programs of every comparison, in the names of its contract.
COMPARED = [*CELL, "family", "verdict", "side", "reason", "unit", "units_a", "units_b", "wins", "losses", "ties"]
COMPARED += ["share", "family_low", "family_high", "net_benefit", "p_adjusted", "level"]


def comparisons_told(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """Every comparison, those that are open among them, as JSON values."""
    return [json_row(row, ()) for row in cells[COMPARED].itertuples(index=False)]


# How many -------------------------------------------------------------------------------------------------------------


def verdicts_told(
    cells: pd.DataFrame,
    judged: Judged,
    findings: Sequence[Mapping] = (),
    hoped: str = "explanations are equally good",
) -> dict:
    """The verdicts of some comparisons: their ``counts``, the same by sign (``signs``), and in words (``said``).

    Args:
        cells: their rows of the effects.
        judged: how the study was judged.
        findings: what is told of those that name a group.
        hoped: what is not shown where nothing is decided.
    """
    verdicts = cells["verdict"]
    counts = {
        "asked": len(cells),
        MORE_OFTEN: int((cells["side"] != 0).sum()),
        **{verdict: int((verdicts == verdict).sum()) for verdict in (AS_OFTEN, UNDECIDED, UNDECIDABLE)},
    }
    still_open = counts[UNDECIDED] + counts[UNDECIDABLE]
    said = [
        describe_counts(cells[cells["family"] == family], judged.counts, kind)
        for family, kind in KINDS.items()
        if family in set(cells["family"])
    ]
    if still_open == len(cells):
        said.append(f"{'Each' if still_open > 1 else 'It'} is open, which does not show that {hoped}.")
    else:
        said.append(
            f"A verdict names a group in {counts[MORE_OFTEN]:,}, says that both are better as often in "
            f"{counts[AS_OFTEN]:,}, and {still_open:,} {'is' if still_open == 1 else 'are'} open."
        )
    makers = Counter(filter(None, ((each["beyond_random"] or {}).get("made_by") for each in findings)))
    if makers:
        unknown = makers[UNDECIDED] + makers[UNDECIDABLE]
        said.append(
            f"Who makes it is asked of {makers.total():,} of those that name a group: the model, or the metric, makes "
            f"{makers[MODEL]:,}, the explainer has a part in {makers[EXPLAINER]:,}, and {unknown:,} "
            f"{'is' if unknown == 1 else 'are'} open."
        )
    return {"counts": counts, "signs": by_sign(cells), "said": " ".join(said)}


# Which ----------------------------------------------------------------------------------------------------------------


def told_of_comparison(
    cells: pd.DataFrame,
    judged: Judged,
    beyond_random: pd.DataFrame | None,
    needed: pd.DataFrame,
    different: Sequence[int] | None = None,
) -> dict:
    """What is said of one model on one dataset and two levels.

    Args:
        cells: their rows of the effects.
        judged: how the study was judged.
        beyond_random: the table of that; None where no explainer is random.
        needed: of the open ones, how many texts would decide them.
        different: how many of the pairs, or of either group's texts, are different ones, where there are copies.
    """
    first = cells.iloc[0]
    found = cells[cells["side"] != 0].sort_values("p_adjusted", kind="stable")
    held = _held(beyond_random)
    findings = [_finding(row, judged, held, different) for row in found.itertuples(index=False)]
    return {
        "dataset": judged.datasets[first["dataset"]],
        "model": judged.models[first["model"]],
        "factor": first["factor"],
        "levels": [first["level_a"], first["level_b"]],
        "units": sorted({_units(row, different) for row in cells.itertuples(index=False)}),
        **verdicts_told(cells, judged, findings),
        "findings": findings,
        "open": open_comparisons(needed, judged, different)
        + undecidable_comparisons(cells[cells["verdict"] == UNDECIDABLE], judged),
    }


def _held(beyond_random: pd.DataFrame | None) -> dict[tuple, Any]:
    """The row of each cell in the table beyond random; empty where no explainer is random."""
    if beyond_random is None:
        return {}
    return {tuple(row[name] for name in CELL): row for _, row in beyond_random.iterrows()}


def _finding(row, judged: Judged, held: Mapping[tuple, Any], different: Sequence[int] | None) -> dict:
    """One comparison in which a verdict names a group: its row, what is beyond random, and sentences."""
    metric, explainer = judged.metrics[row.metric], judged.explainers[row.explainer]
    better, worse = (row.level_a, row.level_b) if row.side > 0 else (row.level_b, row.level_a)
    of = held.get(tuple(getattr(row, name) for name in CELL))
    said = sentences(row, judged.sizes[row.family])
    parts = 1 + bool(row.apart)
    headline = f"{metric.label} of {explainer}: {said[0][:1].lower()}{' '.join(said[:parts])[1:]}"
    rests_on = f"This rests on {_units(row, different)}." if different else ""
    behind = [rests_on, *said[parts:], NOT_NAMED * (row.family == EXPLORATORY)]
    if of is not None:
        behind += [_describe_maker(row, of), _no_better_than_random(row, of, metric, explainer)]
    behind = " ".join(filter(None, behind))
    return {
        **json_row(row, ()),
        "explainer_label": explainer,
        "metric_label": metric.label,
        "better": better,
        "worse": worse,
        "units": _units(row, different),
        "beyond_random": None if of is None else json_row(of),
        "headline": headline,
        "behind": behind,
        "said": f"{headline} {behind}",
    }


def _describe_maker(row, held: pd.Series) -> str:
    """Who makes it, as far as the references tell: random explanations, and the best attainable ones."""
    if pd.isna(held["made_by"]):
        return OUTCOMES.get(held["outcome"], "")
    (a, low_a, high_a), (b, low_b, high_b) = (
        [signed(held[f"{of}_{end}"]) for of in ("score", "random", "upper_bound")] for end in "ab"
    )
    own = [held[f"own_{of}"] for of in ("wins", "losses", "ties", "share")]
    reached = won((row.level_a, row.level_b), *own, row.unit, _REACHES)
    return (
        f"On average {row.level_a} texts have {a}, where random explanations have {low_a} and {high_a} is attainable, "
        f"and {row.level_b} texts {b}, where random ones have {low_b} and {high_b} is attainable. "
        f"{capitalised(reached)}. {MAKERS[held['made_by']]}"
    )


def _no_better_than_random(row, held: pd.Series, metric: MetricLabel, explainer: str) -> str:
    """For which of both groups an explanation says no more than a random one, on average; nothing where it does."""
    sign = 1 if metric.higher_is_better else -1
    ahead = {
        level: sign * (held[f"score_{end}"] - held[f"random_{end}"])
        for level, end in ((row.level_a, "a"), (row.level_b, "b"))
    }
    groups = " and ".join(level for level, by in ahead.items() if by <= ROUNDING)
    return f"Of {groups} texts {explainer} is no better than random explanations are, on average." if groups else ""


def _units(row, different: Sequence[int] | None) -> str:
    """On what a comparison rests."""
    texts = f"{row.units_a:,} and {row.units_b:,} texts"
    return (texts if row.unit == TEXTS else f"{row.units_a:,} {row.unit}") + _copies_in(different)


def _copies_in(different: Sequence[int] | None) -> str:
    """How many are different, where there are copies: equal texts are one cluster, and tell no more than one.

    >>> _copies_in((5, 6)), _copies_in(None)
    (' (5 and 6 different ones)', '')
    """
    return f" ({' and '.join(f'{count:,}' for count in different)} different ones)" if different else ""


# What is open ---------------------------------------------------------------------------------------------------------


def open_comparisons(needed: pd.DataFrame, judged: Judged, different: Sequence[int] | None) -> list[str]:
    """What these pairs or texts would find, and how many would find the net benefit that counts as *as often*."""
    if needed.empty:
        return []
    said = f"{number(len(needed), 'comparison')} {'is' if len(needed) == 1 else 'are'} open."
    paired = bool(needed["paired"].iloc[0])
    what, of = ("pairs", "pairs") if paired else ("texts of the smaller group", "draws of two texts")
    shown = 100 * needed["detectable"][needed["detectable"] <= 1]
    with_these = f"{int(needed['units'].median()):,} {what}{_copies_in(different and [min(different)])}"
    found = f"is found with a probability of {judged.power:.0%}"
    if shown.empty:
        said += f" With {with_these} no surplus of wins {found}."
    else:
        ends = dict.fromkeys(f"{end:.0f}" for end in (shown.min(), shown.max()))
        span = f" (median; {' to '.join(ends)})" if len(ends) > 1 else ""
        said += f" With {with_these} a surplus of wins of {shown.median():.0f} of 100 {of}{span} {found}."
    known = needed.dropna(subset="needed")
    if flat := len(needed) - len(known):
        said += f" In {flat:,} too few pairs differ by more than the margin, and no number of pairs is told."
    if known.empty:
        return [said]
    wanted = f"a surplus of {100 * judged.as_often_bound:.0f} of 100, the largest that is “as often”,"
    if not (known["needed"] > known["units"]).any():
        return [f"{said} For {wanted} these are enough: what is undecided may be a smaller one."]
    first, last = _rounded(known["needed"].median()), _rounded(known["needed"].max())
    half = f" for half of them, and {last:,} for all" if last > first else ""
    others = "" if paired else ", and as many of the other group"
    return [f"{said} For {wanted} it takes about {first:,} {what}{half}{others}."]


def _rounded(count: float) -> int:
    """Two digits, upwards: more would say that this is known exactly.

    >>> _rounded(24), _rounded(1234), _rounded(99.5)
    (24, 1300, 100)
    """
    unit = 10 ** max(0, len(str(int(np.ceil(count)))) - 2)
    return int(-(-np.ceil(count) // unit) * unit)


def undecidable_comparisons(cells: pd.DataFrame, judged: Judged) -> list[str]:
    """Why comparisons are not decidable, the same reason once for all numbers of units and comparisons."""
    parts = cells["reason"].str.extract(r"^(?P<units>\d+)? ?(?P<reason>.*?)(?: among \d+ comparisons)?$")
    told = []
    for reason, part in parts.groupby("reason", sort=False):
        units = sorted(part["units"].dropna().astype(int).unique())
        few = " to ".join(str(count) for count in dict.fromkeys((units[0], units[-1]))) + " " if units else ""
        asked = [
            joined(judged.metrics[row.metric].label, judged.explainers[row.explainer], by=" of ")
            for row in cells.loc[part.index].itertuples()
        ]
        which = f" ({', '.join(asked)})" * (len(asked) <= NAMED)
        many = f"{number(len(part), 'comparison')} {'is' if len(part) == 1 else 'are'}"
        told.append(f"{many} not decidable{which}: {few}{reason}.")
    return told


def number(count: int, what: str) -> str:
    """So many of something.

    >>> number(1, "text"), number(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"

"""What is said of every comparison: its row, how often which group is better, who makes it, and what is left out.

The page and the file for programs say the same words, of explanations of texts as of answers in words.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenlight.reports.index.found import Found
from evenlight.reports.scored import NOTHING, joined
from evenlight.reports.text import json_number, percent, signed, three_digits
from evenlight.reports.verdict_words import (
    EXPLAINED,
    HIGHER,
    LOWER,
    SCORED,
    Words,
    capitalised,
    difference_of,
    numbers_of,
    reasons,
    sentences,
    without_seeds,
    won,
    won_of_hundred,
)
from evenlight.statistics.analyses.beyond_random import EXPLAINED_AWAY, EXPLAINER, MODEL, PERSISTS, REVERSED
from evenlight.statistics.comparisons.cells import CELL
from evenlight.statistics.comparisons.study import EXPLORATORY, UNDECIDABLE, UNDECIDED, Comparison, MetricLabel
from evenlight.statistics.comparisons.wins import ALONE

NOT_NAMED = "The study did not name this comparison beforehand: look at other texts before you rely on it."
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
# What of a row of the null of draws a program is told.
_OF_DRAWS = ("absolute", "null", "beyond", "beyond_low", "beyond_high")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How a study was judged, and what readers are told in place of names.

    Attributes:
        datasets, models, explainers, metrics: names to labels.
        in_words: the explainers that answer in words.
        words: how a group wins by the others.
        sizes: of each family, how many comparisons the whole study has.
        as_often_bound: the largest net benefit that is *as often*.
        power: the probability with which it is to be found.
        guessing: dataset and model of those that are not shown to be better than guessing.
    """

    datasets: Mapping[str, str]
    models: Mapping[str, str]
    explainers: Mapping[str, str]
    metrics: Mapping[str, MetricLabel]
    in_words: Collection[str] = ()
    words: Words = EXPLAINED
    sizes: Mapping[str, int]
    as_often_bound: float
    power: float
    guessing: Collection[tuple[str, str]] = ()

    def words_of(self, row: Any) -> Words:
        """How a group wins in a row of the effects; of answers, which have a style, by the direction of the metric."""
        if row.explainer not in self.in_words:
            return self.words
        return HIGHER if self.metrics[row.metric].higher_is_better else LOWER

    @property
    def texts(self) -> str:
        """What is compared, in a word."""
        return "units" if self.words == SCORED else "texts"

    def question(self, row: Any) -> str:
        """What is asked in a row of the effects."""
        return joined(self.metrics[row.metric].label_with_direction, self.explainers[row.explainer], by=" of ")

    def place(self, dataset: str, model: str, *levels: str) -> str:
        """Of what it is asked."""
        return joined(
            joined(self.models[model], self.datasets[dataset], by=" on "), " and ".join(levels) or NOTHING, by=": "
        )


def json_row(row: Any, leave_out: Sequence[str] = ()) -> dict[str, Any]:
    """A row of a table as JSON values, under the names of its contract.

    >>> json_row(pd.Series({"side": np.int64(1), "p": 1 / 3, "look": None, "metric": "gini"}), ["metric"])
    {'side': 1, 'p': 0.333333, 'look': None}
    """
    fields = row.to_dict() if isinstance(row, pd.Series) else row._asdict()
    return {name: _json(value) for name, value in fields.items() if name not in leave_out}


def _json(value: Any) -> Any:
    if pd.isna(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return json_number(value) if isinstance(value, float) else value


def number(count: int, what: str) -> str:
    """So many of something.

    >>> number(1, "text"), number(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def tell_comparisons(effects: pd.DataFrame, judged: Judged, found: Found) -> list[dict[str, Any]]:
    """Every row of the effects as JSON values, in their order, with what is beyond random, draws, and ``said``."""
    beyond, draws = (_by_cell(found[name]) for name in ("beyond_random", "draws"))
    copies = different_texts(found)
    once = found["answered"].loc[found["answered"]["once"] > 0, ["dataset", "model", "explainer"]]
    asked_once = set(once.itertuples(index=False, name=None))
    return [
        _tell(
            row,
            judged,
            beyond.get(row[: len(CELL)]),
            draws.get(row[: len(CELL)]),
            copies.get((row.dataset, row.factor, row.level_a, row.level_b)),
            row[:3] in asked_once,
        )
        for row in effects[[*CELL, *(name for name in effects if name not in CELL)]].itertuples(index=False)
    ]


def _by_cell(table: pd.DataFrame) -> dict[tuple, Any]:
    return {tuple(getattr(row, name) for name in CELL): row for row in table.itertuples(index=False)}


def different_texts(found: Found) -> dict[tuple, tuple[int, ...]]:
    """Different texts of either level, or different pairs, by dataset, factor and levels, where there are copies."""
    return {
        (row.dataset, row.factor, row.level_a, row.level_b): (row.different_a, row.different_b)[
            : 1 if row.paired else 2
        ]
        for row in found["different_texts"].itertuples(index=False)
    }


def _tell(row: Any, judged: Judged, beyond: Any, draws: Any, copies: Sequence[int] | None, once: bool) -> dict:
    of_random = [] if beyond is None or not row.side else [_describe_maker(row, beyond)]
    if of_random:
        of_random.append(
            _no_better_than_random(row, beyond, judged.metrics[row.metric], judged.explainers[row.explainer])
        )
    said = [
        *sentences(row, judged.sizes[row.family], judged.words_of(row)),
        f"This rests on {units_of(row, copies)}." if copies else "",
        _left_out(row),
        _describe_draws(draws, once) if row.explainer in judged.in_words else "",
        *of_random,
        NOT_NAMED if row.side and row.family == EXPLORATORY else "",
    ]
    return {
        **json_row(row),
        "question": judged.question(row),
        "place": judged.place(row.dataset, row.model, row.level_a, row.level_b),
        "counts": numbers_of(row.wins, row.losses, row.ties, row.share),
        "won": won_of_hundred(row.share, row.family_low, row.family_high),
        "mean": difference_of(row),
        "units": units_of(row, copies),
        "beyond_random": None if beyond is None else json_row(beyond, CELL),
        "draws": None if draws is None else {name: json_number(getattr(draws, name)) for name in _OF_DRAWS},
        "said": [text for text in said if text],
    }


def _left_out(row: Any) -> str:
    """Which units and seeds of a comparison do not count, and why; empty where all do."""
    one, other = row.left_out_a, row.left_out_b
    said = ""
    if one or other:
        what = f"{number(one, 'pair')}" if row.paired else f"{one:,} and {other:,} {row.unit}"
        said = f"Left out is what has no score: {what}."
    return said + without_seeds(row)


def _describe_draws(draws: Any, once: bool) -> str:
    """How far two answers to one form differ; nothing where a score is of all answers to a question."""
    if draws is None or pd.isna(draws.null):
        unknown = (
            "How far two answers to one question differ is not known, since no question has two answers to either form."
        )
        return unknown if once else ""
    return (
        f"An answer to one form and one to the other differ by {three_digits(draws.absolute)} on average, and two "
        f"answers to one form by {three_digits(draws.null)}."
    )


def _describe_maker(row: Any, held: Any) -> str:
    """Who makes it, as far as the references tell: random explanations, and the best attainable ones."""
    if pd.isna(held.made_by):
        return OUTCOMES.get(held.outcome, "")
    (a, low_a, high_a), (b, low_b, high_b) = (
        [signed(getattr(held, f"{of}_{end}")) for of in ("score", "random", "upper_bound")] for end in "ab"
    )
    if pd.isna(held.own_verdict):
        reached = (
            f"For {row.level_b if row.side > 0 else row.level_a} texts nothing beyond random explanations is attainable"
        )
        maker = "So the model, or the metric, makes it: no explainer could do better for this group."
    else:
        own = [getattr(held, f"own_{of}") for of in ("wins", "losses", "ties", "share")]
        reached = capitalised(won((row.level_a, row.level_b), *own, row.unit, _REACHES))
        maker = MAKERS[held.made_by]
    return (
        f"On average {row.level_a} texts have {a}, where random explanations have {low_a} and {high_a} is attainable, "
        f"and {row.level_b} texts {b}, where random ones have {low_b} and {high_b} is attainable. "
        f"{reached}. {maker}"
    )


def _no_better_than_random(row: Any, held: Any, metric: MetricLabel, explainer: str) -> str:
    """For which of both groups an explanation says no more than a random one, on average; nothing where it does."""
    sign = 1 if metric.higher_is_better else -1
    ahead = {
        level: sign * (getattr(held, f"score_{end}") - getattr(held, f"random_{end}"))
        for level, end in ((row.level_a, "a"), (row.level_b, "b"))
    }
    groups = " and ".join(level for level, by in ahead.items() if by <= ROUNDING)
    return f"Of {groups} texts {explainer} is no better than random explanations are, on average." if groups else ""


def units_of(row: Any, copies: Sequence[int] | None) -> str:
    """On what a comparison rests."""
    both = f"{row.units_a:,} and {row.units_b:,}" if row.unit in ALONE else f"{row.units_a:,}"
    return f"{both} {row.unit}{copies_in(copies)}"


def copies_in(different: Sequence[int] | None) -> str:
    """How many are different, where there are copies: equal texts are one cluster, and tell no more than one.

    >>> copies_in((5, 6)), copies_in(None)
    (' (5 and 6 different ones)', '')
    """
    return f" ({' and '.join(f'{count:,}' for count in different)} different ones)" if different else ""


# The same of all comparisons of a model, a dataset and two groups -----------------------------------------------------

PLACE = ["dataset", "model", *Comparison._fields]
# Comparisons that are not decidable are named where they are no more.
NAMED = 3


def tell_open(effects: pd.DataFrame, judged: Judged, found: Found) -> list[dict]:
    """What is open: ``place`` in words, and ``said``, how many texts would decide it and what is not decidable."""
    needed, copies, told = found["texts_needed"], different_texts(found), []
    several = effects["factor"].nunique() > 1
    for place, cells in effects.groupby(PLACE, sort=False):
        dataset, model, factor, *levels = place
        of_place = needed[(needed[PLACE] == list(place)).all(axis=1)]
        said = open_comparisons(of_place, judged, copies.get((dataset, factor, *levels)))
        if undecided := int((cells["verdict"] == UNDECIDED).sum()) if "texts_needed" not in found else 0:
            said.append(f"{number(undecided, 'comparison')} {'is' if undecided == 1 else 'are'} open.")
        said += undecidable_comparisons(cells[cells["verdict"] == UNDECIDABLE], judged)
        if said:
            where = judged.place(dataset, model, *levels)
            told.append({"place": f"{where} ({factor})" if several else where, "said": said})
    return told


def open_comparisons(needed: pd.DataFrame, judged: Judged, different: Sequence[int] | None) -> list[str]:
    """What these pairs or texts would find, and how many would find the net benefit that counts as *as often*."""
    if needed.empty:
        return []
    said = f"{number(len(needed), 'comparison')} {'is' if len(needed) == 1 else 'are'} open."
    paired = bool(needed["paired"].iloc[0])
    alone = f"{judged.texts} of the smaller group", f"draws of two {judged.texts}"
    what, of = ("pairs", "pairs") if paired else alone
    shown = 100 * needed["detectable"][needed["detectable"] <= 1]
    with_these = f"{int(needed['units'].median()):,} {what}{copies_in(different and [min(different)])}"
    found = f"is found with a probability of {percent(judged.power)}"
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
    wanted = f"a surplus of {100 * judged.as_often_bound:.6g} of 100, the largest that is “as often”,"
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
    """Why comparisons are not decidable."""
    told = []
    for reason, rows in reasons(cells):
        asked = [judged.question(row) for row in rows.itertuples()]
        which = f" ({', '.join(asked)})" * (len(asked) <= NAMED)
        many = f"{number(len(rows), 'comparison')} {'is' if len(rows) == 1 else 'are'}"
        told.append(f"{many} not decidable{which}: {reason}.")
    return told

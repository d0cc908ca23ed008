"""Verdicts for any table of scores, by the code that judges a study.

``from evenlight import judge`` gives :func:`judge`; docs/judge.md has an example. Nothing here needs a model.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import EFFECTS, VERDICT_CONTROL
from evenlight.core.errors import InputError
from evenlight.judging.arguments import (
    constant_metrics,
    constant_notes,
    directions,
    look_notes,
    looks_planned,
    margins,
    moved_notes,
    one_of,
    primary_cells,
    share,
    whole,
)
from evenlight.judging.cells import Cells, unit_notes
from evenlight.reports.text import percent
from evenlight.reports.verdict_words import (
    SCORED,
    describe_apart,
    describe_counts,
    describe_worst,
    families_apart,
    reasons,
    sentences,
)
from evenlight.statistics.arrays.multiple_testing import OBRIEN_FLEMING, POCOCK, Looks
from evenlight.statistics.comparisons.study import (
    AS_OFTEN,
    EXPLORATORY,
    FLIPS,
    HOLM,
    PRIMARY,
    UNDECIDABLE,
    VerdictSettings,
    comparisons_in,
)
from evenlight.statistics.comparisons.verdict_tables import notes_of, tables_of, tied_notes
from evenlight.statistics.comparisons.verdicts import adjustment_notes
from evenlight.statistics.comparisons.wins import ALONE
from evenlight.texts.score_tables import pairs_compared, read_score_table

LEAST_DRAWS = 100


@dataclass(frozen=True, repr=False)
class Judgement:
    """What may be claimed of a table of scores.

    Attributes:
        verdicts: a row for each comparison, in the columns of a study's ``tables/effects.csv``.
        counts: in how many comparisons the groups differ at least, as ``tables/effect_counts.csv``.
        control: how many verdicts name a group where labels mean nothing, as ``tables/verdict_control.csv``; no row
            where nobody asked for permutations.
        notes: what a reader must know besides.
        settings: how it was judged.
    """

    verdicts: pd.DataFrame
    counts: pd.DataFrame
    control: pd.DataFrame
    notes: Sequence[str]
    settings: VerdictSettings

    def __str__(self) -> str:
        """What was compared, what was found, and how sure that is: a line each."""
        said = [_compared(self.verdicts), _found(self.verdicts, self.counts)]
        if (self.verdicts["verdict"] != UNDECIDABLE).any():
            most = f"{'about ' if self.verdicts['unit'].isin(ALONE).any() else ''}{percent(self.settings.alpha)}"
            said.append(
                f"The chance that any of these verdicts names a wrong group is at most {most}"
                f"{families_apart(self.verdicts)}, and they hold for further "
                f"{' or '.join(dict.fromkeys(self.verdicts['unit']))} like these."
            )
        return "\n".join(said)

    __repr__ = __str__

    def summary(self) -> None:
        """Print the same, the notes, and what chance alone finds, where that was asked."""
        from evenlight.reports.pages.effects import describe_control

        print(self)
        for note in self.notes:
            print(f"Note: {note}.")
        if by_chance := describe_control(self.control).strip():
            print(by_chance)

    def page(self, path: str | Path) -> Path:
        """Write the page of verdicts, HTML that stands alone."""
        from evenlight.judging.shown import verdict_page
        from evenlight.reports.html_table import write_page

        write_page(verdict_page(self.verdicts, self.counts, self.control, self.notes, self.settings), path)
        return Path(path)

    def plot(self, path: str | Path | None = None):
        """The picture: wins, ties and losses of each comparison, a figure of matplotlib; written to ``path``, too."""
        from evenlight.judging.shown import draw_verdicts

        return draw_verdicts(self.verdicts, self.settings, path)


def judge(
    scores: pd.DataFrame | str | Path | Sequence[str | Path],
    *,
    unit: str | None = None,
    group: str | None = None,
    score: str | Sequence[str] | None = None,
    cell: str | Sequence[str] | None = None,
    cluster: str | None = None,
    stratum: str | None = None,
    repeat: str | None = None,
    margin: float | Mapping[str, float] = 0.0,
    better: str | Mapping[str, str] | None = None,
    compare: Iterable | None = None,
    planned: Sequence[int] | None = None,
    spending: str = OBRIEN_FLEMING,
    alpha: float = 0.05,
    as_often_bound: float = 0.2,
    adjustment: str = HOLM,
    primary: Mapping[str, Sequence[str]] | None = None,
    confidence: float = 0.95,
    draws: int = 2000,
    permutations: int = 0,
) -> Judgement:
    """Which of two groups has the better score more often, in every cell of a table, with one level for all of them.

    A unit that has rows of both groups is a pair, and wins of pairs are counted. Where units have one group each, it is
    asked how often a random one of the first group is better than one of the second. Names that are left out are
    guessed from the names of columns, and the guess is printed.

    Args:
        scores: a table with a row for each score, the path of a CSV or Parquet file, or the paths of logs of inspect_ai
            or lm-evaluation-harness. Names of columns with a point, such as ``metadata.dialect``, are fields of these.
        unit: the column of what is compared: a pair of texts, a question, a text.
        group: the column of the groups: of people, or of models, prompts and versions that are compared.
        score: the column with scores; of several columns each is a metric. Empty scores are left out.
        cell: the columns of what is compared by itself, such as model and metric.
        cluster: the column of what is independent, where that is more than a unit: a cluster has one vote.
        stratum: the column within whose values units are compared.
        repeat: the column of repetitions, such as seeds, over which scores are averaged.
        margin: a pair that differs by no more is a tie, in the units of the scores; a number, or one by metric.
        better: ``higher`` or ``lower`` scores are better, for all metrics or by metric.
        compare: the groups, such as ``("male", "female")``, or several such pairs. Without it each with each.
        planned: how many units each interim analysis of a table that grows has, such as ``[100, 200, 400]``: the first
            ones in the order of the rows, of each dataset. Verdicts then hold over all of them.
        spending: what an interim analysis spends of the level, ``obrien_fleming`` or ``pocock``.
        alpha: the level: of how many tables at most any verdict names a wrong group.
        as_often_bound: the largest net benefit, P(win) − P(loss), that is called *as often*.
        adjustment: for the number of comparisons, ``holm`` or ``flips`` (pairs only).
        primary: the comparisons that matter, named beforehand: columns of a cell to names.
        confidence: of intervals.
        draws: resamples behind intervals, and flips behind counts.
        permutations: how often all verdicts are made again with the labels of the groups permuted, a negative control.

    Raises:
        InputError: a column, a group, a metric or a score is not as it must be; it names what to do.
    """
    named = {"unit": unit, "group": group, "score": score, "cell": cell}
    named |= {"cluster": cluster, "stratum": stratum, "repeat": repeat}
    table, guesses = read_score_table(scores, named)
    pairs, of_groups = pairs_compared(table, compare)
    cells = Cells(table, pairs)
    higher_is_better, of_metrics = directions(better, cells)
    settings = VerdictSettings(
        alpha=share("alpha", alpha),
        smallest_effects=margins(margin, cells),
        as_often_bound=share("as_often_bound", as_often_bound),
        confidence=share("confidence", confidence),
        bootstrap_draws=whole("draws", draws, LEAST_DRAWS),
        primary=primary_cells(primary, cells),
        noise=(),
        higher_is_better=higher_is_better,
        adjustment=one_of("adjustment", adjustment, (HOLM, FLIPS)),
    )
    permutations = whole("permutations", permutations, 0)
    looks = looks_planned(planned, one_of("spending", spending, (OBRIEN_FLEMING, POCOCK)), cells)
    for guess in guesses + of_groups + of_metrics:
        print(f"guessed {guess}", file=sys.stderr)
    present = None if looks.is_one else looks.units[-1]
    verdicts, counts = tables_of(lambda units: cells.together(present if units is None else units), settings, looks)
    if verdicts.empty:
        among = "" if looks.is_one else f" among the first {present} units, in the order of the rows"
        mixed = "" if looks.is_one else "put the rows in an order in which groups are mixed, "
        said = f"{table.place}: no cell has scores of both groups{among}"
        raise InputError(f"{said}; {mixed}let cell= name fewer columns, or name other groups by compare=")
    verdicts = cells.in_order(verdicts)
    constant = constant_metrics(cells)
    notes = [
        *table.notes,
        *moved_notes(cells),
        *unit_notes(cells),
        *constant_notes(constant, cells),
        *notes_of(verdicts, settings),
        *tied_notes(verdicts[~verdicts["metric"].isin(constant)], "margin"),
        *(note.removeprefix("statistics.") for note in adjustment_notes(verdicts, settings, looks)),
        *look_notes(looks, alpha, cells),
    ]
    control = _control(permutations, cells, settings, looks, present)
    return Judgement(verdicts[EFFECTS.schema.names], counts, control, notes, settings)


def _control(
    permutations: int, cells: Cells, settings: VerdictSettings, looks: Looks, present: int | None
) -> pd.DataFrame:
    """How many verdicts name a group in each of so many permutations of the labels, rows of ``VERDICT_CONTROL``."""
    if not permutations:
        return pd.DataFrame(columns=VERDICT_CONTROL.schema.names)
    from evenlight.statistics.analyses.verdict_control import permuted_verdicts_of

    # The analyses of a plan stand side by side, model by model.
    read = cells.together if looks.is_one else cells.read
    return permuted_verdicts_of(
        lambda units: read(present if units is None else units),
        settings,
        verdict_permutations=permutations,
        looks=looks,
    )


def _compared(verdicts: pd.DataFrame) -> str:
    """How many comparisons of which groups there are, and of how many units."""
    pairs = [f"“{pair.level_a}” with “{pair.level_b}”" for pair in comparisons_in(verdicts)]
    kinds = [
        f"{_span(of[['units_a', 'units_b']].to_numpy())} {unit}{' of a group' * (unit in ALONE)}"
        for unit, of in verdicts.groupby("unit", sort=False)
    ]
    how_many = f"{len(verdicts):,} comparisons" if len(verdicts) > 1 else "One comparison"
    judged = "were judged, each" if len(verdicts) > 1 else "was judged,"
    return f"{how_many} of {', '.join(pairs)} {judged} by {' or '.join(kinds)}."


def _span(counts: np.ndarray) -> str:
    return " to ".join(f"{count:,}" for count in dict.fromkeys((counts.min(), counts.max())))


def _found(verdicts: pd.DataFrame, counts: pd.DataFrame) -> str:
    """What is shown, and what is open, and why; who has the worst scores more often. Of one comparison all of that."""
    asked = verdicts[verdicts["family"] != EXPLORATORY] if PRIMARY in set(verdicts["family"]) else verdicts
    kind = "primary " if len(asked) < len(verdicts) else ""
    worst = describe_worst(asked, f"{kind}comparison", SCORED)
    worst = f" {worst}" if worst else ""
    if len(verdicts) == 1:
        (row,) = verdicts.itertuples()
        why = f", since {row.reason}" if pd.notna(row.reason) else ""
        apart = f" {describe_apart(row, SCORED)}" if row.apart else ""
        return f"{sentences(row, 1, SCORED)[0]}{apart} The verdict is “{row.verdict}”{why}.{worst}"
    named, alike = int((asked["side"] != 0).sum()), int((asked["verdict"] == AS_OFTEN).sum())
    still = f"{len(asked) - named - alike:,} {'is' if len(asked) - named - alike == 1 else 'are'} open"
    why = [f"; {len(rows):,} not decidable: {reason}" for reason, rows in reasons(asked)]
    apart = int(asked.loc[asked["side"] != 0, "apart"].sum())
    other = f" In {apart:,} of those that name a group the mean is better for the other one." if apart else ""
    return (
        f"{describe_counts(asked, counts, kind)} A verdict names a group in {named:,} and says “as often” in "
        f"{alike:,}; {still}, which does not show that groups are alike{''.join(why)}.{other}{worst}"
    )

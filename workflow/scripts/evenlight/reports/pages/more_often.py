"""Who is explained better more often, as a page: counts, and wins, losses and ties of every comparison."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from evenlight.core.contracts.results import MORE_OFTEN, MORE_OFTEN_COUNTS
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import BETTER_COLOURS, initials, rows_by_model, shade
from evenlight.reports.pages.effects import FAMILIES
from evenlight.reports.questions import CELL, HOLDS, LIMITS, READ, SURE, answered
from evenlight.reports.text import three_digits
from evenlight.statistics.arrays.limits import of_hundred
from evenlight.statistics.more_often import AS_OFTEN, TEXTS
from evenlight.statistics.study import (
    REPETITIONS,
    UNDECIDABLE,
    Comparison,
    MetricLabel,
    comparisons_in,
    factor_in_brackets,
    repeated_in,
)
from evenlight.statistics.verdicts import CONTROL, EXPLORATORY, PRIMARY, STUDY

TABLES = (MORE_OFTEN, MORE_OFTEN_COUNTS)
GREY, EQUAL = "#d0d4d9", "#d9efd9"
SETS = {"all": "All", "comparison": "Comparison", "dataset": "Dataset", "model": "Model"}
SETS |= {"explainer": "Explainer", "metric": "Metric"}


def page(
    verdicts: pd.DataFrame,
    counts: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    as_often_bound: float,
    confidence: float,
) -> Page:
    """A page from :func:`evenlight.statistics.more_often.more_often_tables`: the counts, then every comparison."""
    pairs = comparisons_in(verdicts)
    labels = {"dataset": datasets, "model": models, "explainer": explainers}
    labels["metric"] = {name: metric.label_with_direction for name, metric in metrics.items()}
    counted = {
        family: _count_table(f"Counts{said}", counts[counts["family"] == family], labels)
        for family, said in FAMILIES.items()
        if family in set(counts["family"])
    }
    parts = [table for family, table in counted.items() if family != CONTROL]
    for (dataset, *compared), of_dataset in verdicts.groupby(["dataset", "factor", "level_a", "level_b"], sort=False):
        pair = Comparison(*compared)
        for family, said in FAMILIES.items():
            rows = of_dataset[of_dataset["family"] == family]
            if len(rows):
                versus = f"{pair.level_a} against {pair.level_b}{factor_in_brackets(pair, pairs)}{said}"
                size = int((verdicts["family"] == family).sum())
                parts.append(_verdict_table(versus, datasets[dataset], rows, models, explainers, metrics, size))
    parts += [counted[CONTROL]] if CONTROL in counted else []
    legend = _legend(pairs, as_often_bound) if pairs else []
    details = _details(verdicts, explainers, metrics, confidence) if pairs else []
    return Page("Who is explained better more often?", _answer(verdicts, counts), parts, legend, details=details)


def _answer(verdicts: pd.DataFrame, counts: pd.DataFrame) -> str:
    """The counts of all comparisons that are a question, in words; of those that were named beforehand, if any were."""
    family = next((name for name in (PRIMARY, STUDY, EXPLORATORY) if name in set(counts["family"])), None)
    if family is None:
        return "How often is one group explained better than another? Nothing was compared."
    every = next(counts[(counts["family"] == family) & (counts["set"] == "all")].itertuples(index=False))
    names = ("the first-named group", "the second-named group")
    if not pd.isna(every.level_a):
        names = f"“{every.level_a}”", f"“{every.level_b}”"
    found = verdicts[(verdicts["family"] == family) & (verdicts["side"] != 0)]
    differ, first, second = _at_least(every)
    apart = int(found["apart"].sum())
    return (
        f"How often is one group explained better than another? Of {every.comparisons:,}"
        f"{' primary' if family == PRIMARY else ''} comparisons at least {differ:,} differ: at least "
        f"{first:,} for {names[0]}, and {second:,} for {names[1]}. A verdict names {len(found):,}. "
        + (f"In {apart:,} of these the mean points the other way." if apart else "")
    ).strip()


def _at_least(row: Any) -> tuple[int, int, int]:
    """In how many comparisons of a set, at least, either side is better, the first, the second; verdicts count, too.

    They have a level of their own, and may name more than counts by flips do.
    """
    first, second = max(row.first, row.found_first), max(row.second, row.found_second)
    return max(row.differ, first + second), first, second


def _legend(pairs: Sequence[Comparison], bound: float) -> list[tuple[Cell, str]]:
    first, second = initials(*pairs[0].levels) if len(pairs) == 1 else ("A", "B")
    named = pairs[0].levels if len(pairs) == 1 else ("the first-named group", "the second-named group")
    colours = [shade(colour, 0.5) for colour in BETTER_COLOURS]
    counted = "such as 22–3–1: pairs in which the first group is explained better, the second, and ties"
    return [
        *(
            (Cell(letter, background=colour), f"{name} is explained better more often")
            for letter, colour, name in zip((first, second), colours, named, strict=True)
        ),
        (Cell("=", background=EQUAL), f"as often: the surplus of wins is within {100 * bound:.0f} of 100 pairs"),
        (Cell("?", background=GREY), "undecided: this study is too small to tell"),
        (Cell("–", background=GREY), "not decidable: too few units that differ by more than the margin"),
        (Cell("22–3–1"), counted),
    ]


def _count_table(caption: str, counts: pd.DataFrame, labels: dict[str, dict[str, str]]) -> Table:
    rows = []
    for name, heading in SETS.items():
        lines = []
        for row in counts[counts["set"] == name].itertuples(index=False):
            label = labels.get(name, {}).get(row.name, row.name) or "all comparisons"
            if name == "comparison":
                label = f"{row.level_a} against {row.level_b} ({row.factor.replace('_', ' ')})"
            numbers = (row.comparisons, *_at_least(row), row.found_first, row.found_second)
            lines.append((label, [Cell(f"{number:,}") for number in numbers]))
        # One of its kind says what all say.
        if lines and (name == "all" or len(lines) > 1):
            rows.append((heading, lines))
    only = counts.loc[counts["set"] == "all", ["level_a", "level_b"]].iloc[0]
    sides = ["first", "second"] if only.isna().any() else list(only)
    groups = [("Comparisons", ["all"]), ("At least", ["differ", *(f"better: {side}" for side in sides)])]
    return Table(caption, ("Of", "these"), [*groups, ("Verdicts", sides)], rows)


def _verdict_table(
    versus: str,
    dataset: str,
    verdicts: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    size: int,
) -> Table:
    by_names = {(row.model, row.explainer, row.metric): row for row in verdicts.itertuples(index=False)}
    shown = {name: label for name, label in explainers.items() if name in set(verdicts["explainer"])}
    columns = {name: metric for name, metric in metrics.items() if name in set(verdicts["metric"])}
    rows = rows_by_model(
        models, shown, lambda *row: [verdict_cell(by_names.get((*row, metric)), size) for metric in columns]
    )
    headings = [metric.label_with_direction for metric in columns.values()]
    return Table(f"Better explained: {versus}", ("Model", "Explainer"), [(dataset, headings)], rows)


def verdict_cell(row, size: int) -> Cell:
    """One comparison of ``size``; ``row`` is a row of the verdicts, or None where nothing was compared."""
    if row is None:
        return Cell("–", "not compared: the metric has no defined scores")
    sign, colour = {AS_OFTEN: ("=", EQUAL), UNDECIDABLE: ("–", GREY)}.get(row.verdict, ("?", GREY))
    if row.side:
        place = 0 if row.side > 0 else 1
        sign = initials(row.level_a, row.level_b)[place]
        colour = shade(BETTER_COLOURS[place], 0.5)
    numbers = f"{row.wins:.0f}–{row.losses:.0f}–{row.ties:.0f}"
    if row.unit == TEXTS:
        numbers = "–" if pd.isna(row.share) else f"{100 * row.share:.0f} of 100"
    return Cell(f"{sign} {numbers}", f"{row.verdict}. {sentence(row, size)}", colour, bool(row.side))


def sentence(row, size: int) -> str:
    """What a row of the verdicts says, in plain sentences, of ``size`` comparisons."""
    first = row.net_benefit >= 0
    better, worse = (row.level_a, row.level_b) if first else (row.level_b, row.level_a)
    # Limits are those of the first level.
    low, high = (row.family_low, row.family_high) if first else (1 - row.family_high, 1 - row.family_low)
    said = []
    if row.unit == TEXTS:
        if pd.notna(row.share):
            share, (least, most) = max(row.share, 1 - row.share), of_hundred(low, high)
            said.append(
                f"A random text of “{better}” is explained better than one of “{worse}” in {100 * share:.0f} of 100 "
                f"draws, a tie as half ({least} to {most} with all {size:,} comparisons considered, asymptotic), "
                f"{row.units_a:,} and {row.units_b:,} texts."
            )
    else:
        wins, losses = (row.wins, row.losses) if first else (row.losses, row.wins)
        said.append(
            f"In {wins:.0f} of {row.units_a:,} {row.unit} “{better}” is explained better ({losses:.0f} worse, "
            f"{row.ties:.0f} {'tie' if row.ties == 1 else 'ties'})"
            + (
                f"; in at least {of_hundred(low, high)[0]} of 100 decided {row.unit} of further texts, with all "
                f"{size:,} comparisons considered."
                if wins + losses
                else "."
            )
        )
        said.append(
            f"At most {of_hundred(0, row.most_differ)[1]} of 100 further {row.unit} differ by more than the margin, "
            f"{three_digits(row.margin)}."
        )
    if pd.notna(row.reason):
        said.append(f"Not decidable: {row.reason}.")
    if row.apart:
        said.append(f"Yet the mean is better for “{worse}”.")
    said.append(_of_mean(row))
    said.append(f"Adjusted p {row.p_adjusted:.2g}, of as often {row.p_as_often_adjusted:.2g}.")
    if row.worst_side:
        worst = row.level_a if row.worst_side > 0 else row.level_b
        said.append(
            f"“{worst}” has the worst tenth more often, {row.worst_a:.0f} against {row.worst_b:.0f} {row.unit}."
        )
    if row.seeds > 1:
        needed = "more seeds than anyone trains" if pd.isna(row.seeds_needed) else f"about {row.seeds_needed:.0f} seeds"
        said.append(f"{row.seeds_agree} of {row.seeds} seeds agree; a claim across retraining would take {needed}.")
    if pd.notna(row.look):
        said.append(f"First found by interim analysis {row.look:.0f}.")
    return " ".join(said)


def _of_mean(row) -> str:
    ends = (
        ""
        if pd.isna(row.difference_low)
        else (f" [{three_digits(row.difference_low)}, {three_digits(row.difference_high)}]")
    )
    return f"Mean difference of the scores, “{row.level_a}” less “{row.level_b}”: {three_digits(row.difference)}{ends}."


def _details(
    verdicts: pd.DataFrame, explainers: dict[str, str], metrics: dict[str, MetricLabel], confidence: float
) -> list[tuple[str, str]]:
    found = verdicts[verdicts["side"] != 0]
    asked = verdicts[verdicts["family"] != CONTROL]
    texts, pairs = (asked[(asked["unit"] == TEXTS) == are] for are in (True, False))
    worst = asked[asked["worst_side"] != 0]
    of_pairs = (
        "The letter is the verdict. Beside it stand the pairs that the first group wins, those that the second wins, "
        "and ties. A pair is won by the text whose score is better by more than the margin. Where pairs share a "
        "cluster, the cluster has one vote. "
    )
    of_texts = (
        "Without pairs, the number says how often a random text of the first group is explained better than one of "
        "the second. It is no share of pairs. "
    )
    return answered(
        (
            CELL,
            (of_pairs if len(pairs) else "") + (of_texts if len(texts) else "") + "A pointer on a cell tells it in "
            f"sentences. There stands the mean difference, too, with its {confidence:.0%} interval and no verdict.",
        ),
        (
            HOLDS,
            "Verdicts hold for further texts like these, and for "
            f"{' or '.join(REPETITIONS[name] for name in repeated_in(verdicts))}. {_of_seeds(found)}",
        ),
        (
            SURE,
            ("The sign test of pairs is exact for any shape of the scores. " if len(pairs) else "")
            + ("The test of texts is asymptotic, and needs 50 texts a group. " if len(texts) else "")
            + "Verdicts have Holm's adjustment over both sides of all comparisons of a family. The chance that any "
            "names a wrong side is at most the study's level. Limits with all comparisons considered hold at the same "
            "level. Counts have it once more, and hold together for every set of comparisons. Where verdicts name more "
            "than a count, they stand in its place. " + _of_thresholds(pairs, texts),
        ),
        ("Where do majority and mean point apart?", _said_of_apart(found[found["apart"]], explainers, metrics)),
        (
            "Who has the worst explanations?",
            f"Of {len(pairs):,} comparisons of pairs, one group has the worst tenth of scores more often in "
            f"{len(worst):,}. This claim has the level to itself."
            if len(pairs)
            else "",
        ),
        (
            LIMITS,
            "Rare, large losses are invisible to a count of wins, as small, frequent ones are to a mean. Without a "
            "margin that matters (smallest_effects), a tiny but regular difference is found in the end.",
        ),
        READ,
    )


def _of_thresholds(pairs: pd.DataFrame, texts: pd.DataFrame) -> str:
    if len(texts):
        return "For texts without pairs counts need p-values that do not depend on one another negatively (Simes)."
    return "That is proven where groups are exchangeable within pairs, and simulated for other shapes."


def _of_seeds(found: pd.DataFrame) -> str:
    several = found[found["seeds"] > 1]
    if several.empty:
        return "Nothing is claimed across retraining."
    agree = int((several["seeds_agree"] == several["seeds"]).sum())
    median = several["seeds_needed"].fillna(float("inf")).median()
    needs = f"{median:.0f} seeds or fewer" if median < float("inf") else "more seeds than anyone trains"
    return (
        f"In {agree:,} of {len(several):,} verdicts all seeds have the same majority. Nothing is claimed across "
        f"retraining. If seeds vary as here, half of the verdicts would take {needs} for that."
    )


def _said_of_apart(apart: pd.DataFrame, explainers: dict[str, str], metrics: dict[str, MetricLabel]) -> str:
    if apart.empty:
        return ""
    named = dict.fromkeys(
        f"{explainers.get(row.explainer, row.explainer)} by {metrics[row.metric].label}" for row in apart.itertuples()
    )
    return (
        "There the group that wins more often wins by little, and loses by much. Both are true, and say different "
        "things. "
        f"This concerns {', '.join(named)}."
    )

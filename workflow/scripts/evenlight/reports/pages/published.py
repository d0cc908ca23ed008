"""This study beside the published one: agreement, then Tables 3-5, 8-11 and 7 of Dhaini et al. (2025) with both."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from evenlight.core.contracts.results import PUBLISHED, PUBLISHED_AGREEMENT, PUBLISHED_QUALITY
from evenlight.reports.entries import COMPARED, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import BETTER_COLOURS, Names, initials, shade
from evenlight.reports.questions import CELL, ELSE
from evenlight.reports.text import mean_sd, signed
from evenlight.statistics.analyses.published import GROUPS, RUNS

TABLES = (PUBLISHED, PUBLISHED_AGREEMENT, PUBLISHED_QUALITY)
# The metrics in the order of Table 3, under the property that they measure.
PROPERTIES = {
    "Faithfulness": ["comprehensiveness", "sufficiency", "soft_comprehensiveness", "soft_sufficiency"],
    "Complexity": ["gini", "sparsity"],
    "Robustness": ["sensitivity"],
}
RATES = {
    "tpr": "True positive rate",
    "tnr": "True negative rate",
    "apd": "Average prediction difference",
}
LETTERS = initials(*GROUPS)
OPPOSITE = "≠"
OVER_SEEDS = "Cohen's d over the significant seeds"

NOTHING = (
    "This study and the published one have no cell in common. In a common cell, a dataset, a metric and an explainer "
    "have the published names, and male and female are compared. And statistics.published of the configuration says "
    "which published model a model stands beside (from scratch: on GECO only)."
)
DETAILS = [
    (
        CELL,
        "A cell has of how many seeds the difference between male and female sentences is significant. A letter says "
        "which of them have the higher scores on average over these seeds. Higher need not be better. An arrow beside "
        "a metric says which scores are the better ones in this study.",
    ),
    (ELSE, "The first table sums up how often both agree and how often chance would make them."),
]
NOTES = [
    "Equal names need not be equal definitions. The released code of the published study departs from its paper in the "
    "threshold of sparsity, in the token sets of comprehensiveness and sufficiency and above all in sensitivity, and "
    "the printed figures presumably come from that code. Which definition this study computes is a matter of its "
    "configuration; docs/definitions.md of the project has both, and what is odd in the printed tables.",
    "Within one: the shares of significant seeds differ by at most one run of five. With fewer than five seeds of ours "
    "this is easier or harder to reach by chance, which the share by chance takes into account.",
    "By chance: what would be expected if our cells were shuffled among those of the same row. Kappa is the agreement "
    "beyond chance, 0 for none and 1 for all of it. The cells of one model share its training and its test items, so "
    "they are far from independent and there is no test of agreement.",
    "An effect over significant seeds is selected by its significance and therefore exaggerated; the published ones "
    "are. All our seeds: the same with the mean of d over all seeds of this study.",
]


def shown(study) -> Shown | None:
    """In a study of disparity that names published counterparts."""
    if study.config["kind"] != "disparity" or not study.config["statistics"]["published"]:
        return None
    return Shown("Disparity", study.shown(*COMPARED, **study.of_statistics("considerable_effect")))


def page(
    comparison: pd.DataFrame,
    agreement: pd.DataFrame,
    quality: pd.DataFrame,
    *,
    names: Names,
    considerable_effect: float,
) -> Page:
    """The page of both studies, from :func:`evenlight.statistics.analyses.published.join_published`,
    ``agreement_beside`` and ``quality_beside``. Without a cell in common it says so, and what would make one."""
    published_tables = [
        *_by_table(comparison, "table", "Significant seeds", _count_text, considerable_effect, names),
        *_by_table(comparison, "effects_table", OVER_SEEDS, _effect_text, considerable_effect, names),
    ]
    quality_tables = [_quality_table(quality, names)] if len(quality) else []
    title = "Published disparities"
    if not published_tables:
        return Page(title, NOTHING, quality_tables)
    parts = [_agreement_table(agreement, names), *published_tables, *quality_tables]
    return Page(title, _introduction(agreement), parts, _legend(considerable_effect), NOTES, details=DETAILS)


def _introduction(agreement: pd.DataFrame) -> str:
    (overall,) = agreement[agreement["part"] == "overall"].itertuples(index=False)
    return (
        "Do the disparities that Dhaini et al. (2025) print appear here as well? In "
        f"{overall.within_one:.0%} of {overall.cells:,} cells their shares of significant seeds differ by at most one "
        f"run of five, and by chance in {overall.within_one_by_chance:.0%}. "
        "In every cell ours stands before the bar and theirs after it."
    )


def _legend(considerable: float) -> list[tuple[Cell, str]]:
    higher = [
        (Cell(letter, background=shade(colour, 1)), f"{group} sentences have the higher scores; colour: ours")
        for group, letter, colour in zip(GROUPS, LETTERS, BETTER_COLOURS, strict=True)
    ]
    return [
        *higher,
        (Cell("2/3 | 5"), "2 of our 3 seeds, 5 of theirs; no letter where no direction is known, as in Table 5"),
        (Cell(OPPOSITE), "the two studies have opposite directions"),
        (Cell("bold", bold=True), f"considerable in the same direction in both studies, |mean d| ≥ {considerable:g}"),
        (Cell("–"), "not in both studies"),
    ]


def _by_table(
    comparison: pd.DataFrame, column: str, what: str, text: Callable[[Any], str], considerable: float, names: Names
) -> list[Table]:
    """A table for each printed one whose number stands in ``column``, with the rows and columns that both have."""
    parts = []
    for number, part in comparison.dropna(subset=column).groupby(column):
        by_names = {(row.model, row.explainer, row.dataset, row.metric): row for row in part.itertuples(index=False)}
        columns = [
            (dataset, heading, [metric for metric in of_property if metric in set(part["metric"])])
            for dataset in part["dataset"].unique()
            for heading, of_property in PROPERTIES.items()
        ]
        columns = [group for group in columns if group[2]]
        keys = [(dataset, metric) for dataset, _, shown in columns for metric in shown]
        rows = []
        for (model, counterpart), of_model in part.groupby(["model", "published_model"], sort=False):
            cells = [
                (
                    names.explainers[explainer],
                    [_cell(by_names.get((model, explainer, *key)), text, considerable) for key in keys],
                )
                for explainer in of_model["explainer"].unique()
            ]
            rows.append((f"{names.models[model]} | {counterpart}", cells))
        headings = [
            (f"{names.datasets[dataset]}: {heading}", [names.metrics[metric].label_with_direction for metric in shown])
            for dataset, heading, shown in columns
        ]
        caption = f"{what}: ours | Table {number} of the published study"
        parts.append(Table(caption, ("Model", "Explainer"), headings, rows))
    return parts


def _letter(effect: float) -> str:
    return f" {LETTERS[0 if effect > 0 else 1]}" if abs(effect) > 0 else ""


def _count_text(row) -> str:
    ours = f"{row.significant_seeds}/{row.seeds}{_letter(row.mean_d_significant)}"
    return f"{ours} | {row.published_significant}{_letter(row.published_d)}"


def _effect_text(row) -> str:
    ours = f"({row.significant_seeds}) {mean_sd(row.mean_d_significant, row.sd_d_significant, 2)}"
    return f"{ours} | ({row.published_significant}) {mean_sd(row.published_d, row.published_sd_d, 2)}"


def _cell(row, text: Callable[[Any], str], considerable: float) -> Cell:
    """One cell; ``row`` is a row of the comparison, or None where only one study has it."""
    if row is None:
        return Cell("–", "not in both studies")
    directed = not pd.isna(row.same_direction)
    effect = row.mean_d_significant
    colour = BETTER_COLOURS[0 if effect > 0 else 1]
    effects = min(abs(effect), abs(row.published_d))
    return Cell(
        f"{text(row)} {OPPOSITE}" if directed and not row.same_direction else text(row),
        f"ours: {row.significant_seeds} of {row.seeds} seeds significant, mean d "
        f"{signed(effect)} over these and {signed(row.mean_d)} over all; published: "
        f"{row.published_significant} of {RUNS}, mean d {signed(row.published_d)}",
        shade(colour, row.significant_seeds / row.seeds) if abs(effect) > 0 else None,
        bool(directed and row.same_direction and effects >= considerable),
    )


def _agreement_table(agreement: pd.DataFrame, names: Names) -> Table:
    metrics = {name: metric.label for name, metric in names.metrics.items()}
    labels = {"dataset": names.datasets, "model": names.models, "explainer": names.explainers, "metric": metrics}

    def share(value: float) -> Cell:
        return Cell(signed(value))

    def cells(row) -> list[Cell]:
        return [
            Cell(str(row.cells)),
            *map(share, (row.within_one, row.within_one_by_chance)),
            Cell(str(row.directed)),
            *map(share, (row.same_direction, row.same_direction_by_chance, row.kappa)),
            Cell(str(row.directed_all_seeds)),
            *map(share, (row.same_direction_all_seeds, row.same_direction_by_chance_all_seeds, row.kappa_all_seeds)),
        ]

    rows = []
    for part, of_part in agreement.groupby("part", sort=False):
        label = labels.get(part, {})
        entries = [(label.get(row.name, row.name), cells(row)) for row in of_part.itertuples(index=False)]
        rows.append((part.capitalize(), entries))
    direction = ["cells", "same", "by chance", "kappa"]
    columns = [
        ("Counts", ["cells", "within one", "by chance"]),
        ("Direction over significant seeds", direction),
        ("Direction over all our seeds", direction),
    ]
    return Table("Agreement of both studies, as shares of the cells", ("Part", "Name"), columns, rows)


def _quality_table(quality: pd.DataFrame, names: Names) -> Table:
    by_names = {(row.dataset, row.model, row.measure): row for row in quality.itertuples(index=False)}

    def cells(dataset: str, model: str) -> list[Cell]:
        pairs = []
        for measure in RATES:
            row = by_names[dataset, model, measure]
            pairs += [(row.mean, row.sd), (row.published_mean, row.published_sd)]
        return [Cell(mean_sd(*pair, 3)) for pair in pairs]

    rows = []
    for dataset, part in quality.groupby("dataset", sort=False):
        beside = part[["model", "published_model"]].drop_duplicates().itertuples(index=False, name=None)
        entries = [(f"{names.models[model]} | {name}", cells(dataset, model)) for model, name in beside]
        rows.append((names.datasets[dataset], entries))
    headings = [(label, ["ours", "published"]) for label in RATES.values()]
    caption = "Quality of the models, mean ± standard deviation over seeds: ours and Table 7 of the published study"
    return Table(caption, ("Dataset", "Model"), headings, rows)

"""The effects over all seeds as pages: intervals and verdicts, and what each way of testing finds."""

import pandas as pd

from evenlight import tables
from evenlight.figures.html_table import Cell, Page, Table
from evenlight.figures.page_parts import rows_by_model, said_of_single_runs
from evenlight.figures.text import signed
from evenlight.statistics.study import Metric

TABLES = (tables.EFFECTS, tables.TEST_COUNTS)
# A sign and a colour each (Okabe and Ito, lightened), so that neither stands alone.
VERDICTS = {
    "disparity": ("≠", "#f5c9a0"),
    "negligible disparity": ("≈", "#f0d4e3"),
    "equivalent": ("=", "#b5dcf3"),
    "inconclusive": ("?", None),
}


# Up to so many runs the pooled test is known to be wrong far out.
FEW_RUNS = 5

HEADINGS = {
    "mann_whitney": "Mann–Whitney",
    "mann_whitney_bh": "…, Benjamini–Hochberg",
    "mann_whitney_holm": "…, Holm",
    "van_elteren": "within strata",
    "signed_rank": "signed-rank",
    "signed_rank_bh": "…, Benjamini–Hochberg",
    "signed_rank_holm": "…, Holm",
    "sign_flip": "sign-flip",
    "mean_d_significant": "mean |d|, significant",
    "mean_d_all": "mean |d|, all",
}


def page(
    effects: pd.DataFrame,
    counts: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, Metric],
    equivalence_bound: float,
    confidence: float,
) -> Page:
    """A page from :func:`evenlight.statistics.effects.effect_table` and
    :func:`evenlight.statistics.counts.count_tests`: what the tests find, then every cell."""
    single = (effects["seeds"] == 1).all()
    some_single = not single and (effects["seeds"] == 1).any()
    pooled = "the effect pooled over seeds by a mixed model with crossed random effects of items and seeds"
    t_test = "the effect by Student's t test of the pairs, or Welch's of texts without counterparts"
    if single:
        beyond = "these models, of further sentences"
    elif some_single:
        beyond = "further sentences and, of models with several runs, further trainings"
    else:
        beyond = "further sentences and further trainings of the models"
    # A known fault of the pooled test, see docs/definitions.md.
    few = effects["seeds"].between(2, FEW_RUNS).any()
    too_ready = (
        "Where a model has few runs, verdicts that are adjusted over many cells are too ready: take them for hints. "
        if few
        else ""
    )
    exception = f"Cells of one run are t tests: they have {t_test}. " if some_single else ""
    introduction = (
        f"What can be said of {beyond}? Every cell has {t_test if single else pooled}, in standard deviations of the "
        f"scores, with its {confidence:.0%} interval; positive where the first-named group has the higher scores; n is "
        "the number of pairs that it rests on, or, without pairs, of texts in the first and in the second group "
        f"(variants of one text count once). {exception}Intervals are of each cell alone, verdicts adjusted by Holm's "
        f"method over all cells of the study. {too_ready}The first table counts significant tests of single seeds, for "
        "these trained models." + said_of_single_runs(effects, models)
    )
    legend = [
        (Cell(VERDICTS["disparity"][0], background=VERDICTS["disparity"][1]), "disparity: the effect is not zero"),
        (
            Cell(VERDICTS["negligible disparity"][0], background=VERDICTS["negligible disparity"][1]),
            f"negligible disparity: not zero, and smaller than {equivalence_bound:g}",
        ),
        (
            Cell(VERDICTS["equivalent"][0], background=VERDICTS["equivalent"][1]),
            f"equivalent: smaller than {equivalence_bound:g} in either direction",
        ),
        (Cell(VERDICTS["inconclusive"][0]), "inconclusive: this study is too small to tell"),
    ]
    parts = [_count_table(counts, datasets, metrics)]
    for (dataset, _, level_a, level_b), cells in effects.groupby(
        ["dataset", "factor", "level_a", "level_b"], sort=False
    ):
        caption = f"Pooled effect, {level_a} against {level_b}"
        parts.append(_effect_table(caption, datasets[dataset], cells, models, explainers, metrics))
    return Page("Effects" if single else "Effects over all seeds", introduction, parts, legend)


def _count_table(counts: pd.DataFrame, datasets: dict[str, str], metrics: dict[str, Metric]) -> Table:
    measures = [column for column in counts.columns if column not in ("dataset", "metric")]
    headings = [HEADINGS.get(column, column.replace("_", " ")) for column in measures]
    rows = []
    for dataset, label in datasets.items():
        part = counts[counts["dataset"] == dataset].set_index("metric")
        cells = [
            (metric.label, [_count_cell(column, part.loc[name, column]) for column in measures])
            for name, metric in metrics.items()
            if name in part.index
        ]
        if cells:
            rows.append((label, cells))
    return Table(
        "Tests of single seeds, all models and explainers", ("Dataset", "Metric"), [("Counts", headings)], rows
    )


def _count_cell(column: str, value: float) -> Cell:
    if pd.isna(value):
        return Cell("–", "no test is significant" if column == "mean_d_significant" else "no pairs")
    return Cell(signed(value) if column.startswith("mean") else str(int(value)))


def _effect_table(
    caption: str,
    dataset: str,
    effects: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, Metric],
) -> Table:
    by_names = {(row.model, row.explainer, row.metric): row for row in effects.itertuples(index=False)}
    rows = rows_by_model(
        models, explainers, lambda *row: [_effect_cell(by_names.get((*row, metric))) for metric in metrics]
    )
    columns = [(dataset, [metric.label for metric in metrics.values()])]
    return Table(caption, ("Model", "Explainer"), columns, rows)


def _effect_cell(row) -> Cell:
    """One cell; ``row`` is a row of the effects, or None where nothing was tested."""
    if row is None:
        return Cell("–", "not tested: the metric has no defined scores")
    sign, colour = VERDICTS[row.verdict]
    units = f"{row.units_a:,}" if row.paired else f"{row.units_a:,} + {row.units_b:,}"
    interval = f"[{signed(row.standardised_low)}, {signed(row.standardised_high)}]"
    title = (
        f"{row.verdict}; Holm's p {row.p_holm:.2g}, of equivalence {row.p_equivalence_holm:.2g}; smallest detectable "
        f"effect {signed(row.detectable_pooled)}"
    )
    return Cell(f"{sign} {signed(row.standardised)} {interval} n {units}", title, colour, row.verdict == "disparity")

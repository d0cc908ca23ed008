"""The specification curves as a page: what each says as a whole, of all explainers and of each method."""

from collections.abc import Mapping, Sequence

import pandas as pd

from evenlight.core.contracts.results import SPECIFICATION_CURVES, SPECIFICATIONS
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, LIMITS, SURE
from evenlight.reports.text import common_words, signed
from evenlight.statistics.comparisons.study import ALL, MetricLabel, comparisons_in

TABLES = (SPECIFICATION_CURVES, SPECIFICATIONS)


def shown(study) -> Shown | None:
    """In a study of disparity that asks a question in several ways."""
    from evenlight import configuration

    if study.config["kind"] != "disparity" or not study.specified():
        return None
    return Shown(
        "Disparity",
        study.shown(
            *("datasets", "explainers", "metrics"),
            kinds=study.specified(),
            methods=configuration.explaining_methods(study.config),
            **study.of_statistics("alpha"),
        ),
        at_one_look=True,
        further={"draw_specifications": {"dataset": study.compared_datasets(), "kind": list(study.specified())}},
    )


def page(
    curves: pd.DataFrame,
    specifications: pd.DataFrame,
    *,
    datasets: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    kinds: Mapping[str, Sequence[str]],
    methods: Mapping[str, str],
    alpha: float,
) -> Page:
    """A table per dataset and pair of groups from
    :func:`evenlight.statistics.analyses.specifications.specification_tables`.

    ``kinds`` and ``methods`` as there. The specifications themselves are in the CSV table and the figures.
    """
    far = [(curves[p] <= alpha).sum() for p in ("p_median", "p_significant", "p_mean_z")]
    introduction = (
        "Does the answer depend on how the question is asked? "
        f"Permuted labels seldom come as far as {far[0]:,} of {len(curves):,} curves in their median, {far[1]:,} in "
        f"their significant specifications and {far[2]:,} in their mean z. "
        "A row has one curve: how many specifications, and these three, each with its p."
    )
    layout = (
        {kind: common_words(kind, [metrics[name].label for name in names]) for kind, names in kinds.items()},
        {ALL: "All explainers"} | {name: _called(name, explainers, methods) for name in methods.values()},
    )
    parts = []
    for pair in comparisons_in(curves):
        for dataset, label in datasets.items():
            rows = pair.rows(curves[curves["dataset"] == dataset])
            if len(rows):
                parts.append(_table(f"{label}, {pair.level_a} against {pair.level_b}", rows, layout, alpha))
    legend = [(Cell("bold", bold=True), f"permuted labels seldom come as far: p ≤ {alpha:g}")]
    return Page("Specification curves", introduction, parts, legend, details=_details(alpha))


def _details(alpha: float) -> list[tuple[str, str]]:
    return [
        (
            "What is a specification curve?",
            "A specification is one definition of a metric, explainer, model, seed and effect (Cohen's d or Cliff's "
            "δ). All of them together are a specification curve (Simonsohn, Simmons & Nelson 2020).",
        ),
        (
            CELL,
            "Estimates are on the scale of Cliff's δ, positive where the first group is explained better. A "
            f"specification is significant where its own p by the permutations is at most {alpha:g}.",
        ),
        (
            SURE,
            "Each p is the share of permutations of the groups' labels, the real ones counted as one, whose curve "
            "comes as far. As far is a median as far from 0, as many significant specifications of its dominant sign, "
            "or a mean z as far from 0. Labels are exchanged in all specifications at once, within pairs and strata, "
            "and clusters as a whole. Nothing is adjusted for the number of curves.",
        ),
        (
            LIMITS,
            "The curve is held against groups that could be exchanged. Where scores of one group are more spread or "
            "skewed, and no mean differs, it is found more often. The three p are three tests. Name beforehand which "
            "one counts.",
        ),
    ]


def _called(method: str, explainers: dict[str, str], methods: Mapping[str, str]) -> str:
    return common_words(method, [explainers[name] for name, of_entry in methods.items() if of_entry == method])


COLUMNS = [
    ("Specifications", ["All", "First better", "Undecided"]),
    ("Median δ", ["Median", "p"]),
    ("Significant, dominant sign", ["Number", "By chance", "p"]),
    ("Mean z", ["z", "p"]),
]


def _table(caption: str, curves: pd.DataFrame, layout: tuple[dict, dict], alpha: float) -> Table:
    kinds, methods = layout
    by_names = {(row.kind, row.method): row for row in curves.itertuples(index=False)}
    rows = [
        (label, [(methods[name], _cells(by_names[kind, name], alpha)) for name in methods if (kind, name) in by_names])
        for kind, label in kinds.items()
    ]
    return Table(caption, ("Metric", "Explainer"), COLUMNS, [(label, lines) for label, lines in rows if lines])


def _cells(row, alpha: float) -> list[Cell]:
    def share(p: float) -> Cell:
        return Cell(f"{p:.3f}", bold=p <= alpha)

    return [
        Cell(f"{row.specifications:,}"),
        Cell(f"{row.a_better:,}"),
        Cell(f"{row.undecided:,}"),
        *(Cell(signed(row.median)), share(row.p_median)),
        *(Cell(f"{row.significant:,}"), Cell(f"{row.null_significant:.1f}"), share(row.p_significant)),
        *(Cell(signed(row.mean_z)), share(row.p_mean_z)),
    ]

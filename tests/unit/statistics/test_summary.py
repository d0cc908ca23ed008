"""The tables over seeds, and their HTML."""

from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from disparity_rows import disparity_rows
from rendering import page_of
from study_files import StudyFiles, called, made
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.explanations import SCORES as SCORES_CONTRACT
from evenlight.core.contracts.results import DISPARITY, SCORE_SUMMARY, SUMMARY
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.reports.contrast import contrast_ratio
from evenlight.reports.html_table import INK, render
from evenlight.reports.page_parts import BETTER_COLOURS, initials, shade
from evenlight.reports.text import mean_sd, signed
from evenlight.statistics.analyses.summary import (
    direction_notes,
    grouped_scores,
    seeds_that_disagree,
    summarise_disparity,
    summarise_scores,
)
from evenlight.statistics.comparisons.cells import CELL

METRICS = {"gini": {"label": "Gini index", "better": "higher"}, "sparsity": {"label": "Sparsity", "better": "lower"}}
SHOWN = {"datasets": {"plots": "Plots <all>"}, "models": {"small": "Small"}, "explainers": {"lime": "LIME"}}
SHOWN |= {"metrics": METRICS}
SCORED = {"datasets": ["plots"], "models": {"small": [0, 1, 2]}, "explainers": ["lime"], "factors": ["gender"]}
SCORED |= {"metrics": dict.fromkeys(METRICS, "complexity")}
JUDGED = {"higher_is_better": {"gini": True, "sparsity": False}, "alpha": 0.05, "considerable_effect": 0.2}
DISPARITIES = SHOWN | {"alpha": 0.05, "considerable_effect": 0.2, "noise": ["random"]}
SCORES = SHOWN | {"levels": ["male", "female"]}


def disparity(metric: str, outcomes: list[tuple[float, ...]]) -> pd.DataFrame:
    """A disparity table with one seed per (p, d), or per (p, d, delta) where they differ."""
    place = {"dataset": "plots", "model": "small", "metric": metric}
    names = ("p", "cohens_d", "cliffs_delta")
    rows = [{"seed": seed} | dict(zip(names, values, strict=False)) for seed, values in enumerate(outcomes)]
    return disparity_rows([place | row for row in rows])


def cell(metric: str, outcomes: list[tuple[float, ...]]) -> pd.Series:
    summary = summarise_disparity(disparity(metric, outcomes), **JUDGED)
    assert len(summary) == 1
    return summary.iloc[0]


def test_summary_by_hand():
    row = cell("gini", [(0.05, -0.5), (0.001, -0.1), (0.0501, 0.9)])
    assert (row["significant_seeds"], row["seeds"]) == (2, 3)
    assert row["mean_d_significant"] == pytest.approx(-0.3)
    assert row["sd_d_significant"] == pytest.approx(0.2)
    assert row["mean_d"] == pytest.approx(0.1)
    assert row["sd_d"] == pytest.approx(np.std([-0.5, -0.1, 0.9]))
    assert row["better_group"] == "female"
    assert row["considerable"]


@pytest.mark.parametrize(
    ("metric", "d", "better"),
    [("gini", 0.4, "male"), ("gini", -0.4, "female"), ("sparsity", 0.4, "female"), ("sparsity", -0.4, "male")],
)
def test_better_group_follows_the_direction_of_the_metric(metric, d, better):
    # A seed without any effect is for neither.
    row = cell(metric, [(0.01, d), (0.02, d), (0.03, -d / 2), (0.05, 0.0), (0.5, -9 * d)])
    assert row["better_group"] == better
    counts = row[["significant_seeds_a_better", "significant_seeds_b_better"]].tolist()
    assert counts == ([2, 1] if better == "male" else [1, 2])


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        # One seed has no spread; without a significant one, and where effects cancel, nobody is better.
        ([(0.01, 0.7)], {"seeds": 1, "mean_d_significant": 0.7, "sd_d_significant": 0, "sd_d": 0}),
        (
            [(0.5, 0.9), (0.06, 0.3)],
            {"significant_seeds": 0, "better_group": None, "considerable": False, "mean_d": 0.6}
            | {"mean_d_significant": NAN, "sd_d_significant": NAN},
        ),
        ([(0.01, 0.5), (0.01, -0.5)], {"better_group": None}),
        (
            [(0.01, INF), (0.01, 0.3), (0.6, 0.1)],
            {"mean_d_significant": INF, "mean_d": INF, "better_group": "male", "sd_d_significant": NAN, "sd_d": NAN},
        ),
        # The bound counts as considerable.
        *(([(0.01, d)], {"considerable": abs(d) >= 0.2}) for d in (0.2, -0.2, 0.199)),
    ],
)
def test_summaries_of_few_seeds(outcomes, expected):
    row = cell("gini", outcomes)
    found = {name: None if name == "better_group" and pd.isna(row[name]) else row[name] for name in expected}
    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("metric", "better"), [("gini", "female"), ("sparsity", "male")])
def test_the_better_group_is_that_of_the_test(metric, better):
    # A few high scores turn d; the ranks, of which p speaks, point the other way.
    row = cell(metric, [(0.01, 0.4, -0.3), (0.02, 0.1, -0.5), (0.9, 0.1, 0.1)])
    assert row["better_group"] == better
    assert row[f"significant_seeds_{'b' if better == 'female' else 'a'}_better"] == 2
    assert row["contradicted"]
    means = row[["mean_d_significant", "mean_delta_significant", "mean_d", "mean_delta"]].tolist()
    assert means == pytest.approx([0.25, -0.4, 0.2, -0.7 / 3])


def test_d_contradicts_delta_by_the_signs_of_their_means():
    # In one seed they differ, in the mean they do not.
    assert not cell("gini", [(0.01, 0.4, -0.1), (0.02, 0.1, 0.5)])["contradicted"]
    assert not cell("gini", [(0.01, 0.0, -0.1)])["contradicted"]
    assert not cell("gini", [(0.6, 0.4, -0.1)])["contradicted"]


def test_seeds_that_point_in_opposite_directions_are_counted():
    """By delta, of the cells with two significant seeds or more; what d says does not matter."""
    cells = {
        "gini": [(0.01, 0.5, 0.5), (0.02, 0.5, -0.4)],
        "sparsity": [(0.01, 0.5, 0.5), (0.02, -0.5, 0.4), (0.03, 0.1, 0.1)],
        "area": [(0.01, 0.5, 0.5), (0.2, -0.5, -0.4)],
        "l2": [(0.01, -0.5, -0.5), (0.02, -0.5, -0.4)],
    }
    settings = JUDGED | {"higher_is_better": dict.fromkeys(cells, False)}
    table = pd.concat([disparity(metric, outcomes) for metric, outcomes in cells.items()])
    summary = summarise_disparity(table, **settings)
    assert seeds_that_disagree(summary) == (3, 1)
    assert direction_notes(summary) == [says("3 cells", "1 (33%)", "opposite directions")]
    contradicted = summarise_disparity(disparity("area", [(0.01, 0.5, -0.5)]), **settings)
    assert direction_notes(contradicted) == [says("1 cells", "in 1", "Cohen's d", "other direction", "Cliff's delta")]
    assert direction_notes(summary.head(0)) == []


def test_the_page_marks_where_d_points_the_other_way():
    table = disparity("gini", [(0.01, 0.4, -0.3), (0.02, 0.1, -0.5)])
    html = render(page_of("disparity", summarise_disparity(table, **JUDGED), **DISPARITIES))
    assert Structure(html).cells[::2] == ["2 F†", "(2) 0.25 ± 0.15 F†"]
    assert "0 have significant seeds" in html


def test_cells_of_yardsticks_stand_in_the_tables_and_are_not_counted():
    """As on the page of effects, so that both tell of the same number of questions."""
    table = disparity("gini", [(0.01, 0.4), (0.2, 0.1)])
    table = pd.concat([table, table.assign(explainer="random")], ignore_index=True)
    labels = {"explainers": {"lime": "LIME", "random": "Random"}}
    summary = summarise_disparity(table, **JUDGED)
    page = page_of("disparity", summary, **DISPARITIES | labels)
    assert "1 cells, 1 have" in page.introduction
    assert dict(page.details)["Which cells are not counted?"].startswith("The 1 cells of random")
    assert len(Structure(render(page)).cells) == 2 * len(summary) * 2  # two tables, two metrics
    without = page_of("disparity", summary[summary["explainer"] == "lime"], **DISPARITIES)
    assert "cells are not counted" not in dict(without.details)


def test_cells_come_in_the_order_of_the_table_with_their_names():
    names = [("plots", "small", "lime", "sparsity", "gender", "male", "female"),
             ("films", "small", "lime", "gini", "gender", "male", "female"),
             ("plots", "large", "grad", "gini", "race", "asian", "white"),
             ("plots", "large", "grad", "gini", "race", "asian", "black")]  # fmt: skip
    rows = [
        dict(zip(CELL, cell_names, strict=True)) | {"seed": seed, "p": 0.01, "cohens_d": 0.1 * number}
        for seed in (0, 1)
        for number, cell_names in enumerate(names)
    ]
    summary = summarise_disparity(disparity_rows(rows), **JUDGED)
    assert list(summary[CELL].itertuples(index=False, name=None)) == names
    assert summary["mean_d"].tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert summary["better_group"].tolist()[1:] == ["male", "asian", "asian"]


def test_empty_disparity_table_gives_an_empty_summary():
    empty = pd.DataFrame(columns=DISPARITY.schema.names)
    summary = summarise_disparity(empty, **JUDGED)
    assert summary.empty
    assert list(summary.columns) == SUMMARY.schema.names


# HTML


class Structure(HTMLParser):
    """The text of every cell and the attributes of every tag."""

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.cells, self._open = [], [], None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "td":
            self._open = ""

    def handle_data(self, data):
        if self._open is not None:
            self._open += data

    def handle_endtag(self, tag):
        if tag == "td":
            self.cells.append(self._open)
            self._open = None


@pytest.fixture
def page() -> str:
    """Gini: two of three seeds for the male group; sparsity: seeds that disagree."""
    table = pd.concat(
        [
            disparity("gini", [(0.01, 0.5), (0.02, 0.7), (0.8, 0.0)]),
            disparity("sparsity", [(0.01, 0.5), (0.02, -0.4), (0.01, 0.02)]),
        ]
    )
    page = page_of("disparity", summarise_disparity(table, **JUDGED), **DISPARITIES)
    return render(replace(page, notes=["12 scores are undefined"]))


def test_cells_tell_count_group_and_effect(page):
    assert Structure(page).cells == ["2 M", "3 F*", "(2) 0.60 ± 0.10 M", "(3) 0.04 ± 0.37 F*"]


def test_considerable_effects_stand_out(page):
    assert "<strong>2 M</strong>" in page
    assert "<strong>3 F*</strong>" not in page


def test_page_is_well_formed_and_self_contained(page):
    ElementTree.fromstring(
        page.replace("<!DOCTYPE html>", "").replace('">\n<meta', '"/>\n<meta').replace('scale=1">', 'scale=1"/>')
    )
    assert not [attributes for _, attributes in Structure(page).tags if {"src", "href"} & set(attributes)]


def test_every_header_has_a_scope_and_every_table_a_caption(page):
    tags = Structure(page).tags
    assert all("scope" in attributes for tag, attributes in tags if tag == "th")
    assert [tag for tag, _ in tags].count("caption") == [tag for tag, _ in tags].count("table") == 2


def test_rows_are_as_wide_as_the_header(page):
    for table in page.split("<table>")[1:]:
        columns = sum(int(attributes["span"]) for tag, attributes in Structure(table).tags if tag == "colgroup")
        assert columns == 4  # model, explainer and two metrics


def test_labels_and_notes_are_escaped_text(page):
    assert "Plots &lt;all&gt;" in page
    assert "<li>12 scores are undefined</li>" in page
    assert "<all>" not in page


def test_untested_cell_says_so():
    table = summarise_disparity(disparity("gini", [(0.01, 0.5)]), **JUDGED)
    html = render(page_of("disparity", table, **DISPARITIES))
    assert Structure(html).cells[1] == "–"
    assert "no defined scores" in html


def test_groups_with_the_same_beginning_are_told_apart():
    assert initials("male", "female") == ("M", "F")
    assert initials("non-binary", "neutral") == ("NO", "NE")
    assert initials("white", "white_latino") == ("WHITE", "WHITE_")


def parts(colour: str) -> tuple[float, float, float]:
    return tuple(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("colour", BETTER_COLOURS)
def test_text_is_readable_on_every_background(colour, share):
    assert contrast_ratio(parts(INK), parts(shade(colour, share))) >= 4.5


def test_contrast_ratio_of_known_colours():
    assert contrast_ratio((0, 0, 0), (1, 1, 1)) == pytest.approx(21)
    assert contrast_ratio(parts("#767676"), (1, 1, 1)) == pytest.approx(4.54, abs=0.01)  # the known limit of grey


def test_more_significant_seeds_give_a_stronger_colour():
    shades = [sum(parts(shade(BETTER_COLOURS[0], share))) for share in (0.2, 0.6, 1.0)]
    assert shades == sorted(shades, reverse=True)
    assert len(set(shades)) == 3


def test_numbers_are_printed_for_readers():
    assert signed(-0.416) == "−0.42"
    assert signed(-0.004) == "0.00"
    assert mean_sd(float("nan"), float("nan"), 2) == "–"
    assert mean_sd(-1, 0.5, 3) == "−1.000 ± 0.500"


# Scores over seeds


@pytest.fixture
def score_files(tmp_path):
    """Three seeds with means 1, 2 and 6 for the male and NaN for the female group; sparsity is all NaN."""
    files = StudyFiles(tmp_path)
    for seed, mean in enumerate((1.0, 2.0, 6.0)):
        rows = [
            ("0-male", "0", "male", "lime", mean - 1, np.nan),
            ("1-male", "1", "male", "lime", mean + 1, np.nan),
            ("2-male", "2", "male", "lime", np.nan, np.nan),
            ("0-female", "0", "female", "lime", np.nan, np.nan),
        ]
        table = pd.DataFrame(rows, columns=["item_id", "pair_id", "group", "explainer", "gini", "sparsity"])
        files.write(table, seed)
    return files


def summed(files: StudyFiles) -> pd.DataFrame:
    [table] = made("summarise_scores", files, **SCORED)
    return table


def test_mean_over_seeds_of_means_over_items(score_files):
    summary = summed(score_files).set_index(["metric", "group"])
    assert tuple(summary.loc[("gini", "male"), ["seeds", "mean", "sd"]]) == (3, 3, pytest.approx(np.std([1, 2, 6])))
    undefined = summary.loc[("sparsity", "male")]
    assert undefined["seeds"] == 0
    assert np.isnan(undefined["mean"])
    assert np.isnan(undefined["sd"])


def test_a_dataset_without_levels_has_one_group_of_all_texts(score_files, tmp_path):
    items = tables.read_table(tmp_path / "datasets" / "plots" / "items.parquet", ITEMS)
    units = pd.DataFrame(columns=UNITS.schema.names, dtype=object)
    score_files.write_dataset(items.drop(columns="attribute.gender"), units)
    summary = summed(score_files)
    tables.write_table(summary, tmp_path / "summary.parquet", SCORE_SUMMARY)
    summary = tables.read_table(tmp_path / "summary.parquet", SCORE_SUMMARY).set_index("metric")
    assert summary["factor"].isna().all()
    assert summary["group"].tolist() == ["all", "all"]
    # The same three means as of the men: all other scores are undefined.
    assert tuple(summary.loc["gini", ["seeds", "mean", "sd"]]) == (3, 3, pytest.approx(np.std([1, 2, 6])))
    names = {"datasets": ["plots"], "models": {"small": [0, 1, 2]}, "explainers": ["lime"]}
    drawn = called(grouped_scores, *score_files.folders, **names, metrics={"gini": "complexity"})
    assert drawn["group"].tolist() == ["all"] * 12
    assert sorted(drawn["score"].dropna()) == [0, 1, 2, 3, 5, 7]


def test_monte_carlo_error_is_that_of_the_groups_mean(score_files):
    """Two defined errors 0.3 and 0.4 of independent scores: their mean has sqrt(0.09 + 0.16) / 2 = 0.25."""
    for path in score_files.scores.rglob("*.parquet"):
        contract = SCORES_CONTRACT.only("item_id", "gini", "sparsity", "gini_standard_error")
        table = tables.read_table(path, SCORES_CONTRACT.only("item_id", "gini", "sparsity"))
        tables.write_table(table.assign(gini_standard_error=[0.3, 0.4, np.nan, np.nan]), path, contract)
    summary = summed(score_files).set_index(["metric", "group"])
    assert summary.loc[("gini", "male"), "monte_carlo_error"] == pytest.approx(0.25)
    assert summary["monte_carlo_error"].isna().sum() == 3
    cells = page_of("scores", summed(score_files), **SCORES).tables[0].rows[0][1][0][1]
    assert [cell.title for cell in cells] == [says("Monte-Carlo", "0.2500"), "", "", ""]


def test_monte_carlo_errors_belong_to_their_explainer_and_metric(tmp_path):
    """In any order of the names, and where a text has no level."""
    files = StudyFiles(tmp_path)
    errors = {"lime": 0.3, "grad": 0.1}
    for explainer in errors:
        rows = [("a", "a", None, explainer, 1.0, 2.0)]
        table = pd.DataFrame(rows, columns=["item_id", "pair_id", "group", "explainer", "sparsity", "gini"])
        [path] = files.write(table)
        contract = SCORES_CONTRACT.only("item_id", "sparsity", "gini", "sparsity_standard_error")
        scores = tables.read_table(path, SCORES_CONTRACT.only("item_id", "sparsity", "gini"))
        tables.write_table(scores.assign(sparsity_standard_error=errors[explainer]), path, contract)
    names = {"datasets": ["plots"], "models": {"small": [0]}, "explainers": list(errors)}
    metrics = dict.fromkeys(("sparsity", "gini"), "complexity")
    summary = called(summarise_scores, *files.folders, **names, metrics=metrics).set_index(["explainer", "metric"])
    assert summary["monte_carlo_error"].dropna().to_dict() == {
        (explainer, "sparsity"): pytest.approx(error) for explainer, error in errors.items()
    }


def test_score_page_shows_groups_side_by_side(score_files):
    html = render(page_of("scores", summed(score_files), **SCORES))
    assert Structure(html).cells == ["3.000 ± 2.160", "–", "–", "–"]
    assert html.index(">male</th>") < html.index(">female</th>")

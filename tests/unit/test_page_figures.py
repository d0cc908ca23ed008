"""Figures of pages of measurements: drawn of what the repository has, in order, and on their pages."""

import sys
from pathlib import Path
from shutil import copy
from xml.etree import ElementTree

import matplotlib
import pytest
from figure_layout import problems

from evenlight.core.errors import InputError
from evenlight.reports.style import SETTINGS, draw

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import page_figures as figures


def texts(svg: Path) -> list[str]:
    """All that an SVG says."""
    return ["".join(text.itertext()) for text in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.slow
@pytest.mark.parametrize("page", figures.CHARTS)
def test_a_page_shows_its_table_drawn(page, tmp_path):
    path = figures.RESULTS / f"{page}.md"
    chart = figures.CHARTS[page]
    points = chart.points(path)
    # As it is drawn of the table that is there now.
    draw([tmp_path / "new.svg"], lambda: figures.figure_of(chart, points), chart.shows)
    said = texts(path.with_suffix(".svg"))
    assert said == texts(tmp_path / "new.svg")
    assert {*points["panel"], *points["series"]} - {"", "default"} <= set(said)
    shown = path.read_text(encoding="utf-8").split("\n\n")[1:3]
    assert shown == [f"![{chart.shows}]({page}.svg)", f"*{chart.reading}*"]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        assert problems(figures.figure_of(chart, points)) == []


def test_the_numbers_are_those_of_the_page():
    """Worked out by hand from the pages as they stand."""
    fast = figures.benchmark(figures.RESULTS / "benchmark.md")
    row = fast[(fast["panel"] == "ferret") & (fast["series"] == "small_bert, float32") & (fast["y"] == "lime")].iloc[0]
    assert (row["x"], row["low"], row["high"]) == (8.97, 7.47, 10.43)


def test_a_page_is_illustrated_once(tmp_path):
    for suffix in (".md", ".csv"):
        copy(figures.RESULTS / f"time_to_error{suffix}", tmp_path)
    page = tmp_path / "time_to_error.md"
    before = page.read_text(encoding="utf-8")
    figures.illustrate(page, "time_to_error")
    assert page.read_text(encoding="utf-8") == before
    page.write_text("# A page\n\nwithout a figure\n", encoding="utf-8")
    figures.illustrate(page, "time_to_error")
    assert page.read_text(encoding="utf-8").startswith("# A page\n\n![The error")
    assert page.read_text(encoding="utf-8").endswith("*\n\nwithout a figure\n")


def test_a_page_without_a_table_is_refused(tmp_path):
    page = tmp_path / "benchmark.md"
    page.write_text("# Nothing measured\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"benchmark\.md: .*no table"):
        figures.illustrate(page, "benchmark")
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark.md"]

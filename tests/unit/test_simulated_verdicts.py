"""The verdicts of whole studies: nothing is found where nothing is, and what is there is found."""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
import simulate_verdicts
from simulate_verdicts import (
    ALL,
    GECO,
    HEADINGS,
    KINDS,
    SHAPES,
    SMALL,
    TABLE,
    TRAININGS,
    Row,
    as_markdown,
    errors,
    population,
    study,
)

from evenlight.core.seeds import generator_for
from evenlight.statistics.designs import Design
from evenlight.statistics.pooled import Estimate, Variance

WRONG = ("false", "false_models", "false_equivalent", "false_equivalent_models")
SKEWED, POOLED, CLUSTERED, TEXTS = SMALL


def name_of(row: Row) -> str:
    return "-".join(map(str, asdict(row).values()))


@pytest.mark.parametrize("row", SMALL, ids=name_of)
def test_a_small_study_finds_nothing_where_nothing_is(row):
    """Ten studies of 96 cells: with a level of one in twenty, four wrong ones come in one of 1,000 such tests."""
    shares = errors(row, 10, 5.0, 200)
    assert max(shares[name] for name in WRONG) <= 3 / 10


def by_t_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holm's adjustment of the cells' own t tests in the place of the resamples."""

    def judged(table: pd.DataFrame, statistics: np.ndarray, alpha: float) -> pd.DataFrame:
        found = simulate_verdicts._by_t(table)
        return table.assign(verdict=np.where(found, "disparity for these trained models", "undecided"))

    monkeypatch.setattr(simulate_verdicts, "judged", judged)
    monkeypatch.setattr(simulate_verdicts, "with_family_intervals", _without_intervals)


def _without_intervals(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    return table.assign(family_low=np.nan, family_high=np.nan)


def with_pooled_variances(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variance over seeds as well known as that over units."""

    def variances(self: Estimate, trainings: bool, wider: float = 1.0) -> list[Variance]:
        over_seeds = np.nan_to_num(self.trainings.value) if trainings else 0
        return [Variance(self.units[0].value + over_seeds, self.units[0].degrees)]

    monkeypatch.setattr(Estimate, "variances", variances)


def without_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each unit as independent of all others."""
    monkeypatch.setattr(Design, "clusters", property(lambda self: (self.a.items,) * 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "mistake", "name"),
    [
        (SKEWED, by_t_tests, "false_models"),
        (POOLED, with_pooled_variances, "false"),
        (CLUSTERED, without_clusters, "false_models"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_same_studies_show_a_mistake(row, mistake, name, monkeypatch):
    mistake(monkeypatch)
    assert errors(row, 10, 5.0, 200)[name] > 3 / 10


@pytest.mark.parametrize("name", sorted({row.population for row in ALL if row.population}))
def test_no_cell_of_a_population_of_real_scores_has_a_difference(name):
    units, scores, names = population(name)
    assert len(names) == scores.shape[0] > 10
    for level in units["level"].unique():
        means = np.nanmean(scores[:, :, units["level"] == level], axis=2)
        assert np.abs(means).max() < 1e-6 * np.nanmax(np.abs(scores))


def test_studies_drawn_from_real_scores_find_what_is_planted_and_little_else():
    """Cells' own t tests, adjusted by Holm's method, are wrong in most of them."""
    shares = errors(Row(1, 100, "pairs", "real", cells=0, population=GECO), 12, 5.0, 300)
    # With the level of one in twenty three or more of twelve are wrong in one of 50 such tests.
    assert shares["false_models"] <= 2 / 12 < 1 / 3 < shares["false_t"]
    assert shares["found_models"] > 0.25
    assert shares["coverage"] > 0.93
    assert shares["coverage_family"] >= 10 / 12


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["rare", "mostly zero", "log-normal"])
def test_mixed_shapes_are_wrong_no_more_often_than_others(shape):
    """24 of 96 cells are skewed, the others normal; before cells of one family had one scale, most were wrong."""
    shares = errors(Row(1, 50, shape=shape, odd=24), 12, 5.0, 300)
    assert shares["false_models"] <= 2 / 12
    assert shares["coverage"] > 0.93


def test_what_is_there_is_found():
    few, many = (errors(Row(runs, 100, "pairs", "normal", 0.1, "varying"), 1, 8.0, 300) for runs in (2, 10))
    # For these trained models, most; across retraining, nothing with two runs and most with ten.
    assert few["found_models"] > 0.9
    assert few["found"] < 0.2
    assert many["found"] > 0.8


def test_labels_that_one_level_has_more_often_are_a_disparity_but_within_strata():
    without, within = (errors(Row(1, 100, f"texts {what} labels"), 5, 5.0, 200) for what in ("with", "within"))
    assert without["false_models"] > 0.5
    assert within["false_models"] <= 0.2
    assert within["found_models"] > 0.3


def test_runs_that_go_wrong_are_taken_for_a_disparity():
    """A limit of all statements about retraining from a few runs: some model has no such run."""
    assert errors(Row(5, 100, "pairs", "normal", 3.0, "one run in ten"), 5, 5.0, 200)["false"] > 0.5


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_mean_zero_and_variance_one(name):
    z = np.linspace(-8, 8, 200_001)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    values = SHAPES[name](z)
    assert (density * values).sum() == pytest.approx(0, abs=1e-4)
    # The tails of Student's t are long: what is beyond nine deviations has a share in its variance.
    assert (density * values**2).sum() == pytest.approx(1, abs=2e-3)
    if name != "rare":
        # So that cells whose normal numbers go together do, too.
        assert (np.diff(values) >= 0).all()


def test_nine_of_ten_scores_that_are_mostly_zero_are_the_same():
    values = SHAPES["mostly zero"](generator_for("tests", "zeros").normal(size=20_000))
    assert (values == values.min()).mean() == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("name", TRAININGS)
def test_trainings_have_mean_zero(name):
    random = generator_for("tests", "trainings")
    means = [TRAININGS[name](random, 50, 40).mean() for _ in range(400)]
    assert np.mean(means) == pytest.approx(0, abs=4 * np.std(means) / 20)


def test_no_two_studies_have_a_unit_in_common():
    """Resamples are drawn by the names of clusters: studies with the same names would depend on one another."""
    row = replace(CLUSTERED, units=20)
    names = []
    for number in range(2):
        designs = [design for design, _ in study(generator_for("tests", number), row, np.zeros((2, 1, 1)), True)]
        names += [set(design.clusters[0]) for design in designs]
    assert len(names) == 4
    assert len(set.union(*names)) == sum(map(len, names))


@pytest.mark.parametrize("kind", KINDS)
def test_a_family_has_as_many_cells_as_its_row_says(kind):
    random = generator_for("tests", "cells")
    datasets = list(study(random, Row(2, 40, kind, cells=4), np.zeros((2, 2, 1)), True))
    assert sum(len(scores.metrics) for _, scores in datasets) == 4 + KINDS[kind].poor_cells
    for design, scores in datasets:
        assert len(design.a.items) + len(design.b.items) == scores.values.shape[2]
        assert (design.a.strata is not None) == KINDS[kind].strata


def test_the_table_has_a_section_for_each_row_and_no_two_alike():
    assert len(set(ALL)) == len(ALL)
    numbers = dict.fromkeys(HEADINGS, 0.25)
    rows = [asdict(row) | numbers | {"studies": 40} for row in reversed([*ALL, Row(7, 9)])]
    text = as_markdown(pd.DataFrame(rows))
    lines = text.splitlines()
    assert [line[4:] for line in lines if line.startswith("### ")] == [*TABLE, "Other"]
    assert sum(line.startswith("| ") for line in lines) == len(ALL) + 1 + 2 * (len(TABLE) + 1)
    # One run says nothing of further ones.
    assert lines[4].startswith("| 1 | 24 | 117 | pairs | geco all male female | 0 | 40 |  | 0.250 |  |  | 0.250 |")
    assert "| 1 | 24 | 96 | pairs | 4 rare | 0 | 40 |  | 0.250 |  | 0.250 | 0.250 |" in text
    assert "- these trained models: 10 of 40 studies, 0.250 [0.127, 0.412]; at most 10 of 40 in a row" in text


@pytest.mark.slow
@pytest.mark.parametrize("row", SMALL, ids=name_of)
def test_no_kind_of_claim_is_wrong_in_more_than_one_study_of_twenty(row):
    shares = errors(row, 200, 5.0, 500)
    # Ten are expected at most; 20 or more come in one of 400 such tests.
    assert max(shares[name] for name in WRONG) < 0.1

"""`make verdicts`: studies are what their rows say, and what is wrong in them is counted as wrong."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bench_scripts import script
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from evenlight.core.seeds import generator_for

simulate = script("simulate")
laws = simulate.laws


def share_of_wins(study) -> tuple[np.ndarray, np.ndarray]:
    """How many of the decided pairs the first group wins to the verdicts, and how many are decided."""
    [[part]] = simulate.counted([study], True)
    wins, losses = (part.rows[name].to_numpy(float) for name in ("wins", "losses"))
    return wins / np.maximum(wins + losses, 1), wins + losses


@pytest.mark.parametrize(("name", "seeds"), [(simulate.GECO, 1), (simulate.GECO, 2), (simulate.HATE, 1)])
def test_wins_equal_losses_in_populations_to_verdicts(name, seeds):
    share, decided = share_of_wins(laws.of_pairs(laws.equal(name, seeds)))
    assert len(share) > 100
    np.testing.assert_array_equal(share[decided > 0], 0.5)
    assert (decided > 0).mean() > 0.9


@pytest.mark.parametrize("kind", ["shift", "turned", "rare losses", "size"])
def test_half_of_the_comparisons_have_the_planted_effect(kind):
    study = laws.planted(simulate.HATE, kind)(generator_for("planted", kind), 5_000)
    has = study.share != 0.5
    assert has.mean() == (0 if kind == "size" else pytest.approx(0.5, abs=0.15))
    np.testing.assert_allclose(share_of_wins(study)[0], study.share, atol=0.04)
    if kind == "rare losses":
        mean = (study.a - study.b).mean(axis=(1, 2))[has]
        assert np.abs(mean / (study.a - study.b).std(axis=(1, 2))[has]).max() < 0.06


@pytest.mark.parametrize("name", [simulate.COMPAS, simulate.CEBAB])
def test_texts_of_levels_are_as_often_higher_in_each_stratum(name):
    units, scores = laws._centred(name)
    for code in units["stratum"].unique():
        first, second = (scores[:, (units["level"] == of) & (units["stratum"] == code)] for of in (0, 1))
        for a, b in zip(first, second, strict=True):
            above = (a[:, None] > b).mean() + (a[:, None] == b).mean() / 2
            assert above == pytest.approx(0.5, abs=0.01)


def test_studies_that_are_counted_together_are_those_that_are_counted_alone():
    for law, units in ((laws.missing, (24,)), (laws.retrained("normal", 3, 5), (30,)), (laws.spread(3), (60, 50))):
        studies = [law(generator_for("together", number), *units) for number in range(3)]
        for study, [part] in zip(studies, simulate.counted(studies, len(units) == 1), strict=True):
            [[alone]] = simulate.counted([study], len(units) == 1)
            names = alone.rows.columns.drop("metric")
            pd.testing.assert_frame_equal(part.rows[names], alone.rows[names], rtol=1e-12)
            if alone.signed is not None:
                np.testing.assert_array_equal(part.signed, alone.signed)


@pytest.mark.parametrize("place", [(simulate.GECO, "turned", 24), (simulate.HATE, "rare losses", 100)])
def test_the_engine_is_at_one_with_scipy_and_statsmodels(place):
    name, kind, units = place
    row = simulate.Row("independent", laws.planted(name, kind), (units,))
    for number, said in enumerate(simulate.of_studies(row, range(2))):
        study = row.law(generator_for("verdicts", row.name, units, number), units)
        differences = (study.a - study.b).mean(axis=1)
        wins, losses = ((sign * differences > 1e-10).sum(axis=1) for sign in (1, -1))
        p = [
            binomtest(int(won), int(won + lost), 0.5, alternative="greater").pvalue if won + lost else 1.0
            for won, lost in zip(np.r_[wins, losses], np.r_[losses, wins], strict=True)
        ]
        first, second = np.split(multipletests(p, 0.05, method="holm")[0], 2)
        found = first.astype(int) - second.astype(int)
        assert said["wrong"] == (found * (found != study.truth)).any()
        assert said["found"] == (found == study.truth)[study.truth != 0].mean()
        assert said["found"] > 0


def test_verdicts_at_too_large_a_level_are_wrong(monkeypatch):
    row = ("Pairs: made scores, without a difference", 3)
    assert simulate.of_row(row, range(10))["wrong"].mean() <= 0.1
    monkeypatch.setattr(simulate, "JUDGING", replace(simulate.JUDGING, alpha=0.9))
    found = simulate.of_row(row, range(10))
    assert found["wrong"].mean() >= 0.4
    assert found["a limit wrong"].mean() >= 0.4


def test_an_oracle_is_wrong_as_often_as_is_allowed():
    generator = np.random.default_rng(3)
    least = generator.uniform(0, 0.1, size=1000)
    assert simulate._by_oracle([[0.004, 0.006]] * 1000, least) == 0.5
    assert (least < np.sort(least)[50]).mean() == 0.05


def table(wrong: list[float], name: str, section: str = "Pairs", **columns: object) -> pd.DataFrame:
    return pd.DataFrame({"wrong": wrong, **columns}).assign(section=section, scores=name, units="24")


def test_tables_are_written_below_what_people_wrote():
    rows = [
        table([False] * 100, "one"),
        table([True] * 10 + [False] * 90, "two", found=0.5),
        table([np.nan] * 4, "normal", simulate.MEANS, holds=[1.0, 1, 1, np.nan], **{"width, x": [1, 2, np.inf, 1.5]}),
    ]
    old = f"# Page\n\nWords.\n\n{simulate.MARK}\n\nold tables"
    text = simulate.page(pd.concat(rows), 100, old)
    assert text.startswith("# Page\n\nWords.\n\n")
    assert "old tables" not in text
    assert "| two | 24 | 0.100 [0.049, 0.176] | 0.500 |" in text
    assert "10 of 200 studies, 0.050" in text
    assert "| normal | 24 | 1.000 | 1.750 |" in text
    assert simulate.page(pd.concat(rows), 100, text) == text


def test_blocks_that_are_there_are_not_drawn_again(tmp_path, monkeypatch):
    monkeypatch.setattr(simulate, "SHAPES", {})
    monkeypatch.setattr(simulate, "SECTIONS", {"Pairs": [simulate.Row("one: a half", None, (24,))]})
    for start, size in ((0, 100), (100, 30)):
        table([float(start)] * size, "one").to_parquet(tmp_path / f"Pairs_one_a_half_24_{start}_{size}.parquet")
    assert simulate.drawn(130, 1, tmp_path)["wrong"].value_counts().to_dict() == {0.0: 100, 100.0: 30}


@pytest.mark.slow
def test_every_row_can_be_drawn():
    for title, rows in simulate.SECTIONS.items():
        for number in range(len(rows)):
            assert simulate.of_row((title, number), range(1))["scores"].tolist() == [rows[number].name]
    for name in simulate.SHAPES:
        for sizes in simulate.SIZES:
            assert len(simulate.of_means((name, sizes), range(2))) == 2 * simulate.SAMPLES

"""`make verdicts`: studies are what their rows say, and what is wrong in them is counted as wrong."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bench_scripts import script

from evenlight.core.seeds import generator_for

simulate = script("simulate")
laws = simulate.laws


def share_of_wins(study) -> tuple[np.ndarray, np.ndarray]:
    """How many of the decided pairs the first group wins to the verdicts, and how many are decided."""
    [part] = simulate.counted(study, True)
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


def test_verdicts_at_too_large_a_level_are_wrong(monkeypatch):
    row = ("Pairs: made scores, without a difference", 3)
    assert simulate.of_row(row, 10)["wrong"] <= 0.1
    monkeypatch.setattr(simulate, "JUDGING", replace(simulate.JUDGING, alpha=0.9))
    found = simulate.of_row(row, 10)
    assert found["wrong"] >= 0.4
    assert found["a limit wrong"] >= 0.4


def test_tables_are_written_below_what_people_wrote():
    rows = pd.DataFrame({"section": "Pairs", "scores": ["one", "two"], "wrong": [0.0, 0.1], "found": [np.nan, 0.5]})
    old = f"# Page\n\nWords.\n\n{simulate.MARK}\n\nold tables"
    text = simulate.page(rows, pd.DataFrame({"scores": ["normal"], "holds": [0.95]}), 100, old)
    assert text.startswith("# Page\n\nWords.\n\n")
    assert "old tables" not in text
    assert "| two | 0.100 | 0.500 |" in text
    assert "10 of 200 studies, 0.050" in text
    assert "| normal | 0.950 |" in text
    assert simulate.page(rows, pd.DataFrame({"scores": ["normal"], "holds": [0.95]}), 100, text) == text


@pytest.mark.slow
def test_every_row_can_be_drawn():
    for title, rows in simulate.SECTIONS.items():
        for number in range(len(rows)):
            assert simulate.of_row((title, number), 1)["scores"] == rows[number].name
    assert len(list(simulate.coverage(3))) == 20

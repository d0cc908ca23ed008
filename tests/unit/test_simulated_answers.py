"""Verdicts on made answers: nothing is found where nothing is, and the simulation sees an estimator that is wrong."""

import numpy as np
import pandas as pd
import pytest
from simulate_answers import TABLE, Row, answered, as_markdown, errors, study

from evenlight.statistics import pooled

SHARED = Row(40, 4, "counts", metrics=12, shared=0.7)
SHARES = Row(40, 4, "shares", metrics=3, refused=(0.1, 0.4))


@pytest.mark.parametrize("row", [SHARED, SHARES], ids=["shared", "refused"])
def test_made_answers_without_a_difference_have_no_verdict(row):
    """Ten studies: with a level of one in twenty, four wrong ones come in one of 1,000 such tests."""
    shares = errors(row, 10, 200)
    assert shares["further"] <= 3 / 10
    assert row.shared or max(shares["these"], shares["decided"]) <= 3 / 10


def test_what_draws_share_is_noticed(monkeypatch):
    """Where draws have something in common, and the estimator does not know, most studies are wrong."""
    real = pooled._over_draws

    def independent(*of_draws):
        variance = real(*of_draws)
        return pooled.Variance(variance.value * 1e-6, variance.degrees)

    monkeypatch.setattr(pooled, "_over_draws", independent)
    assert errors(SHARED, 10, 200)["further"] >= 5 / 10


def test_answers_are_made_as_the_row_says():
    random = np.random.default_rng(0)
    scores = answered(random, Row(400, 10, "shares", metrics=2, unequal=True, refused=(0.0, 0.5)))
    assert scores.shape == (2, 10, 2, 400)
    assert set(np.unique(scores[~np.isnan(scores)])) == {0, 1}
    assert not np.isnan(scores[:, :, 0]).any()
    # Of 1 to 10 answers of the second form, half.
    assert (~np.isnan(scores[:, :, 1])).sum(axis=1).mean() == pytest.approx(5.5 / 2, abs=0.2)
    alike = answered(random, Row(2000, 3, "counts", metrics=1, shared=2.0)).mean(axis=3)
    apart = answered(random, Row(2000, 3, "counts", metrics=1)).mean(axis=3)
    assert alike.std() > 5 * apart.std()
    first, second = answered(random, Row(40_000, 1, "counts", apart=0.7))[0, 0].mean(axis=1)
    assert second / first == pytest.approx(np.exp(0.35), rel=0.04)
    first, second = answered(random, Row(40_000, 1, "shares", apart=0.7))[0, 0].mean(axis=1)
    assert (first, second) == pytest.approx((0.50, 0.69), abs=0.02)
    [(_, scores)] = study(random, Row(30, 3, "counts"))
    assert np.allclose(np.nanmean(scores.draws, axis=2), scores.values)


def test_the_table_tells_what_each_row_can_be_wrong_in():
    table = pd.DataFrame([errors(row, 1, 200) for row in (Row(24, 1, "counts"), Row(24, 2, "counts", shared=0.5))])
    first, second = as_markdown(table).splitlines()[2:4]
    assert first.split("|")[8:12] == [" 0.000 ", "  ", "  ", "  "]
    assert second.split("|")[6:10] == [" draws share 0.5 ", " 1 ", "  ", f" {table['further'][1]:.3f} "]
    assert len(set(TABLE)) == len(TABLE)


def test_what_is_apart_is_found_and_told_in_a_table_of_its_own():
    found, missed = (errors(Row(units, 4, "shares", apart=apart), 5, 200) for units, apart in ((200, 2.0), (24, 0.01)))
    assert found["these"] == found["further"] == 1
    assert missed["these"] == 0
    of_errors, of_power = as_markdown(pd.DataFrame([found, missed])).split("\n\n")
    assert len(of_errors.splitlines()) == 2
    assert of_power.strip().splitlines() == [
        "| scores | the second form has | questions | studies | these answers, 4 draws | further answers, 4 draws |",
        "| --- | --- | --- | --- | --- | --- |",
        "| shares | share 0.50 in place of 0.50 | 24 | 5 | 0.00 | 0.00 |",
        "| shares | share 0.92 in place of 0.50 | 200 | 5 | 1.00 | 1.00 |",
    ]

"""Verdicts in words: sentences of a row, and signs."""

from types import SimpleNamespace

import pandas as pd
import pytest
from wording import says

from evenlight.reports.pages.effects import effect_cell
from evenlight.reports.verdict_words import (
    SCORED,
    describe_scope,
    how_sure,
    legend_of,
    sentences,
    sign_of,
    without_seeds,
)
from evenlight.statistics.comparisons.study import Comparison

NAN = float("nan")
ROW = {
    **{"level_a": "male", "level_b": "female", "verdict": "female more often", "side": -1, "unit": "pairs"},
    **{"units_a": 26, "units_b": 26, "wins": 3, "losses": 22, "ties": 1, "share": 0.12, "net_benefit": -19 / 26},
    **{"family_low": 0.011, "family_high": 0.359, "most_differ": 0.991, "margin": 0.02, "reason": None, "look": None},
    **{"apart": False, "difference": -0.25, "difference_low": -0.4, "difference_high": -0.1, "cliffs_delta": -0.5},
    **{"standardised": -0.31234, "standardised_low": -0.6, "standardised_high": -0.02},
    **{"repeated": "trainings", "p_adjusted": 0.0012, "p_as_often_adjusted": 1.0},
    **{"worst_side": 0, "worst_a": 0, "worst_b": 0},
    **{"seeds": 1, "seeds_agree": 1, "left_out_seeds": "", "robustness": NAN, "robustness_significance": NAN},
}

RETRAINED = {"seeds": 8, "seeds_agree": 5, "retraining_side": 0, "seeds_needed": 6}


def said(**changes) -> str:
    return " ".join(sentences(SimpleNamespace(**ROW | changes), 140))


def test_a_row_is_told_from_the_side_that_wins():
    parts = (
        "In 22 of 26 pairs “female”",
        "better (3 worse, 1 tie)",
        "at least 64 of 100",
        "140",
        "−0.25 [−0.4, −0.1], −0.312 [−0.6, −0.02] standard deviations.",
    )
    assert said() == says(*parts)
    assert "seeds agree" not in said()


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"standardised": NAN}, "−0.25 [−0.4, −0.1]."),
        ({"apart": True}, "better for “male”"),
        ({"look": 2.0}, "interim analysis 2"),
        ({"difference_high": float("inf"), "standardised": NAN}, "[−0.4, ∞]. Without a limit"),
        ({"reason": "5 decided pairs are too few"}, "Not decidable: 5 decided pairs"),
        ({"worst_side": 1, "worst_a": 9, "worst_b": 1}, "9 against 1 pairs"),
        ({"worst_side": -1, "worst_a": 1, "worst_b": 9}, "9 against 1 pairs"),
        (
            RETRAINED | {"seeds": 3, "seeds_agree": 2},
            "2 of 3 seeds agree; a claim across retraining takes 6 seeds or more.",
        ),
        (
            RETRAINED,
            "5 of 8 seeds agree; a claim across retraining takes 6 seeds or more, and these do not agree enough.",
        ),
        (RETRAINED | {"seeds_needed": pd.NA}, "5 of 8 seeds agree."),
        (
            RETRAINED | {"retraining_side": 1, "p_retraining_adjusted": 0.01},
            "more trainings than not have it for “male”",
        ),
        ({"wins": 0, "losses": 0, "ties": 26, "net_benefit": 0.0}, "In 0 of 26 pairs “male”"),
    ],
)
def test_what_else_a_row_may_say(changes, part):
    assert part in said(**changes)
    assert part not in said()


def test_texts_without_pairs_have_other_words():
    texts = {"unit": "texts", "units_b": 80, "wins": NAN, "losses": NAN, "ties": NAN, "margin": NAN, "most_differ": NAN}
    words = said(**texts, share=0.3)
    assert words == says(
        "text of “female”", "one of “male”", "better", "70 of 100", "(64 to 99", "140", "26 and 80 texts"
    )
    assert "pairs" not in words
    worst = said(**texts, share=0.3, worst_side=-1, worst_a=2, worst_b=9)
    assert "“female” has this study's worst tenth of scores more often, 9 of 80 texts against 2 of 26" in worst


SCORED_ELSEWHERE = {"repeated": "repetitions", "retraining_side": 0, "seeds_needed": 12, "left_out_seeds": "4"}


def test_of_a_table_of_scores_nobody_says_that_models_were_trained_or_texts_read():
    alone = {"unit": "units", "wins": NAN, "losses": NAN, "ties": NAN, "margin": NAN, "most_differ": NAN}
    for unit in ({}, alone, {"unit": "clusters"}):
        row = ROW | SCORED_ELSEWHERE | unit | {"seeds": 3, "seeds_agree": 2, "worst_side": 1}
        told = " ".join(sentences(SimpleNamespace(**row), 140, SCORED)) + without_seeds(SimpleNamespace(**row))
        assert [word for word in ("text", "train", "seed", "explain") if word in told] == []
        assert told == says("2 of 3 repetitions", "12 repetitions", "repetition 4")
        assert describe_scope(pd.DataFrame([row])) == says("repetitions", "units")
    assert "repetition" not in describe_scope(pd.DataFrame([ROW | SCORED_ELSEWHERE]))


@pytest.mark.parametrize(
    ("columns", "part"),
    [
        ({"seeds_needed": [6, 6]}, " A claim across retraining takes 6 seeds or more."),
        ({"family": ["exploratory", "primary"]}, " 6 seeds or more for what was named beforehand, and 9 for the rest."),
        ({"repeated": ["draws", "trainings"]}, " A claim across retraining takes 6 seeds or more."),
        ({"repeated": "repetitions"}, ""),
        ({"seeds": [1, 3]}, ""),
        ({"seeds_needed": pd.NA}, ""),
    ],
)
def test_of_models_that_were_trained_once_it_is_said_how_many_seeds_a_claim_takes(columns, part):
    rows = pd.DataFrame([ROW, ROW]).assign(family="study", adjusted_by="holm", seeds_needed=[9, 6])
    told = how_sure(rows.assign(**columns).astype({"seeds_needed": "Int64"}), 0.05)
    assert told.endswith(part)
    assert ("claim across" in told) == bool(part)


def test_a_cell_shows_its_sign_and_its_counts():
    cell = effect_cell(SimpleNamespace(**ROW), 140)
    assert (cell.text, cell.bold) == ("F 3–22–1", True)
    assert cell.background == sign_of("female more often", -1, "male", "female")[1]
    legend = legend_of([Comparison("gender", "male", "female")], 0.2)
    assert cell.background in {example.background for example, _ in legend}
    told = {example.text: meaning for example, meaning in legend}
    assert (told["?"], told["–"]) == (says("undecided", "too even"), says("not decidable, whoever wins"))
    undecided = effect_cell(SimpleNamespace(**ROW | {"verdict": "undecided", "side": 0}), 140)
    assert (undecided.text, undecided.bold) == ("? 3–22–1", False)

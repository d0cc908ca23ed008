"""Draws that are copies of each other: told from independent ones, and no ground for a verdict."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.explainers.answering import notes_of
from evenlight.explainers.copies import is_repeated, why_answers_are_copies, why_copies
from evenlight.statistics.analyses.decisions import decision_codes

UNITS = 60


def coin(random: np.random.Generator, draws: int, before: float = 0.0, first: float = 0.0) -> np.ndarray:
    """Decisions on two forms by a fair coin, (draws, 2 × units); shares of them copy the draw before, or the first."""
    said = random.integers(0, 2, (draws, 2 * UNITS)).astype(float)
    for draw in range(1, draws):
        copies = random.random(2 * UNITS)
        said[draw] = np.where(copies < before, said[draw - 1], np.where(copies < before + first, said[0], said[draw]))
    return said


def answers_of(said: np.ndarray, text=lambda item, decision, draw: decision, temperature: float | None = 0.7):
    rows = [
        {"item_id": f"{item:03}", "draw": draw, "decision": "hire" if value else "refuse", "temperature": temperature}
        for draw, of_draw in enumerate(said)
        for item, value in enumerate(of_draw)
    ]
    table = pd.DataFrame(rows).reindex(columns=ANSWERS.schema.names)
    texts = [text(*row) for row in zip(table["item_id"], table["decision"], table["draw"], strict=True)]
    return table.assign(text=texts, model="m")


@pytest.mark.parametrize("draws", [2, 10])
def test_draws_that_are_all_the_same_are_copies(draws):
    same = np.repeat(coin(np.random.default_rng(0), 1), draws, axis=0)
    assert "same" in why_copies(same)
    # A gateway that is not always at hand.
    same[1, 0] = 1 - same[0, 0]
    assert "same" in why_copies(same)


@pytest.mark.parametrize(("copied", "word"), [({"before": 0.7}, "before"), ({"first": 0.5}, "first")])
def test_order_tells_copies(copied, word):
    found = [why_copies(coin(np.random.default_rng(seed), 10, **copied)) for seed in range(10)]
    assert all(found)
    assert sum(word in why for why in found) >= 8


@pytest.mark.slow
def test_independent_draws_are_rarely_taken_for_copies():
    """Two tests at .025, so that at most .05 are; binomial, 200 studies."""
    found = [why_copies(coin(np.random.default_rng(seed), 5)) is not None for seed in range(200)]
    assert sum(found) <= 20


def test_what_draws_of_a_number_have_in_common_is_no_copy():
    """The first two draws are of one day, the others of another."""
    random = np.random.default_rng(0)
    said = np.where(random.random((4, 120)) < 0.95, [[0.0], [0.0], [1.0], [1.0]], 0.5)
    assert why_copies(said) is None


def test_answers_at_a_temperature_of_0_are_no_copies():
    same = np.repeat(coin(np.random.default_rng(0), 1), 3, axis=0)
    assert why_answers_are_copies(answers_of(same, temperature=0.0)) is None
    assert why_answers_are_copies(answers_of(same, temperature=None))
    [_, note] = notes_of(answers_of(same), {f"{item:03}" for item in range(120)})
    assert "copies" in note
    assert "temperature" in note


def test_a_sure_model_in_its_own_words_gives_no_copies():
    same = np.repeat(coin(np.random.default_rng(0), 1), 3, axis=0)
    answers = answers_of(same, lambda item, decision, draw: f"{decision}, said for the {draw}. time of case {item}")
    assert why_answers_are_copies(answers) is None
    assert not is_repeated(answers).any()


def test_long_answers_that_are_the_same_count_once_where_copies_are_suspected(tmp_path: Path):
    def long(item, decision, draw):
        return f"My answer is to {decision} this person of case {item}, and that is all that I say."

    random = np.random.default_rng(3)
    said = coin(random, 5)
    is_copy = random.random(said.shape) < 0.7
    for draw in range(1, len(said)):
        said[draw] = np.where(is_copy[draw], said[draw - 1], said[draw])
    copied = answers_of(said, long)
    repeated = is_repeated(copied)
    assert repeated.sum() == len(copied) - len(copied[["item_id", "text"]].drop_duplicates()) > 0
    # A model may write an answer twice, and independent draws are counted as they are.
    assert not is_repeated(answers_of(coin(random, 5), long)).any()
    tables.write_table(copied, tmp_path / "copied.parquet", ANSWERS)
    codes, doubt = decision_codes([tmp_path / "copied.parquet"], pd.Index(sorted(set(copied["item_id"]))))
    assert "one before" in doubt
    assert (~np.isnan(codes)).sum() == (~repeated).sum()

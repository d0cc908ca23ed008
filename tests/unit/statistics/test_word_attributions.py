"""What explanations give to the words of both forms of a sentence, against scipy and by hand."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from dataset_files import write_dataset
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests
from study_files import result_of
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.metrics.explanations import explanation_of
from evenlight.metrics.families.correctness import MassAccuracy
from evenlight.reports.plots.attribution_differences import draw_attribution_differences
from evenlight.statistics.analyses.word_attributions import read_word_shares, word_shares
from evenlight.statistics.comparisons.files import Run, attribution_path, predictions_path
from evenlight.texts.predictions import Sentence

LEVELS = ("male", "female", "neutral")
SENTENCES = 12
# Words 0 and 2 are ground truth; word 2 has two tokens, word 3 has none.
TRUTH = [1, 0, 1, 0]
WORD_ID = [None, 0, 1, 2, 2, None]
NAMES = {"datasets": ["plots"], "models": {"small": [0, 1]}, "explainers": ["lime"]}
THREE = {"gender": [list(LEVELS)]}


def token_scores(seed: int) -> np.ndarray:
    """Of every form (sentences, levels, tokens): those of the first level lie on word 0."""
    draw = np.random.default_rng(seed)
    scores = draw.normal(size=(SENTENCES, len(LEVELS), len(WORD_ID)))
    scores[:, 0, 1] = 3 + seed
    return scores


def item_ids() -> list[str]:
    return [f"{level[0]}{n}" for n in range(SENTENCES) for level in LEVELS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    rows = [(f"{level[0]}{n}", f"{n}", level) for n in range(SENTENCES) for level in LEVELS]
    items = pd.DataFrame(rows, columns=["item_id", "pair_id", "group"])
    items = items.assign(label=items["group"].map(LEVELS.index), split="test")
    words, truth = [list("abcd")] * len(items), [TRUTH] * len(items)
    # One form of the last sentence is longer; the sentence before has no ground truth.
    words[-1], truth[-1] = list("abcde"), [*TRUTH, 0]
    truth[-6:-3] = [[0] * 4] * 3
    write_dataset(items.assign(words=words, ground_truth=truth), folder / "datasets" / "plots", classes=LEVELS)
    for seed in (0, 1):
        run = Run("plots", "small", seed)
        row = dict.fromkeys(PREDICTIONS.schema.names) | {"split": "test", "target": 0, "probability": [1.0, 0.0, 0.0]}
        row |= {"token_id": [1] * 6, "word_id": WORD_ID, "token_text": ["a"] * 6, "predicted": 0}
        predictions = pd.DataFrame([row | {"item_id": name} for name in item_ids()])
        tables.write_table(predictions, predictions_path(folder / "predictions", run), PREDICTIONS)
        scores = [list(form) for sentence in token_scores(seed) for form in sentence]
        attribution_file = pd.DataFrame(
            {"item_id": item_ids(), "token_score": scores, "completeness_gap": None, "forward_rows": 0}
        )
        path = attribution_path(folder / "attributions", run, "lime")
        about = {"explainer": "lime", "settings": {}, "seed": seed, "family": "lime", "note": None}
        tables.write_table(attribution_file, path, ATTRIBUTIONS, about | {"explained_again": []})
    return folder


def compared(folder, comparisons=THREE) -> tuple[pd.DataFrame, Sequence[str]]:
    folders = {name: folder / name for name in ("attributions", "datasets", "predictions")}
    found = result_of("compare_attributions", folders, **NAMES, comparisons=comparisons)
    return found.tables[0], found.notes


@pytest.fixture(scope="module")
def found(folder) -> tuple[pd.DataFrame, list[str]]:
    return compared(folder)


def test_shares_of_words_are_what_mass_accuracy_adds_up(folder):
    run = Run("plots", "small", 1)
    shares = dict(read_word_shares(folder / "attributions", folder / "datasets", folder / "predictions", run, "lime"))
    assert list(shares) == item_ids()
    scores = token_scores(1)[0, 0]
    weights = np.abs(scores[1:5])
    expected = [weights[0], weights[1], weights[2] + weights[3], np.nan] / weights.sum()
    np.testing.assert_allclose(shares["m0"], expected)
    word_id = np.array([-1, 0, 1, 2, 2, -1])
    explanation = explanation_of(Sentence("m0", (), np.zeros(6, dtype=int), word_id, 0), scores, TRUTH)
    assert MassAccuracy(metric="mass_accuracy").score(explanation, None) == pytest.approx(
        np.nansum(shares["m0"][[0, 2]])
    )
    assert np.isnan(word_shares(np.zeros(2), np.array([0, 1]), 2)).all()


def test_the_differences_are_scipy_s(found):
    table, notes = found
    assert list(table["level_a"] + "–" + table["level_b"])[:3] == ["male–female", "male–neutral", "female–neutral"]
    assert notes == [
        says(f"dataset 'plots', {pair}", "1 pairs", "numbers of words", "left out")
        for pair in ("male and neutral", "female and neutral")
    ]
    for seed, part in table.groupby("seed"):
        weights = np.abs(token_scores(seed)[:, :, 1:5])
        weights /= weights.sum(axis=2, keepdims=True)
        words = np.stack([weights[:, :, 0], weights[:, :, 2:].sum(axis=2)], axis=2)
        p = []
        for row, (a, b) in zip(part.itertuples(), [(0, 1), (0, 2), (1, 2)], strict=True):
            there = [n for n in range(SENTENCES - (b == 2)) if n != SENTENCES - 2]
            difference = words[there, a] - words[there, b]
            assert (row.pairs, row.words) == (len(there), 2 * len(there))
            assert row.mean_absolute == pytest.approx(np.abs(difference).mean())
            assert row.mean_difference == pytest.approx(difference.mean())
            assert row.p == pytest.approx(wilcoxon(difference.ravel()).pvalue)
            assert row.p_pairs == pytest.approx(wilcoxon(difference.mean(axis=1)).pvalue)
            p.append(row.p)
        np.testing.assert_allclose(part["p_holm"], multipletests(p, method="holm")[1])


def test_of_two_forms_nothing_is_adjusted(folder):
    table, notes = compared(folder, {"gender": [["male", "female"], ["female", "male"]]})
    assert len(table) == 2
    assert not notes
    np.testing.assert_array_equal(table["p"], table["p_holm"])


SHOWN = {"explainers": {"lime": "LIME"}, "strategies": {"bert": {"C": "small", "CE": "large"}}, "alpha": 0.05}


def test_the_figure_has_a_panel_per_pair(found):
    table, _ = found
    figure = draw_attribution_differences(table, title="T", **SHOWN)
    assert [axes.get_title(loc="left") for axes in figure.axes][:1] == ["male and female"]
    assert len(figure.axes) == 3
    texts = [text.get_text() for text in figure.axes[0].texts]
    p = table.query("level_a == 'male' and level_b == 'female'")["p_holm"]
    assert texts == [f"{np.log10(value):.1f}" if value > 1e-6 else "<-6" for value in p]

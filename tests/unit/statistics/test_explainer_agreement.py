"""Agreement between explainers, against values by hand and other libraries."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import mannwhitneyu, spearmanr
from study_files import StudyFiles, made, result_of
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.explanations import AGREEMENT, ATTRIBUTIONS
from evenlight.core.contracts.results import AGREEMENT_SUMMARY
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.reports.plots.agreement import draw_agreement
from evenlight.statistics.analyses.explainer_agreement import (
    MEASURES,
    agreement_by_text,
    agreements,
)
from evenlight.statistics.comparisons.files import Run, run_path
from evenlight.texts.predictions import Sentence, predictions_table, token_table

RANK, TOP, SIGN = MEASURES
GENDER = {"gender": [["male", "female"]]}


def of_two(first, second, top=2):
    found = agreements(np.array([first, second], dtype=float), top)
    return {measure: float(found[measure][0, 1]) for measure in MEASURES}


@pytest.mark.parametrize(
    ("first", "second", "top", "expected"),
    [
        # The first and the third token are in both tops; the third has another sign. Ranks 4 2 1 3 and 4 2 3 1.
        ([5, -2, -4, 1], [5, 2, 3, 1], 2, (1 - 6 * (0 + 0 + 4 + 4) / 60, 1, 0.5)),
        ([3, -1, 2], [3, -1, 2], 2, (1, 1, 1)),
        ([3, -1, 2], [-3, 1, -2], 2, (-1, 1, 0)),
        # A text with fewer tokens is compared whole.
        ([1, 2], [2, 1], 5, (-1, 1, 1)),
        ([], [], 2, (np.nan, np.nan, np.nan)),
        # Scores that say nothing agree with nothing; equal ones have no order, but a top: the last ones.
        ([0, 0, 0], [1, 2, 3], 2, (np.nan, np.nan, np.nan)),
        ([1, 1, 1], [1, 2, 3], 2, (np.nan, 1, 1)),
        ([1], [2], 2, (np.nan, 1, 1)),
        # One token each, and not the same: the zeros beside them say nothing.
        ([1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], 5, (-0.2, 0, 0)),
        ([-1, 0, 0, 0], [-2, 0, 0, 0], 3, (1, 1, 1)),
    ],
)
def test_by_hand(first, second, top, expected):
    found = of_two(first, second, top)
    assert [found[name] for name in (RANK, TOP, SIGN)] == pytest.approx(expected, nan_ok=True)


@given(
    arrays(np.float64, st.tuples(st.just(3), st.integers(2, 12)), elements=st.integers(-3, 3).map(float)),
    st.integers(1, 6),
)
def test_against_sets_and_scipy(scores, top):
    found = agreements(scores, top)
    for a in range(3):
        for b in range(3):
            if np.ptp(scores[a]) and np.ptp(scores[b]):
                assert found[RANK][a, b] == pytest.approx(spearmanr(scores[a], scores[b]).statistic, abs=1e-9)
            tops = [
                {
                    place
                    for place in sorted(range(len(row)), key=lambda place: (abs(row[place]), place))[-top:]
                    if row[place]
                }
                for row in (scores[a], scores[b])
            ]
            common = tops[0] & tops[1]
            size = max(map(len, tops))
            if scores[a].any() and scores[b].any():
                assert found[TOP][a, b] == pytest.approx(len(common) / size)
                same = [place for place in common if np.sign(scores[a, place]) == np.sign(scores[b, place])]
                assert found[SIGN][a, b] == pytest.approx(len(same) / size)


# From attribution files -----------------------------------------------------------------------------------------------


def write_run(folder, scores):
    """Predictions, items and an attribution file per explainer; scores by explainer, of two texts with special tokens
    at both ends.
    """
    names, words, of_words = ["item0", "item1"], [("a", "bc"), ("a", "d")], [[-1, 0, 1, 1, -1], [-1, 0, 1, -1]]
    token_ids, texts = [[1, 5, 6, 7, 2], [1, 5, 8, 2]], [("", "a", "b", "c", ""), ("", "a", "d", "")]
    sentences = [
        Sentence(names[n], words[n], np.array(token_ids[n]), np.array(of_words[n]), 1 - n, texts[n]) for n in (0, 1)
    ]
    read = token_table(sentences), "test", np.array([1, 0]), np.array([None, None]), np.full((2, 2), 0.5)
    tables.write_table(predictions_table(*read), folder / "predictions.parquet", PREDICTIONS)
    items = pd.DataFrame({"item_id": names, "words": list(map(list, words)), "label": [1, 0], "cluster": "pair"})
    tables.write_table(items.assign(ground_truth=None, split="test"), folder / "items.parquet", ITEMS)
    attribution_files = {}
    for name, of_texts in scores.items():
        attribution_files[name] = folder / f"{name}.parquet"
        attribution_file = pd.DataFrame(
            {"item_id": ["item0", "item1"], "token_score": of_texts, "completeness_gap": np.nan, "forward_rows": 1}
        )
        tables.write_table(attribution_file, attribution_files[name], ATTRIBUTIONS)
    return folder / "predictions.parquet", folder / "items.parquet", attribution_files


def test_special_tokens_do_not_count(tmp_path):
    run = write_run(
        tmp_path,
        {
            "grad": [[9, 1, 2, 3, 9], [9, 1, 2, 9]],
            "lime": [[0, 3, 2, 1, 0], [0, 1, 2, 0]],
            "shap": [[-9, 1, 2, 3, 7], [0, 0, 0, 0]],
        },
    )
    table = agreement_by_text(*run, top=2).to_pandas().set_index("item_id")
    assert list(table) == [
        f"{a}|{b}|{measure}" for a, b in (("grad", "lime"), ("grad", "shap"), ("lime", "shap")) for measure in MEASURES
    ]
    assert table.loc["item0"].tolist() == pytest.approx([-1, 0.5, 0.5, 1, 1, 1, -1, 0.5, 0.5])
    assert table.loc["item1"].tolist()[:3] == pytest.approx([1, 1, 1])
    assert table.loc["item1"].iloc[3:].isna().all()


def test_an_attribution_file_that_does_not_fit_is_refused(tmp_path):
    predictions, items, attribution_files = write_run(tmp_path, {"grad": [[9, 1, 2, 9], [9, 1, 2, 9]]})
    with pytest.raises(InputError, match=r"grad\.parquet.*4 scores.*item item0.*5 tokens"):
        agreement_by_text(predictions, items, attribution_files, top=2)
    other = tables.read_table(attribution_files["grad"], ATTRIBUTIONS).assign(item_id=["item0", "item7"])
    tables.write_table(other, attribution_files["grad"], ATTRIBUTIONS)
    with pytest.raises(InputError, match="other texts than"):
        agreement_by_text(predictions, items, attribution_files, top=2)


# Over all runs ------------------------------------------------------------------------------------------------------

VALUES = {"female": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "male": [0.5, 0.7, 0.8, 0.9, 1.0, np.nan]}


def summed_up(agreement: Path, datasets: Path, seeds=(0,), comparisons=GENDER, **more) -> pd.DataFrame:
    names = {"datasets": ["plots"], "models": {"small": list(seeds)}, "comparisons": comparisons, "alpha": 0.05}
    [table] = made("summarise_agreement", {"agreement": agreement, "datasets": datasets}, **names, **more)
    return table


@pytest.fixture
def summary(tmp_path):
    """Six pairs, two seeds; the second seed has every value 0.1 lower."""
    files = StudyFiles(tmp_path)
    rows = [
        {"item_id": f"{group}{index}", "pair_id": f"pair{index}", "group": group, "v": value}
        | {"explainer": "grad", "gini": 0.5}
        for group, values in VALUES.items()
        for index, value in enumerate(values)
    ]
    files.write(pd.DataFrame(rows).drop(columns="v"))
    for seed in (0, 1):
        table = pd.DataFrame({"item_id": [row["item_id"] for row in rows]})
        for number, measure in enumerate(MEASURES):
            table[f"grad|lime|{measure}"] = [row["v"] - 0.1 * seed - 0.01 * number for row in rows]
        path = run_path(tmp_path, Run("plots", "small", seed))
        tables.write_table(table.sample(frac=1, random_state=seed), path, AGREEMENT)
    table = summed_up(tmp_path, files.datasets, seeds=[0, 1])
    path = tmp_path / "agreement.parquet"
    tables.write_table(table, path, AGREEMENT_SUMMARY)
    return tables.read_exactly(path, AGREEMENT_SUMMARY)


def test_means_over_texts_and_seeds(summary):
    whole = summary[summary["factor"].isna()].set_index("measure")
    mean = np.nanmean(VALUES["female"] + VALUES["male"])
    assert whole["mean"].tolist() == pytest.approx([mean - 0.05 - 0.01 * number for number in range(3)])
    assert whole["sd"].tolist() == pytest.approx([0.05] * 3)
    assert whole["mean_a"].isna().all()


def test_groups_are_compared_as_scores_are(summary):
    pair = summary[summary["factor"].notna()].set_index("measure").loc[RANK]
    assert (pair["level_a"], pair["level_b"]) == ("male", "female")
    male, female = np.array(VALUES["male"][:5]), np.array(VALUES["female"])
    assert pair["mean_a"] == pytest.approx(male.mean() - 0.05)
    assert pair["mean_b"] == pytest.approx(female.mean() - 0.05)
    d = (male.mean() - female.mean()) / np.sqrt((male.var() + female.var()) / 2)
    assert pair["mean_d"] == pytest.approx(d)
    assert mannwhitneyu(male, female).pvalue < 0.05
    assert (pair["significant_seeds"], pair["seeds"]) == (2, 2)


def test_groups_that_are_too_small_are_not_compared(summary, tmp_path):
    folders = tmp_path, tmp_path / "datasets"
    assert summed_up(*folders, seeds=[0, 1], smallest_group=6)["factor"].notna().any()
    with pytest.raises(InputError, match=r"nothing.*compared"):
        summed_up(*folders, seeds=[0, 1], smallest_group=7)
    folders = {"agreement": tmp_path, "datasets": tmp_path / "datasets"}
    asked = {"datasets": ["plots"], "models": {"small": [0, 1]}, "alpha": 0.05, "smallest_group": 6}
    compared = {"gender": [["male", "female"], ["male", "none"]]}
    [note] = result_of("summarise_agreement", folders, **asked, comparisons=compared).notes
    assert note == says("dataset 'plots'", "'male' and 'none' are not compared")


def test_of_one_explainer_there_is_no_agreement(tmp_path):
    """As on a dataset that others are not for."""
    predictions, items, attribution_files = write_run(tmp_path, {"grad": [[9, 1, 2, 9, 0], [9, 1, 2, 9]]})
    path = run_path(tmp_path, Run("plots", "small", 0))
    tables.write_table(agreement_by_text(predictions, items, attribution_files, top=2), path, AGREEMENT)
    assert list(tables.read_table(path, AGREEMENT)) == ["item_id"]
    files = StudyFiles(tmp_path / "study")
    names = {"item_id": ["item0"], "pair_id": "a", "group": "male", "explainer": "grad"}
    files.write(pd.DataFrame(names | {"gini": 0.5}))
    assert summed_up(tmp_path, files.datasets).empty


def test_nothing_compared(summary, tmp_path):
    """A study that describes has the rows of all texts alone, and the table keeps its contract."""
    table = summed_up(tmp_path, tmp_path / "datasets", comparisons={})
    tables.write_table(table, tmp_path / "none.parquet", AGREEMENT_SUMMARY)
    assert len(table) == 3
    assert table["factor"].isna().all()
    table = tables.read_exactly(tmp_path / "none.parquet", AGREEMENT_SUMMARY)
    figure = draw_agreement(table, {"small": "Small"}, {"grad": "Grad", "lime": "LIME"}, "Agreement")
    assert next([text.get_text() for text in axes.texts] for axes in figure.axes) == ["0.55"]


def test_the_figure_has_a_cell_for_each_pair(summary):
    figure = draw_agreement(summary, {"small": "Small"}, {"grad": "Grad", "lime": "LIME"}, "Agreement")
    assert len(figure.axes) == 3
    for axes, number in zip(figure.axes, range(3), strict=True):
        assert [text.get_text() for text in axes.texts] == [f"{0.545 - 0.05 - 0.01 * number:.2f}"]
        # The cell and its outline.
        assert len(axes.patches) == 2

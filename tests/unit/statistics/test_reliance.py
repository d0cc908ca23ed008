"""On which words a model relies: pairs of forms, words that name the group, and words, by hand and by statsmodels."""

import sys
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from dataset_files import as_dataset
from scipy.stats import spearmanr
from study_files import made

from evenlight.core import tables
from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.statistics.analyses.reliance import clustered_mean, compared, distance, words_naming
from evenlight.statistics.comparisons.files import Run, attribution_path, items_path, predictions_path, units_path

FOLDERS = ("attributions", "datasets", "predictions")
PAIRS = 8
# "She" or "Now he" stands before four words that both forms have; word 1 of them has two tokens.
FORMS = {"female": ["She", "was", "never", "late", "."], "male": ["Now", "he", "was", "never", "late", "."]}
WORD_ID = {"female": [None, 0, 1, 1, 2, 3, 4, None], "male": [None, 0, 1, 2, 2, 3, 4, 5, None]}
SEEDS = (0, 1)
ASKED = {
    "datasets": ["plots"],
    "models": {"small": list(SEEDS)},
    "explainers": {"grad": "grad", "lime": "lime_2", "lime_2": "lime", "shap": None},
    "comparisons": {"gender": [["female", "male"]]},
    "words_of": ["plots"],
    "texts": 2,
    "confidence": 0.9,
}


def token_score(explainer: str, seed: int, item: str) -> np.ndarray:
    level = "female" if item[0] == "f" else "male"
    draw = np.random.default_rng([seed, int(item[1:]), len(explainer), level == "male"])
    return draw.normal(size=len(WORD_ID[level]))


def item_ids() -> list[str]:
    return [f"{level[0]}{number}" for number in range(PAIRS) for level in FORMS]


def write_study(folder, carries: str | None, alone: bool = False) -> None:
    """``carries`` is the word that carries the gender, ``first`` that of either form."""
    levels = ["female" if name[0] == "f" else "male" for name in item_ids()]
    rows = pd.DataFrame({"item_id": item_ids(), "group": levels, "label": 0, "split": "test", "ground_truth": None})
    rows["pair_id"] = rows["item_id"] if alone else rows["item_id"].str[1:]
    rows["words"] = rows["group"].map(FORMS)
    if carries:
        named = [words[0] if carries == "first" else carries for words in rows["words"]]
        its = [
            ["gender" if word == name else None for word in words]
            for words, name in zip(rows["words"], named, strict=True)
        ]
        rows["carries"] = its
    items, units = as_dataset(rows)
    # Two pairs are one cluster.
    items["cluster"] = items["item_id"].str[1:].astype(int).floordiv(2).astype(str)
    tables.write_table(items, items_path(folder / "datasets", "plots"), ITEMS, {"classes": ["no", "yes"]})
    tables.write_table(units, units_path(folder / "datasets", "plots"), UNITS)
    for seed in SEEDS:
        run = Run("plots", "small", seed)
        row = dict.fromkeys(PREDICTIONS.schema.names) | {"split": "test", "probability": [0.5, 0.5], "predicted": 0}
        predictions = [
            row
            | {"item_id": name, "token_id": [1] * len(WORD_ID[level]), "word_id": WORD_ID[level]}
            | {"token_text": ["a"] * len(WORD_ID[level]), "target": int(name[1:]) % 2}
            for name, level in zip(item_ids(), levels, strict=True)
        ]
        tables.write_table(pd.DataFrame(predictions), predictions_path(folder / "predictions", run), PREDICTIONS)
        for explainer in ASKED["explainers"]:
            scores = [list(token_score(explainer, seed, name)) for name in item_ids()]
            attribution_file = {
                "item_id": item_ids(),
                "token_score": scores,
                "completeness_gap": None,
                "forward_rows": 0,
            }
            about = {"explainer": explainer, "settings": {}, "seed": seed, "family": "lime", "note": None}
            path = attribution_path(folder / "attributions", run, explainer)
            tables.write_table(pd.DataFrame(attribution_file), path, ATTRIBUTIONS, about | {"explained_again": []})


def measured(folder, **changes) -> Sequence[pd.DataFrame]:
    return made("measure_reliance", {name: folder / name for name in FOLDERS}, **ASKED | changes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    write_study(folder, carries=None)
    return folder


@pytest.fixture(scope="module")
def found(folder) -> tuple[pd.DataFrame, ...]:
    return measured(folder)


def by_hand(explainer: str, seed: int, item: str) -> np.ndarray:
    """The shares of the words, with their signs."""
    level = "female" if item[0] == "f" else "male"
    scores, words = token_score(explainer, seed, item)[1:-1], WORD_ID[level][1:-1]
    sums = [sum(score for score, word in zip(scores, words, strict=True) if word == n) for n in range(max(words) + 1)]
    return np.array(sums) / np.abs(scores).sum()


def pair_by_hand(explainer: str, number: int) -> tuple[float, float]:
    """Distance and rank correlation of the last four words of both forms, means over seeds."""
    found = []
    for seed in SEEDS:
        a, b = (by_hand(explainer, seed, f"{letter}{number}")[-4:] for letter in "fm")
        found.append((np.abs(a - b).sum() / (np.abs(a) + np.abs(b)).sum(), spearmanr(a, b).statistic))
    return tuple(np.mean(found, axis=0))


def test_pairs_are_those_by_hand(found):
    pairs, _, _ = found
    row = pairs.set_index("explainer").loc["grad"]
    expected = np.array([pair_by_hand("grad", number) for number in range(PAIRS)])
    assert (row["distance"], row["rank_correlation"]) == pytest.approx(tuple(expected.mean(axis=0)))
    assert (row["pairs"], row["words"], row["seeds"]) == (PAIRS, 4, 2)
    clusters = [str(number // 2) for number in range(PAIRS)]
    assert (row["distance_low"], row["distance_high"]) == pytest.approx(
        clustered_mean(expected[:, 0], clusters, 0.9)[1:]
    )
    # Nothing is drawn: the same text is explained in the same way.
    assert (row["null"], row["null_distance"], row["null_rank_correlation"]) == ("fixed", 0, 1)
    assert row["beyond_null"] == pytest.approx(row["distance"])


def test_words_that_name_the_group_are_not_shared(tmp_path):
    write_study(tmp_path, carries="never")
    row = measured(tmp_path)[0].set_index("explainer").loc["grad"]
    expected = []
    for number in range(PAIRS):
        for seed in SEEDS:
            a, b = (by_hand("grad", seed, f"{letter}{number}")[[-4, -2, -1]] for letter in "fm")
            expected.append(distance(a, b))
    assert row["words"] == 3
    assert row["distance"] == pytest.approx(np.mean(expected))


def test_the_null_is_the_same_text_explained_again(found):
    pairs = found[0].set_index("explainer")
    null = []
    for number in range(PAIRS):
        of_pair = []
        for seed in SEEDS:
            for letter in "fm":
                first, again = (by_hand(name, seed, f"{letter}{number}")[-4:] for name in ("lime", "lime_2"))
                of_pair.append((distance(first, again), spearmanr(first, again).statistic))
        null.append(np.mean(of_pair, axis=0))
    row = pairs.loc["lime"]
    assert row["null"] == "repeated"
    assert (row["null_distance"], row["null_rank_correlation"]) == pytest.approx(tuple(np.mean(null, axis=0)))
    assert row["beyond_null"] == pytest.approx(row["distance"] - row["null_distance"])
    assert pairs.loc["shap", ["null", "null_distance", "beyond_null"]].isna().all()


def test_of_noise_forms_differ_as_repeated_explanations_do(found):
    """Scores that are drawn again for each text have no distance beyond the null."""
    row = found[0].set_index("explainer").loc["lime"]
    assert row["beyond_null_low"] < 0 < row["beyond_null_high"]


def test_what_explains_again_on_another_dataset_is_no_null_here(folder, found):
    here, there = found[0], measured(folder, only={"explainers": {"lime_2": ["other"]}})[0]
    for of_all, left in zip(*(table[table["explainer"] == "lime"].iloc for table in (here, there)), strict=True):
        assert left["distance"] == of_all["distance"]
        assert left[["null", "null_distance", "beyond_null"]].isna().all()
    assert "lime_2" not in set(there["explainer"])


@pytest.mark.parametrize("carries", ["first", None])
def test_reliance_on_words_that_name_the_group(tmp_path, carries):
    write_study(tmp_path, carries)
    _, names, _ = measured(tmp_path)
    for level, words in (("female", [0]), ("male", [0] if carries else [0, 1])):
        row = names[(names["explainer"] == "grad") & (names["level"] == level)].iloc[0]
        expected = []
        for number in range(PAIRS):
            of_seeds = []
            for seed in SEEDS:
                name = f"{level[0]}{number}"
                scores = np.abs(token_score("grad", seed, name)[1:-1])
                inside = np.isin(WORD_ID[level][1:-1], words)
                of_seeds.append((scores[inside].sum() / scores.sum(), by_hand("grad", seed, name)[words].sum()))
            expected.append(np.mean(of_seeds, axis=0))
        assert (row["absolute"], row["signed"]) == pytest.approx(tuple(np.mean(expected, axis=0)))
        assert row["texts"] == PAIRS
        assert row["tokens"] == pytest.approx(len(words) / (len(WORD_ID[level]) - 2))


def test_a_text_counts_in_the_runs_that_score_it(tmp_path, monkeypatch):
    """A run whose scores of a text are all 0 says nothing of it, and takes nothing from the other runs."""

    def without(explainer, seed, name, of=token_score):
        scores = of(explainer, seed, name)
        return np.zeros_like(scores) if (explainer, seed, name) == ("grad", SEEDS[0], "f0") else scores

    monkeypatch.setattr(sys.modules[__name__], "token_score", without)
    write_study(tmp_path, carries=None)
    _, names, _ = measured(tmp_path)
    row = names[(names["explainer"] == "grad") & (names["level"] == "female")].iloc[0]
    signed = [
        np.mean([by_hand("grad", seed, f"f{number}")[0] for seed in (SEEDS if number else SEEDS[1:])])
        for number in range(PAIRS)
    ]
    assert row["texts"] == PAIRS
    assert row["signed"] == pytest.approx(np.mean(signed))
    assert row["signed_low"] < row["signed"] < row["signed_high"]


def test_words_by_group_and_class(folder, found):
    _, _, words = found
    part = words[(words["explainer"] == "grad") & (words["level"] == "female") & (words["class"] == "yes")]
    assert set(part["word"]) == {"she", "was", "never", "late", "."}
    row = part.set_index("word").loc["was"]
    expected = [np.mean([by_hand("grad", seed, f"f{number}")[1] for seed in SEEDS]) for number in (1, 3, 5, 7)]
    assert row["texts"] == 4
    assert row["share"] == pytest.approx(np.mean(expected))
    assert len(measured(folder, texts=4)[2])
    assert measured(folder, texts=5)[2].empty
    assert measured(folder, words_of=[])[2].empty


def test_texts_alone_have_no_pairs(tmp_path):
    write_study(tmp_path, carries="first", alone=True)
    pairs, names, words = measured(tmp_path)
    assert pairs.empty
    assert set(names["level"]) == {"female", "male"}
    assert len(words)
    write_study(tmp_path, carries=None, alone=True)
    assert measured(tmp_path)[1].empty  # nothing says which words name the group
    assert set(measured(tmp_path, comparisons={})[2]["level"]) == {"all"}


def test_words_that_differ_from_any_other_form_name_the_group():
    rows = [("a", ["He", "ran", "far"], "x"), ("b", ["She", "ran", "far"], "y"), ("c", ["He", "ran", "off"], "z")]
    items = pd.DataFrame(rows, columns=["item_id", "words", "group"]).assign(pair_id="1", carries=None)
    found = words_naming(items, as_dataset(items)[1], "gender")
    assert {name: its.tolist() for name, its in found.items()} == {
        "a": [True, False, True],
        "b": [True, False, True],
        "c": [True, False, True],
    }


def test_the_interval_is_that_of_statsmodels():
    draw = np.random.default_rng(0)
    clusters = draw.integers(12, size=60)
    values = draw.normal(size=60) + draw.normal(size=12)[clusters]
    values[3] = np.nan
    known = ~np.isnan(values)
    fit = sm.OLS(values[known], np.ones(known.sum())).fit(
        cov_type="cluster", cov_kwds={"groups": clusters[known]}, use_t=True
    )
    assert clustered_mean(values, clusters.astype(str), 0.9)[1:] == pytest.approx(tuple(fit.conf_int(0.1)[0]))
    assert np.isnan(clustered_mean([np.nan], ["a"], 0.9)).all()


def test_distances_have_their_ends():
    same = np.array([0.4, -0.1, 0.2])
    assert compared(same, same) == (0, 1)
    assert compared(same, 2 * same)[1] == 1
    assert distance(same, -same) == 1
    assert np.isnan(distance(np.zeros(2), np.zeros(2)))
    assert np.isnan(compared(np.array([1.0, 2.0, np.nan]), np.array([1.0, 2.0, 3.0]))[1])

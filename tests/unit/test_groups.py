"""Sets of more than two groups: the tables of their tests, from files of scores to the script."""

import numpy as np
import pandas as pd
import pytest
from rendering import COMPARED, page_of, run_result, shown, tabulated
from scipy.stats import friedmanchisquare, kruskal
from statsmodels.stats.multitest import multipletests
from study_files import StudyFiles, asked, called, computed
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.results import GROUP_PAIRS, GROUPS
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.reports.html_table import render
from evenlight.statistics.disparity import disparity_table
from evenlight.statistics.files import items_path, units_path
from evenlight.statistics.groups import group_tables, too_small
from evenlight.statistics.many_groups import kruskal_wallis_within
from evenlight.statistics.rank_sum import van_elteren

NAN = float("nan")
LEVELS = ["one", "two", "three"]
SETTINGS = {
    "datasets": ["plots"],
    "models": ["small"],
    "seeds": [0, 1],
    "explainers": ["lime"],
    "metrics": {"noisy": {"label": "Noisy", "better": "higher", "family": "complexity"}},
    "statistics": {"groups": [LEVELS], "equivalence_bound": 0.2, "confidence": 0.95, "sign_flips": 100},
}


@pytest.fixture
def files(tmp_path) -> StudyFiles:
    return StudyFiles(tmp_path)


def texts(scores: dict[str, list], explainer: str = "lime", metric: str = "noisy", whole: bool = False) -> pd.DataFrame:
    """A row per score of each level; with ``whole`` those at one place are of one sentence."""
    rows = [
        {"item_id": f"{level}{n}", "pair_id": str(n) if whole else f"{level}{n}", "group": level, metric: score}
        for level, of_level in scores.items()
        for n, score in enumerate(of_level)
    ]
    return pd.DataFrame(rows).assign(explainer=explainer)


def draws(seed: int, sizes: tuple[int, ...] = (12, 9, 7), levels: list[str] = LEVELS) -> dict[str, list]:
    """Normal scores, with means 0, 1, 2, …"""
    random = np.random.default_rng(seed)
    means = enumerate(zip(levels[: len(sizes)], sizes, strict=True))
    return {level: random.normal(mean, size=size).tolist() for mean, (level, size) in means}


def compared(files: StudyFiles, *sets: list[str], **changes):
    """Both tables and the notes; without ``sets`` of the three levels."""
    statistics = SETTINGS["statistics"] | {"groups": list(sets) or [LEVELS]}
    return computed(group_tables, files, SETTINGS | {"statistics": statistics} | changes)


def test_three_groups_are_tested_together_and_in_pairs(files):
    for seed in (0, 1):
        files.write(texts(draws(seed)), seed)
    tests, pairs, notes = compared(files)
    assert notes == []
    names = {"dataset": "plots", "model": "small", "explainer": "lime", "metric": "noisy", "factor": "gender"}
    for table, length in ((tests, 2), (pairs, 6)):
        assert len(table) == length
        assert (table[list(names)] == list(names.values())).all(axis=None)
        assert set(table["groups"]) == {"one, two, three"}
    assert list(tests["seed"]) == [0, 1]
    expected = [kruskal(*draws(seed).values()) for seed in (0, 1)]
    np.testing.assert_allclose(tests["h"], [test.statistic for test in expected])
    np.testing.assert_allclose(tests["p"], [test.pvalue for test in expected])
    np.testing.assert_allclose(tests["epsilon_squared"], tests["h"] / 27)
    assert tests[["size", "degrees", "blocks"]].to_numpy().tolist() == [[28, 2, 0]] * 2
    assert tests["p_friedman"].isna().all()
    np.testing.assert_allclose(tests["p_holm"], multipletests(tests["p"], method="holm")[1])
    first = pairs[pairs["seed"] == 0]
    assert first[["level_a", "level_b", "size_a", "size_b"]].to_numpy().tolist() == [
        ["one", "two", 12, 9],
        ["one", "three", 12, 7],
        ["two", "three", 9, 7],
    ]
    # The weights of a pair are its sizes: H = Σ z² (n_a + n_b) / n.
    sizes = first["size_a"] + first["size_b"]
    assert (first["z"] ** 2 * sizes).sum() / 28 == pytest.approx(tests["h"][0])
    assert first.iloc[1]["z"] < 0, "the first group has the lower scores"
    assert (first["p_dunn_holm"] >= first["p_dunn"]).all()
    # No pair is configured, so the table of pairs is empty and nothing is refused.
    assert computed(disparity_table, files, SETTINGS)[0].empty


def test_groups_of_fewer_than_five_scores_are_left_out_with_one_note(files):
    levels = [*LEVELS, "four", "five"]
    for seed in (0, 1):
        scores = draws(seed, (12, 9, 5, 4), levels) | {"five": [1.0] * 4 + [NAN] * 9}
        files.write(texts(scores), seed)
    tests, pairs, notes = compared(files, levels)
    assert list(tests["groups"]) == ["one, two, three"] * 2
    assert list(tests["size"]) == [26, 26]
    assert len(pairs) == 6
    assert notes == [
        says("'plots', metric 'noisy'", f"group '{level}'", "fewer than 5 scores") for level in ("four", "five")
    ]


@pytest.mark.parametrize(("texts_of_each", "left_out"), [(3, ["few"]), (1, [])])
def test_groups_of_few_clusters_are_left_out_where_a_cluster_has_several_scores(texts_of_each, left_out):
    levels = {
        level: pd.DataFrame({"score": 1.0, "cluster": np.repeat(np.arange(clusters), texts_of_each).astype(str)})
        for level, clusters in (("few", 7), ("enough", 8))
    }
    said = too_small(levels)
    assert list(said) == left_out
    assert all("fewer than 8 clusters" in text for text in said.values())


def test_sets_and_explainers_and_metrics_come_in_turn(files):
    """Of a set of which the dataset has two levels only nothing is said; the others come one after the other."""
    levels = [*LEVELS, "four"]
    for explainer in ("lime", "grad"):
        files.write(texts(draws(0, (6, 6, 6, 6), levels) | {"few": [1.0, 2.0]}, explainer))
        files.write(texts(draws(1, (6, 6, 6, 6), levels) | {"few": [1.0, 2.0]}, explainer, "other"), family="area")
    entry = SETTINGS["metrics"]["noisy"]
    metrics = {"noisy": entry, "other": entry | {"family": "area"}}
    sets = levels, ["one", "few", "neither"], ["four", "two", "one"]
    tests, pairs, notes = compared(files, *sets, seeds=[0], explainers=["grad", "lime"], metrics=metrics)
    assert tests[["groups", "explainer", "metric"]].to_numpy().tolist() == [
        [groups, explainer, metric]
        for groups in ("one, two, three, four", "four, two, one")
        for explainer in ("grad", "lime")
        for metric in ("noisy", "other")
    ]
    assert list(tests["degrees"]) == [3] * 4 + [2] * 4
    assert pairs["groups"].value_counts(sort=False).to_dict() == {"one, two, three, four": 24, "four, two, one": 12}
    assert notes == []


@pytest.mark.parametrize("sizes", [(12, 9, 4), (12, 9, 0), (4, 4, 4)])
def test_sets_that_no_dataset_has_are_refused(files, sizes):
    files.write(texts(draws(0, sizes)))
    message = r"^configuration: 'statistics\.compare'.*\(one, two, three; a, b, c\).*correct the names"
    with pytest.raises(InputError, match=message):
        compared(files, LEVELS, ["a", "b", "c"], seeds=[0])


def test_script_compares_groups(files, tmp_path):
    for seed in (0, 1):
        files.write(texts(draws(seed, (40, 30, 30))), seed)
    outputs = tmp_path / "groups.parquet", tmp_path / "group_pairs.parquet"
    folders = ("--scores", files.scores, "--datasets", files.datasets, "--predictions", files.predictions)
    flags = (*folders, "--output", *outputs)
    done = run_result("compare_many_groups", asked(group_tables, SETTINGS), *flags)
    assert done.returncode == 0, done.stderr
    read = [tables.read_table(*both) for both in zip(outputs, (GROUPS, GROUP_PAIRS), strict=True)]
    page = tabulated(tmp_path, "groups", *read, **shown(SETTINGS, *COMPARED, alpha=0.05))
    assert [len(table) for table in page.csv] == [2, 6]
    assert "three &gt; one" in page.html


# Blocks


def blocked(files: StudyFiles, scores: dict[str, list]) -> dict:
    """The row of the only test of levels whose scores at one place are of one sentence."""
    files.write(texts(scores, whole=True))
    [row] = compared(files, seeds=[0])[0].to_dict("records")
    return row


def test_forms_of_one_sentence_are_tested_as_blocks(files):
    """Three forms that differ little beside their sentence: only the test of blocks sees it."""
    draw = np.random.default_rng(3)
    sentence = draw.normal(size=30)
    scores = {level: sentence + 0.05 * n + 0.05 * draw.normal(size=30) for n, level in enumerate(LEVELS)}
    row = blocked(files, scores)
    assert row["blocks"] == 30
    assert row["p_friedman"] < 0.01 < 0.5 < row["p"]
    assert row["p_friedman"] == pytest.approx(friedmanchisquare(*scores.values()).pvalue)
    assert row["p_friedman_holm"] == row["p_friedman"]


@pytest.mark.parametrize(("missing", "tested"), [(2, True), (3, False)])
def test_five_whole_blocks_are_needed(files, missing, tested):
    """Seven sentences, of which some lack a form's score, each another one."""
    scores = {level: np.array([*draws(0, (7, 7, 7))[level]]) for level in LEVELS}
    for place in range(missing):
        scores[LEVELS[place % 2]][place] = NAN
    row = blocked(files, scores)
    assert row["blocks"] == 7 - missing
    if tested:
        expected = friedmanchisquare(*(values[missing:] for values in scores.values())).pvalue
        assert row["p_friedman"] == pytest.approx(expected)
    else:
        assert np.isnan(row["p_friedman"])


def test_blocks_without_any_difference_are_no_finding(files):
    """Where all forms of every sentence have one score; one other score is tested."""
    sentence = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    row = blocked(files, dict.fromkeys(LEVELS, sentence))
    assert (row["blocks"], row["p_friedman"]) == (6, 1)
    scores = dict.fromkeys(LEVELS, sentence) | {"three": [*sentence[:5], 0.7]}
    # Ranks 2, 2, 2 five times and 1½, 1½, 3: with the correction for ties Q = 2, whose p is exp(−1).
    assert blocked(files, scores)["p_friedman"] == pytest.approx(np.exp(-1))


# Strata


def stratified(files: StudyFiles, scores: dict[str, list], labels: dict[str, list], whole: bool = False):
    """Both tables and the notes within labels, which are given like the scores."""
    files.write(texts(scores, whole=whole))
    path = items_path(files.datasets, "plots")
    items = tables.read_table(path, ITEMS)
    of_items = {f"{level}{n}": label for level, of_level in labels.items() for n, label in enumerate(of_level)}
    files.write_dataset(
        items.assign(label=items["item_id"].map(of_items)),
        tables.read_table(units_path(files.datasets, "plots"), UNITS),
    )
    statistics = SETTINGS["statistics"] | {"groups": [LEVELS], "strata": {"plots": "label"}}
    return computed(group_tables, files, SETTINGS | {"statistics": statistics, "seeds": [0]})


def test_larger_sets_are_compared_within_strata(files):
    """Groups that differ by how often they have a label of high scores, and one that differs within labels, too."""
    draw = np.random.default_rng(1)
    labels = {level: [int(n < ones) for n in range(24)] for level, ones in zip(LEVELS, (4, 12, 20), strict=True)}
    scores = {level: (draw.normal(size=24) + 9 * np.array(labels[level])).tolist() for level in LEVELS}
    tests, pairs, _ = stratified(files, scores, labels)
    [row] = tests.to_dict("records")
    codes = [np.array(labels[level]) for level in LEVELS]
    expected = kruskal_wallis_within(list(scores.values()), codes)
    assert row["p"] < 0.01 < 0.05 < expected.p
    assert row["p_stratified"] == pytest.approx(expected.p)
    assert (row["h_stratified"], row["degrees_stratified"]) == (pytest.approx(expected.h), 2)
    assert (row["unused_stratified"], row["p_stratified_holm"]) == (0, row["p_stratified"])
    assert (pairs["p_stratified_holm"] > 0.05).all()
    scores["two"] = [score + 2 for score in scores["two"]]
    tests, pairs, _ = stratified(files, scores, labels)
    assert tests["p_stratified"].item() < 1e-4
    of_pairs = pairs.set_index(["level_a", "level_b"])
    test = van_elteren(scores["one"], scores["two"], codes[0], codes[1])
    assert of_pairs.loc[("one", "two"), "p_stratified"] == pytest.approx(test.p.item())
    assert test.delta.item() < -0.5
    assert of_pairs.loc[("one", "two"), "cliffs_delta_stratified"] == pytest.approx(test.delta.item())
    assert (of_pairs["p_stratified_holm"] < 0.05).tolist() == [True, False, True]


def test_blocks_are_of_one_stratum(files):
    """Ten sentences whose forms have one label, and four of which one form has another."""
    scores = draws(0, (14, 14, 14))
    labels = {level: [n % 2 for n in range(10)] + [int(level == "three")] * 4 for level in LEVELS}
    [row] = stratified(files, scores, labels, whole=True)[0].to_dict("records")
    assert row["blocks"] == 14
    expected = friedmanchisquare(*(of_level[:10] for of_level in scores.values())).pvalue
    assert row["p_friedman_stratified"] == pytest.approx(expected)


def test_rounding_is_no_difference(files):
    """One unit in the last place of float32 between the forms of each sentence."""
    sentence = np.random.default_rng(0).uniform(0.1, 1, 20).astype(np.float32)
    scores = {"one": sentence, "two": np.nextafter(sentence, np.float32(2)), "three": sentence}
    row = blocked(files, {level: of_level.astype(float).tolist() for level, of_level in scores.items()})
    assert (row["p_friedman"], row["p"]) == (1, 1)


def test_the_page_shows_what_is_left_within_strata(files):
    labels = {level: [n % 2 for n in range(24)] for level in LEVELS}
    tests, pairs, _ = stratified(files, draws(0, (24, 24, 24)), labels)
    page = render(page_of("groups", tests, pairs, **shown(SETTINGS | {"seeds": [0]}, *COMPARED, alpha=0.05)))
    assert " S1<" in page
    assert "three &gt; one" in page


def test_groups_below_the_size_that_is_named_are_left_out(files):
    for seed in (0, 1):
        files.write(texts(draws(seed)), seed)
    scored = asked(group_tables, SETTINGS)
    assert len(called(group_tables, *files.folders, **scored, smallest_group=7)[0]) == 2
    with pytest.raises(InputError, match="no dataset has"):
        called(group_tables, *files.folders, **scored, smallest_group=8)

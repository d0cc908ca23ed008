"""Specification curves: effects under every labelling, joint inference, tables from files, the page and the figure."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from rendering import shown
from scipy.stats import mannwhitneyu, norm
from stratified import stratified_d
from study_files import StudyFiles, made, numbered_design

from evenlight.core import tables
from evenlight.core.contracts.results import SPECIFICATION_CURVES, SPECIFICATIONS
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.seeds import generator_for
from evenlight.reports.keywords import keywords
from evenlight.reports.plots.specifications import BETTER, NEITHER, WORSE, draw_specifications
from evenlight.reports.style import draw
from evenlight.statistics.analyses import control
from evenlight.statistics.analyses.control import permuted_labels
from evenlight.statistics.analyses.specifications import (
    d_by_labels,
    effects_by_labels,
    estimates,
    joint_inference,
)
from evenlight.statistics.arrays.effect_sizes import cohens_d
from evenlight.statistics.arrays.rank_sum import stratified_delta
from evenlight.statistics.comparisons.files import Run, predictions_path

NAN = float("nan")
GROUPS = ("male", "female")


def numbers(*parts) -> np.random.Generator:
    return generator_for("test_specifications", *parts)


# By hand: three pairs, all eight exchanges. Differences within pairs of the three specifications, each a mean


ALL_SIGNS = np.array(list(product([1, -1], repeat=3)))
BY_HAND = ALL_SIGNS @ np.array([[3, 1, 0.1], [2, 2, -0.2], [1, 3, 0.1]]) / 60


def test_a_curve_worked_by_hand():
    # Under +++, ++-, +-+, +--, and the same with all signs turned, in sixtieths:
    #   first   6  4  2  0   0 -2 -4 -6     |.| ≥ 6 in two of eight: p = 1/4
    #   second  6  0  2 -4   4 -2  0 -6     p = 1/4
    #   third   0 -.2 .4 .2 -.2 -.4 .2 0    p = 1
    np.testing.assert_allclose(
        60 * BY_HAND[:4], [[6, 6, 0], [4, 0, -0.2], [2, 2, 0.4], [0, -4, 0.2]], rtol=0, atol=1e-12
    )
    found = joint_inference(BY_HAND, 0.25)
    # Medians 6, 0, 2, 0.
    assert (found["median"], found["p_median"]) == (pytest.approx(0.1), 0.25)
    # Significant at 1/4: 6 of the first and second, 0.4 of the third. Signs of most estimates: two positive (2 of them
    # significant), one against one (0), three positive (1), one against one (0).
    assert (found["significant"], found["p_significant"]) == (2, 0.25)
    assert found["null_significant"] == pytest.approx((0 + 1 + 0 + 0 + 1 + 0 + 2) / 7)
    # Mean squares of the first two: (36 + 16 + 4 + 0) / 4 = 14, of the third (0 + .04 + .16 + .04) / 4 = .06.
    z = 6 / np.sqrt(14)
    assert found["mean_z"] == pytest.approx(2 * z / 3)
    # Others: (4/3.742 - .2/.245)/3, (4/3.742 + .4/.245)/3 = .9, (-4/3.742 + .2/.245)/3: none as far as 1.07.
    assert found["p_mean_z"] == 0.25
    assert (found["specifications"], found["a_better"], found["b_better"], found["permutations"]) == (3, 2, 0, 7)
    alone = estimates(BY_HAND)
    np.testing.assert_allclose(alone["p"], [0.25, 0.25, 1])
    np.testing.assert_allclose(alone["z"], [z, z, 0], atol=1e-12)


def test_the_dominant_sign_is_that_of_most_estimates():
    # Two small positive estimates that never are significant, and a large negative one that is.
    labellings = numbers("dominant").normal(size=(400, 3))
    labellings[0] = [0.1, 0.2, -9]
    assert joint_inference(labellings, 0.05)["significant"] == 0
    labellings[0] = [-0.1, 0.2, -9]
    assert joint_inference(labellings, 0.05)["significant"] == 1


# Effects under every labelling, each against the ones of relabelled scores


def some_scores(name: str, a: int, b: int, metrics: int = 3, runs: int = 2, missing: float = 0.1) -> np.ndarray:
    """Scores (metrics, runs, items) with ties and undefined ones."""
    random = numbers(name)
    values = np.round(random.normal(size=(metrics, runs, a + b)) + 0.5 * (np.arange(a + b) < a), 1)
    values[random.random(values.shape) < missing] = NAN
    return values


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("paired", [True, False])
def test_every_labelling_is_compared_as_the_real_one(paired, stratified):
    """Against scores that are exchanged one by one, ranks and means by scipy and by the functions of one cell."""
    units = (14, 14) if paired else (14, 11)
    values = some_scores(f"{paired}{stratified}", *units)
    strata = numbers("strata").integers(0, 2, size=(2, sum(units))) if stratified else None
    design = numbered_design(*units, paired, strata)
    in_first = permuted_labels(design, 6)
    found = effects_by_labels(values, design, slice(0, 2), in_first)
    flat = values.reshape(6, -1)
    codes = np.zeros_like(flat, dtype=int) if strata is None else np.tile(strata, (3, 1))
    for row in range(6):
        scores = flat[row].copy()
        if paired:
            first, second = scores[:14], scores[14:]
            lost = np.isnan(first) | np.isnan(second) | (codes[row, :14] != codes[row, 14:])
            first[lost] = second[lost] = NAN
        for labelling, members in enumerate(in_first):
            a, b = scores[members], scores[~members]
            strata_a, strata_b = codes[row, members], codes[row, ~members]
            d = stratified_d(a, b, strata_a, strata_b)
            expected = {"cohens_d": 2 * norm.cdf(d / np.sqrt(2)) - 1}
            if not stratified:
                assert d == pytest.approx(cohens_d(a, b))
                known = a[~np.isnan(a)], b[~np.isnan(b)]
                u = mannwhitneyu(*known).statistic
                expected["cliffs_delta"] = 2 * u / (len(known[0]) * len(known[1])) - 1
            else:
                alone = np.arange(len(a) + len(b))[None] < len(a)
                expected["cliffs_delta"] = stratified_delta(a, b, strata_a, strata_b, alone).item()
            for effect, value in expected.items():
                assert found[effect][labelling, row] == pytest.approx(value, abs=1e-12), (effect, labelling, row)


def test_equal_scores_differ_by_nothing_and_constant_groups_by_everything():
    scores = np.array([[0.1] * 6, [0.1] * 3 + [0.3] * 3, [NAN] * 6])
    in_first = np.array([[True] * 3 + [False] * 3, [True, True, False, False, False, True]])
    d = d_by_labels(scores, np.zeros((3, 6), dtype=int), in_first)
    assert d[:, 0].tolist() == [0, 0]
    assert abs(d[0, 1]) > 1e6
    assert d[1, 1] == pytest.approx(cohens_d([0.1, 0.1, 0.3], [0.1, 0.3, 0.3]))
    assert np.isnan(d[:, 2]).all()
    # The mean of ten times 0.1 is not 0.1.
    labels = permuted_labels(numbered_design(5, 5), 9)
    assert not d_by_labels(np.full((1, 10), 0.1), np.zeros((1, 10), dtype=int), labels).any()
    effects = effects_by_labels(scores[:, None], numbered_design(3, 3, False), slice(0, 1), in_first)
    assert effects["cohens_d"][0, :2].tolist() == [0, -1]
    assert effects["cliffs_delta"][0, :2].tolist() == [0, -1]
    assert np.isnan(effects["cliffs_delta"][:, 2]).all()


# Tables from files


KINDS = {"sparsity": ["tau", "tau_paper"], "gini": ["gini"]}
METHODS = {"lime": "lime", "lime_word": "lime", "grad": "saliency"}
ASKED = {
    "datasets": ["plots"],
    "models": {"small": [0, 1], "large": [0]},
    "explainers": list(METHODS),
    "metrics": dict.fromkeys(("tau", "tau_paper", "gini"), "complexity"),
    "comparisons": {"gender": [["male", "female"]]},
    "alpha": 0.05,
    "control_draws": 99,
    "kinds": KINDS,
    "methods": METHODS,
    "higher_is_better": {"tau": False, "tau_paper": False, "gini": True},
}


def study_rows(run: Run, pairs: int = 20, paired: bool = True, shift: float = 0.0) -> pd.DataFrame:
    """Scores of a run; those of men are ``shift`` higher."""
    random = numbers("files", run.model, run.seed)
    rows = []
    for explainer in METHODS:
        for n in range(pairs):
            for group in GROUPS:
                moved = shift * (group == "male") + random.normal(size=3)
                pair = str(n) if paired else f"{n}-{group}"
                rows.append((f"{n}-{group}", pair, group, explainer, *moved))
    return pd.DataFrame(rows, columns=["item_id", "pair_id", "group", "explainer", "tau", "tau_paper", "gini"])


def test_a_group_that_is_smaller_than_the_study_wants_is_left_out(study):
    def few(table, _):
        """Five women, and all men."""
        number = table["item_id"].str.split("-").str[0].astype(int)
        return table[(table["group"] == "male") | (number < 5)]

    files = study(changed=few, paired=False)
    for smallest, there in ((None, True), (5, True), (6, False)):
        _, specifications = made("measure_specifications", files, **ASKED, smallest_group=smallest)
        assert bool(len(specifications)) == there


@pytest.fixture
def study(tmp_path):
    """Function that writes the scores of a study: ``study(shift=…, paired=…, changed=…)``."""

    def _write(changed=lambda table, run: table, **settings) -> StudyFiles:
        files = StudyFiles(tmp_path)
        for model, seeds in ASKED["models"].items():
            for seed in seeds:
                run = Run("plots", model, seed)
                files.write(changed(study_rows(run, **settings), run), seed, "complexity", "plots", model)
        return files

    return _write


def test_rows_of_the_tables(study):
    curves, specifications = made("measure_specifications", study(shift=1.5), **ASKED)
    names = ["method", "explainer", "metric", "model", "seed", "effect"]
    expected = {
        (METHODS[explainer], explainer, metric, *run, effect)
        for explainer, metric, run, effect in product(
            METHODS, ASKED["metrics"], [("small", 0), ("small", 1), ("large", 0)], ["cohens_d", "cliffs_delta"]
        )
    }
    assert set(specifications[names].itertuples(index=False, name=None)) == expected
    assert len(specifications) == len(expected) == 54
    for kind, part in specifications.groupby("kind"):
        assert part["rank"].tolist() == list(range(1, len(part) + 1))
        assert (np.diff(part["estimate"]) >= 0).all()
        assert set(part["metric"]) == set(KINDS[kind])
        # Of permuted curves, which are sorted, too, and as often above 0 as below.
        assert (part[["null_low", "null_high"]].diff().iloc[1:] >= 0).all(axis=None)
        assert part["null_low"].iloc[-1] < 0 < part["null_high"].iloc[0]
    # Gini has one definition, so that the gradient asks in one way only.
    assert list(curves[["kind", "method"]].itertuples(index=False, name=None)) == [
        ("sparsity", "all"), ("sparsity", "lime"), ("sparsity", "saliency"), ("gini", "all"), ("gini", "lime"),
    ]  # fmt: skip
    assert curves["specifications"].tolist() == [36, 24, 12, 18, 12]
    # Men's higher sparsity is the worse one.
    found = curves.set_index(["kind", "method"])
    assert found.loc["sparsity", "median"].max() < -0.4 < 0.4 < found.loc["gini", "median"].min()
    assert (curves[["p_median", "p_significant", "p_mean_z"]] == 0.01).all(axis=None)
    assert (specifications["null_low"] <= specifications["null_high"]).all()


def test_all_specifications_have_the_same_exchange_also_where_models_have_scored_other_texts(study, monkeypatch):
    """A model that lacks the first pairs has the labels that the others have for those that it has."""
    labels = []

    def remembered(design, draws):
        labels.append((design, permuted_labels(design, draws)))
        return labels[-1][1]

    monkeypatch.setattr("evenlight.statistics.analyses.specifications.permuted_labels", remembered)

    def without_first(table, run):
        return table[~table["pair_id"].isin(["0", "1"])] if run.model == "large" else table

    # All runs have the same scores, so that they differ by the texts alone.
    def alike(table, run):
        return without_first(study_rows(Run("plots", "small", 0), shift=0.3), run)

    _, specifications = made("measure_specifications", study(changed=alike), **ASKED)
    ((design, in_first),) = labels
    assert in_first.shape == (100, 40)
    places = {item: place for place, item in enumerate([*design.a.items, *design.b.items])}
    rows = study_rows(Run("plots", "small", 0), shift=0.3)
    rows = rows[(rows["explainer"] == "lime") & ~rows["pair_id"].isin(["0", "1"])]
    members = in_first[:, [places[item] for item in rows["item_id"]]]
    scores = rows["gini"].to_numpy()
    expected = [2 * mannwhitneyu(scores[row], scores[~row]).statistic / 18**2 - 1 for row in members]
    here = specifications.query("explainer == 'lime' and metric == 'gini' and effect == 'cliffs_delta'")
    here = here.set_index(["model", "seed"])
    assert here.at[("large", 0), "estimate"] == pytest.approx(expected[0])
    assert here.at[("large", 0), "error"] == pytest.approx(np.sqrt(np.mean(np.square(expected))))
    assert here.at[("small", 0), "estimate"] == here.at[("small", 1), "estimate"]
    assert here.at[("small", 0), "error"] == here.at[("small", 1), "error"] != here.at[("large", 0), "error"]


def test_strata_of_all_runs_bound_the_exchange(study):
    """Predictions differ by model; texts change labels with those that every run has in one stratum with them."""
    files = study(paired=False)
    items = [f"{n}-{group}" for n in range(20) for group in GROUPS]
    predicted = {}
    for number, (model, seed) in enumerate([("small", 0), ("small", 1), ("large", 0)]):
        predicted[model, seed] = numbers("predicted", number).integers(0, 2, size=40)
        predictions = dict.fromkeys(PREDICTIONS.schema.names)
        rows = [
            predictions | {
                "item_id": item, "split": "test", "predicted": int(label),
                "token_id": [], "word_id": [], "token_text": [],
            }
            for item, label in zip(items, predicted[model, seed], strict=True)
        ]  # fmt: skip
        tables.write_table(
            pd.DataFrame(rows), predictions_path(files.predictions, Run("plots", model, seed)), PREDICTIONS
        )
    seen = []
    original = control.permuted_labels
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "evenlight.statistics.analyses.specifications.permuted_labels",
            lambda design, draws: seen.append((design, original(design, draws))) or seen[-1][1],
        )
        _, specifications = made("measure_specifications", files, **ASKED, strata={"plots": "prediction"})
    ((design, in_first),) = seen
    order = [items.index(item) for item in [*design.a.items, *design.b.items]]
    pattern = np.array([values[order] for values in predicted.values()])
    for column in np.unique(pattern, axis=1).T:
        here = (pattern == column[:, None]).all(axis=0)
        assert len(set(in_first[:, here].sum(axis=1))) == 1
    rows = study_rows(Run("plots", "large", 0), paired=False)
    rows = rows[rows["explainer"] == "grad"].assign(stratum=predicted["large", 0])
    men, women = (rows[rows["group"] == group] for group in GROUPS)
    sides = *(part["gini"] for part in (men, women)), *(part["stratum"] for part in (men, women))
    delta = stratified_delta(*sides, np.arange(len(men) + len(women))[None] < len(men))
    here = specifications.query("explainer == 'grad' and metric == 'gini' and model == 'large'").set_index("effect")
    assert here.at["cliffs_delta", "estimate"] == pytest.approx(delta.item())


def test_what_decides_nothing_is_left_out_and_counted(study):
    def poor(table, run):
        # No score of one definition of women in one run, equal scores of Gini in another.
        if run == Run("plots", "small", 0):
            table.loc[(table["group"] == "female") & (table["explainer"] == "lime"), "tau"] = NAN
        if run == Run("plots", "small", 1):
            table["gini"] = 0.25
        return table

    curves, specifications = made("measure_specifications", study(changed=poor), **ASKED)
    found = curves.set_index(["kind", "method"])
    assert found["specifications"].to_dict() == {
        ("sparsity", "all"): 34, ("sparsity", "lime"): 22, ("sparsity", "saliency"): 12,
        ("gini", "all"): 12, ("gini", "lime"): 8,
    }  # fmt: skip
    assert found["undecided"].tolist() == [2, 2, 0, 6, 4]
    assert not specifications[["estimate", "p", "z"]].isna().any(axis=None)


def test_a_dataset_without_scores_of_a_kind_has_no_curve(study):
    curves, specifications = made("measure_specifications", study(changed=lambda t, _: t.assign(gini=NAN)), **ASKED)
    assert set(curves["kind"]) == set(specifications["kind"]) == {"sparsity"}
    nothing = dict.fromkeys(("tau", "tau_paper", "gini"), NAN)
    for table, contract in zip(
        made("measure_specifications", study(changed=lambda t, _: t.assign(**nothing)), **ASKED),
        (SPECIFICATION_CURVES, SPECIFICATIONS),
        strict=True,
    ):
        assert (len(table), list(table.columns)) == (0, contract.schema.names)


# Page and figure


SETTINGS = {
    "datasets": {"plots": {"label": "Plots"}},
    "models": {"small": {"label": "Small"}, "large": {"label": "Large"}},
    "explainers": {
        "lime": {"label": "LIME"},
        "lime_word": {"label": "LIME (words)"},
        "grad": {"label": "Gradient"},
    },
    "metrics": {
        "tau": {"label": "Sparsity, τ = 0.01", "better": "lower"},
        "tau_paper": {"label": "Sparsity, τ = 0.1", "better": "lower"},
        "gini": {"label": "Gini", "better": "higher"},
    },
}


def drawn(specifications, curves, kind="sparsity"):
    settings = keywords(shown(SETTINGS, "explainers", "models", "metrics", alpha=0.05))
    parts = [table[table["kind"] == kind] for table in (specifications, curves)]
    return draw_specifications(*parts, **settings, title="Sparsity on Plots")


@pytest.fixture
def found(study):
    return made("measure_specifications", study(shift=0.4), **ASKED)[::-1]


def test_marks_stand_at_the_estimates_in_colours_of_significance(found):
    above, _ = drawn(*found).axes
    rows = found[0][found[0]["kind"] == "sparsity"]
    marks = {to_hex(line.get_color()): line.get_xydata() for line in above.lines if line.get_marker() == "o"}
    counts = {colour: len(points) for colour, points in marks.items()}
    significant = rows["p"] <= 0.05
    assert counts == {
        NEITHER: (~significant).sum(),
        BETTER.lower(): (significant & (rows["estimate"] > 0)).sum(),
        WORSE.lower(): (significant & (rows["estimate"] < 0)).sum(),
    }
    assert min(counts[NEITHER], counts[WORSE.lower()]) > 0
    together = np.vstack(list(marks.values()))
    np.testing.assert_allclose(together[np.argsort(together[:, 0]), 1], rows["estimate"])
    assert "36 specifications" in above.get_title(loc="left")


def test_every_specification_has_one_tick_for_each_choice(found):
    _, board = drawn(*found).axes
    labels = [text.get_text() for text in board.get_yticklabels()]
    assert labels == [
        "Definition", "Sparsity, τ = 0.01", "Sparsity, τ = 0.1",
        "Explainer", "LIME", "LIME (words)", "Gradient",
        "Model", "Small", "Large", "Seed", "0", "1",
        "Effect", "Cohen's d, as a δ", "Cliff's δ",
    ]  # fmt: skip
    rows = found[0][found[0]["kind"] == "sparsity"]
    places = {label: [] for label in labels}
    for line in board.lines:
        x, y = line.get_xydata().T
        # The line that sets a section apart has no gaps.
        if np.isnan(y).any() or not len(y):
            middle = np.nanmean(y) if len(y) else None
            if middle is not None:
                places[labels[round(middle)]] += x[::3].astype(int).tolist()
    assert {len(set(places[label])) for label in ("Definition", "Model", "Seed")} == {0}
    for section in (labels[1:3], labels[4:7], labels[8:10], labels[11:13], labels[14:16]):
        assert sorted(place for label in section for place in places[label]) == list(range(36))
    assert sorted(places["Gradient"]) == np.flatnonzero(rows["explainer"] == "grad").tolist()
    medians = [text.get_text() for text in board.texts]
    assert medians[0] == f"{rows.loc[rows['metric'] == 'tau', 'estimate'].median():.2f}".replace("-", "−")
    assert len(medians) == 11 + 1


def test_a_kind_without_a_curve_says_so(found, tmp_path):
    figure = drawn(*(table.head(0) for table in found))
    assert "Fewer than three" in figure.get_supxlabel()
    for name in ("one.svg", "two.svg"):
        draw([tmp_path / name], lambda: drawn(*found), "Title")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()

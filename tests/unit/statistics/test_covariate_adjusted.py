"""Covariate-adjusted disparities: splits by hand, by another library and of known associations, and files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dataset_files import write_dataset
from rendering import page_of
from statsmodels.stats.oaxaca import OaxacaBlinder
from study_files import made

from evenlight.core import tables
from evenlight.core.contracts.explanations import SCORES
from evenlight.core.contracts.results import COVARIATE_ADJUSTED
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.reports.html_table import render
from evenlight.statistics.analyses.covariate_adjusted import (
    CONSTANT,
    COVARIATES,
    FEW,
    HARDLY_VARIES,
    MOSTLY_EQUAL,
    NO_OVERLAP,
    PART_OF_METRIC,
    Split,
    item_covariates,
    part_columns,
    split_groups,
    split_pairs,
)
from evenlight.statistics.arrays.effect_sizes import cohens_d, pooled_sd

NAN = float("nan")


def numbers(*parts) -> np.random.Generator:
    return generator_for("test_associated", *parts)


def split_of_pairs(differences, x, random=None, clusters=None, scores_b=None) -> Split | str:
    """The split of pairs with these differences of scores and of the covariate."""
    random = random or numbers("pairs")
    b = random.normal(size=len(x)) if scores_b is None else scores_b
    clusters = np.arange(len(x)) if clusters is None else clusters
    x_b = random.normal(size=len(x)) * np.std(x)
    return split_pairs(b + differences, b, x_b + x, x_b, clusters, random.random((200, len(x))))


def split_of_groups(a, b, x_a, x_b, random=None, clusters=None) -> Split | str:
    count = len(a) + len(b)
    clusters = np.arange(count) if clusters is None else clusters
    return split_groups(a, b, x_a, x_b, clusters, (random or numbers("groups")).random((200, count)))


# Pairs


def test_pairs_by_hand():
    # 8 equal pairs differ by 1 on average, the 8 others by 3: 2 of all, of which 1 is associated with the tokens.
    x, b = np.repeat([0.0, 1.0], 8), np.tile([0.0, 2.0], 8)
    differences = 1 + 2 * x + np.tile([0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0], 2)
    split = split_of_pairs(differences, x, scores_b=b)
    sd = pooled_sd(b + differences, b)
    assert split.whole == pytest.approx(np.array([1, 1]) / sd)
    assert split.support == 0.5
    assert split.degrees == 7
    # Without one equal pair, and without one of the others.
    assert split.without[0] == pytest.approx(np.array([(7 + 24) / 15 - 1, 1]) / sd)
    assert split.without[-1] == pytest.approx(np.array([(8 + 21) / 15 - 1, 1]) / sd)


@pytest.mark.parametrize("paired", [True, False])
def test_clusters_without_a_score_change_nothing(paired):
    random = numbers("without scores", paired)
    a, b, x_a = random.normal(size=(3, 60))
    x_b = x_a + np.repeat([0.0, 1.0], 30)
    if not paired:
        x_a, x_b = np.round(x_a), np.round(x_b)
    split = split_pairs if paired else split_groups
    units = 60 if paired else 120
    shuffles = random.random((5, 2 * units))
    padded = [np.append(values, np.full(60, np.nan)) for values in (a, b, x_a, x_b)]
    scored = np.arange(units) if paired else np.r_[np.arange(60), 120 + np.arange(60)]
    among_all = split(*padded, np.arange(2 * units), shuffles)
    alone = split(a, b, x_a, x_b, np.arange(units), shuffles[:, scored])
    assert part_columns([among_all], 0.95) == pytest.approx(part_columns([alone], 0.95))


@pytest.mark.parametrize("paired", [True, False])
def test_leaving_out_clusters_is_computing_without_them(paired):
    random = numbers("clusters", paired)
    clusters = random.integers(0, 30, 120)
    clusters[:30] = np.arange(30)
    a, b, x_a, x_b = random.normal(size=(4, 120 if paired else 60))
    if not paired:
        x_a, x_b = (x_a > 0).astype(float), (x_b > 0.5).astype(float)
    shuffles = random.random((5, 120))
    split = split_pairs if paired else split_groups
    whole = split(a, b, x_a, x_b, clusters, shuffles)
    kept = clusters != 7
    if paired:
        # The caliper and the SD are those of all pairs.
        equal = np.abs(x_a - x_b) <= 0.2 * np.sqrt(((x_a - x_b) ** 2).mean())
        d = (a - b) / pooled_sd(a, b)
        adjusted = d[kept & equal].mean()
        assert whole.without[7] == pytest.approx([d[kept].mean() - adjusted, adjusted])
    else:
        table = pd.DataFrame({"y": np.r_[a, b], "x": np.r_[x_a, x_b], "group": np.repeat([0, 1], 60)})
        counts = table.groupby(["x", "group"]).size().unstack(fill_value=0)
        table = table[table["x"].isin(counts.index[counts.min(axis=1) >= 3])]
        means = table[kept[table.index]].groupby(["group", "x"])["y"].agg(["mean", "size"]).unstack("group")
        share = means["size"] / means["size"].sum()
        covariate_part = ((share[0] - share[1]) * means["mean"].mean(axis=1)).sum() / pooled_sd(a, b)
        assert whole.without[7, 0] == pytest.approx(covariate_part)


def test_dependent_pairs_widen_the_interval():
    random = numbers("dependent")
    clusters = np.repeat(np.arange(40), 5)
    x = random.integers(0, 2, 40)[clusters]
    differences = x + random.normal(size=40)[clusters] + 0.1 * random.normal(size=200)
    widths = []
    for of in (np.arange(200), clusters):
        columns = part_columns([split_of_pairs(differences, x, clusters=of)], 0.95)
        widths.append(columns["covariate_part_high"] - columns["covariate_part_low"])
    assert widths[1] > 1.8 * widths[0]


# Silence


def test_a_covariate_whose_mean_is_far_from_zero_says_nothing():
    # As confidence on real pairs: a regression would draw its line over six standard deviations without a pair.
    random = numbers("far")
    x = 1e-4 * random.normal(6, 1, size=322)
    differences = 0.5 + 1000 * x + random.normal(size=322)
    b = random.normal(size=322)
    spread = random.normal(scale=1e-3, size=322)
    split = split_pairs(b + differences, b, spread + x, spread, np.arange(322), random.random((5, 322)))
    assert split == NO_OVERLAP


def test_what_hardly_varies_says_nothing():
    x = np.zeros(40)
    x[:7] = 1
    assert split_of_pairs(x + numbers("seven").normal(size=40), x) == HARDLY_VARIES
    x[7] = 1
    assert isinstance(split_of_pairs(x + numbers("eight").normal(size=40), x), Split)
    # All pairs differ, but by next to nothing beside what texts differ by.
    random = numbers("next to nothing")
    x_b = random.normal(size=60)
    x_a = x_b + 0.01 * random.normal(size=60)
    a, b = random.normal(size=(2, 60))
    assert split_pairs(a, b, x_a, x_b, np.arange(60), random.random((5, 60))) == HARDLY_VARIES
    ones = np.ones(30)
    assert split_of_groups(*random.normal(size=(2, 30)), ones, ones) == HARDLY_VARIES


def test_groups_without_common_values_say_nothing():
    random = numbers("apart")
    a, b, x_a, x_b = random.normal(size=(4, 60))
    assert split_of_groups(a, b, x_a + 9, x_b) == NO_OVERLAP
    assert isinstance(split_of_groups(a, b, x_a + 0.5, x_b), Split)


@pytest.mark.parametrize("split", [split_pairs, split_groups])
def test_too_few_and_constant_scores_say_nothing(split):
    random = numbers("few")
    a, b, x_a, x_b = random.normal(size=(4, 40)).round()
    of_units = np.arange(80), random.random((5, 80))
    of_units = tuple(part[..., :40] for part in of_units) if split is split_pairs else of_units
    assert isinstance(split(a, b, x_a, x_b, *of_units), Split)
    assert split(np.where(np.arange(40) < 7, a, NAN), b, x_a, x_b, *of_units) == FEW
    one = np.full(40, 0.1)
    assert split(one, one, x_a, x_b, *of_units) == CONSTANT
    assert split(one, one + 1e-14 * random.normal(size=40), x_a, x_b, *of_units) == CONSTANT
    # 39 scores of pairs from two clusters are two observations.
    assert split(a, b, x_a, x_b, of_units[0] % 2, of_units[1]) == FEW


# Groups


@pytest.mark.parametrize("sizes", [(50, 50), (80, 40)])
def test_groups_against_another_library(sizes):
    # Kitagawa's split is Oaxaca and Blinder's with a column for each stratum and the mean of both groups' coefficients.
    random = numbers("oaxaca", *sizes)
    x_a, x_b = random.integers(0, 4, sizes[0]), random.integers(1, 4, sizes[1])
    x_b[:5] = 0
    a, b = x_a**2 + random.normal(size=sizes[0]), 2 * x_b + random.normal(size=sizes[1])
    split = split_of_groups(a, b, x_a.astype(float), x_b.astype(float))
    columns = (np.concatenate([x_a, x_b])[:, None] == np.arange(4)).astype(float)
    design = np.column_stack([columns, np.repeat([1, 0], sizes)])
    library = OaxacaBlinder(np.concatenate([a, b]), design, 4, hasconst=True, swap=False).two_fold(
        two_fold_type="reimers"
    )
    unexplained, explained, gap = library.params[:3]
    assert sorted(np.abs([unexplained + explained])) == pytest.approx([abs(gap)])
    sign = np.sign(gap) * np.sign(a.mean() - b.mean())
    sd = pooled_sd(a, b)
    assert split.whole == pytest.approx(sign * np.array([explained, unexplained]) / sd)
    assert split.whole.sum() == pytest.approx(cohens_d(a, b))


def test_strata_without_one_of_the_groups_are_left_out():
    random = numbers("support")
    x_a, x_b = np.repeat([0.0, 1, 2], [28, 28, 4]), np.repeat([0.0, 1, 3], [28, 28, 4])
    a, b = random.normal(size=(2, 60))
    split = split_of_groups(a, b, x_a, x_b)
    assert split.support == pytest.approx(14 / 15)
    assert split.whole.sum() == pytest.approx((a[:56].mean() - b[:56].mean()) / pooled_sd(a, b))
    # With fewer in common nothing is said of the whole.
    assert split_of_groups(a, b, np.where(np.arange(60) < 15, 2, x_a), x_b) == NO_OVERLAP


# Known associations


def coverage(draw, truth: float, runs: int = 400) -> tuple[float, float, float]:
    """How often the interval has the truth, and the means of covariate part and shuffled control."""
    covered, parts, shuffled = 0, [], []
    for split in (draw(numbers("coverage", number)) for number in range(runs)):
        if isinstance(split, str):
            continue
        columns = part_columns([split], 0.95)
        covered += columns["covariate_part_low"] <= truth <= columns["covariate_part_high"]
        parts.append(columns["covariate_part"])
        shuffled.append(columns["shuffled"])
    assert len(parts) > 0.98 * runs
    return covered / len(parts), float(np.mean(parts)), float(np.mean(shuffled))


@pytest.mark.parametrize(("association", "truth"), [("none", 0.0), ("curved", 0.25)])
def test_association_within_pairs_is_found_as_large_as_it_is(association, truth):
    def draw(random: np.random.Generator) -> Split:
        x = random.normal(0.5, 1, size=120)
        f = {"none": 0 * x, "curved": 0.2 * x**2}[association]
        # Skewed noise, and a disparity that has nothing to do with the covariate; SD of the scores about 10.
        noise = random.exponential(size=120) - 1
        return split_of_pairs(0.4 + f + noise, x, random, scores_b=10 * random.normal(size=120))

    found, mean, shuffled = coverage(draw, truth / 10)
    assert found >= 0.92  # of 400 runs
    assert 10 * mean == pytest.approx(truth, abs=0.06)
    assert shuffled == pytest.approx(0, abs=0.003)


# Scores of which some are rare and large, with mean 0, from normal numbers.
RARE_SCORES = {
    "log-normal": lambda z: np.exp(z) - np.exp(0.5),
    "rare": lambda z: np.where(np.abs(z) > 1.96, 0.95, -0.05) + 0.1 * z,
    "mostly zero": lambda z: np.where(z > 1.2816, 10 * (z - 1.2816), 0) - 0.4735,
}


@pytest.mark.parametrize("shape", RARE_SCORES)
def test_the_interval_of_an_adjusted_disparity_is_too_short_for_rare_scores(shape):
    """As often as :func:`part_columns` says. Of 24 pairs a dozen are equal, and often none has a rare score."""
    held = []
    for number in range(300):
        random = numbers("rare remainder", number)
        a, x = RARE_SCORES[shape](random.normal(size=24)), random.poisson(1, 24) - random.poisson(1, 24)
        split = split_of_pairs(a, x.astype(float), random, scores_b=random.normal(size=24))
        if not isinstance(split, str):
            columns = part_columns([split], 0.95)
            held.append(columns["adjusted_low"] <= 0 <= columns["adjusted_high"])
    # Of mostly equal scores no adjusted disparity is told, which 0.60 of the intervals held.
    if shape == "mostly zero":
        assert not held
    else:
        assert np.mean(held) == pytest.approx({"log-normal": 0.87, "rare": 0.85}[shape], abs=0.02)


def test_few_scores_that_differ_from_the_commonest_one_are_not_split():
    x_a, x_b = np.tile([0.0, 1.0], 30), np.tile([0.0, 0, 1], 20)
    other = np.arange(60.0)
    for differing in (4, 5):
        few, differences = np.zeros((2, 60))
        few[:differing], differences[: 2 * differing : 2] = 1 + np.arange(differing), 0.1 + np.arange(differing)
        for split in (
            split_of_groups(few, other, x_a, x_b),
            split_of_groups(other, few, x_b, x_a),
            split_of_pairs(differences, x_a, scores_b=np.zeros(60)),
        ):
            assert split == MOSTLY_EQUAL if differing == 4 else isinstance(split, Split)
    # Of the five, two belong together.
    assert split_of_groups(few, other, x_a, x_b, clusters=np.r_[0, np.arange(119)]) == MOSTLY_EQUAL


@pytest.mark.slow
@pytest.mark.parametrize(("association", "truth"), [("none", 0.0), ("linear", 0.5)])
def test_association_between_groups_is_found_as_large_as_it_is(association, truth):
    def draw(random: np.random.Generator) -> Split:
        x_a, x_b = random.normal(0.5, 1, size=150), random.normal(size=150)
        slope = {"none": 0.0, "linear": 1.0}[association]
        a, b = (slope * x + random.normal(scale=2, size=150) for x in (x_a, x_b))
        return split_of_groups(a + 1, b, x_a, x_b, random)

    sd = 5**0.5 if association == "linear" else 2.0
    found, mean, shuffled = coverage(draw, truth / sd)
    assert found >= 0.92  # of 400 runs
    assert mean == pytest.approx(truth / sd, abs=0.03)
    assert shuffled == pytest.approx(0, abs=0.01)


# A study, from files


ASKED = {
    "datasets": ["plots", "cases"],
    "models": {"small": [0, 1]},
    "explainers": ["lime"],
    "metrics": dict.fromkeys(("gini", "mass"), "complexity"),
    "comparisons": {"gender": [["male", "female"], ["old", "young"]]},
    **{"confidence": 0.95, "control_draws": 50, "from_probability": ["mass"]},
}
PIECES = {"he": 1, "she": 1, "actor": 1, "actress": 2, "was": 1, "applauded": 2}


@pytest.fixture
def write(tmp_path):
    """Write one dataset of sentences (id, pair, group, words, ground truth) with their run's files."""

    def _write(dataset: str, sentences: list[tuple], score, marked: bool = True) -> dict[str, list[Path]]:
        places = {
            "items": tmp_path / "datasets" / dataset / "items.parquet",
            "predictions": [tmp_path / "predictions" / dataset / "small" / f"seed{seed}.parquet" for seed in (0, 1)],
            "scores": [
                tmp_path / "scores" / dataset / "small" / f"seed{seed}" / "complexity" / "lime.parquet"
                for seed in (0, 1)
            ],
        }
        items = [
            {"item_id": item, "pair_id": pair, "group": group, "label": 0, "words": words.split(),
             "ground_truth": truth if marked else None, "split": "test"}
            for item, pair, group, words, truth in sentences
        ]  # fmt: skip
        write_dataset(pd.DataFrame(items), places["items"].parent)
        for seed in (0, 1):
            random = numbers(dataset, seed)
            predictions, scores = [], []
            for item, _, group, words, truth in sentences:
                word_id = [n for n, word in enumerate(words.split()) for _ in range(PIECES[word])]
                gendered = sum(PIECES[word] for word, mark in zip(words.split(), truth, strict=True) if mark)
                probability = random.uniform(0.5, 1)
                predictions.append(
                    {"item_id": item, "split": "test", "token_id": [1, *[5] * len(word_id), 2],
                     "word_id": [None, *word_id, None], "token_text": ["", *["a"] * len(word_id), ""], "target": 1,
                     "left_out": None, "probability": [1 - probability, probability], "predicted": 1}
                )  # fmt: skip
                value = score(group, gendered, probability, random)
                scores.append({"item_id": item, "gini": value, "mass": NAN})
            table = pa.Table.from_pylist(predictions, schema=PREDICTIONS.schema)
            tables.write_table(table, places["predictions"][seed], PREDICTIONS)
            tables.write_table(pd.DataFrame(scores).astype({"mass": float}), places["scores"][seed], SCORES)
        return {name: found if isinstance(found, list) else [found] for name, found in places.items()}

    return _write


def computed(study: dict[str, list[Path]]) -> pd.DataFrame:
    folder = study["items"][0].parents[2]
    [table] = made(
        "adjust_for_covariates", {name: folder / name for name in ("scores", "datasets", "predictions")}, **ASKED
    )
    return table


def plots() -> list[tuple]:
    """Twenty-four pairs; in twelve of them "actress" has one token more than "actor"."""
    sentences = []
    for n in range(24):
        for group, words in (("male", "he actor"), ("female", "she actress")):
            word = words.split()[n % 2]
            sentences.append((f"{n}{group}", str(n), group, f"{word} was applauded", [1, 0, 0]))
    return sentences


def cases() -> list[tuple]:
    """Twenty male and eighteen female items without pairs."""
    sizes = {"male": 20, "female": 18}
    return [
        (f"{group}{n}", f"{group}{n}", group, "was applauded" + " was" * (n % 3), [0, 0] + [0] * (n % 3))
        for group, size in sizes.items()
        for n in range(size)
    ]


@pytest.fixture
def study(write):
    """Plots: scores are twice the gendered tokens, and noise. Cases: the male score is higher by 5."""
    of_plots = write("plots", plots(), lambda group, gendered, p, random: 2 * gendered + random.normal(scale=0.01))
    of_cases = write(
        "cases", cases(), lambda group, gendered, p, random: 5 * (group == "male") + random.normal(), False
    )
    return {name: of_plots[name] + of_cases[name] for name in of_plots}


def test_the_covariates_of_an_item(study):
    files = [study[name][0] for name in ("items", "predictions")]
    found = item_covariates(*files)
    assert list(found.columns) == list(COVARIATES)
    # "she was applauded": one gendered token, three others; "actress was applauded": two and three.
    assert found.loc["0female", ["tokens", "ground_truth_tokens"]].tolist() == [4, 1]
    assert found.loc["1female", ["tokens", "ground_truth_tokens"]].tolist() == [5, 2]
    predictions = tables.read_table(files[1], PREDICTIONS).set_index("item_id")
    p = predictions.at["1female", "probability"][1]
    assert found.at["1female", "confidence"] == pytest.approx(np.log(p / (1 - p)))
    assert found["correct"].tolist() == [0.0] * len(found)


def test_odds_near_certainty_are_those_of_the_other_classes(study):
    path = study["predictions"][0]
    predictions = tables.read_table(path, PREDICTIONS)
    # In float32 1 - 1e-9 is 1, from which nothing of the other two classes is left.
    predictions["probability"] = [[2e-9, 1.0, 1e-9]] * len(predictions)
    predictions["predicted"] = 0
    tables.write_table(predictions, path, PREDICTIONS)
    found = item_covariates(study["items"][0], path)
    assert found["confidence"].to_numpy() == pytest.approx(-np.log(3e-9))
    assert found["correct"].tolist() == [1.0] * len(found)


def test_the_table_of_a_study(study):
    table = computed(study)
    assert list(table.columns) == COVARIATE_ADJUSTED.schema.names
    found = table.set_index(["dataset", "metric", "covariate"]).sort_index()
    assert len(found) == 2 * 2 * 4
    # One token more in half of the pairs: the whole disparity goes with it.
    split = found.loc["plots", "gini", "ground_truth_tokens"]
    assert split["total"] < -0.5
    assert split["covariate_part"] == pytest.approx(split["total"], abs=0.05)
    assert split["covariate_part_high"] < 0
    assert split["adjusted"] == pytest.approx(0, abs=0.05)
    assert split["shuffled"] == pytest.approx(0, abs=0.1)
    assert (split["seeds"], split["support"]) == (2, 0.5)
    # The texts as a whole have the same additional tokens.
    assert found.loc["plots", "gini", "tokens"]["covariate_part"] == split["covariate_part"]
    assert found.at[("plots", "gini", "confidence"), "undecided"] == NO_OVERLAP
    assert found.at[("plots", "gini", "correct"), "undecided"] == HARDLY_VARIES
    assert set(found.loc["plots", "mass"]["undecided"]) == {FEW, PART_OF_METRIC}
    assert found.at[("cases", "mass", "confidence"), "undecided"] == PART_OF_METRIC
    assert (found.loc["plots", "mass"]["seeds"] == 0).all()
    split = found.loc["cases", "gini", "tokens"]
    assert split["adjusted"] == pytest.approx(split["total"], rel=0.3)
    assert split["adjusted_low"] > 0
    split = table[table["seeds"] > 0]
    assert (split["covariate_part"] + split["adjusted"]).to_numpy() == pytest.approx(split["total"].to_numpy())
    assert table["undecided"].isna().tolist() == (table["seeds"] > 0).tolist()
    # The total is Cohen's d of the scores, in the mean of the seeds.
    expected = []
    for path in study["scores"][:2]:
        scores = tables.read_table(path, SCORES)
        group = scores["item_id"].str.lstrip("0123456789")
        expected.append(cohens_d(*(scores.loc[group == level, "gini"] for level in ("male", "female"))))
    assert found.at[("plots", "gini", "tokens"), "total"] == pytest.approx(np.mean(expected))


def test_the_page_says_why_cells_are_not_split(study):
    table = computed(study)
    about = {"datasets": {"plots": "Plots", "cases": "Cases"}, "confidence": 0.95}
    page = render(page_of("covariate_adjusted", table, **about))
    assert "no causal claim" in page
    # What it says holds of every factor.
    assert "gender" not in page
    [summary] = page_of("covariate_adjusted", table, **about).tables
    assert summary.caption.endswith("male against female")
    lines = dict(dict(summary.rows)["Plots"])
    cells = [cell.text for cell in lines["tokens of ground-truth words"]]
    assert cells[:2] == ["1", "1"]
    split = table[(table["dataset"] == "plots") & (table["covariate"] == "ground_truth_tokens") & (table["seeds"] > 0)]
    assert cells[3] == f"{split['total'].abs().mean():.2f}"
    # Undecided: hardly varies, no overlap, part of the metric, constant, mostly equal, too few.
    assert [cell.text for cell in lines["confidence"]][-6:] == ["0", "1", "1", "0", "0", "0"]


@pytest.mark.parametrize(("name", "contract"), [("items", ITEMS), ("predictions", PREDICTIONS)])
def test_items_that_are_missing_in_a_file_are_named(study, name, contract):
    path = study[name][0]
    tables.write_table(tables.read_arrow(path, contract).slice(1), path, contract)
    with pytest.raises(InputError, match=rf"{path.name}: column 'item_id' has no '0male', which has scores"):
        computed(study)


def test_tokens_of_words_that_the_item_does_not_have_are_refused(study):
    path = study["items"][0]
    items = tables.read_table(path, ITEMS)
    items["ground_truth"] = [truth[:2] for truth in items["ground_truth"]]
    tables.write_table(items, path, ITEMS)
    with pytest.raises(InputError, match=r"column 'word_id' has 2 for item '0male', which has 2 words in .*items"):
        computed(study)

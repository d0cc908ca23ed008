"""What disparities go with: splits worked by hand and by a normal equation, data with known causes, files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dataset_files import write_dataset
from rendering import COMPARED, page_of, run_script, shown, tabulated
from scipy.stats import t
from study_files import asked

from evenlight import tables
from evenlight.errors import InputError
from evenlight.figures.html_table import render
from evenlight.seeds import generator_for
from evenlight.statistics.causes import CAUSES, COMPUTED, cause_table, item_causes, split_disparity
from evenlight.statistics.effect_sizes import cohens_d

NAN = float("nan")


def numbers(*parts) -> np.random.Generator:
    return generator_for("test_causes", *parts)


def some_data(*parts, units=(40, 40)) -> tuple[np.ndarray, ...]:
    """Scores and causes of two groups: context and ground-truth tokens, and confidence."""
    random = numbers(*parts)
    causes = [
        np.column_stack([random.integers(5, 15, size), random.integers(1, 4, size), random.uniform(0.5, 1, size)])
        for size in units
    ]
    a, b = (0.1 * of[:, 0] + 0.5 * of[:, 1] + random.normal(size=len(of)) for of in causes)
    return a + 0.3, b, *causes


def hc3(design: np.ndarray, outcome: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients by the normal equations and the two-sided p of the first, by MacKinnon & White's third estimator."""
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ outcome
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    residuals = (outcome - design @ coefficients) / (1 - leverage)
    covariance = inverse @ (design.T * residuals**2) @ design @ inverse
    degrees = len(outcome) - design.shape[1]
    return coefficients, 2 * t.sf(abs(coefficients[0]) / covariance[0, 0] ** 0.5, degrees)


# One split


def test_a_paired_split_by_hand():
    # Differences of scores 1, 1, 2 where those of ground-truth tokens are 0, and 3, 3, 2 where they are 1: means 4/3
    # and 8/3, so the line is 4/3 + 4/3 x. The mean of x is 1/2: 2/3 goes with the tokens, 4/3 remains.
    differences = np.array([1, 1, 3, 3, 2, 2.0])
    b = np.array([0, 2, 0, 2, 0, 2.0])
    a = b + differences
    tokens = np.array([0, 0, 1, 1, 1, 0.0])
    causes_b = np.column_stack([np.full(6, 7), np.ones(6), np.full(6, 0.9)])
    causes_a = causes_b + np.column_stack([np.zeros(6), tokens, np.zeros(6)])
    split = split_disparity(a, b, causes_a, causes_b, paired=True)
    sd = ((a.var() + b.var()) / 2) ** 0.5
    assert split.used.tolist() == [False, True, False]
    assert split.total == pytest.approx(2 / sd)
    assert split.carried == pytest.approx([0, 2 / 3 / sd, 0])
    assert split.remaining == pytest.approx(4 / 3 / sd)


def test_an_unpaired_split_by_hand():
    # Slope of both groups' scores on tokens 2 exactly: means 8 and 3, mean tokens 3 and 1, so that 4 goes with them.
    tokens_a, tokens_b = np.array([2, 3, 4.0]), np.array([0, 1, 2.0])
    a, b = 2 * tokens_a + 2, 2 * tokens_b + 1
    causes_a, causes_b = (np.column_stack([of, np.zeros(3), np.zeros(3)]) for of in (tokens_a, tokens_b))
    split = split_disparity(a, b, causes_a, causes_b, paired=False)
    sd = (8 / 3) ** 0.5  # the variance of tokens is 2/3 in both groups
    assert split.total == pytest.approx(5 / sd)
    assert split.carried == pytest.approx([4 / sd, 0, 0])
    assert split.remaining == pytest.approx(1 / sd)


@pytest.mark.parametrize("units", [(30, 30), (200, 200)])
def test_paired_split_against_the_normal_equations(units):
    a, b, causes_a, causes_b = some_data("paired", units=units)
    split = split_disparity(a, b, causes_a, causes_b, paired=True)
    sd = ((a.var() + b.var()) / 2) ** 0.5
    ones = np.ones((len(a), 1))
    coefficients, p = hc3(np.hstack([ones, causes_a - causes_b]), (a - b) / sd)
    assert split.remaining == pytest.approx(coefficients[0])
    assert split.carried == pytest.approx(coefficients[1:] * (causes_a - causes_b).mean(axis=0))
    assert split.p_remaining == pytest.approx(p)
    assert split.p_total == pytest.approx(hc3(ones, a - b)[1])
    assert split.used.all()


def test_unpaired_split_against_the_normal_equations():
    a, b, causes_a, causes_b = some_data("unpaired", units=(50, 20))
    split = split_disparity(a, b, causes_a, causes_b, paired=False)
    sd = ((a.var() + b.var()) / 2) ** 0.5
    group = np.column_stack([np.arange(70) < 50, np.ones(70)]).astype(float)
    coefficients, p = hc3(np.hstack([group, np.vstack([causes_a, causes_b])]), np.concatenate([a, b]) / sd)
    assert split.remaining == pytest.approx(coefficients[0])
    assert split.carried == pytest.approx(coefficients[2:] * (causes_a.mean(axis=0) - causes_b.mean(axis=0)))
    assert split.p_remaining == pytest.approx(p)
    assert split.p_total == pytest.approx(hc3(group, np.concatenate([a, b]))[1])


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("number", range(5))
def test_the_parts_add_up_to_cohens_d(paired, number):
    a, b, causes_a, causes_b = some_data("sum", number)
    split = split_disparity(a, b, causes_a, causes_b, paired)
    assert split.total == pytest.approx(cohens_d(a, b), rel=1e-12)
    assert split.carried.sum() + split.remaining == pytest.approx(split.total, abs=1e-12)


@pytest.mark.parametrize("paired", [True, False])
def test_a_disparity_of_token_counts_alone_leaves_nothing(paired):
    _, _, causes_a, causes_b = some_data("tokens")
    causes_a[:, 1] += 1 + np.arange(40) % 2
    a, b = 3 * causes_a[:, 1], 3 * causes_b[:, 1]
    split = split_disparity(a, b, causes_a, causes_b, paired)
    assert split.total > 0.5
    assert split.p_total < 0.05
    assert split.carried == pytest.approx([0, split.total, 0], abs=1e-12)
    assert split.remaining == pytest.approx(0, abs=1e-12)
    assert split.p_remaining == 1


@pytest.mark.parametrize("paired", [True, False])
def test_a_disparity_of_the_group_alone_remains(paired):
    _, _, causes_a, causes_b = some_data("group")
    noise = numbers("noise").normal(size=40)
    # In pairs the noise is common to both forms and leaves the differences; else both groups have the same causes.
    split = split_disparity(noise + 1, noise, causes_a if paired else causes_b, causes_b, paired)
    assert split.total == pytest.approx(1 / noise.std())
    assert split.carried == pytest.approx([0, 0, 0], abs=1e-12)
    assert split.remaining == pytest.approx(split.total)
    assert split.p_remaining < 0.05


@pytest.mark.parametrize("paired", [True, False])
def test_units_of_the_causes_change_nothing(paired):
    a, b, causes_a, causes_b = some_data("units")
    split = split_disparity(a, b, causes_a, causes_b, paired)
    units = np.array([1e6, 1, 1e-6])
    scaled = split_disparity(a, b, causes_a * units, causes_b * units, paired)
    assert scaled.carried == pytest.approx(split.carried)
    assert scaled.p_remaining == pytest.approx(split.p_remaining)


def test_causes_without_a_coefficient_of_their_own_carry_nothing():
    a, b, causes_a, causes_b = some_data("dependent")
    causes_a[:, 0] = causes_b[:, 0] + 2  # the same in every pair: not to be told from the group
    causes_a[:, 2] = causes_b[:, 2] + 0.1 * (causes_a[:, 1] - causes_b[:, 1])  # goes with the tokens
    split = split_disparity(a, b, causes_a, causes_b, paired=True)
    assert split.used.tolist() == [False, True, False]
    alone = split_disparity(a, b, causes_a * [0, 1, 0], causes_b * [0, 1, 0], paired=True)
    assert split.carried.tolist() == alone.carried.tolist()
    assert split.carried.sum() + split.remaining == pytest.approx(split.total)


def test_a_cause_that_differs_in_one_pair_alone_is_left_out():
    # Its coefficient would be that pair's residual, and its HC3 error 0 / 0.
    a, b, causes_a, causes_b = some_data("single")
    causes_a[:, 1] = causes_b[:, 1] + (np.arange(40) == 3)
    split = split_disparity(a, b, causes_a, causes_b, paired=True)
    assert split.used.tolist() == [True, False, True]
    assert 0 <= split.p_remaining <= 1
    causes_a[7, 1] += 1
    assert split_disparity(a, b, causes_a, causes_b, paired=True).used.all()


@pytest.mark.parametrize("paired", [True, False])
def test_a_remainder_of_zero_is_significant_at_the_nominal_rate(paired):
    significant = 0
    for number in range(1000):
        random = numbers("size", number)
        _, _, causes_a, causes_b = some_data("size", number)
        causes_a[:, 1] += random.integers(0, 2, 40)
        # Noise that grows with length: the classical standard error would be wrong.
        a, b = (of[:, 1] + of[:, 0] / 5 * random.normal(size=40) for of in (causes_a, causes_b))
        significant += split_disparity(a, b, causes_a, causes_b, paired).p_remaining <= 0.05
    assert significant / 1000 == pytest.approx(0.05, abs=0.02)


# A study, from files


def study_settings(**changes) -> dict:
    return {
        "datasets": {"plots": {"label": "Plots"}, "cases": {"label": "Cases"}},
        "models": {"small": {"label": "Small"}},
        "seeds": [0, 1],
        "explainers": {"lime": {"label": "LIME"}},
        "metrics": {
            "gini": {"label": "Gini", "better": "higher", "family": "complexity"},
            "mass": {"label": "Mass", "better": "higher", "family": "complexity"},
        },
        "statistics": {"groups": [["male", "female"], ["old", "young"]], "alpha": 0.05},
        **changes,
    }


PIECES = {"he": 1, "she": 1, "actor": 1, "actress": 2, "was": 1, "applauded": 2}


@pytest.fixture
def write(tmp_path):
    """Write one dataset of sentences (id, pair, group, words, ground truth) with their run's files."""

    def _write(dataset: str, sentences: list[tuple], score, marked: bool = True) -> dict[str, list[Path]]:
        places = {
            "items": tmp_path / "datasets" / dataset / "items.parquet",
            "readings": [tmp_path / "readings" / dataset / "small" / f"seed{seed}.parquet" for seed in (0, 1)],
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
            readings, scores = [], []
            for item, _, group, words, truth in sentences:
                word_id = [n for n, word in enumerate(words.split()) for _ in range(PIECES[word])]
                gendered = sum(PIECES[word] for word, mark in zip(words.split(), truth, strict=True) if mark)
                probability = random.uniform(0.5, 1)
                readings.append(
                    {"item_id": item, "split": "test", "token_id": [1, *[5] * len(word_id), 2],
                     "word_id": [None, *word_id, None], "token_text": ["", *["a"] * len(word_id), ""], "target": 1,
                     "left_out": None, "probability": [1 - probability, probability], "predicted": 1}
                )  # fmt: skip
                value = score(group, gendered, probability, random)
                scores.append({"item_id": item, "gini": value, "mass": NAN})
            table = pa.Table.from_pylist(readings, schema=tables.READINGS.schema)
            tables.write_table(table, places["readings"][seed], tables.READINGS)
            tables.write_table(pd.DataFrame(scores).astype({"mass": float}), places["scores"][seed], tables.SCORES)
        return {name: found if isinstance(found, list) else [found] for name, found in places.items()}

    return _write


def folders_of(study: dict[str, list[Path]]) -> tuple[Path, Path, Path]:
    folder = study["items"][0].parents[2]
    return folder / "scores", folder / "datasets", folder / "readings"


def caused(study: dict[str, list[Path]], settings: dict):
    return cause_table(*folders_of(study), **asked(cause_table, settings))


def plots() -> list[tuple]:
    """Twelve pairs; in six of them "actress" has one token more than "actor"."""
    sentences = []
    for n in range(12):
        for group, words in (("male", "he actor"), ("female", "she actress")):
            word = words.split()[n % 2]
            sentences.append((f"{n}{group}", str(n), group, f"{word} was applauded", [1, 0, 0]))
    return sentences


def cases() -> list[tuple]:
    """Ten male and eight female items without pairs."""
    sizes = {"male": 10, "female": 8}
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


def test_the_causes_of_an_item(study):
    files = [study[name][0] for name in ("items", "readings")]
    found = item_causes(*files)
    assert list(found.columns) == list(CAUSES)
    # "she was applauded": one gendered token, three others; "actress was applauded": two and three.
    assert found.loc["0female", ["context_tokens", "ground_truth_tokens"]].tolist() == [3, 1]
    assert found.loc["1female", ["context_tokens", "ground_truth_tokens"]].tolist() == [3, 2]
    readings = tables.read_table(files[1], tables.READINGS).set_index("item_id")
    assert found.at["1female", "confidence"] == readings.at["1female", "probability"][1]


def test_the_table_of_a_study(study):
    table, notes = caused(study, study_settings())
    assert list(table.columns) == ["dataset", "model", "explainer", "metric", "factor", "level_a", "level_b", *COMPUTED]
    found = table.set_index(["dataset", "metric"])
    assert list(found.index) == [(dataset, metric) for dataset in ("plots", "cases") for metric in ("gini", "mass")]
    split = found.loc["plots", "gini"]
    # One token more in half of the pairs: the whole disparity goes with it.
    assert split["total"] < -0.5
    assert split["ground_truth_tokens"] == pytest.approx(split["total"], abs=0.05)
    assert split["remaining"] == pytest.approx(0, abs=0.05)
    assert split["context_tokens"] == 0
    assert (split["seeds"], split["significant_seeds"], split["significant_seeds_remaining"]) == (2, 2, 0)
    assert split["pairs_equal"] == 6
    split = found.loc["cases", "gini"]
    assert split["ground_truth_tokens"] == 0
    assert split["context_tokens"] != 0
    assert split["remaining"] == pytest.approx(split["total"], rel=0.3)
    assert split["significant_seeds_remaining"] == 2
    assert split["significant_seeds_both"] == min(2, split["significant_seeds"])
    assert np.isnan(split["pairs_equal"])
    assert np.isnan(split["d_equal"])
    for row in table[table["seeds"] > 0].itertuples():
        assert sum(getattr(row, cause) for cause in CAUSES) + row.remaining == pytest.approx(row.total)
    undefined = found.loc["plots", "mass"]
    assert (undefined["seeds"], undefined["significant_seeds"]) == (0, 0)
    assert np.isnan(undefined["total"])
    assert notes == [
        "dataset 'plots': context_tokens has no coefficient in 2 splits and carries 0 there, since it does not vary "
        "apart from the group and the causes before it",
        "dataset 'plots', metric 'mass': no split of 2 runs, which have fewer than 6 pairs with scores",
        "dataset 'cases': ground_truth_tokens has no coefficient in 2 splits and carries 0 there, since it does not "
        "vary apart from the group and the causes before it",
        "dataset 'cases', metric 'mass': no split of 2 runs, which have fewer than 6 items of a group with scores",
    ]


def test_totals_and_equal_pairs_are_cohens_d_of_the_scores(study):
    table, _ = caused(study, study_settings())
    expected = {"all": [], "equal": []}
    for path in study["scores"][:2]:
        scores = tables.read_table(path, tables.SCORES)
        scores["group"] = scores["item_id"].str.lstrip("0123456789")
        short = scores[scores["item_id"].str.extract(r"(\d+)", expand=False).astype(int) % 2 == 0]
        for name, part in (("all", scores), ("equal", short)):
            expected[name].append(cohens_d(*(part.loc[part["group"] == g, "gini"] for g in ("male", "female"))))
    assert table.at[0, "total"] == pytest.approx(np.mean(expected["all"]))
    assert table.at[0, "d_equal"] == pytest.approx(np.mean(expected["equal"]))


def test_constant_scores_are_noted(write):
    files = write("plots", plots(), lambda *_: 0.5)
    settings = study_settings(datasets={"plots": {}}, metrics={"gini": study_settings()["metrics"]["gini"]})
    table, notes = caused(files, settings)
    assert table.at[0, "seeds"] == 0
    assert notes == ["dataset 'plots', metric 'gini': no split of 2 runs, whose scores are constant"]


def test_script_writes_the_table_and_its_page_says_what_was_left_out(study, tmp_path):
    named = zip(("--scores", "--datasets", "--readings"), folders_of(study), strict=True)
    flags = [part for pair in named for part in pair]
    computed, settings = tmp_path / "causes.parquet", study_settings()
    done = run_script("statistics/explain_disparity.py", asked(cause_table, settings), *flags, "--output", computed)
    assert done.returncode == 0, done.stderr
    table, notes = caused(study, settings)
    pd.testing.assert_frame_equal(tables.read_table(computed, tables.CAUSES), table)
    assert tables.read_metadata(computed, tables.CAUSES) == {"notes": notes}
    about = shown(settings, *COMPARED, alpha=0.05)
    page = tabulated(tmp_path, "causes", table, notes=notes, **about).html
    assert page == render(replace(page_of("causes", table, **about), notes=notes))
    total, remaining = (f"{table.at[2, name]:.2f}" for name in ("total", "remaining"))
    assert f"<strong>{total} → {remaining}</strong>" in page
    assert "no causal claim" in page
    assert "carries 0 there" in page
    assert "in 6 pairs of equally many tokens" in page
    # What it says of the causes holds of every factor.
    assert "with tokens of ground-truth words" in page
    assert "gender" not in page


@pytest.mark.parametrize(("name", "rule"), [("items", "import_dataset"), ("readings", "read_texts")])
def test_missing_files_are_named(study, name, rule):
    study[name][0].unlink()
    with pytest.raises(InputError, match=rf"{study[name][0]}: no such file; rule {rule} makes it"):
        caused(study, study_settings())


@pytest.mark.parametrize(
    ("name", "contract", "message"),
    [
        ("items", tables.ITEMS, r"items\.parquet: column 'item_id' has no '0male', which has scores"),
        ("readings", tables.READINGS, r"seed0\.parquet: column 'item_id' has no '0male', which has scores"),
    ],
)
def test_items_that_are_missing_in_a_file_are_named(study, name, contract, message):
    path = study[name][0]
    tables.write_table(tables.read_arrow(path, contract).slice(1), path, contract)
    with pytest.raises(InputError, match=message):
        caused(study, study_settings())


def test_tokens_of_words_that_the_item_does_not_have_are_refused(study):
    path = study["items"][0]
    items = tables.read_table(path, tables.ITEMS)
    items["ground_truth"] = [truth[:2] for truth in items["ground_truth"]]
    tables.write_table(items, path, tables.ITEMS)
    with pytest.raises(InputError, match=r"column 'word_id' has 2 for item '0male', which has 2 words in .*items"):
        caused(study, study_settings())

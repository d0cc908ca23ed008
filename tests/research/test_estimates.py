"""Scripts of bench/research/: estimates beside what they estimate, and answers of one engine beside another's."""

import argparse
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from bench_scripts import ROOT, script, write_bert, write_texts
from models_for_tests import additive, sentences_of, tiny_classifier
from transformers import AutoModelForSequenceClassification

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import shapley
from evenlight.explainers.token_tree import Node
from evenlight.texts.words import joined_text, texts_in

pytestmark = pytest.mark.slow

# Shapley values by the number of rows ---------------------------------------------------------------------------------

WORTH = np.array([0.3, -0.2, 0.1, 0.05, 0.15])


@pytest.fixture(scope="module")
def error():
    return script("shapley_error")


@pytest.fixture(scope="module")
def longer():
    return script("shapley_longer")


def game(error, worth=WORTH, name="text"):
    """A game that is a sum, and one tree that merges from the left."""
    tree = Node(0, 1)
    for last in range(2, len(worth) + 1):
        tree = Node(0, last, tree, Node(last - 1, last))
    value = 0.2 + shapley.all_subsets(len(worth)) @ worth
    return error.Game(name, value, error.linkage(tree, len(worth)))


def test_a_game_answers_by_its_subsets(error):
    own = game(error)
    assert own.features == 5
    asked = np.array([[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 1], [1, 1, 1, 1, 1]])
    np.testing.assert_allclose(own.ask(asked), [0.2, 0.5, 0.15, 0.6])
    # scipy's form: what is merged, at which height, and how many tokens there are then.
    assert own.tree.tolist() == [[0, 1, 1, 2], [5, 2, 2, 3], [6, 3, 3, 4], [7, 4, 4, 5]]


def test_the_values_of_a_game_are_the_models(error):
    classifier = additive({"good": 0.25, "bad": -0.125, "very": 0.0625})
    [sentence] = sentences_of(classifier, [["very", "good", "bad"]], [1])
    own = error.game_of(sentence, Evaluator(classifier), at_once=3)
    np.testing.assert_allclose(shapley.exact_values(own.value), [0.0625, 0.25, -0.125], atol=1e-6)


@pytest.mark.parametrize("name", [*script("shapley_error").OURS, *script("shapley_error").PEERS])
def test_every_estimator_is_exact_where_the_game_is_a_sum(error, name):
    found = (error.OURS | error.PEERS)[name](game(error), 31, 0)
    # Captum's weights of both ends are finite; the Gaussian process takes a part of the worth for noise.
    atol = {"kernel_shap, surrogate": 0.02, "kernel_shap, chosen": 0.02, "shapley_sampling, adjusted": 0.06}.get(
        name, 1e-3
    )
    np.testing.assert_allclose(found, WORTH, atol=atol)


def test_estimators_that_lack_rows_give_nothing(error):
    for name in ("shapley_sampling, paired", "shapley_sampling, adjusted"):
        assert error.OURS[name](game(error), 8, 0) is None
    assert error.OURS["shapley_sampling, independent"](game(error), 8, 0) is not None
    assert error.PEERS["captum ShapleyValueSampling"](game(error), 5, 0) is None


def test_lime_with_all_its_samples_is_lime(error):
    own = game(error)
    many = error.lime_coefficients(own, 0, error.LIME_SAMPLES, None)
    np.testing.assert_array_equal(error.LIME["lime, fewer samples"](own, error.LIME_SAMPLES, 0), many)
    few = error.LIME["lime, fewer samples"](own, 20, 0)
    asked = error.LIME["lime, asked"](own, 20, 0)
    assert np.linalg.norm(asked - many) < np.linalg.norm(few - many) / 2


def table_of_errors(errors: dict[str, list[float]], rows: list[int]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"kind": "ours" if name.startswith(("kernel", "shapley_")) else "peer", "estimator": name, "rows": number}
            | {"error_median": value, "error_lower_quartile": value / 2, "error_upper_quartile": value * 2}
            | {"rank_median": 0.5}
            for name, values in errors.items()
            for number, value in zip(rows, values, strict=True)
        ]
    )


def test_rows_for_an_error_follow_a_power_law(error):
    table = table_of_errors({"kernel_shap, paired": [1.0, 0.5, 0.125]}, [10, 20, 80])
    for wanted, rows in ((1.5, 10), (1.0, 10), (0.5, 20), (0.25, 40), (0.125, 80), (0.1, np.inf)):
        assert error.rows_for(table, "kernel_shap, paired", wanted) == pytest.approx(rows)


def test_rows_are_told_as_a_share_of_a_peers(error):
    assert error.share_cell(30.0, 60, 16, 512) == "0.50"
    assert error.share_cell(16.0, 64, 16, 512) == "≤ 0.25"
    assert error.share_cell(16.0, 8, 16, 512) == "–"
    assert error.share_cell(np.inf, 256, 16, 512) == "> 2.00"
    errors = {name: [1.0, 0.5, 0.25] for name in error.OURS} | {"captum KernelShap": [1.0, 0.9, 0.5]}
    table = table_of_errors(errors, [10, 20, 40])
    needed = error.rows_needed(table)
    assert needed["kernel_shap, paired"].tolist() == pytest.approx([10, 10 / 0.9, 20])
    # Of 10 rows all, of 20 more than a third, of 40 a half.
    assert error.reached(table, "kernel_shap, paired").endswith("captum KernelShap at no budget.")
    assert error.reached(table, "kernel_shap, paired", 0.6).endswith("captum KernelShap from 20 rows on.")


def test_runs_are_summed_up_by_quartiles(error):
    runs = pd.DataFrame({"kind": "ours", "estimator": "lime", "rows": 8, "error": [1, 2, 3, 4, 5], "rank": [0] * 5})
    [row] = error.summarised(runs.astype({"rank": float})).to_dict("records")
    assert (row["runs"], row["error_median"], row["error_lower_quartile"], row["error_upper_quartile"]) == (5, 3, 2, 4)


def test_the_page_of_errors_shows_the_table(error, monkeypatch):
    monkeypatch.setattr(error, "LIME_SAMPLES", 200)
    games = [game(error, name="one"), game(error, WORTH[:4], "two")]
    runs = pd.DataFrame(error.measured(games, [8, 16], 1))
    assert runs.groupby("kind")["estimator"].nunique().to_dict() == {"ours": 7, "peer": 4, "lime": 2}
    assert runs.loc[runs["estimator"] == "shapley_sampling, independent", "error"].max() < 1e-9
    page = error.page(error.summarised(runs), games, "demo", 1)
    assert page.startswith("# Error of Shapley values and LIME")
    assert "2 test sentences of demo with 4 to 5 tokens" in page
    assert page.count("\n| kernel_shap, paired |") == 2


def test_sentences_are_drawn_by_their_length(error):
    sentences = sentences_of(tiny_classifier("bert"))
    lengths = sorted(len(sentence.token_id) - 2 for sentence in sentences)
    drawn = error.drawn_sentences(sentences * 2, lengths[1], lengths[-2], 3)
    assert len({sentence.item_id for sentence in drawn}) == 3
    assert all(lengths[1] <= len(sentence.token_id) - 2 <= lengths[-2] for sentence in drawn)
    with pytest.raises(InputError, match="--items: only 1 different test sentences have"):
        error.drawn_sentences(sentences * 2, lengths[0], lengths[0], 2)


def test_joined_texts_have_the_values_of_their_sentences(error, longer):
    """Held against all subsets of the joined text, whose value is no sum."""
    random = np.random.default_rng(3)
    parts = [error.Game(name, random.normal(size=2**features), None) for name, features in (("a", 3), ("b", 4))]
    text = longer.joined(parts)
    assert (text.name, text.features, text.uncertainty) == ("a + b", 7, 0.0)
    np.testing.assert_allclose(text.truth, shapley.exact_values(text.ask(shapley.all_subsets(7))), atol=1e-12)


def test_a_long_run_finds_what_is_known(longer, monkeypatch):
    monkeypatch.setattr(longer, "BLOCK", 64)
    worth = {"good": 0.25, "bad": -0.125, "very": 0.0625, "not": 0.03125}
    classifier = additive(worth)
    [sentence] = sentences_of(classifier, [list(worth)], [1])
    text = longer.long_run(sentence, Evaluator(classifier), 128)
    np.testing.assert_allclose(text.truth, list(worth.values()), atol=1e-6)
    assert text.uncertainty < 1e-6


def test_estimators_of_shapiq_are_asked_for_their_rows(longer, monkeypatch):
    class SVARM:
        def __init__(self, n, random_state, **settings):
            self.features, self.given = n, settings | {"seed": random_state}

        def approximate(self, budget, game):
            assert (budget, self.given) == (32, {"seed": 7, "index": "SV"})
            values = game(np.eye(self.features))
            return {(feature,): value for feature, value in enumerate(values)}

    monkeypatch.setitem(sys.modules, "shapiq", SimpleNamespace(SVARM=SVARM))
    own = longer.LongGame("text", 3, lambda shown: shown @ np.array([1.0, 2.0, 4.0]), np.zeros(3))
    assert longer.by_shapiq("SVARM", index="SV")(own, 32, 7).tolist() == [1.0, 2.0, 4.0]


def test_the_section_of_a_models_texts(longer, monkeypatch):
    ours = {key: estimate for key, estimate in longer.ESTIMATORS.items() if key[0] == "ours"}
    never = ("peer", longer.SLOW)
    called = []
    monkeypatch.setattr(longer, "ESTIMATORS", ours | {never: lambda *asked: called.append(asked)})
    worth = np.array([0.5, 0.25, -0.5, 1.0])

    def value(shown):
        return shown @ worth + 0.02 * shown[:, 0] * shown[:, 1]

    truth = worth + np.array([0.01, 0.01, 0, 0])
    games = [longer.LongGame(name, 4, value, truth) for name in ("a + b", "b + a")]
    runs = pd.DataFrame(longer.measured(games, [8, 12], 2, 1))
    # The slow one: on the first text with the first seed, by each number of rows.
    assert [asked[1:] for asked in called] == [(8, 0), (12, 0)]
    assert runs.loc[runs["estimator"] == "shapley_sampling, independent", "error"].max() < 0.02
    text = longer.section("small, demo, joined", "joined", games, longer.summarised(runs))
    assert "2 texts of 4 to 4 tokens. Their Shapley values are known exactly, and they are made of 2 sentences" in text
    table = table_of_errors({"kernel_shap, paired": [0.5, 0.1], "shap KernelExplainer": [0.25, 0.4]}, [64, 256])
    assert longer.first(table) == (
        "Least median error with 64 rows: shap KernelExplainer (2.00 times before kernel_shap, paired); "
        "256 rows: kernel_shap, paired (4.00 times before shap KernelExplainer)."
    )


# Chance, sensitivity --------------------------------------------------------------------------------------------------


def test_chance_is_none_where_nothing_is_drawn():
    chance = script("chance_by_rows")
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:3]
    exact = chance.measured(sentences, Evaluator(classifier), {"method": "occlusion"})
    assert (exact["error"], exact["rank"], exact["rank_lower_quartile"]) == (0.0, 1.0, 1.0)
    few, many = (
        chance.measured(sentences, Evaluator(classifier), {"method": "lime", "samples": samples})
        for samples in (20, 2000)
    )
    assert few["rows"] < many["rows"]
    assert few["error"] > 2 * many["error"] > 0
    table = pd.DataFrame([{"setting": "lime", "budget": "samples 20", "model": "tiny", **few}])
    page = chance.page(table, sentences, "demo", 1)
    assert "3 test sentences of demo with" in page
    assert f"| lime | samples 20 | {few['rows']} | {few['error']:.2f} |" in page


def test_texts_of_several_sentences_are_their_words_in_a_row():
    given = pd.DataFrame(
        {"item_id": list("abcde"), "words": [["He"], ["is", "."], ["A"], ["b"], ["c"]], "label": range(5)}
    )
    given["spaces"] = given["words"].map(lambda words: [""] * (len(words) + 1))
    joined = script("chance_by_rows").joined(given, 2)
    assert joined[["item_id", "words", "label"]].values.tolist() == [["a", ["He", "is", "."], 0], ["c", ["A", "b"], 2]]
    assert list(map(joined_text, texts_in(joined))) == ["He is .", "A b"]


@pytest.fixture(scope="module")
def sensitivity():
    return script("sensitivity_error")


def test_what_few_points_miss_by_hand(sensitivity):
    many = np.array([[[1.0, 4.0]], [[2.0, 1.0]], [[1.0, 10.0]], [[0.0, 0.0]]])
    [itself] = sensitivity.compared(many, many, ["grad"], "all", 2)
    assert (itself["error"], itself["error_of_one_in_twenty"], itself["rank"]) == (0.0, 0.0, 1.0)
    # Of the worst 4, 2, 10 and 0 the first point has 1, 2, 1 and 0: three quarters, nothing, nine tenths are missed.
    [first] = sensitivity.compared(many[..., :1], many, ["grad"], "first", 1)
    assert (first["reference"], first["error"]) == (3.0, 0.75)
    assert first["error_of_one_in_twenty"] == pytest.approx(0.885)
    assert first["rank"] < 1


def test_flags_of_a_model_are_parted(sensitivity):
    assert sensitivity.asked_of(["MiniLM", "folder", "8", "grad", "lime"]) == ("MiniLM", "folder", 8, ["grad", "lime"])
    assert sensitivity.asked_of(["MiniLM", "folder", "8"])[3] == []
    for words in (["MiniLM", "folder"], ["MiniLM", "folder", "grad"]):
        with pytest.raises(InputError, match=r"--model: 'MiniLM folder.*' is not a name, a folder, a number"):
            sensitivity.asked_of(words)


def test_rows_that_the_network_sees_again_are_counted(sensitivity):
    classifier = tiny_classifier("bert")
    evaluator = Evaluator(classifier)
    rows = [np.array([5, 6, 7]), np.array([5, 6, 7, 8])]
    with sensitivity.rows_seen(evaluator) as seen:
        evaluator.probabilities(rows)
        # Padding is no part of a row.
        evaluator.probabilities(rows[:1])
    evaluator.probabilities(rows)
    assert sorted(seen.values()) == [1, 2]


def test_both_files_of_sensitivity(sensitivity, tmp_path, monkeypatch):
    monkeypatch.setattr(sensitivity, "STEPS", (1, 2))
    monkeypatch.setattr(sensitivity, "DRAWS", (1, 2))
    model = str(write_bert(tmp_path / "model"))
    arguments = argparse.Namespace(
        model=[["tiny", model, "4", "grad"], ["again", model, "3", "gxi"]],
        items=write_texts(tmp_path),
        configfile=ROOT / "config/studies/disparity.yaml",
        reference=2,
        draws=2,
        output=tmp_path / "table.csv",
    )
    sensitivity.main(arguments)
    table = pd.read_csv(arguments.output).set_index(["model", "setting"])
    assert table["sentences"].groupby("model").first().to_dict() == {"again": 3, "tiny": 4}
    for model in ("tiny", "again"):
        # Two steps beside two steps, and two draws beside two draws.
        for setting in ("worst_change, steps 2", "max_sensitivity, draws 2"):
            assert table.loc[(model, setting), "error"] == 0
        assert table.loc[(model, "max_sensitivity, draws 1"), "error"] >= 0
    page = arguments.output.with_suffix(".md").read_text(encoding="utf-8")
    assert page.index("## tiny, 4 sentences") < page.index("## again, 3 sentences")
    arguments.output = tmp_path / "table.txt"
    with pytest.raises(InputError, match=r"--output: '.*table.txt' must end in .csv"):
        sensitivity.main(arguments)


# Other engines, fewer rows, half the bits -----------------------------------------------------------------------------


def test_an_engine_answers_the_evaluators_rows(tmp_path, monkeypatch):
    engines = script("engines")
    folder = write_bert(tmp_path / "model")
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    asked = []

    def by_torch(token_id, mask):
        asked.append(len(token_id))
        with torch.inference_mode():
            return engines.Exported(network)(torch.from_numpy(token_id), torch.from_numpy(mask)).numpy()

    def one_sided(token_id, mask):
        return np.tile(np.float32([1.0, 0.0]), (len(token_id), 1))

    # As the engines themselves are not among the libraries of the tests.
    monkeypatch.setattr(engines, "engines", lambda folder: {"torch": by_torch, "one-sided": one_sided})
    texts = engines.test_texts(write_texts(tmp_path)).iloc[:2]
    about, table = engines.measured(folder, texts, 2, [0, 64])
    assert about.endswith("from 2 sentences, 6 calls of the evaluator.")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert len(cells) == 8
    told = {(cell[0], cell[1]): cell for cell in cells}
    size = next(size for _, size in told if size != "64")
    assert told["evaluator, float32", size][2:] == ["1.00 (1.00–1.00)", "0e+00", "1.0000", "0e+00", "0e+00"]
    for own in (size, "64"):
        assert float(told["torch", own][3]) < 1e-5
        assert float(told["one-sided", own][3]) > 1e-2
        assert float(told["torch", own][4]) > 0.99
        assert float(told["evaluator, bfloat16", own][3]) > 0
    # Smaller batches, and so more of them.
    assert min(asked) < max(asked)
    assert max(asked) > 64 // 4


def test_fewer_rows_are_held_against_the_definition(tmp_path, monkeypatch):
    fewer = script("fewer_rows")
    one, other = (SimpleNamespace(token_score=np.array(score)) for score in ([3.0, 0.0, 4.0], [3.0, 0.0, 3.0]))
    error, rank = fewer.distance([other], [one])
    assert error == pytest.approx(1 / 5)
    assert rank == pytest.approx(np.sqrt(0.75))
    ways = {"lime": {"as defined": ({"samples": 200}, 0), "other draws": ({"samples": 200}, 1)}}
    ways["lime"]["asked: 20"] = ({"samples": 200, "asked": 20}, 0)
    monkeypatch.setattr(fewer, "WAYS", ways)
    arguments = argparse.Namespace(
        models=[("tiny", write_bert(tmp_path / "model"))],
        items=write_texts(tmp_path),
        pairs=3,
        attribute="gender",
        output=tmp_path / "page.md",
    )
    fewer.main(arguments)
    page = arguments.output.read_text(encoding="utf-8")
    assert "## tiny\n\n6 texts of " in page
    cells = [line.strip("|").split("|")[1:] for line in page.splitlines() if line.startswith("| lime")]
    [defined, draws, asked] = [[cell.strip() for cell in row] for row in cells]
    assert defined[:3] == ["as defined", "1.00", "1.00"]
    assert defined[3:] == ["0.000", "1.000", "0.0000", "0.0000", "0.000"]
    assert float(draws[3]) > 0
    assert float(asked[1]) < 0.5


def test_cells_that_change_by_precision_are_counted():
    precision = script("precision_effect")
    cells = pd.MultiIndex.from_product([["small", "large"], ["grad", "lime"], ["gini"]], names=precision.CELL)
    before = pd.DataFrame({"p": [0.01, 0.2, 0.05, 0.5], "cohens_d": [1.0, 0.5, 0.25, 0.0]}, cells)
    after = pd.DataFrame({"p": [0.06, 0.04, 0.05, 0.5], "cohens_d": [0.5, 0.75, 0.25, -0.5]}, cells)
    table = precision.compared(before, after[::-1])
    assert table.loc["small"].tolist() == [2, 1, 1, 2, 0.375, 0.5]
    assert table.loc["large"].tolist() == [2, 1, 1, 0, 0.25, 0.5]

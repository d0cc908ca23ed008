"""The metrics against values worked out on paper, and what must hold for any scores."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from models_for_tests import additive, byte_level_tokenizer, sentences_of

from evenlight.configuration import completed_entry
from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers.attribution import Attribution, attribution_table
from evenlight.explainers.families.gradient import Saliency
from evenlight.metrics import Metric, Origin, read_origin, score
from evenlight.metrics.explanations import Explanation, explanations_of
from evenlight.metrics.families.complexity import Gini, Sparsity
from evenlight.metrics.families.correctness import MassAccuracy
from evenlight.metrics.families.faithfulness.curves import top_tokens
from evenlight.texts.predictions import predictions_table, token_table

TENTHS = [share / 10 for share in range(1, 11)]
AOPC = {name: {"metric": f"aopc_{name}"} for name in ("comprehensiveness", "sufficiency")}
WORTH = {"sea": 0.2, "ship": 0.1, "storm": -0.1, "calm": 0.0}
CLASSIFIER = additive(WORTH)

finite = st.floats(-1e6, 1e6, allow_subnormal=False)
token_scores = arrays(np.float64, st.integers(1, 40), elements=finite)


gini = Gini(metric="gini").of_scores


def sparsity(scores, threshold):
    """Of scores that are normalised."""
    return Sparsity(metric="sparsity", threshold=threshold).of_scores(scores)


def mass_accuracy(definition, one):
    return MassAccuracy(metric="mass_accuracy", definition=definition).score(one, None)


def explanation(token_score, word_id=None, ground_truth=None, token_id=None, target=1):
    """An explanation; every token is a word of its own unless ``word_id`` says otherwise."""
    token_score = np.array(token_score, dtype=float)
    word_id = np.arange(len(token_score)) if word_id is None else np.array(word_id)
    truth = None if ground_truth is None else np.array(ground_truth, dtype=np.int8)
    return Explanation("item", target, np.zeros(0) if token_id is None else token_id, word_id, token_score, truth)


def of_words(words, word_score, target=1, special_score=0.0):
    """An explanation of a sentence of :data:`CLASSIFIER` by one score per word."""
    [sentence] = sentences_of(CLASSIFIER, [words], targets=[target])
    values = [special_score if word < 0 else word_score[word] for word in sentence.word_id]
    return explanation(values, sentence.word_id, token_id=sentence.token_id, target=target)


def aopc(*explanations, **changes):
    metrics = {name: settings | changes for name, settings in AOPC.items()}
    found = score(Metric.parse_all(metrics), explanations, Evaluator(CLASSIFIER, 1000))
    return list(zip(found["comprehensiveness"], found["sufficiency"], strict=True))


# AOPC ----------------------------------------------------------------------------------------------------------


def test_aopc_by_hand():
    """P = 0.5 + 0.2 + 0.1 − 0.1 + 0. The sets are {sea} and {sea, ship}: the others do not speak for the class."""
    # Without them P is 0.5 and 0.4, with them alone 0.7 and 0.8.
    one = of_words(list(WORTH), list(WORTH.values()))
    assert aopc(one) == [(pytest.approx((0.2 + 0.3) / 2, abs=1e-6), pytest.approx((0.0 - 0.1) / 2, abs=1e-6))]


def test_aopc_with_negative_scores():
    """All four prefixes of the ranking sea, ship, storm, storm, while P = 0.6; without the storms the first two."""
    words = ["sea", "ship", "storm", "storm"]
    one = of_words(words, [WORTH[word] for word in words])
    expected = (np.mean([0.2, 0.3, 0.2, 0.1]), np.mean([-0.1, -0.2, -0.1, 0.0]))
    assert aopc(one, positive_only=False) == [pytest.approx(expected, abs=1e-6)]
    assert aopc(one) == [pytest.approx((np.mean([0.2, 0.3]), np.mean([-0.1, -0.2])), abs=1e-6)]


def test_thresholds_by_hand():
    """Normalised by 0.5 the scores are 0.6, 0.2, −0.2: {sea, ship} from 0.2 on, then {sea}, and nothing from 0.7 on."""
    # P is 0.7, without the sets 0.4, 0.5 and 0.7, with them alone 0.8, 0.7 and 0.5.
    one = of_words(["sea", "ship", "storm"], [0.3, 0.1, -0.1])
    found = aopc(one, definition="threshold", shares=[0.2, 0.5, 0.7, 1.0])
    expected = (np.mean([0.3, 0.2, 0, 0]), np.mean([-0.1, 0.0, 0.2, 0.2]))
    assert found == [pytest.approx(expected, abs=1e-6)]
    # Scores of zero name no token; special tokens have their part in the sum.
    nothing = of_words(["sea", "ship", "storm"], [0, 0, 0])
    assert aopc(nothing, definition="threshold", shares=[0.1]) == [pytest.approx((0, 0.2), abs=1e-6)]
    special = of_words(["sea"], [0.5], special_score=0.25)
    assert aopc(special, definition="threshold", shares=[0.5, 0.6]) == [pytest.approx((0.1, 0.1), abs=1e-6)]


def eraser(*explanations):
    """With the definition's own shares and ranking."""
    return aopc(*explanations, definition="eraser")


def test_eraser_by_hand():
    """No token, then ⌈0.04⌉, ⌈0.2⌉, ⌈0.4⌉, ⌈0.8⌉ and ⌈2⌉ of four: the sea counts four times."""
    one = of_words(list(WORTH), list(WORTH.values()))
    expected = (np.mean([0, 0.2, 0.2, 0.2, 0.2, 0.3]), np.mean([0.2, 0.0, 0.0, 0.0, 0.0, -0.1]))
    assert eraser(one) == [pytest.approx(expected, abs=1e-6)]


def test_eraser_ranks_tokens_of_either_sign_and_asks_about_the_predicted_class():
    """The order is calm, storm, ship, sea whatever the sign, and the model predicts class 1: P is 0.7."""
    # Without {calm} 0.7, without {calm, storm} 0.8; these alone 0.5 and 0.4.
    one = of_words(list(WORTH), [-4.0, -3.0, -2.0, -1.0], target=0)
    expected = (np.mean([0, 0, 0, 0, 0, -0.1]), np.mean([0.2, 0.2, 0.2, 0.2, 0.2, 0.3]))
    assert eraser(one) == [pytest.approx(expected, abs=1e-6)]


@pytest.mark.parametrize("definition", ["share", "threshold", "eraser"])
def test_without_a_token_of_a_word_nothing_is_defined(definition):
    nothing = replace(
        of_words(["sea"], [1.0]), token_id=np.array([2, 3]), token_score=np.ones(2), word_id=np.full(2, -1)
    )
    beside = of_words(["sea", "ship"], [1.0, 2.0])
    assert np.isnan(aopc(nothing, beside, definition=definition)).tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize(("key", "value"), [("shares", [0.1, 0.5]), ("positive_only", True)])
def test_eraser_has_its_own_shares_and_ranking(key, value):
    settings = {"metric": "aopc_sufficiency", "definition": "eraser"}
    with pytest.raises(InputError, match=rf'metrics\.it\.{key}: found .* with definition "eraser", which has'):
        completed_entry("metrics", "it", settings | {key: value})
    completed = completed_entry("metrics", "it", settings)
    assert completed["shares"] == [0.01, 0.05, 0.1, 0.2, 0.5]
    assert completed["positive_only"] is False
    assert completed_entry("metrics", "it", completed) == completed


def test_special_tokens_stay_and_do_not_rank():
    """However high their score."""
    one = of_words(list(WORTH), list(WORTH.values()))
    other = of_words(list(WORTH), list(WORTH.values()), special_score=9.0)
    assert aopc(one) == aopc(other)


@pytest.mark.parametrize(
    ("words", "scores", "changes", "expected"),
    [
        (["sea", "ship"], [0.0, 0.0], {}, (0, 1)),
        (["sea", "ship"], [-1.0, -2.0], {}, (0, 1)),
        # Shares too small for one token.
        (["sea", "ship"], [1, 1], {"shares": [0.1, 0.4]}, (0, 1)),
        # Only the share 1.0 has a token; without it P is 0.5, and with it alone nothing changes.
        (["sea"], [0.3], {}, (0.2, 0)),
        (["sea"], [-0.3], {}, (0, 1)),
    ],
)
def test_sets_of_no_token_and_of_all(words, scores, changes, expected):
    assert aopc(of_words(words, scores), **changes) == [pytest.approx(expected, abs=1e-6)]


def test_a_text_without_special_tokens_can_lose_everything():
    """What is left is read as one pad token, which is worth nothing here."""
    tokenizer = byte_level_tokenizer(pad_token="<|endoftext|>")
    [token] = tokenizer.tokenize("the")
    classifier = additive({token: 0.2}, tokenizer=tokenizer)
    [sentence] = sentences_of(classifier, [["the", "the"]], targets=[1])
    one = explanation([0.2, 0.1], sentence.word_id, token_id=sentence.token_id)
    found = score(Metric.parse_all(AOPC), [one], Evaluator(classifier, 100))
    assert found["comprehensiveness"] == pytest.approx([np.mean([0.2, 0.4])], abs=1e-6)
    assert found["sufficiency"] == pytest.approx([np.mean([0.2, 0.0])], abs=1e-6)


def test_metrics_that_are_asked_together_have_the_values_of_each_alone():
    """Although they remove sets of different numbers."""
    one = of_words(list(WORTH), list(WORTH.values()))
    metrics = {
        f"{name} {shares}": settings | {"shares": shares, "positive_only": False}
        for name, settings in AOPC.items()
        for shares in (TENTHS, [0.25], [0.5, 1.0])
    }
    together = score(Metric.parse_all(metrics), [one], Evaluator(CLASSIFIER, 1000))
    alone = [score(Metric.parse_all({name: metrics[name]}), [one], Evaluator(CLASSIFIER, 1000)) for name in metrics]
    assert together == {name: values for of_metric in alone for name, values in of_metric.items()}


def test_two_explanations_of_one_item_share_their_rows():
    one = of_words(["sea", "ship"], [0.2, 0.1])
    evaluator = Evaluator(CLASSIFIER, 1000)
    together = score(Metric.parse_all(AOPC), [one, one], evaluator)
    # The full sentence, {sea}, {ship}, and nothing.
    assert evaluator.rows_computed == 4
    assert together["comprehensiveness"][0] == together["comprehensiveness"][1]


def test_tenths_are_whole_tenths():
    for size in range(1, 40):
        expected = [tenth * size // 10 for tenth in range(1, 11)]
        assert [len(top) for top in top_tokens(np.ones(size), TENTHS, True)] == sorted(set(expected) - {0}), size


def test_of_equal_scores_the_later_token_comes_first():
    tops = top_tokens(np.array([1.0, 2.0, 1.0, 1.0]), [0.5, 0.75], True)
    assert [top.tolist() for top in tops] == [[1, 3], [1, 2, 3]]
    # Sorts differ for many numbers: here the 75 places, of 100, with the two highest scores of four, and the last ones.
    scores = np.tile([1.0, 2.0, 3.0, 4.0], 25)
    [top] = top_tokens(scores, [0.6], True)
    assert top.tolist() == sorted([*range(2, 100, 4), *range(3, 100, 4), *range(61, 100, 4)])


# Gini and sparsity ---------------------------------------------------------------------------------------------


def test_gini_by_hand():
    """Mean absolute difference over twice the mean: |1−3| counts in 2 of 4 pairs, so 1 / (2 · 2)."""
    assert gini(np.array([1.0, -3.0])) == pytest.approx(0.25, abs=1e-9)


@given(token_scores)
def test_gini_is_half_the_relative_mean_difference(scores):
    value = np.abs(explanation(scores).normalized)
    expected = np.abs(value[:, None] - value).mean() / 2 / value.mean() if value.any() else 0
    found = gini(explanation(scores).normalized)
    assert found == pytest.approx(expected, abs=1e-8)
    assert -1e-9 <= found <= 1 - 1 / len(scores) + 1e-9


def test_sparsity_counts_what_reaches_the_threshold():
    scores = np.array([0.5, -0.25, 0.125, 0.125])
    assert [sparsity(scores, threshold) for threshold in (0.1, 0.125, 0.25, 0.5, 0.6)] == [1, 1, 0.5, 0.25, 0]
    assert sparsity(scores, np.nextafter(0.125, 1)) == 0.5


@pytest.mark.parametrize(("special_tokens", "sparsity", "gini"), [("included", 0.5, 0.25), ("excluded", 1.0, 0.0)])
def test_complexity_is_of_all_tokens_or_of_the_words_alone(special_tokens, sparsity, gini):
    """The special tokens' halves push the words below the threshold; without any token there is nothing to count."""
    one = explanation([3.0, 1.0, -1.0, 3.0], word_id=[-1, 0, 1, -1])
    nothing = explanation([3.0, 3.0], word_id=[-1, -1])
    metrics = {
        "sparsity": {"metric": "sparsity", "threshold": 0.2, "special_tokens": special_tokens},
        "gini": {"metric": "gini", "special_tokens": special_tokens},
    }
    found = score(Metric.parse_all(metrics), [one, nothing])
    assert found["sparsity"][0] == sparsity
    assert found["gini"][0] == pytest.approx(gini, abs=1e-9)
    for values in found.values():
        assert np.isnan(values[1]) == (special_tokens == "excluded")


def test_complexity_of_zeros():
    metrics = {
        "sparsity": {"metric": "sparsity", "threshold": 0.1, "special_tokens": "included"},
        "gini": {"metric": "gini", "special_tokens": "included"},
    }
    found = score(Metric.parse_all(metrics), [explanation([0.0, 0.0, 0.0])])
    assert found["sparsity"].tolist() == [0]
    assert found["gini"] == pytest.approx([0], abs=1e-9)


# Mass accuracy -------------------------------------------------------------------------------------------------


def test_mass_accuracy_of_both_definitions():
    """Words take 1 + 2 + 1 of the 8, the true one 2 of these; its two tokens' signs do not cancel."""
    one = explanation([3.0, 1.0, 1.5, -0.5, 1.0, 1.0], [-1, 0, 1, 1, 2, -1], ground_truth=[0, 1, 0])
    assert mass_accuracy("paper", one) == pytest.approx(2 / 4)
    assert mass_accuracy("released", one) == pytest.approx(2 / 8)


@pytest.mark.parametrize("definition", ["paper", "released"])
@pytest.mark.parametrize("truth", [None, [0, 0]])
def test_mass_accuracy_without_ground_truth(definition, truth):
    assert np.isnan(mass_accuracy(definition, explanation([1.0, 2.0], ground_truth=truth)))


def test_mass_accuracy_of_nothing():
    """Zero scores have no mass; all mass on special tokens is none for the paper's definition and 0 for the other."""
    zeros = explanation([0.0, 0.0], ground_truth=[1, 0])
    outside = explanation([1.0, 0.0, 0.0], [-1, 0, 1], ground_truth=[1, 0])
    assert np.isnan([mass_accuracy("paper", zeros), mass_accuracy("released", zeros)]).all()
    assert np.isnan(mass_accuracy("paper", outside))
    assert mass_accuracy("released", outside) == 0
    # The first word has no token.
    for truth, expected in (([1, 0, 0], np.nan), ([1, 1, 0], 0.75), ([0, 0, 1], 0.25)):
        one = explanation([0.0, 3.0, 1.0, 0.0], [-1, 1, 2, -1], ground_truth=truth)
        for definition in ("paper", "released"):
            assert mass_accuracy(definition, one) == pytest.approx(expected, nan_ok=True)


# Reading -------------------------------------------------------------------------------------------------------


def test_explanations_are_read_as_they_were_written():
    sentences = sentences_of(CLASSIFIER, [["sea", "ship"], ["storm"]], targets=[1, 0])
    written = [Attribution(np.linspace(-1, 1, len(one.token_id)), forward_rows=3) for one in sentences]
    truth = [[1, 0], None]
    nothing = np.array([None, None])
    texts = predictions_table(token_table(sentences), "test", np.array([1, 0]), nothing, np.full((2, 2), 0.5))
    texts = texts.append_column("ground_truth", pa.array(truth, pa.list_(pa.int8())))
    texts = texts.append_column("words", pa.array([list(one.words) for one in sentences]))
    attribution_file = attribution_table(sentences, written)
    origin = Origin("lime", {"method": "lime"}, 3)
    found = explanations_of(texts, attribution_file, "lime.parquet", origin)
    for one, sentence, attribution, marks in zip(found, sentences, written, truth, strict=True):
        assert (one.item_id, one.target) == (sentence.item_id, sentence.target)
        assert one.token_id.tolist() == sentence.token_id.tolist()
        assert one.word_id.tolist() == sentence.word_id.tolist()
        assert (one.token_text, one.words) == (sentence.token_text, sentence.words)
        assert one.origin is origin
        assert one.is_special.tolist() == sentence.is_special.tolist()
        assert one.token_score.tolist() == attribution.token_score.tolist()
        np.testing.assert_array_equal(one.ground_truth, marks)
        assert (one.ground_truth is None) == (marks is None)
        assert (one.token_score.dtype, found[0].ground_truth.dtype) == (np.float64, np.int8)
    with pytest.raises(InputError, match=r"lime\.parquet: column 'item_id' does.*workflow again$"):
        explanations_of(texts.slice(1), attribution_file.slice(0, 1), "lime.parquet")
    longer = attribution_table(sentences, [written[0], Attribution(np.ones(9), forward_rows=3)])
    message = r"^lime\.parquet: column 'token_score' has 9 scores.*3 tokens; delete "
    with pytest.raises(InputError, match=message):
        explanations_of(texts, longer, "lime.parquet")


def test_what_made_an_attribution_file_stands_in_it(tmp_path):
    [sentence] = sentences_of(CLASSIFIER, [["sea"]])
    attribution_file = attribution_table([sentence], [Attribution(np.ones(len(sentence.token_id)), forward_rows=1)])
    metadata = {"explainer": "grad", "settings": {"method": "saliency"}, "seed": 7}
    write_table(attribution_file, tmp_path / "grad.parquet", ATTRIBUTIONS, metadata)
    origin = read_origin(tmp_path / "grad.parquet")
    assert origin == Origin("grad", {"method": "saliency"}, 7)
    assert origin.entry == Saliency(method="saliency")
    with pytest.raises(InputError, match=r"lime\.parquet: no such file.*rule attribute"):
        read_origin(tmp_path / "lime.parquet")

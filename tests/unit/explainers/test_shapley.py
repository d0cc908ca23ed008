"""Occlusion, the Shapley family and LIME's other features: against definitions written out, and their properties."""

import itertools
import math

import numpy as np
import pytest
from combinations import spread
from models_for_tests import (
    WORDS,
    additive,
    by_hand,
    context_of,
    parsed_alike,
    probability_logits,
    sentences_of,
    tiny_classifier,
    tiny_tokenizer,
)
from tokenizers import decoders

from evenlight.core.errors import InputError
from evenlight.explainers import explain, shapley, surrogate
from evenlight.explainers.families.kernel_shap.paper import (
    KERNEL_ESTIMATORS,
    efficient_regression,
    kernel_shap,
    shapley_kernel,
    stratified_pairs,
)
from evenlight.explainers.families.lime.paper import bag_of_words
from evenlight.explainers.families.shapley_sampling import orders
from evenlight.models.classifier import Classifier

KERNEL = {"method": "kernel_shap", "evaluations": 64, "estimator": "sampled"}
SAMPLING = {"method": "shapley_sampling", "permutations": 6, "estimator": "independent"}
OCCLUSION = {"method": "occlusion"}
LIME = {"method": "lime", "features": "word", "samples": 100}
EVERY_ESTIMATOR = {f"kernel_{name}": KERNEL | {"estimator": name} for name in KERNEL_ESTIMATORS} | {
    f"sampling_{name}": SAMPLING | {"estimator": name} for name in orders.SAMPLING_ESTIMATORS
}


PLANNERS = {"kernel_shap": kernel_shap, "shapley_sampling": orders.shapley_sampling}


def plan_for(settings, features, seed=0):
    keys = {"kernel_shap": ("evaluations", "estimator"), "shapley_sampling": ("permutations", "estimator")}
    method = settings["method"]
    return PLANNERS[method](features, np.random.default_rng(seed), **{key: settings[key] for key in keys[method]})


def estimate(settings, features, function, seed=0):
    plan = plan_for(settings, features, seed)
    return plan.solve(np.array([function(row) for row in plan.shown]))


def by_brute_force(features, function):
    """Shapley's own formula: the mean over all orders of what a feature adds to those before it."""
    value = {
        members: function(np.isin(np.arange(features), members))
        for size in range(features + 1)
        for members in itertools.combinations(range(features), size)
    }
    total = np.zeros(features)
    for order in itertools.permutations(range(features)):
        for place, feature in enumerate(order):
            before = tuple(sorted(order[:place]))
            total[feature] += value[tuple(sorted((*before, feature)))] - value[before]
    return total / math.factorial(features)


def bumpy(features, steepness=1.0):
    """A function of subsets with interactions of every order, the higher ones the more the steeper it is."""
    random = np.random.default_rng(0)
    layer, out = steepness * random.normal(size=(features, 12)), random.normal(size=12)
    return lambda shown: float(np.tanh(shown.astype(float) @ layer - 0.5) @ out)


def table(features, function):
    return np.array([function(row) for row in shapley.all_subsets(features)])


# The plans and their solutions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY_ESTIMATOR)
def test_short_texts_are_exact(name):
    function = bumpy(4)
    settings = EVERY_ESTIMATOR[name] | {"evaluations": 16, "permutations": 5}
    np.testing.assert_allclose(estimate(settings, 4, function), by_brute_force(4, function), atol=1e-12)
    assert len(plan_for(settings, 4).shown) == 16


@spread("name, budget", EVERY_ESTIMATOR, list(itertools.product((4, 5, 11, 50, 200, 1000), (3, 8, 11))))
def test_values_add_up_within_the_budget_at_every_budget(name, budget):
    rows, features = budget
    settings = EVERY_ESTIMATOR[name]
    function = bumpy(features)
    if settings["method"] == "kernel_shap":
        settings = settings | {"evaluations": rows}
        budget = rows
    else:
        settings = settings | {"permutations": max(1, rows // features)}
        even = settings["estimator"] != "independent" and settings["permutations"] % 2
        budget = 2 + (settings["permutations"] + even) * (features - 1)
    plan = plan_for(settings, features)
    assert len(plan.shown) <= budget
    assert not plan.shown[0].any()
    assert plan.shown[-1].all()
    value = np.array([function(row) for row in plan.shown])
    assert plan.solve(value).sum() == pytest.approx(value[-1] - value[0], abs=1e-9)


@pytest.mark.parametrize("estimator", KERNEL_ESTIMATORS)
def test_texts_of_many_tokens_have_more_subsets_than_integers_count(estimator):
    """The values of a sum are its summands, also of 90 tokens."""
    worth = np.sin(np.arange(90.0))
    plan = KERNEL_ESTIMATORS[estimator](90, 400, np.random.default_rng(0))
    assert len(plan.shown) <= 400
    np.testing.assert_allclose(plan.solve(plan.shown @ worth), worth, atol=0.05)


@pytest.mark.parametrize("estimator", ["leverage", "surrogate", "chosen"])
@pytest.mark.parametrize(("features", "evaluations"), [(7, 40), (8, 40), (8, 254), (9, 500), (30, 100)])
def test_pairs_are_never_asked_twice(estimator, features, evaluations):
    shown = plan_for(KERNEL | {"estimator": estimator, "evaluations": evaluations}, features).shown
    assert len(np.unique(shown, axis=0)) == len(shown) == evaluations
    complements = {row.tobytes() for row in ~shown}
    assert all(row.tobytes() in complements for row in shown)


def test_sizes_are_drawn_as_stated():
    """Leverage: all sizes alike. Independent: by the Shapley kernel. In expectation over the draws."""
    features = 12
    counts = {name: np.zeros(features + 1) for name in ("leverage", "sampled")}
    for seed in range(300):
        for name, count in counts.items():
            shown = plan_for(KERNEL | {"estimator": name, "evaluations": 24}, features, seed).shown[1:-1]
            count += np.bincount(shown.sum(axis=1), minlength=features + 1)
    share = {name: count[1:-1] / count.sum() for name, count in counts.items()}
    np.testing.assert_allclose(share["leverage"], 1 / (features - 1), atol=0.004)
    np.testing.assert_allclose(share["sampled"], shapley_kernel(features), atol=0.02)


def test_weights_make_up_for_uneven_draws():
    """Weight × probability of being drawn is each subset's share in the Shapley kernel, a stratum's size counted."""
    features, pairs = 10, 40
    random = np.random.default_rng(0)
    total = np.zeros(features + 1)
    for _ in range(200):
        half, weight = stratified_pairs(random, pairs, features, flatness=1)
        for shown in (half, ~half):
            np.add.at(total, shown.sum(axis=1), weight)
    np.testing.assert_allclose(total[1:-1] / total.sum(), shapley_kernel(features), rtol=0.05)


def test_regression_is_the_constrained_one():
    """Against the solution of the optimality conditions with a multiplier (Lundberg & Lee 2017, Eq. 8)."""
    random = np.random.default_rng(1)
    shown = shapley.with_ends(random.random((40, 6)) < 0.5)
    value, weight = random.normal(size=42), random.random(40)
    inner = shown[1:-1].astype(float)
    conditions = np.zeros((7, 7))
    conditions[:6, :6] = 2 * inner.T @ (weight[:, None] * inner)
    conditions[:6, 6] = conditions[6, :6] = 1
    right = np.append(2 * inner.T @ (weight * (value[1:-1] - value[0])), value[-1] - value[0])
    expected = np.linalg.solve(conditions, right)[:6]
    np.testing.assert_allclose(efficient_regression(shown, value, weight), expected, atol=1e-10)


@spread("features, evaluations, estimator", (5, 26, 60), (16, 64, 512), ("sampled", "paired", "leverage"))
def test_regression_is_that_of_a_singular_value_decomposition(features, evaluations, estimator, monkeypatch):
    """Also where there are too few subsets, and the smallest deviations from equal shares are taken."""
    plan = KERNEL_ESTIMATORS[estimator](features, min(evaluations, 2**features - 2), np.random.default_rng(features))
    value = np.random.default_rng(0).normal(size=len(plan.shown))
    found = plan.solve(value)
    monkeypatch.setattr("evenlight.explainers.families.kernel_shap.paper.LEAST_PIVOT", 2)
    np.testing.assert_allclose(found, plan.solve(value), rtol=0, atol=1e-9)
    assert found.sum() == pytest.approx(value[-1] - value[0], abs=1e-9)


@pytest.mark.parametrize("estimator", orders.SAMPLING_ESTIMATORS)
def test_permutation_sampling_has_no_bias(estimator):
    """The mean over many draws lies within four standard errors of the exact value, for every feature."""
    function = bumpy(7)
    values = table(7, function)
    settings = SAMPLING | {"estimator": estimator, "permutations": 6}
    code = 1 << np.arange(7)
    draws = []
    for seed in range(200):
        plan = plan_for(settings, 7, seed)
        draws.append(plan.solve(values[plan.shown @ code]))
    error = np.mean(draws, axis=0) - shapley.exact_values(values)
    assert (np.abs(error) < 4 * np.std(draws, axis=0) / math.sqrt(len(draws))).all()
    assert np.std(draws, axis=0).min() > 1e-4


def test_pairs_are_chosen_where_there_are_more_of_them_than_features():
    """Of each length the same pairs, their features in an order that is drawn; with fewer those that are drawn."""
    few = KERNEL | {"evaluations": 22}  # 10 pairs
    for seed in range(2):
        drawn = plan_for(few | {"estimator": "surrogate"}, 10, seed).shown
        np.testing.assert_array_equal(plan_for(few | {"estimator": "chosen"}, 10, seed).shown, drawn)
    more = KERNEL | {"evaluations": 24, "estimator": "chosen"}
    first, second = (plan_for(more, 10, seed).shown for seed in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first.sum(axis=1), second.sum(axis=1))
    # Each feature alone, before any others.
    assert (first.sum(axis=1) == 1).sum() == 10


PARITIES = [surrogate.WHOLE, surrogate.EVEN, surrogate.ODD]


# The surrogate -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parity", PARITIES)
def test_surrogate_goes_through_what_it_was_fitted_to(parity):
    random = np.random.default_rng(0)
    shown = np.unique(random.random((30, 7)) < 0.5, axis=0)
    shown[:, 0] = True  # no complements
    shown = np.unique(shown, axis=0)
    value = np.array([bumpy(7)(row) for row in shown])
    fitted = surrogate.fit(shown, value, parity)
    np.testing.assert_allclose(surrogate.predict(fitted, shown), value, atol=1e-4)
    if parity:
        np.testing.assert_allclose(surrogate.predict(fitted, ~shown), parity * value, atol=1e-4)


@pytest.mark.parametrize("parity", PARITIES)
@pytest.mark.parametrize("features", [1, 2, 5, 6])
def test_shapley_values_and_interactions_of_a_surrogate_are_exact(parity, features):
    random = np.random.default_rng(features)
    one = surrogate.Surrogate(
        random.random((9, features)) < 0.5, random.normal(size=9), random.uniform(0.01, 3, features), 0.3, parity
    )
    values = surrogate.predict(one, shapley.all_subsets(features))
    np.testing.assert_allclose(surrogate.shapley_values(one), shapley.exact_values(values), atol=1e-12)
    np.testing.assert_allclose(surrogate.shapley_interactions(one), shapley.exact_interactions(values), atol=1e-12)


def test_the_subset_that_comes_next_lowers_the_variance_of_the_shapley_values_most():
    """The variance of the Shapley values given each subset, from the whole joint covariance of a process."""
    features, scale = 5, np.array([0.1, 0.4, 0.9, 0.2, 0.05])
    shown = shapley.all_subsets(features)[::-1][:16]  # with the last feature, so that no two are complements
    every = shapley.all_subsets(features)
    distance = (every[:, None] != every[None]) @ scale
    odd = np.exp(-distance) - np.exp(-distance[:, ::-1])
    odd /= odd[0, 0]
    # The Shapley values are a linear map of the values of all subsets.
    linear = np.array([shapley.exact_values(unit) for unit in np.eye(len(every))]).T
    places = [int(row @ (1 << np.arange(features))) for row in shown]

    def left(asked):
        at = [places[index] for index in asked]
        noise = surrogate.LEAST_VARIANCE * np.eye(len(at))
        known = linear @ odd[:, at]
        return np.trace(linear @ odd @ linear.T - known @ np.linalg.solve(odd[np.ix_(at, at)] + noise, known.T))

    chosen = [0, *surrogate.most_telling(shown, 1, 6, scale)]
    assert len(set(chosen)) == 7
    for count in range(1, 7):
        others = set(range(16)) - set(chosen[:count])
        best = min(left([*chosen[:count], other]) for other in others)
        assert left(chosen[: count + 1]) == pytest.approx(best, rel=1e-6)


def test_of_subsets_that_tell_as_much_rounding_decides_none(monkeypatch):
    """Another processor adds in another order; where features are alike, many subsets tell the same."""
    exact, rounding = surrogate._kernel, np.random.default_rng(0)
    shown = shapley.all_subsets(6)[::-1][:32]
    expected = surrogate.most_telling(shown, 1, 15, np.full(6, 0.3))

    def kernel(*arguments):
        found = exact(*arguments)
        return found * (1 + 1e-15 * rounding.standard_normal(found.shape))

    monkeypatch.setattr(surrogate, "_kernel", kernel)
    for _ in range(5):
        assert surrogate.most_telling(shown, 1, 15, np.full(6, 0.3)).tolist() == expected.tolist()


def test_more_rows_make_no_worse_interactions_where_words_must_come_together():
    """Seven of ten words are needed; nearly all subsets are asked, so that nearly nothing is left to guess."""
    subsets = shapley.all_subsets(10)
    needed = 1 / (1 + np.exp(-2 * (subsets.sum(axis=1) - 7.0)))
    value_of = {subset.tobytes(): value for subset, value in zip(subsets, needed, strict=True)}
    plan = plan_for(KERNEL | {"estimator": "surrogate", "evaluations": 1000}, 10, 0)
    found = plan.interact(np.array([value_of[shown.tobytes()] for shown in plan.shown]))
    np.testing.assert_allclose(found, shapley.exact_interactions(needed), atol=0.003)


@pytest.mark.parametrize(
    "settings",
    [
        KERNEL | {"estimator": "surrogate", "evaluations": 60},
        SAMPLING | {"estimator": "adjusted", "permutations": 8},
        LIME | {"features": "token", "samples": 300, "asked": 60},
    ],
)
def test_a_fit_that_misses_answers_is_told(settings, monkeypatch):
    classifier = symmetric_model()
    sentences = sentences_of(classifier, [["a", "b", "a", "idle", "c", "b", "c"], ["a"]], targets=[1, 1])

    def note():
        return explain(parsed_alike({"it": settings}), sentences, context_of(classifier))["it"].note

    assert note() == ""
    # Processes that cannot bend, of which only the jitter explains the rest.
    monkeypatch.setattr(surrogate, "SCALES", [1e-6])
    assert "of 1 of 2 items the" in note()


def test_surrogate_of_nothing_is_nothing():
    shown = shapley.all_subsets(3)
    assert surrogate.predict(surrogate.fit(shown, np.full(8, 0.25)), shown) == pytest.approx(0.25)
    assert surrogate.shapley_values(surrogate.fit(shown, np.zeros(8))).tolist() == [0, 0, 0]


def test_surrogate_of_many_features_stays_finite():
    shown = np.random.default_rng(0).random((20, 700)) < 0.5
    shown[:, 0] = True
    fitted = surrogate.fit(shown, np.random.default_rng(1).normal(size=20), surrogate.ODD)
    assert np.isfinite(surrogate.shapley_values(fitted)).all()


# On models ---------------------------------------------------------------------------------------------------------


def attributions(settings, classifier, sentences, tokens_per_batch=4096, seed=0):
    context = context_of(classifier, tokens_per_batch, seed)
    return explain(parsed_alike({"one": settings}), sentences, context)["one"].attributions


WORTH = {"a": 0.1, "b": 0.05, "c": -0.1, "d": 0.2, "e": 0.02, "f": 0.0, "g": -0.04, "h": 0.07}


@pytest.mark.parametrize("name", EVERY_ESTIMATOR)
def test_an_additive_model_s_tokens_get_their_worth(name):
    classifier = additive(WORTH)
    [sentence] = sentences_of(classifier, [list(WORTH)], targets=[1])
    [found] = attributions(EVERY_ESTIMATOR[name] | {"evaluations": 60}, classifier, [sentence])
    inside = ~sentence.is_special
    np.testing.assert_allclose(found.token_score[inside], list(WORTH.values()), atol=1e-5)
    assert found.token_score[~inside].tolist() == [0, 0]
    assert found.completeness_gap == pytest.approx(0, abs=1e-9)
    assert 4 <= found.forward_rows <= 60


def symmetric_model():
    """P(class 1) has interactions of two and of three tokens "a" and "b"; "c" is half of each, "idle" is nothing.

    Paired estimators would be exact with those of two alone.
    """
    worth = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.5, 0.5), "idle": (0.0, 0.0)}

    def rule(embedding, mask):
        first, second = (embedding * mask[..., None]).sum(1).unbind(-1)
        return probability_logits(0.1 + 0.03 * first * second + 0.01 * first * second**2)

    return by_hand(worth, rule)


# Where evaluations run out, the last bit of a probability may decide which part is split.
OTHERS = [OCCLUSION, LIME, LIME | {"features": "token"}, {"method": "partition_shap", "evaluations": 3000}]


@pytest.mark.parametrize("settings", [*EVERY_ESTIMATOR.values(), KERNEL | {"definition": "released"}, *OTHERS])
def test_reproducible_and_independent_of_batch_and_order(settings):
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:3]
    first = attributions(settings, classifier, sentences)
    again = attributions(settings, classifier, sentences)
    turned = attributions(settings, classifier, sentences[::-1], tokens_per_batch=64)[::-1]
    for one, same, other in zip(first, again, turned, strict=True):
        assert one.token_score.tolist() == same.token_score.tolist()
        np.testing.assert_allclose(one.token_score, other.token_score, atol=2e-5)
        assert one.forward_rows == other.forward_rows


@spread(
    "architecture, hidden_token, special_tokens", ("bert", "gpt2"), ("mask", "pad", "removed"), ("excluded", "included")
)
def test_occlusion_is_the_loss_of_one_token(architecture, hidden_token, special_tokens):
    classifier = tiny_classifier(architecture)
    sentences = sentences_of(classifier)
    settings = OCCLUSION | {"hidden_token": hidden_token, "special_tokens": special_tokens}
    evaluator = context_of(classifier).evaluator
    for sentence, found in zip(sentences, attributions(settings, classifier, sentences), strict=True):
        whole = evaluator.probabilities([sentence.token_id])[0, sentence.target]
        for place, special in enumerate(sentence.is_special):
            if hidden_token == "removed":
                row = np.delete(sentence.token_id, place)
            else:
                row = sentence.token_id.copy()
                row[place] = classifier.special_token(hidden_token)
            loss = whole - evaluator.probabilities([row])[0, sentence.target]
            expected = 0 if special and special_tokens == "excluded" else loss
            assert found.token_score[place] == pytest.approx(expected, abs=1e-6)


def test_a_sentence_without_words_has_no_scores():
    classifier = with_decoder(tiny_classifier("bert"))
    sentences = sentences_of(classifier, [[], ["He"], ["?"]])
    for settings in (*EVERY_ESTIMATOR.values(), OCCLUSION, LIME, LIME | {"definition": "released"}):
        empty, one, _ = attributions(settings, classifier, sentences)
        assert empty.token_score.tolist() == [0] * len(empty.token_score)
        assert np.isfinite(one.token_score).all()


def test_a_model_without_a_mask_token_is_refused():
    tokenizer = tiny_tokenizer()
    tokenizer.mask_token = None
    bare = tiny_classifier("bert")
    classifier = Classifier(bare.network, tokenizer, bare.max_tokens)
    with pytest.raises(InputError, match=r"no mask token.*special_tokens\.mask"):
        attributions(KERNEL, classifier, sentences_of(bare))
    attributions(KERNEL | {"hidden_token": "removed"}, classifier, sentences_of(bare))


# LIME on words -----------------------------------------------------------------------------------------------------


def test_equal_words_are_one_feature_and_punctuation_is_none():
    assert bag_of_words(["the", ",", "cat", "The", "the", "'s", "--"]).tolist() == [0, -1, 1, 2, 0, 3, -1]


def test_word_scores_are_what_an_additive_model_adds():
    classifier = additive({"good": 0.1, "bad": -0.2, "film": 0.0, ",": 0.03})
    [sentence] = sentences_of(classifier, [["good", "film", ",", "good", "bad"]], targets=[1])
    settings = LIME | {"samples": 300, "ridge": 1e-9}
    [found] = attributions(settings, classifier, [sentence])
    # Both "good" go together: 0.2 for the pair, which each of them shows.
    np.testing.assert_allclose(sentence.word_sums(found.token_score), [0.2, 0, 0, 0.2, -0.2], atol=1e-6)
    [other] = attributions(settings, classifier, [sentence.__class__(**{**sentence.__dict__, "target": 0})])
    np.testing.assert_allclose(other.token_score, -found.token_score, atol=1e-6)


def test_released_word_scores_confuse_she_with_he_and_explain_class_one():
    classifier = with_decoder(additive({"she": 0.3, "he": -0.1, "rows": 0.05}))
    sentences = sentences_of(classifier, [["she", "rows"], ["she", "he", "rows"]], targets=[0, 0])
    settings = LIME | {"definition": "released", "ridge": 1e-9}
    first, second = attributions(settings, classifier, sentences)
    np.testing.assert_allclose(first.token_score[1:-1], [0.3, 0.05], atol=1e-6)
    np.testing.assert_allclose(second.token_score[1:-1], [0.3, 0.3, 0.05], atol=1e-6)
    [paper] = attributions(LIME | {"ridge": 1e-9}, classifier, sentences[1:])
    np.testing.assert_allclose(paper.token_score[1:-1], [-0.3, 0.1, -0.05], atol=1e-6)


def with_decoder(classifier):
    classifier.tokenizer.backend_tokenizer.decoder = decoders.WordPiece()
    return classifier


def test_released_word_scores_need_a_tokenizer_that_gives_text():
    classifier = tiny_classifier("bert")
    classifier.tokenizer.backend_tokenizer.decoder = None
    with pytest.raises(InputError, match="has no decoder"):
        attributions(LIME | {"definition": "released"}, classifier, sentences_of(classifier)[:1])


def test_a_text_that_grows_too_long_is_refused():
    classifier = with_decoder(tiny_classifier("bert"))
    short = Classifier(classifier.network, classifier.tokenizer, 9)
    with pytest.raises(InputError, match=r"item0: .*'released'.*max_tokens = 9; raise max_tokens or"):
        attributions(LIME | {"definition": "released"}, short, sentences_of(classifier)[:1])


def test_a_surrogate_gives_lime_the_same_coefficients_in_fewer_rows():
    """Nearer to the coefficients of all copies than as many copies alone."""
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier, [words for words in WORDS if len(words) > 10])
    settings = LIME | {"features": "token", "samples": 900, "ridge": 1e-3}
    every = attributions(settings, classifier, sentences)
    fewer = attributions(settings | {"asked": 200}, classifier, sentences)
    alone = attributions(settings | {"samples": 200}, classifier, sentences)
    share = []
    for one, stand_in, short in zip(every, fewer, alone, strict=True):
        assert (one.forward_rows, stand_in.forward_rows, short.forward_rows) == (900, 200, 200)
        error = np.linalg.norm(stand_in.token_score - one.token_score)
        share.append(error / np.linalg.norm(short.token_score - one.token_score))
    assert max(share) < 1
    assert np.median(share) < 0.6

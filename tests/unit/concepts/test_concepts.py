"""Concept effects and their explainers: the paper's toy reviews by hand, simulations with known effects, guarantees."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

from evenlight.concepts import observational
from evenlight.concepts.effects import average_effects, label_effects, order_faithfulness, over_seeds
from evenlight.concepts.observational import one_hot
from evenlight.concepts.question import Attributed, Changes, Head, Question, ReadTexts, true_effects
from evenlight.concepts.representations import inlp_projection, leace_eraser
from evenlight.core.kinds import EFFECTS
from evenlight.explainers import Explainer
from evenlight.metrics.families.concepts import IcaceError
from evenlight.statistics.analyses.concept_summary import mean_interval

LEVELS = 3
NEGATIVE, POSITIVE, UNKNOWN = range(LEVELS)
# Table 1 of the paper: food, ambiance, service and noise, and the stars.
TOYS = np.array(["+-+?4", "--+?2", "?-+?3"])


METHODS = [name for name, entry in Explainer.entries.items() if entry.modality == EFFECTS]


def estimated(question: Question, method: str, **parameters) -> np.ndarray:
    return Explainer.parse({"method": method, **parameters}).estimate(question)


def toy_question() -> Question:
    """The food edits of Table 1; the model is right, and sure of it."""
    signs = {"-": NEGATIVE, "+": POSITIVE, "?": UNKNOWN}
    level = np.array([[signs[sign] for sign in row[:4]] for row in TOYS])
    stars = np.array([int(row[4]) for row in TOYS])
    texts = ReadTexts(["original", "negative", "unknown"], np.eye(5)[stars - 1], np.eye(3), level)
    rows = np.array(list(product(range(3), repeat=2)))
    rows = rows[rows[:, 0] != rows[:, 1]]
    changes = Changes(np.zeros(6, int), level[rows[:, 0], 0], level[rows[:, 1], 0], rows[:, 0], rows[:, 1])
    return Question(texts, texts, changes, LEVELS)


def test_effects_of_the_toy_reviews_by_hand():
    question = toy_question()
    effects = true_effects(question.asked, question.changes)
    stars = question.asked.probability.argmax(axis=1)
    individual = label_effects(stars, question.changes)
    # (original, negative), (original, unknown), (negative, original), (negative, unknown), (unknown, …)
    assert individual.tolist() == [-2, -1, 2, 1, 1, -1]
    assert effects[0].tolist() == [0, 1, 0, -1, 0]
    average = average_effects(effects, question.changes)
    assert average[0, POSITIVE, NEGATIVE].tolist() == [0, 1, 0, -1, 0]
    assert average[0, NEGATIVE, POSITIVE].tolist() == [0, -1, 0, 1, 0]
    assert average_effects(np.abs(effects), question.changes)[0, POSITIVE, NEGATIVE].tolist() == [0, 1, 0, 1, 0]
    # Each level has one text, so that what is observed is what happens.
    for method in ("conexp", "approximate"):
        assert estimated(question, method) == pytest.approx(effects)


def errors_of(true, estimates) -> dict[str, np.ndarray]:
    distances = ("cosine", "l2", "norm_difference")
    return {each: IcaceError(metric="icace_error", distance=each).of_effects(true, estimates) for each in distances}


def test_errors_by_hand():
    true = np.array([[0.3, -0.3, 0.0], [0.5, -0.5, 0.0], [0.0, 0.0, 0.0], [0.1, 0.0, -0.1]])
    estimates = np.array([[0.6, -0.6, 0.0], [0.0, -0.5, 0.5], [0.1, -0.1, 0.0], [0.1, 0.00004, -0.1]])
    found = errors_of(true, estimates)
    root = np.sqrt(2)
    assert found["l2"] == pytest.approx([0.3 * root, 0.5 * root, 0.1 * root, 0])
    assert found["cosine"] == pytest.approx([0, 0.5, 1, 0])
    assert found["norm_difference"] == pytest.approx([0.3 * root, 0, 0.1 * root, 0])
    assert over_seeds(np.array([1.0, 3.0])) == (2, 1)


def changes_of(rows: list[tuple[int, int]], **more) -> Changes:
    """Changes by (base, concept)."""
    base, concept = np.array(rows).T
    return Changes(concept, np.zeros_like(base), np.ones_like(base), base, base, **more)


def test_order_faithfulness_is_kendall_of_each_text():
    random = np.random.default_rng(0)
    changes = changes_of([(text, concept) for text in range(6) for concept in range(5)])
    true, estimates = random.normal(size=(2, 30, 4))
    expected = []
    for text in range(6):
        own = slice(5 * text, 5 * text + 5)
        sizes = [np.linalg.norm(values[own], axis=1) for values in (true, estimates)]
        expected.append((kendalltau(*sizes).statistic + 1) / 2)
    assert order_faithfulness(true, estimates, changes) == pytest.approx(expected)
    assert order_faithfulness(true, 7 * true, changes) == pytest.approx(1)
    assert order_faithfulness(true, np.zeros_like(true), changes) == pytest.approx(0.5)
    # Two changes of one concept are not ranked.
    assert len(order_faithfulness(true[:2], estimates[:2], changes_of([(0, 1), (0, 1)]))) == 0


def test_intervals_resample_whole_originals():
    random = np.random.default_rng(1)
    effect = random.normal(size=80)
    values, cluster = np.repeat(effect, 25), np.repeat(np.arange(80), 25)
    low, high = mean_interval(values, cluster, 0.95, 2000, np.random.default_rng(0))
    half = 1.99 / np.sqrt(80) * effect.std(ddof=1)
    assert (low, high) == pytest.approx((effect.mean() - half, effect.mean() + half), abs=0.15 * half)
    narrow = mean_interval(values, np.arange(len(values)), 0.95, 500, np.random.default_rng(0))
    assert narrow[1] - narrow[0] < (high - low) / 3
    assert np.isnan(mean_interval(values[:5], np.zeros(5), 0.95, 10, random)).all()


# A model that is linear in the levels of two concepts and knows nothing of a third.
WEIGHT = np.zeros((3, 3, LEVELS))
WEIGHT[:, 0] = [[1.0, -1.0, 0.0], [0.0, 0.0, 0.5], [-1.0, 1.0, 0.0]]
WEIGHT[:, 1] = [[0.5, -0.7, 0.0], [0.0, 0.0, 0.2], [-0.5, 0.7, 0.1]]
NULL = 2
HEAD = Head(WEIGHT.reshape(3, -1), np.array([0.1, 0.0, -0.1]))


def simulation(level: np.ndarray) -> ReadTexts:
    """Texts whose representation tells their levels, in a place for each."""
    representation = one_hot(level, LEVELS)
    return ReadTexts([str(row) for row in range(len(level))], HEAD.probability(representation), representation, level)


def all_changes(texts: ReadTexts) -> tuple[ReadTexts, Changes]:
    """The texts with the counterfactuals of all changes of one concept."""
    level, rows = [*texts.level], []
    for base, concept, after in product(range(len(texts.level)), range(3), range(LEVELS)):
        before = texts.level[base, concept]
        if before != after:
            edited = texts.level[base].copy()
            edited[concept] = after
            rows.append((concept, before, after, base, len(level)))
            level.append(edited)
    return simulation(np.array(level)), Changes(*np.array(rows).T)


def some_of(changes: Changes, chosen: np.ndarray) -> Changes:
    """Some of the changes: a mask, or their numbers."""
    return Changes(*(values[chosen] for values in vars(changes).values()))


def without(texts: ReadTexts) -> np.ndarray:
    """What the model says of the texts without each concept, at the mean of its levels, (concepts, texts, classes)."""
    told = np.repeat(texts.representation[None], 3, axis=0)
    for concept in range(3):
        told[concept, :, LEVELS * concept : LEVELS * (concept + 1)] = 1 / LEVELS
    return HEAD.probability(told.reshape(-1, 3 * LEVELS)).reshape(3, len(texts.level), 3)


@pytest.fixture(scope="module")
def balanced() -> Question:
    """All combinations of levels, equally often, so that no concept is associated with another."""
    train = simulation(np.array(list(product(range(LEVELS), repeat=3)) * 8))
    asked, changes = all_changes(simulation(np.array(list(product(range(LEVELS), repeat=3)))))
    return Question(train, asked, changes, LEVELS, HEAD, asked, changes, attributed_to(train, asked), without(asked))


def attributed_to(train: ReadTexts, asked: ReadTexts) -> Attributed:
    """What the levels add to the logits, as a perfect explainer attributes it to the words that tell them."""
    sums = WEIGHT[:, np.arange(3), asked.level].transpose(1, 2, 0)
    at_level = np.full((3, LEVELS, 3), np.nan)
    for concept, level in product(range(3), range(LEVELS)):
        if (train.level[:, concept] == level).any():
            at_level[concept, level] = WEIGHT[:, concept, level]
    return Attributed(sums, at_level)


# What explainers must be told.
PARAMETERS = {"summed_attributions": {"explainer": {"method": "integrated_gradients"}}}


@pytest.mark.parametrize("method", [name for name in METHODS if name != "random_effects"])
def test_a_concept_without_effect_has_none(method, balanced):
    effects = estimated(balanced, method, **PARAMETERS.get(method, {}))
    null = balanced.changes.concept == NULL
    assert np.abs(true_effects(balanced.asked, balanced.changes)[null]).max() < 1e-12
    assert np.abs(effects[null]).max() < 0.01
    assert np.abs(effects[balanced.changes.concept == 0]).mean() > 0.05


@pytest.mark.parametrize("method", ["s_learner", "approximate", "matched", "training_pairs", "summed_attributions"])
def test_what_recovers_every_effect_without_confounder(method, balanced):
    of_method = PARAMETERS | {"s_learner": {"calibrated": True}, "training_pairs": {"neighbours": 1}}
    parameters = of_method.get(method, {})
    true = true_effects(balanced.asked, balanced.changes)
    assert estimated(balanced, method, **parameters) == pytest.approx(true, abs=2e-3)


def test_conexp_recovers_mean_effects_and_no_estimate_depends_on_its_place(balanced):
    true = average_effects(true_effects(balanced.asked, balanced.changes), balanced.changes)
    found = average_effects(estimated(balanced, "conexp"), balanced.changes)
    assert all(found[direction] == pytest.approx(effect, abs=1e-9) for direction, effect in true.items())
    chosen = np.arange(len(balanced.changes))[::-3]
    part = replace(balanced, changes=some_of(balanced.changes, chosen))
    for method in ("random_effects", "approximate"):
        assert estimated(part, method).tolist() == estimated(balanced, method)[chosen].tolist()
    assert (estimated(replace(balanced, seed=1), "random_effects") != estimated(balanced, "random_effects")).all()


def test_a_confounder_biases_conexp_and_not_the_s_learner(balanced):
    question = confounded(balanced)
    null = question.changes.concept == NULL
    assert np.abs(estimated(question, "conexp")[null]).max() > 0.2
    learned = estimated(question, "s_learner", calibrated=True)
    assert np.abs(learned[null]).max() < 2e-3
    assert learned == pytest.approx(true_effects(question.asked, question.changes), abs=2e-3)


def confounded(question: Question) -> Question:
    """The concept without effect is associated with the first one, which alone tells its odds."""
    random = np.random.default_rng(0)
    level = np.array(list(product(range(LEVELS), repeat=3)) * 40)
    follows = random.random(len(level)) < 0.7
    level[follows, NULL] = level[follows, 0]
    return replace(question, train=simulation(level))


def test_matching_by_propensity_undoes_a_confounder(balanced):
    """In the mean over texts, as propensities promise; conditional expectation is misled."""
    question = confounded(balanced)
    changes = question.changes
    found = {
        method: average_effects(estimated(question, method, **parameters), changes)
        for method, parameters in (("matched", {"by": "propensity", "neighbours": 60}), ("conexp", {}))
    }
    true = average_effects(true_effects(question.asked, changes), changes)
    null = [direction for direction in true if direction[0] == NULL]
    assert max(np.abs(found["conexp"][direction]).max() for direction in null) > 0.2
    assert max(np.abs(found["matched"][direction]).max() for direction in null) < 0.05


def test_propensities_are_frequencies_where_one_concept_tells_them(balanced):
    """Counted: a text of each level of the first concept is matched with texts of that level only."""
    question = confounded(balanced)
    level = question.train.level
    shares = [
        [np.mean(level[level[:, 0] == value, NULL] == wanted) for wanted in range(LEVELS)] for value in range(LEVELS)
    ]
    assert np.ptp(shares, axis=0).min() > 0.5
    chosen = observational._by_propensity(question, 5)
    changes = question.changes
    for change in np.flatnonzero(changes.concept == NULL):
        base, after = question.asked.level[changes.base[change]], changes.after[change]
        there = np.flatnonzero(level[:, NULL] == after)
        own = [shares[value][after] for value in level[chosen(change, there), 0]]
        # Two of three levels of the first concept may have nearly the same odds of a third one.
        assert own == pytest.approx([shares[base[0]][after]] * 5, abs=0.06)


def test_matching_by_propensity_needs_texts_at_the_new_level(balanced):
    """Without any the estimate is zero; with one level alone there are no odds, and texts are drawn."""
    level = balanced.train.level.copy()
    level[:, 0] = POSITIVE
    question = replace(balanced, train=simulation(level))
    effects = estimated(question, "matched", by="propensity")
    of_first = balanced.changes.concept == 0
    assert not effects[of_first & (balanced.changes.after != POSITIVE)].any()
    assert effects[of_first & (balanced.changes.after == POSITIVE)].any()


def test_the_calibrated_s_learner_agrees_with_the_model_at_every_level():
    """On average over the training texts of a level, also where the model is not linear in the levels."""
    random = np.random.default_rng(2)
    level = random.integers(LEVELS, size=(300, 3))
    texts = ReadTexts(range(300), softmax(random.normal(size=(300, 4)) + level[:, :1], axis=1), np.eye(300), level)
    from evenlight.concepts.observational import _learned

    said = _learned(texts, LEVELS, calibrated=True)(one_hot(level, LEVELS))
    for concept, value in product(range(3), range(LEVELS)):
        there = level[:, concept] == value
        assert said[there].mean(axis=0) == pytest.approx(texts.probability[there].mean(axis=0), abs=1e-3)


def test_the_released_s_learner_takes_all_levels_as_predicted(balanced):
    wrong = np.zeros_like(balanced.asked.level)
    question = replace(balanced, asked=replace(balanced.asked, level=wrong))
    before, after = question.shown("released")
    assert (before == 0).all()
    before, _ = question.shown("paper")
    rows = np.arange(len(before))
    assert (before[rows, question.changes.concept] == question.changes.before).all()
    assert (after[rows, question.changes.concept] == question.changes.after).all()


def test_tcav_by_hand():
    """With one text on either side the separator's normal joins them; gradients against differences."""
    given = np.random.default_rng(0).normal(size=(4, 9))
    for place in range(9):
        numeric = (HEAD.probability(given + 1e-6 * np.eye(9)[place]) - HEAD.probability(given)) / 1e-6
        assert HEAD.gradients(given)[:, :, place] == pytest.approx(numeric, abs=1e-5)
    representation = np.array([[1.0, 0.0], [0.0, 0.0]])
    head = Head(np.array([[1.0, 0.0], [-1.0, 2.0]]), np.zeros(2))
    texts = ReadTexts(["a", "b"], head.probability(representation), representation, np.array([[POSITIVE], [NEGATIVE]]))
    changes = Changes(*np.array([[0], [NEGATIVE], [POSITIVE], [1], [0]]))
    question = Question(texts, texts, changes, LEVELS, head)
    # At (0, 0) both probabilities are 1/2; the gradient of the first is (w₁ − w₂) / 4 = (1/2, −1/2).
    assert estimated(question, "tcav") == pytest.approx(np.array([[0.5, -0.5]]), abs=1e-6)
    # The sign is reversed, and the gradients of both classes add up to zero.
    assert estimated(question, "tcav", definition="released") == pytest.approx(np.array([[-0.5, 0.0]]), abs=1e-6)


def correlated(texts: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    level = random.integers(LEVELS, size=texts)
    mixing = random.normal(size=(width, width))
    return random.normal(size=(texts, width)) @ mixing + 2 * random.normal(size=(LEVELS, width))[level], level


def test_after_leace_no_linear_probe_beats_chance():
    representation, level = correlated(600, 12)
    erased = leace_eraser(representation, one_hot(level[:, None], LEVELS))(representation)
    assert LogisticRegression(max_iter=1000).fit(representation, level).score(representation, level) > 0.8
    probe = LogisticRegression(max_iter=1000).fit(erased, level)
    frequent = np.bincount(level).max() / len(level)
    assert probe.score(erased, level) <= frequent + 1e-9
    # By the theorem the covariance is zero, and the concept's two directions are all that is lost.
    centred = erased - erased.mean(axis=0)
    assert np.abs(centred.T @ one_hot(level[:, None], LEVELS)).max() < 1e-8
    assert np.linalg.matrix_rank(representation - erased, tol=1e-8) == 2
    # Also where representations span less than their width.
    wide = np.concatenate([representation, representation[:, :2]], axis=1)
    erased = leace_eraser(wide, one_hot(level[:, None], LEVELS))(wide)
    assert LogisticRegression(max_iter=1000).fit(erased, level).score(erased, level) <= frequent + 1e-9


def test_leace_takes_no_direction_that_is_rounding():
    """The three variables of a concept add up to one: two directions tell it."""
    for texts, width in product([200, 500], range(3, 13)):
        representation, level = correlated(texts, width)
        erased = leace_eraser(representation, one_hot(level[:, None], LEVELS))(representation)
        assert np.linalg.matrix_rank(representation - erased, tol=1e-6) == 2


def test_inlp_takes_no_direction_that_is_rounding():
    """The weights of a classifier of three levels add up to zero, so that it has two directions."""
    for draw in range(5):
        representation = 5 + np.random.default_rng(draw).normal(size=(60, 5))
        level = representation[:, :3].argmax(axis=1)
        assert np.linalg.matrix_rank(inlp_projection(representation, level, "a", 1)) == 3


def test_concept_shap_shares_add_up_to_what_all_concepts_explain(balanced):
    """Efficiency: with all concepts the representation is recovered, with none its mean is read."""
    texts = replace(balanced.asked, name=balanced.asked.name[:27])
    bases = np.repeat(np.arange(27), 3)
    concept = np.tile(np.arange(3), 27)
    changes = Changes(concept, np.zeros_like(bases), np.ones_like(bases), bases, bases)
    shares = -estimated(replace(balanced, asked=texts, changes=changes), "concept_shap").reshape(27, 3, 3).sum(axis=1)
    centre = HEAD.probability(balanced.train.representation.mean(axis=0, keepdims=True))
    assert shares == pytest.approx(texts.probability[:27] - centre, abs=1e-6)


def test_causalm_is_the_answer_without_the_concept_by_hand(balanced):
    """Less that of the text, whatever it changes to: of the logits, those of the concept are the mean."""
    effects = estimated(balanced, "causalm")
    for change in (0, 40, 100):
        base, concept = balanced.changes.base[change], balanced.changes.concept[change]
        level = balanced.asked.level[base]
        logits = [HEAD.bias + sum(WEIGHT[:, other, level[other]] for other in range(3))] * 2
        logits[1] = logits[0] - WEIGHT[:, concept, level[concept]] + WEIGHT[:, concept].mean(axis=1)
        before, after = softmax(np.array(logits), axis=1)
        assert effects[change] == pytest.approx(after - before)


@pytest.mark.parametrize("method", METHODS)
def test_a_level_that_no_training_text_has(method, balanced):
    """Nothing is known, and nothing fails."""
    train = simulation(np.zeros((12, 3), dtype=int))
    changes = some_of(balanced.changes, balanced.changes.concept == 1)
    nothing = some_of(changes, np.zeros(len(changes), dtype=bool))
    question = replace(balanced, train=train, changes=changes, edits=nothing)
    question = replace(question, attributed=attributed_to(train, question.asked))
    effects = estimated(question, method, **PARAMETERS.get(method, {}))
    assert effects.shape == (len(changes), 3)
    assert np.isfinite(effects).all()

"""Causal concept faithfulness: estimates against integrals by sums, parts by hand, and what the authors published."""

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from convert_answers import BBQ
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

from evenlight.core.errors import InputError
from evenlight.datasets.walk_the_talk import walk_the_talk_answers
from evenlight.metrics.families.reasons.causal_concepts import (
    ESTIMATES,
    Changes,
    _Regression,
    by_concept,
    changes_of,
    correlation,
    divergence,
    empirical_bayes,
    hierarchical_bayes,
    implied_effects,
    shared_slope,
)
from evenlight.metrics.families.reasons.of_questions import correlations

PUBLISHED = yaml.safe_load(
    (Path(__file__).parents[3] / "resources" / "published" / "walk_the_talk.yaml").read_text(encoding="utf-8")
)


def changes(*counts, kind: str = "one", reference: int = 0) -> Changes:
    """A question for each pair of counts."""
    size = len(counts)
    names = np.array([f"q{number}" for number in range(size)], dtype=object)
    zeros = np.zeros(size, dtype=object)
    return Changes(
        names, zeros, np.array([kind] * size, dtype=object), np.array(counts, float), np.full(size, reference)
    )


@cache
def summed() -> np.ndarray:
    """The posterior means of the effects of ``COUNTS`` (changes,), by sums over grids of all coefficients."""
    scales = np.geomspace(0.3, 12, 40)
    intercept = np.linspace(-4, 4, 121)[:, None]
    slope = np.linspace(-8, 8, 241)[None]
    before, after = expit(intercept) + 0 * slope, expit(intercept + slope)
    kl = after * np.log(after / before) + (1 - after) * np.log((1 - after) / (1 - before))
    marginal, effect = [], []
    for (no, yes), (no_after, yes_after) in COUNTS:
        log = yes * np.log(before) + no * np.log1p(-before) + yes_after * np.log(after) + no_after * np.log1p(-after)
        weights = [np.exp(log + norm.logpdf(intercept) + norm.logpdf(slope, 0, scale)) for scale in scales]
        marginal.append([weight.sum() for weight in weights])
        effect.append([(weight * kl).sum() / weight.sum() for weight in weights])
    posterior = np.prod(np.array(marginal) / np.max(marginal, axis=1, keepdims=True), axis=0)
    posterior *= scales**-1.001 * np.exp(-0.001 / scales) * np.gradient(scales)
    posterior /= posterior.sum()
    return np.array(effect) @ posterior


# Of two answers, no and yes, before and after.
COUNTS = [
    ((40, 10), (12, 38)),
    ((30, 20), (5, 45)),
    ((25, 25), (45, 5)),
    ((10, 40), (35, 15)),
    ((44, 6), (20, 30)),
    ((28, 22), (30, 20)),
]


def test_the_sampler_has_the_posterior_that_sums_over_grids_give():
    found = hierarchical_bayes(changes(*COUNTS), np.random.default_rng(0), draws=6000)
    # As empirical_bayes is called, without a generator, it gives the same each time.
    again = [hierarchical_bayes(changes(*COUNTS), draws=50, warm_up=10) for _ in range(2)]
    np.testing.assert_array_equal(*again)
    assert found == pytest.approx(summed(), rel=0.06, abs=0.01)
    assert np.ptp(summed()) > 0.3


def test_the_fast_estimate_is_near_the_posterior():
    assert empirical_bayes(changes(*COUNTS)) == pytest.approx(summed(), rel=0.1, abs=0.03)


def test_effects_of_many_answers_are_those_of_the_shares():
    """With many answers no prior matters, and the effect is the divergence of the shares."""
    counts = ((50_000, 30_000, 20_000), (20_000, 30_000, 50_000))
    expected = 0.2 * np.log(0.2 / 0.5) + 0.5 * np.log(0.5 / 0.2)
    for reference in range(3):
        assert empirical_bayes(changes(counts, reference=reference)) == pytest.approx([expected], rel=2e-3)


def test_the_reference_goes_with_its_answer():
    """The prior holds every other answer against it, so that it matters which one it is, whatever its number."""
    before, after = (12, 7, 3), (5, 14, 2)
    effect = [empirical_bayes(changes((before, after), reference=number))[0] for number in range(3)]
    assert len(set(np.round(effect, 6))) == 3
    swapped = [(counts[0], counts[2], counts[1]) for counts in (before, after)]
    for number, same in enumerate((0, 2, 1)):
        assert empirical_bayes(changes(swapped, reference=same)) == pytest.approx([effect[number]])


def test_scales_are_drawn_from_their_posterior():
    """Given the slopes, σ^(−n − 1.001) exp(−Σ b² / 2σ² − 0.001 / σ), by a sum over a grid."""
    regression = _Regression(changes(*COUNTS))
    slopes = np.array([0.3, -0.8, 1.1, 0.2, -0.5, 0.9])
    state = np.stack([np.zeros(6), slopes], axis=1)
    generator, scale, drawn = np.random.default_rng(0), np.ones(1), []
    for _ in range(5000):
        scale = regression.drawn_scale(state, scale, generator)
        drawn.append(scale[0])
    grid = np.geomspace(0.05, 20, 2000)
    weight = grid**-7.001 * np.exp(-(slopes @ slopes) / 2 / grid**2 - 0.001 / grid) * grid
    mean = weight @ grid / weight.sum()
    assert np.mean(drawn) == pytest.approx(mean, rel=0.02)
    assert np.std(drawn) == pytest.approx(np.sqrt(weight @ grid**2 / weight.sum() - mean**2), rel=0.15)


def test_the_fast_estimate_is_the_mode():
    """At the mode no coefficient can be moved for the better; by differences of the log posterior."""
    regression = _Regression(changes(((20, 5, 0), (3, 20, 2)), ((9, 9, 9), (1, 20, 6))))
    scale, mode, covariance = regression.fitted()

    def posterior(state):
        return regression.likelihood(state) + regression.slope_prior(state, scale)

    for place in range(mode.shape[1]):
        step = np.zeros_like(mode)
        step[:, place] = 1e-4
        up, down = posterior(mode + step), posterior(mode - step)
        assert up - down == pytest.approx([0, 0], abs=1e-9)
        curvature = (2 * posterior(mode) - up - down) / 1e-8
        assert curvature == pytest.approx(np.linalg.inv(covariance)[:, place, place], rel=1e-3)


def test_divergence_by_hand():
    log = np.log
    # Shares 1/2, 1/4, 1/4 become 1/4, 1/2, 1/4 (the reference last).
    intercept, slope = np.array([[log(2), 0]]), np.array([[-log(2), log(2)]])
    assert divergence(intercept, slope) == pytest.approx([0.25 * log(0.5) + 0.5 * log(2)])
    assert divergence(intercept, np.zeros((1, 2))) == pytest.approx([0])
    # An answer that nobody gave is counted once on either side.
    without = empirical_bayes(changes(((30, 20, 0), (10, 40, 0))))
    assert without == pytest.approx(empirical_bayes(changes(((30, 20, 1), (10, 40, 1)))))


def test_kinds_with_small_effects_draw_their_concepts_to_zero():
    """The same answers have a smaller effect among concepts that do little: what a kind is matters."""
    strong = [((40, 10), (10, 40))] * 6
    weak = [((25, 25), (26, 24))] * 6
    same = ((30, 20), (22, 28))
    both = changes(*strong, same, *weak, same)
    apart = both._replace(kind=np.array(["much"] * 7 + ["little"] * 7, dtype=object))
    for name, settings in (("empirical_bayes", ()), ("hierarchical_bayes", (np.random.default_rng(0), 500))):
        effect = ESTIMATES[name](apart, *settings)
        assert effect[6] > 3 * effect[13]
    together = empirical_bayes(both)
    assert together[6] == pytest.approx(together[13])


def rows(*of) -> pd.DataFrame:
    names = ("unit", "concept", "change", "kind", "decision", "reference", "implied")
    return pd.DataFrame(of, columns=names)


def original(unit: str, decision: str | None, implied: list | None = None) -> tuple:
    return unit, None, None, None, decision, "?", implied


def test_changes_by_hand():
    table = rows(
        original("a", "yes", ["who"]),
        original("a", "no", []),
        original("a", None, ["who", "where"]),
        original("b", "?", None),
        ("a", "who", "removed", "identity", "yes", "?", ["where"]),
        ("a", "who", "replaced", "identity", "no", "?", None),
        ("a", "where", "removed", "context", "?", "?", None),
        ("b", "where", "removed", "context", None, "?", None),
    )
    found = changes_of(table)
    assert list(zip(found.question, found.concept, found.kind, strict=True)) == [
        ("a", "who", "identity"),
        ("a", "who", "identity"),
        ("a", "where", "context"),
    ]
    # Answers in the order ?, no, yes.
    assert found.counts.tolist() == [[[0, 1, 1], [0, 0, 1]], [[0, 1, 1], [0, 1, 0]], [[0, 1, 1], [1, 0, 0]]]
    assert found.reference.tolist() == [0, 0, 0]
    assert by_concept(found, np.array([1.0, 3.0, 5.0])).to_dict() == {("a", "who"): 2.0, ("a", "where"): 5.0}
    shares = implied_effects(table)
    assert shares.to_dict() == pytest.approx({("a", "who"): 2 / 3, ("a", "where"): 1 / 3})


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"column 'concept': no answer.*question a"):
        changes_of(rows(("a", "who", "removed", "identity", "yes", "?", None)))
    with pytest.raises(InputError, match=r"column 'decision': only \?;"):
        changes_of(rows(original("a", "?")))


def test_the_slope_over_questions_is_that_of_the_whole_model():
    """Against the model as the authors write it: the effects themselves, and sums over slope and noise."""
    generator = np.random.default_rng(1)
    questions = []
    for size in (3, 4):
        x = generator.standard_normal(size)
        y = 0.8 * x + 0.7 * generator.standard_normal(size)
        questions.append([(values - values.mean()) / values.std() for values in (x, y)])
    slopes, sigmas = np.linspace(-2.5, 3.5, 121), np.geomspace(0.05, 10, 60)
    log = np.zeros((len(slopes), len(sigmas)))
    for (row, slope), (column, sigma) in product(enumerate(slopes), enumerate(sigmas)):
        log[row, column] = norm.logpdf(slope) - sigma + np.log(sigma)
    for x, y in questions:
        for column, sigma in enumerate(sigmas):
            covariance = sigma**2 * np.eye(len(x)) + np.outer(x, x)
            residual = y - slopes[:, None] * x
            log[:, column] += multivariate_normal(cov=covariance).logpdf(residual)
    weight = np.exp(log - log.max()).sum(1)
    weight /= weight.sum()
    found = shared_slope(
        np.array([np.corrcoef(x, y)[0, 1] for x, y in questions]), np.array([len(x) for x, _ in questions]), 0.9
    )
    assert found[0] == pytest.approx(weight @ slopes, abs=2e-3)
    below = np.cumsum(weight) - weight / 2
    assert found[1:] == pytest.approx(np.interp([0.05, 0.95], below, slopes), abs=5e-3)


def test_a_correlation_of_equal_effects_is_none():
    first, second = np.random.default_rng(0).random((2, 9))
    assert correlation(first, second) == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert np.isnan(correlation([1, 1, 1], [1, 2, 3]))
    assert np.isnan(correlation([1], [1]))
    index = pd.MultiIndex.from_product([["a", "b", "c"], [0, 1, 2]])
    causal, implied = [1.0, 2, 3, 1, 2, 3, 5, 5, 5], [0.1, 0.2, 0.3, 0.6, 0.4, 0.2, 0, 0.5, 1]
    found = correlations(pd.DataFrame({"causal": causal, "implied": implied}, index=index))
    assert found.to_dict() == pytest.approx({"a": 1.0, "b": -1.0, "c": np.nan}, nan_ok=True)
    slope, low, high = shared_slope(np.array([1.0, -1]), np.array([3, 3]), 0.9)
    assert (slope, low) == pytest.approx((0, -high), abs=1e-9)
    assert shared_slope(np.array([1.0, -1]), np.array([3, 3]), 0.99)[2] > high
    assert np.isnan(shared_slope(np.array([]), np.array([]), 0.9)).all()


# What the authors published ------------------------------------------------------------------------------------------


@cache
def released(folder: Path, model: str) -> pd.DataFrame:
    answers = walk_the_talk_answers(folder, BBQ)
    return answers[(answers["model"] == model) & ~answers["unit"].isin(PUBLISHED["left_out"])]


@pytest.mark.parametrize(("name", "settings"), [("empirical_bayes", ()), ("hierarchical_bayes", (800,))])
@pytest.mark.parametrize("model", list(PUBLISHED["faithfulness"]))
def test_estimates_are_what_was_published(mirror, model, name, settings):
    answers = released(mirror / "walk_the_talk", model)
    of = changes_of(answers)
    effects = ESTIMATES[name](of, *[np.random.default_rng(0), *settings][: 2 * len(settings)])
    found = pd.DataFrame({"causal": by_concept(of, effects), "implied": implied_effects(answers)})
    values = correlations(found).dropna()
    assert len(values) == 29
    sizes = found.groupby(level=0).size().reindex(values.index)
    slope, low, high = shared_slope(values.to_numpy(), sizes.to_numpy(), 0.9)
    estimate, *ends = PUBLISHED["faithfulness"][model]
    assert slope == pytest.approx(estimate, abs=0.02)
    assert (low, high) == pytest.approx(ends, abs=0.03)


@pytest.mark.parametrize("model", list(PUBLISHED["implied"]))
def test_implied_effects_are_those_of_the_notebook(mirror, model):
    implied = implied_effects(released(mirror / "walk_the_talk", model))["578"]
    assert implied.sort_index().tolist() == pytest.approx(PUBLISHED["implied"][model], abs=1e-12)

"""Bootstrap intervals: the effects they are of, their ends beside scipy's, their coverage, and odd cells."""

import math

import numpy as np
import pytest
from scipy.stats import bootstrap, mannwhitneyu, norm, t

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.effect_sizes import cohens_d, defined
from evenlight.statistics.arrays.intervals import EFFECTS, Interval, bootstrap_intervals

NAN = float("nan")


def cliffs_delta(a, b) -> float:
    """P(a > b) − P(a < b) by the U of Mann and Whitney, which is scipy's."""
    a, b = defined(a), defined(b)
    return 2 * mannwhitneyu(a, b).statistic / (len(a) * len(b)) - 1


BY_NAME = {"cohens_d": cohens_d, "cliffs_delta": cliffs_delta}


def intervals(a, b, paired, draws=500, confidence=0.95, name="intervals") -> dict[str, Interval]:
    return bootstrap_intervals(a, b, paired, draws, confidence, generator_for("tests", name))


def two_seeds(size_a: int, size_b: int) -> tuple[np.ndarray, np.ndarray]:
    """Skewed scores on a coarse grid, so with ties, some undefined."""
    random = generator_for("tests", "scores", size_a, size_b)
    a, b = (np.round(random.exponential(size=(2, size)), 1) for size in (size_a, size_b))
    a[0, 3] = a[1, 5] = b[1, 3] = NAN
    return a, b


@pytest.mark.parametrize(("size_b", "paired"), [(40, True), (25, False)])
def test_estimates_are_means_over_seeds(size_b, paired):
    a, b = two_seeds(40, size_b)
    found = intervals(a, b, paired)
    assert list(found) == EFFECTS == list(BY_NAME)
    for name, effect in BY_NAME.items():
        expected = np.mean([effect(*scores) for scores in zip(a, b, strict=True)])
        assert found[name].estimate == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("size_b", "paired"), [(40, True), (25, False)])
def test_ends_agree_with_scipy(size_b, paired):
    a, b = two_seeds(40, size_b)
    seed_a, seed_b = np.nan_to_num(a[0]), np.nan_to_num(b[0])
    found = intervals([seed_a], [seed_b], paired, draws=20_000, confidence=0.9)
    for name, effect in BY_NAME.items():
        options = {"paired": paired, "vectorized": False, "n_resamples": 1500, "confidence_level": 0.9}
        theirs = bootstrap((seed_a, seed_b), effect, **options, rng=generator_for("tests", "scipy"))
        # The Monte-Carlo error of a 5 % quantile of 1,500 resamples is about 0.05 standard errors.
        error = 0.2 * theirs.standard_error
        assert found[name].low == pytest.approx(theirs.confidence_interval.low, abs=error)
        assert found[name].high == pytest.approx(theirs.confidence_interval.high, abs=error)


def naive(effect, a, b, paired: bool, draws: int, confidence: float, block: int = 250) -> tuple[float, float]:
    """The ends of the interval, one resample and one unit that is left out at a time.

    Of delta Student's interval with the variance of the jackknife on Fisher's scale; of the others BCa (Efron 1987), at
    levels as in Hesterberg (2015).
    """
    random = generator_for("tests", "intervals")

    def mean(a, b) -> float:
        return np.mean([effect(*scores) for scores in zip(a, b, strict=True)])

    if paired:
        left_out = [[mean(np.delete(a, unit, 1), np.delete(b, unit, 1)) for unit in range(a.shape[1])]]
    else:
        left_out = [
            [mean(np.delete(a, unit, 1), b) for unit in range(a.shape[1])],
            [mean(a, np.delete(b, unit, 1)) for unit in range(b.shape[1])],
        ]
    influences = [np.mean(values) - values for values in left_out]
    variances = [(len(values) - 1) * np.var(values) for values in left_out]
    shares = np.array(variances) / sum(variances)
    degrees = 1 / sum(share**2 / (len(values) - 1) for share, values in zip(shares, left_out, strict=True))
    quantile, estimate = t.ppf((1 + confidence) / 2, degrees), mean(a, b)
    if effect is cliffs_delta:
        half = quantile * math.sqrt(sum(variances)) / (1 - estimate**2)
        return math.tanh(math.atanh(estimate) - half), math.tanh(math.atanh(estimate) + half)

    resampled = []
    for start in range(0, draws, block):
        size = min(block, draws - start)
        units_a = random.integers(0, a.shape[1], size=(a.shape[1], size))
        units_b = units_a if paired else random.integers(0, b.shape[1], size=(b.shape[1], size))
        resampled += [mean(a[:, units_a[:, draw]], b[:, units_b[:, draw]]) for draw in range(size)]
    influence = np.concatenate(influences)
    acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    difference = np.array(resampled) - estimate
    below = np.mean((difference < -1e-12) + (np.abs(difference) <= 1e-12) / 2)
    bias = norm.ppf(below)
    too_narrow = sum(share * (len(values) - 1) / len(values) for share, values in zip(shares, left_out, strict=True))
    ends = []
    for half in (-quantile / math.sqrt(too_narrow), quantile / math.sqrt(too_narrow)):
        z = bias + half
        rank = math.ceil(norm.cdf(bias + z / (1 - acceleration * z)) * draws)
        ends.append(sorted(resampled)[rank - 1])
    return tuple(ends)


@pytest.mark.parametrize(("size_b", "paired"), [(40, True), (25, False)])
def test_ends_written_down_a_second_time(size_b, paired):
    """From the same draws, with ties and undefined scores, of two seeds and in more than one block."""
    a, b = two_seeds(40, size_b)
    found = intervals(a, b, paired, draws=600, confidence=0.9)
    for name, effect in BY_NAME.items():
        expected = naive(effect, a, b, paired, 600, 0.9)
        assert (found[name].low, found[name].high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("block", [1, 7])
def test_many_units_are_drawn_in_smaller_blocks(block, monkeypatch):
    """A block of weights has at most so many numbers, but one resample at least."""
    a, b = two_seeds(40, 25)
    monkeypatch.setattr("evenlight.statistics.arrays.intervals.NUMBERS", 40 * block + 39 if block > 1 else 39)
    found = intervals(a, b, False, draws=300)["cohens_d"]
    assert (found.low, found.high) == pytest.approx(naive(cohens_d, a, b, False, 300, 0.95, block), rel=1e-9)


def test_ends_of_few_pairs_with_many_holes():
    """Where some pairs are whole and some are not, what is lost with a pair differs."""
    random = generator_for("tests", "holes")
    a, b = random.exponential(size=(2, 14)), random.exponential(size=(2, 14))
    a[:, :4] = b[0, 9:12] = b[1, 7:11] = NAN
    found = intervals(a, b, True, draws=3000, confidence=0.9)
    for name, effect in BY_NAME.items():
        expected = naive(effect, a, b, True, 3000, 0.9)
        assert (found[name].low, found[name].high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", [5, 6])
def test_ends_of_few_pairs_with_many_ties(seed):
    """With a pair its own comparison is lost, of which counts who is ahead, and half of it where nobody is."""
    random = np.random.default_rng(seed)
    a = random.integers(-3, 4, size=(1, 10)).astype(float)
    b = a + random.choice([-1, 0, 1, 1], size=(1, 10))
    found = intervals(a, b, True, draws=3000, confidence=0.9)["cliffs_delta"]
    assert (found.low, found.high) == pytest.approx(naive(BY_NAME["cliffs_delta"], a, b, True, 3000, 0.9), rel=1e-9)


def test_an_interval_of_one_resample_is_its_effect():
    """Of few scores a resample is often constant, by its values: a rounded variance would not be 0."""
    for seed in range(250):
        random = np.random.default_rng(seed)
        values = random.uniform(size=4)
        a, b = (
            random.choice(values, size=size, p=random.permutation([0.85, 0.05, 0.05, 0.05]))
            for size in random.integers(2, 11, size=2)
        )
        found = bootstrap_intervals([a], [b], False, 1, 0.9, generator_for("tests", seed))
        again = generator_for("tests", seed)
        a, b = (scores[again.integers(0, len(scores), size=len(scores))] for scores in (a, b))
        expected = pytest.approx([cohens_d(a, b)] * 2, rel=1e-9, abs=1e-12, nan_ok=True)
        assert [found["cohens_d"].low, found["cohens_d"].high] == expected


@pytest.mark.parametrize("paired", [True, False])
def test_one_cluster_or_one_unit_of_a_group_tells_no_interval(paired):
    generator = generator_for("tests", "alone")
    a, b = generator.normal(size=(2, 2, 20))
    few = np.where(np.arange(20) == 3, b, np.nan)
    clusters = np.array(["one"] * 20)
    for scores, of in (((a, few), None), ((few, a), None), ((a, b), (clusters, clusters))):
        for found in bootstrap_intervals(*scores, paired, 50, 0.9, generator, clusters=of).values():
            assert np.isfinite(found.estimate)
            assert np.isnan([found.low, found.high]).all()


def test_two_resamples_on_one_side_of_the_estimate():
    """Half a resample counts as beyond the estimate, so the correction of bias is finite; the nearer one is taken."""
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 20))
    estimate, sides = cohens_d(a, b), set()
    for seed in range(12):
        chosen = generator_for("tests", seed).integers(0, 20, size=(20, 2))
        low, high = sorted(cohens_d(a[units], b[units]) for units in chosen.T)
        found = bootstrap_intervals([a], [b], True, 2, 0.1, generator_for("tests", seed))["cohens_d"]
        if not low < estimate < high:
            sides.add(low > estimate)
            assert found.low == found.high == pytest.approx(low if low > estimate else high, rel=1e-9)
    assert sides == {True, False}


def test_scores_far_from_zero_lose_no_digits():
    random = np.random.default_rng(0)
    a, b = random.integers(1, 40, size=(2, 1, 30)) / 32
    near, far = intervals(a, b, True)["cohens_d"], intervals(a + 2.0**13, b + 2.0**13, True)["cohens_d"]
    assert (far.estimate, far.low, far.high) == pytest.approx((near.estimate, near.low, near.high), rel=1e-9)


def test_the_same_generator_gives_the_same_intervals():
    a, b = two_seeds(40, 40)
    assert intervals(a, b, True) == intervals(a, b, True) != intervals(a, b, True, name="other")


def test_outliers_leave_the_variance_of_other_resamples_alone():
    # A resample without the outlier has a variance 10²⁰ times smaller, which a sum of squares around a mean loses.
    scores = np.linspace(0, 1, 30)
    a = np.append(scores + 0.25, 1e10)[None]
    b = np.append(scores, 0.5)[None]
    d = intervals(a, b, True, draws=2000)["cohens_d"]
    assert 0 < d.low < d.estimate < d.high < 3


def test_constants_differ_by_nothing_or_infinitely():
    for paired, size in ((True, 5), (False, 9)):
        found = intervals([[0.1] * 5] * 2, [[0.1] * size] * 2, paired)
        assert set(found.values()) == {Interval(0.0, 0.0, 0.0)}
    found = intervals([[0.1] * 5], [[0.3] * 5], True)
    assert found["cohens_d"] == Interval(-math.inf, -math.inf, -math.inf)
    assert found["cliffs_delta"] == Interval(-1.0, -1.0, -1.0)


def test_an_end_may_be_infinite():
    # A third of the resamples leaves the one other value out.
    found = intervals([[0.1] * 5 + [0.2]], [[0.3] * 6], True)["cohens_d"]
    assert found.low == -math.inf
    assert found.high == pytest.approx(found.estimate * math.sqrt(5 / 9) * 1.1, rel=0.3)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([[NAN] * 5], [[0.3] * 5]),
        # Infinite in both directions: a mean over these seeds is undefined.
        ([[0.1] * 5, [0.3] * 5], [[0.3] * 5, [0.1] * 5]),
    ],
)
def test_undefined_effects_have_no_interval(a, b):
    d = intervals(a, b, True)["cohens_d"]
    assert all(map(math.isnan, (d.estimate, d.low, d.high)))


def test_resamples_without_scores_are_left_out():
    a, b = [[1.0, 2, 4, NAN, NAN, NAN]], [[2.0, NAN, NAN, 3, 5, NAN]]
    for interval in intervals(a, b, True).values():
        assert interval.low <= interval.estimate <= interval.high

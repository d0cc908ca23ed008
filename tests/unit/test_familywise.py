"""The bootstrap of the largest statistic: against a plain loop, other libraries, and in studies without effects."""

from math import comb

import numpy as np
import pytest
from scipy.stats import norm, poisson, t, ttest_ind

from evenlight.core.seeds import generator_for
from evenlight.statistics.familywise import (
    LARGEST,
    _turned,
    critical_deviate,
    critical_deviates,
    deviate_of,
    keys_of,
    normal_deviate,
    real_deviates,
    resampled_deviates,
    scales,
    single_p,
    step_down_p,
    t_of_deviate,
    weights,
)
from evenlight.statistics.pooled import cluster_names, pooled_effects
from evenlight.statistics.resamples import UNSEEN, UNSEEN_SDS

BOUND = 0.2
PAIRS = [f"pair {number}" for number in range(24)]


def drawn(name, *shape: int) -> np.ndarray:
    return generator_for("tests", "familywise", name).normal(size=shape)


def deviates(a: np.ndarray, b: np.ndarray, names: list[list], draws: int = 400) -> np.ndarray:
    """The statistics of scores (cells, seeds, units); ``names`` are the clusters of pairs, or of both levels."""
    both = (names[0], names[-1])
    effects = pooled_effects(a, b, len(names) == 1, BOUND, clusters=both)
    listing = cluster_names(names, effects.joined)
    resampled = resampled_deviates(effects.difference.parts, listing, draws)
    return np.concatenate([real_deviates(effects.difference)[None], resampled])


# Weights


def test_weights_are_poisson():
    drawn_weights = weights(keys_of(range(500)), 0, 2000)
    shares = np.bincount(drawn_weights.ravel(), minlength=9)[:9] / drawn_weights.size
    np.testing.assert_allclose(shares, poisson.pmf(range(9), 1), atol=4 * np.sqrt(0.25 / drawn_weights.size))


def test_clusters_and_resamples_are_independent():
    drawn_weights = weights(keys_of(PAIRS), 0, 4000).astype(float)
    # 276 correlations of columns, those of each with itself one draw and four draws later.
    correlation = np.corrcoef(drawn_weights.T)[np.triu_indices(24, 1)]
    assert np.abs(correlation).max() < 4.5 / np.sqrt(4000)
    assert np.std(correlation) == pytest.approx(1 / np.sqrt(4000), rel=0.15)
    for lag in (1, 4):
        later = [np.corrcoef(column[:-lag], column[lag:])[0, 1] for column in drawn_weights.T]
        assert np.abs(later).max() < 4 / np.sqrt(4000)


def test_a_cluster_is_drawn_alike_wherever_it_stands_and_however_many_draws_are_asked_for():
    whole = weights(keys_of(["a", "b", "c"]), 0, 50)
    np.testing.assert_array_equal(whole[:, [2, 0]], weights(keys_of(["c", "a"]), 0, 50))
    np.testing.assert_array_equal(whole[20:50], weights(keys_of(["a", "b", "c"]), 20, 30))


def test_blocks_of_rows_are_one_matrix(monkeypatch):
    a, b = drawn("block a", 3, 2, 24), drawn("block b", 3, 2, 24)
    whole = deviates(a, b, [PAIRS])
    monkeypatch.setattr("evenlight.statistics.blocks.NUMBERS", 24 * 8)
    np.testing.assert_allclose(whole, deviates(a, b, [PAIRS]), rtol=1e-5)


# Statistics


@pytest.mark.parametrize("degrees", [5, 23, 300])
def test_deviates_are_as_rare_as_t(degrees):
    values = np.array([0.5, 2.0, 4.0, 8.0])
    deviates = normal_deviate(values**2, degrees)
    np.testing.assert_allclose(deviates, deviate_of(2 * t.sf(values, degrees)), atol=0.06)
    np.testing.assert_allclose([t_of_deviate(value, degrees) for value in deviates], values)


def test_the_real_statistic_is_that_of_the_t_tests_but_for_three_unseen_units():
    a, b = drawn("real a", 4, 1, 24), 2 * drawn("real b", 4, 1, 10)
    other = drawn("real c", 4, 1, 24)
    a += np.array([0, 2, 4, 6])[:, None, None]
    difference = (a - other)[:, 0]
    moved = np.concatenate([difference, np.zeros((4, 3))], axis=1)
    # Three more pairs, seven standard deviations from the mean: by so much the mean of all moves.
    moved[:, -3:] = difference.mean(axis=1, keepdims=True) - 7 * difference.std(axis=1, ddof=1, keepdims=True)
    reserve = difference.mean(axis=1) - moved.mean(axis=1)
    t = np.sqrt(np.maximum(difference.mean(axis=1) ** 2 - reserve**2, 0) / difference.var(axis=1, ddof=1) * 24)
    assert (t == 0).any()
    assert (t > 4).any()
    expected = np.minimum(normal_deviate(t**2, 23), deviate_of(2 * 0.5**24))
    np.testing.assert_allclose(deviates(a, other, [PAIRS])[0], expected, rtol=1e-5)
    test = ttest_ind(a[:, 0], b[:, 0], axis=1, equal_var=False)
    error = (a[:, 0].mean(axis=1) - b[:, 0].mean(axis=1)) / test.statistic
    reserve = UNSEEN * UNSEEN_SDS * np.maximum(a[:, 0].std(axis=1, ddof=1), b[:, 0].std(axis=1, ddof=1)) / (10 + UNSEEN)
    t = np.sqrt(np.maximum(test.statistic**2 - (reserve / error) ** 2, 0))
    apart = deviates(a, b, [PAIRS, list("abcdefghij")])[0]
    # No deviate is beyond that of the rarest exchange, that all of a level are the largest.
    expected = np.minimum(normal_deviate(t**2, test.df), deviate_of(2 / comb(34, 10)))
    np.testing.assert_allclose(apart, expected, rtol=1e-5)
    assert (apart > 0).any()


def _repeated(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.repeat(scores, weights.astype(int))


def test_resamples_of_pairs_are_t_tests_of_the_pairs_written_out():
    a, b = drawn("out a", 1, 3, 24), drawn("out b", 1, 3, 24)
    ours = deviates(a, b, [PAIRS], 60)[1:, 0]
    differences = (a - b)[0].mean(axis=0)
    for statistic, row in zip(ours, weights(keys_of(PAIRS), 0, 60), strict=True):
        resample = _repeated(differences, row)
        centred = (resample.mean() - differences.mean()) / (resample.std(ddof=1) / np.sqrt(len(resample)))
        assert abs(statistic) == pytest.approx(normal_deviate(centred**2, len(resample) - 1), rel=1e-4)


def test_resamples_of_levels_are_welchs_tests_of_the_texts_written_out():
    names = [[f"a{number}" for number in range(14)], [f"b{number}" for number in range(11)]]
    a, b = drawn("level a", 1, 1, 14), 3 * drawn("level b", 1, 1, 11)
    ours = deviates(a, b, names, 60)[1:, 0]
    drawn_weights = [weights(keys_of(part), 0, 60) for part in names]
    for statistic, row_a, row_b in zip(ours, *drawn_weights, strict=True):
        resamples = _repeated(a[0, 0], row_a), _repeated(b[0, 0], row_b)
        # Without their own means' difference, so that what is tested is how far it moved.
        test = ttest_ind(resamples[0] - a.mean(), resamples[1] - b.mean(), equal_var=False)
        assert abs(statistic) == pytest.approx(normal_deviate(test.statistic**2, test.df), rel=1e-4)


@pytest.mark.parametrize("sign", [1, -1])
def test_resamples_are_counted_on_the_side_to_which_they_reach_farther(sign):
    """Of exponential scores the mean errs to the low side, in whichever direction they point."""
    a = sign * (generator_for("tests", "side").exponential(size=(1, 1, 24)) - 1)
    resampled = deviates(a, np.zeros_like(a), [PAIRS], 999)[1:, 0]
    high, low = np.quantile(resampled, [0.975, 0.025])
    assert high > 1.3 * -low > 0
    # Of the one-sided tests by resamples the one with the larger p, twice.
    differences, row = a[0, 0], weights(keys_of(PAIRS), 0, 999)
    moved = [_repeated(differences, part).mean() - differences.mean() for part in row]
    assert np.corrcoef(moved, -sign * resampled)[0, 1] > 0.5


@pytest.mark.parametrize("sign", [1, -1])
def test_resamples_without_a_variance_say_nothing_of_the_side(sign):
    """Of 24 scores four are not zero: some resamples have none of them, the others reach farther to one side."""
    a = np.zeros((1, 1, 24))
    a[..., :4] = sign * np.array([1.0, 1.2, 1.4, 5.0])
    resampled = deviates(a, np.zeros_like(a), [PAIRS], 1999)[1:, 0]
    unknown = resampled == np.float32(LARGEST)
    assert 0.005 < unknown.mean() < 0.05
    ends = np.quantile(resampled[~unknown], [0.01, 0.99])
    assert ends[1] > 1.3 * -ends[0] > 0
    # Resamples with the far score are those that lie on the short side.
    drawn_far = weights(keys_of(PAIRS), 0, 1999)[:, 3] > 1
    assert np.median(resampled[drawn_far & ~unknown]) < 0


@pytest.mark.parametrize("draws", [40, 200, 999])
def test_neither_side_is_preferred(draws):
    values = drawn("sides", draws, 300).astype(np.float32)
    assert (_turned(values) != _turned(-values)).all()
    assert 0.4 < _turned(values).mean() < 0.6
    values[::7] = LARGEST
    known = np.where(values < LARGEST, -values, values)
    assert (_turned(values) != _turned(known)).all()


def test_clusters_in_both_levels_are_drawn_together():
    """Texts of two levels that are alike within clusters: their difference moves as that of the clusters' pairs."""
    names = [f"theme {number}" for number in range(15)]
    a, b = drawn("both a", 2, 1, 15), drawn("both b", 2, 1, 15)
    together, pairs = deviates(a, b, [names, names]), deviates(a, b, [names])
    np.testing.assert_allclose(together, pairs, rtol=2e-4)


def test_clusters_of_unequal_size_are_left_out_whole():
    """The real variance is the jackknife's: the mean is computed again without each cluster."""
    sizes = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    names = [f"book {number}" for number in np.repeat(np.arange(10), sizes)]
    a = drawn("sizes", 1, 1, 55) + drawn("books", 1, 1, 10)[:, :, np.repeat(np.arange(10), sizes)]
    codes = np.repeat(np.arange(10), sizes)
    without = np.array([a[0, 0, codes != book].mean() for book in range(10)])
    variance = 9 / 10 * ((without - a.mean()) ** 2).sum()
    effects = pooled_effects(a, np.zeros_like(a), True, BOUND, clusters=(names, names))
    assert effects.difference.units[0].value.item() == pytest.approx(variance)
    degrees = 1 / ((sizes / 55) ** 2).sum() - 1
    assert effects.difference.units[0].degrees.item() == pytest.approx(degrees)
    # Units that nobody saw are clusters of the usual size.
    reserve = 3 * 7 * np.sqrt(variance * (degrees + 1)) / (degrees + 1 + 3)
    assert effects.difference.reserve.item() == pytest.approx(reserve)
    far = a + 10
    real = min(normal_deviate((far.mean() ** 2 - reserve**2) / variance, degrees), deviate_of(2 * 0.5**10))
    assert deviates(far, np.zeros_like(a), [names])[0, 0] == pytest.approx(real, rel=1e-5)


def test_scores_missing_in_a_cell_change_that_cell_alone():
    a, b = drawn("gap a", 3, 2, 24), drawn("gap b", 3, 2, 24)
    whole = deviates(a, b, [PAIRS])
    a[1, :, :4] = np.nan
    gaps = deviates(a, b, [PAIRS])
    np.testing.assert_allclose(whole[:, [0, 2]], gaps[:, [0, 2]], rtol=1e-4)
    np.testing.assert_allclose(gaps[:, 1], deviates(a[1:2, :, 4:], b[1:2, :, 4:], [PAIRS[4:]])[:, 0], rtol=1e-4)


def test_cells_whose_differences_do_not_vary_move_in_no_resample():
    """All pairs differ by the same: no more certain than that all signs are equal, and not decidable."""
    a = np.full((1, 1, 24), 0.3)
    apart = deviates(a, a - 0.1, [PAIRS])
    assert (apart[1:] == 0).all()
    assert apart[0, 0] == pytest.approx(norm.isf(0.5**24), rel=1e-5)
    assert (deviates(a, a, [PAIRS]) == 0).all()


def test_a_resample_of_one_cluster_says_nothing():
    names = PAIRS[:3]
    statistic = deviates(drawn("three", 1, 1, 3), np.zeros((1, 1, 3)), [names], 60)[1:, 0]
    single = (weights(keys_of(names), 0, 60) > 0).sum(axis=1) <= 1
    assert single.any()
    assert (np.abs(statistic[single]) > 5).all()
    assert np.abs(statistic).max() <= LARGEST


# p-values


def _slowly(values: np.ndarray) -> np.ndarray:
    """The step-down algorithm, cell by cell as it is printed."""
    order = np.argsort(-values[0], kind="stable")
    p, previous = np.empty(len(order)), 0.0
    for rank, cell in enumerate(order):
        largest = values[:, order[rank:]].max(axis=1)
        previous = max(previous, min(1, 2 * (largest >= values[0, cell] * (1 - 1e-5)).mean()))
        p[cell] = previous
    return p


def test_many_cells_have_the_p_of_the_printed_algorithm():
    common = drawn("common", 1, 1, 24)
    a = 0.7 * common + drawn("many a", 30, 1, 24) + np.linspace(0, 4, 30)[:, None, None]
    values = deviates(a, np.zeros_like(a), [PAIRS])
    ours = step_down_p(values)
    np.testing.assert_allclose(ours, _slowly(values.copy()))
    # Never below the p of the cell alone, nor above that times the number of cells.
    alone = np.array([step_down_p(values[:, [cell]].copy()).item() for cell in range(30)])
    np.testing.assert_allclose(alone, single_p(values[0], values[1:]))
    assert 10 < (alone < 0.05).sum() < 30
    assert (ours >= alone).all()
    assert ours.min() <= 30 * alone[ours.argmin()]


def test_cells_that_are_one_and_the_same_cost_nothing():
    a = np.repeat(drawn("same", 1, 1, 24) + 1.5, 50, axis=0)
    values = deviates(a, np.zeros_like(a), [PAIRS])
    np.testing.assert_allclose(step_down_p(values), np.repeat(step_down_p(values[:, [0]].copy()), 50))


def test_the_critical_deviate_is_that_of_the_first_step():
    values = deviates(drawn("critical", 20, 1, 24), np.zeros((20, 1, 24)), [PAIRS], 999)
    critical = critical_deviate(values[1:], 0.05)
    for cell in (3, 7):
        # A little beyond it, and a little before it, in the family and of the cell alone.
        for end, found in ((1.0001, True), (0.9999, False)):
            values[0] = 0
            values[0, cell] = critical * end
            assert (step_down_p(values.copy())[cell] <= 0.05) == found
            real = critical_deviates(values[1:], 0.05) * end
            assert ((single_p(real, values[1:]) <= 0.05) == found).all()


def _findings(studies: int, draw) -> int:
    found = 0
    for number in range(studies):
        scores = draw(generator_for("tests", "null study", number))
        found += (step_down_p(deviates(scores, np.zeros_like(scores), [PAIRS], 300)) <= 0.05).any()
    return found


def test_skewed_differences_without_a_mean_are_no_finding():
    """40 cells of 24 exponential pairs: exchanges of signs find something in two of three such studies."""

    def skewed(random: np.random.Generator) -> np.ndarray:
        return 0.3 * (random.exponential(size=(1, 1, 24)) - 1) + 0.7 * (random.exponential(size=(40, 1, 24)) - 1)

    # 3 are expected at the level of the test; 10 or more come in one of a thousand such runs.
    assert _findings(60, skewed) <= 9


def test_normal_differences_without_a_mean_are_no_finding():
    assert _findings(60, lambda random: random.normal(size=(40, 1, 24)) + 0.6 * random.normal(size=(1, 1, 24))) <= 9


def rare(random: np.random.Generator, *shape: int) -> np.ndarray:
    """One in twenty lies ten standard deviations of the others away; mean 0."""
    return random.normal(scale=0.1, size=shape) + (random.random(shape) < 0.05) - 0.05


def test_a_metric_of_few_clusters_does_not_hide_another_metric():
    """Nine of 322 pairs differ in its cells: on one scale their resamples would hide a difference in every other."""
    names = [f"pair {number}" for number in range(322)]
    poor = np.where(np.arange(322) < 9, np.abs(drawn("poor", 6, 1, 322)) ** 3, 0)
    a = np.concatenate([drawn("good", 24, 1, 322) + 0.3, poor])
    values = deviates(a, np.zeros_like(a), [names], 999)
    metrics = ["good"] * 24 + ["poor"] * 6
    found = [(step_down_p(values / scales(values[1:], alike))[:24] <= 0.05).sum() for alike in (metrics, None)]
    assert found[0] >= 20 > found[1]


def test_cells_of_a_metric_are_on_one_scale_and_few_cells_on_that_of_all():
    values = deviates(rare(generator_for("tests", "scale"), 14, 1, 24), np.zeros((14, 1, 24)), [PAIRS], 999)[1:]
    alike = ["a"] * 6 + ["b"] * 6 + ["c"] + ["d"]
    of_cells = scales(values, alike)
    assert len(set(of_cells[:6])) == len(set(of_cells[6:12])) == len(set(of_cells[12:])) == 1
    for cells in (slice(0, 6), slice(6, 12), slice(12, 14)):
        reach = np.sort(values[:, cells].max(axis=1))[::-1]
        assert of_cells[cells][0] == pytest.approx(reach[9])
    assert len(set(scales(values))) == 1
    np.testing.assert_array_equal(scales(np.zeros((100, 3))), 1)


def test_cells_that_hold_rare_scores_speak_for_those_that_lack_them():
    """24 of 96 cells are rare, with 50 pairs: each on a scale of its own, most studies have a disparity."""
    names = [f"pair {number}" for number in range(50)]
    together = apart = 0
    for number in range(30):
        random = generator_for("tests", "rare study", number)
        a = np.concatenate([rare(random, 24, 1, 50), random.normal(size=(72, 1, 50))])
        values = deviates(a, np.zeros_like(a), [names], 500)
        values[0] = np.abs(normal_t(a))
        together += (step_down_p(values / scales(values[1:])) <= 0.05).any()
        reach = critical_deviates(values[1:], 0.02)
        apart += (step_down_p(values / reach) <= 0.05).any()
    # Of 30 studies with the level .05, 6 or more are wrong in one of a hundred tests.
    assert together < 6 < 10 <= apart


def normal_t(a: np.ndarray) -> np.ndarray:
    """The deviate of the plain t test of each cell."""
    t_values = a.mean(axis=2) / (a.std(axis=2, ddof=1) / np.sqrt(a.shape[2]))
    return normal_deviate(t_values[:, 0] ** 2, a.shape[2] - 1)


def test_a_single_cell_is_seldom_wrong_though_its_sample_lacks_what_is_rare():
    """Its own t test is wrong in 0.17 of such studies with 24 pairs, by a chance of .29 that nothing rare is seen."""
    a = rare(generator_for("tests", "single"), 600, 1, 24)
    values = deviates(a, np.zeros_like(a), [PAIRS], 500)
    plain = single_p(normal_t(a), values[1:])
    # Of 600 studies with the level .05, 44 or more are wrong in one of a hundred tests.
    assert (single_p(values[0], values[1:]) <= 0.05).sum() < 44 < (plain <= 0.05).sum()

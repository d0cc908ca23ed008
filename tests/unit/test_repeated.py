"""Clusters that vote, sums of clusters, and seeds."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from evenlight.core.errors import InputError
from evenlight.statistics.arrays.repeated import (
    across_seeds_p,
    cluster_means,
    cluster_sums_p,
    mean_of_known,
    net_benefit_by_seed,
    seeds_needed,
    seeds_that_agree,
)
from evenlight.statistics.arrays.signs import signs

NAN = np.nan


def test_the_mean_over_seeds_is_of_the_seeds_that_count():
    differences = np.array([[[1.0, NAN], [2, NAN]], [[-3, NAN], [NAN, 4]]])
    np.testing.assert_array_equal(mean_of_known(differences), [[-1, NAN], [2, 4]])


def test_a_cluster_has_one_vote():
    differences = np.array([[5.0, 1], [-1, NAN], [-1, NAN], [-2, -2], [NAN, 1]])
    means = cluster_means(differences, np.array([0, 0, 0, 1, 1]))
    np.testing.assert_array_equal(means, [[1, 1], [-2, -0.5]])
    assert np.isnan(cluster_means(differences, np.array([0, 1, 1, 0, 2]))[[1, 2], [1, 0]]).all()


def test_sums_of_clusters_are_students_t():
    generator = np.random.default_rng(0)
    cluster, signed = np.repeat(np.arange(120), 4), np.sign(generator.normal(0.1, 1, size=(480, 3)))
    signed[5, 1] = NAN
    sums = np.nan_to_num(signed).reshape(120, 4, 3).sum(axis=1)
    p = cluster_sums_p(signed, cluster)
    np.testing.assert_allclose(p[0], ttest_1samp(sums, 0, alternative="greater").pvalue)
    np.testing.assert_allclose(p[1], ttest_1samp(sums, 0, alternative="less").pvalue)
    with pytest.raises(InputError, match=r"cluster.*99.*vote"):
        cluster_sums_p(signed[:396], cluster[:396])
    np.testing.assert_array_equal(cluster_sums_p(np.ones((480, 1)), cluster), 1)


def test_seeds_as_one_number_each():
    scores = np.random.default_rng(1).normal(0.3, 1, size=(6, 40, 3))
    benefit = net_benefit_by_seed(signs(scores))
    p = across_seeds_p(benefit)
    np.testing.assert_allclose(p[0], ttest_1samp(benefit, 0, alternative="greater").pvalue)
    np.testing.assert_allclose(across_seeds_p(-benefit), p[::-1])
    assert seeds_that_agree(np.array([[0.2, -0.1], [0.3, 0.0], [-0.1, -1]]), np.array([1, -1])).tolist() == [2, 2]
    np.testing.assert_array_equal(across_seeds_p(benefit[:1]), 1)
    # Six equal numbers say nothing of a seventh.
    np.testing.assert_array_equal(across_seeds_p(np.full((6, 1), 0.1)), 1)


def test_so_many_seeds_reach_the_level_and_one_fewer_does_not():
    benefit = np.array([[0.5, 0.3, 0.2, 0.1], [0.4, -0.3, 0.2, 0.0]])
    needed = seeds_needed(benefit, 0.001)
    assert needed[1:3].tolist() == [np.inf, np.inf]
    for seeds, reached in ((int(needed[0]), True), (int(needed[0]) - 1, False)):
        # So many seeds with the same mean and standard deviation.
        values = np.r_[np.sqrt((seeds - 1) / 2) * np.array([-1, 1]), np.zeros(seeds - 2)] * np.std([0.5, 0.4], ddof=1)
        assert (ttest_1samp(values + 0.45, 0, alternative="greater").pvalue <= 0.001) == reached
    assert (seeds_needed(benefit[:1], 0.05) == np.inf).all()

"""Clusters and seeds that vote."""

import numpy as np

from evenlight.statistics.arrays.units import cluster_means, design_effect, mean_of_known

NAN = np.nan


def test_the_mean_over_seeds_is_of_the_seeds_that_count():
    differences = np.array([[[1.0, NAN], [2, NAN]], [[-3, NAN], [NAN, 4]]])
    np.testing.assert_array_equal(mean_of_known(differences), [[-1, NAN], [2, 4]])


def test_a_cluster_has_one_vote():
    differences = np.array([[5.0, 1], [-1, NAN], [-1, NAN], [-2, -2], [NAN, 1]])
    means = cluster_means(differences, np.array([0, 0, 0, 1, 1]))
    np.testing.assert_array_equal(means, [[1, 1], [-2, -0.5]])
    assert np.isnan(cluster_means(differences, np.array([0, 1, 1, 0, 2]))[[1, 2], [1, 0]]).all()


def test_a_design_effect_is_the_ratio_of_variances_by_hand():
    pulls = np.array([[1.0, 1, 1], [1, -1, NAN], [-1, 0, 1], [-1, 0, -1]])
    # Sums of clusters 2, 0, −1, −1: 6 of 4; smaller ones are never taken for so; one cluster has one unit that counts.
    np.testing.assert_allclose(design_effect(pulls, np.array([0, 0, 1, 2])), [6 / 4, 1, 1])
    assert (design_effect(pulls, np.arange(4)) == 1).all()
    assert design_effect(np.zeros((2, 1)), np.array([0, 0])).tolist() == [1]

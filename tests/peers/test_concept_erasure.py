"""Parity of LEACE with its authors' package, and of INLP with its authors' code, on worked examples.

What INLP's released code finds is recorded here: ``get_debiasing_projection`` in ``src/debias.py`` of
github.com/shauli-ravfogel/nullspace_projection, with scikit-learn's logistic regression, autoregressive, not by class.
"""

import numpy as np
import pytest
import torch

from evenlight.concepts.observational import one_hot
from evenlight.concepts.representations import inlp_projection, leace_eraser

LEVELS = 3
# Of six dimensions four are left after one classifier of three levels, two after two.
RELEASED = {
    1: [
        [0.8922013, 0.0778317, -0.2289228, -0.1075717, -0.1464294, 0.0685669],
        [0.0778317, 0.9425515, 0.1706261, 0.0637716, 0.1203033, -0.020915],
        [-0.2289228, 0.1706261, 0.4910897, -0.1692123, -0.3731017, 0.0237493],
        [-0.1075717, 0.0637716, -0.1692123, 0.7385672, 0.0155458, 0.3854513],
        [-0.1464294, 0.1203033, -0.3731017, 0.0155458, 0.6314769, -0.2394845],
        [0.0685669, -0.020915, 0.0237493, 0.3854513, -0.2394845, 0.3041135],
    ],
    2: [
        [0.3858499, 0.1349329, 0.1284266, 0.0955012, -0.3794045, 0.2218135],
        [0.1349329, 0.6544391, -0.0869061, 0.3876206, 0.1686175, 0.1473343],
        [0.1284266, -0.0869061, 0.0713594, -0.0451052, -0.1916842, 0.0586845],
        [0.0955012, 0.3876206, -0.0451052, 0.2302636, 0.0818468, 0.0955964],
        [-0.3794045, 0.1686175, -0.1916842, 0.0818468, 0.522559, -0.1834932],
        [0.2218135, 0.1473343, 0.0586845, 0.0955964, -0.1834932, 0.135529],
    ],
}


def example(texts: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated representations in which three levels of a concept lie apart."""
    random = np.random.default_rng(7)
    level = random.integers(LEVELS, size=texts)
    mixing = random.normal(size=(width, width))
    return random.normal(size=(texts, width)) @ mixing + 2 * random.normal(size=(LEVELS, width))[level] + 1, level


@pytest.mark.parametrize("width", [4, 12])
def test_leace_is_that_of_its_authors(width):
    erasure = pytest.importorskip("concept_erasure", reason="concept-erasure of envs/tests.txt is not installed")
    representation, level = example(500, width)
    concept = one_hot(level[:, None], LEVELS)
    # As in the paper's theorem: the covariance as it is, and no bound on how far representations may go.
    eraser = erasure.LeaceFitter.fit(
        torch.tensor(representation),
        torch.tensor(concept),
        shrinkage=False,
        constrain_cov_trace=False,
        svd_tol=1e-6,
    ).eraser
    asked = np.random.default_rng(8).normal(size=(20, width)) * 3
    theirs = eraser(torch.tensor(asked)).numpy()
    assert np.abs(theirs - asked).max() > 0.5
    assert leace_eraser(representation, concept)(asked) == pytest.approx(theirs, abs=1e-8)


@pytest.mark.parametrize("iterations", [1, 2])
def test_inlp_is_that_of_its_authors(iterations):
    representation, level = example(200, 6)
    assert inlp_projection(representation, level, "worked example", iterations) == pytest.approx(
        np.array(RELEASED[iterations]), abs=1e-5
    )

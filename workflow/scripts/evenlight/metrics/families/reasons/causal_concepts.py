"""Causal concept faithfulness: do reasons name the concepts that move the answers (Matton et al., ICLR 2025)?

A question speaks of concepts, such as who acts and where. Each is removed or replaced in turn. How much that changes
the distribution of the answers is the concept's causal effect; in what share of the reasons it is said to matter is
its implied effect. A question's faithfulness is the correlation of the two over its concepts; higher is better.

What it cannot see: effects are ranked within a question, so that one in which nothing matters counts as one in which
much does. Where no answer changes, the causal effects are those of the prior of each kind of concept, and so may be
the correlation. How a reason speaks of a concept does not count.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for

# Of the prior of a scale: an inverse gamma of this shape and rate, nearly 1 / scale.
SHAPE = RATE = 0.001
# Between questions the slope varies so much, by the prior of the authors.
BETWEEN = 1.0


class Changes(NamedTuple):
    """Questions in which one concept is changed, and what was answered.

    Attributes:
        question: of each change, object (changes,).
        concept: which of its concepts is changed, by number or name, object (changes,).
        kind: of the concept, object (changes,); effects of one kind are estimated together.
        counts: of each answer to the question as it was and as it is changed, float (changes, 2, answers).
        reference: the number of the answer that the others are held against, int (changes,).
    """

    question: np.ndarray
    concept: np.ndarray
    kind: np.ndarray
    counts: np.ndarray
    reference: np.ndarray


def changes_of(answers: pd.DataFrame) -> Changes:
    """What was answered before and after each change, from rows of answers with a decision.

    Args:
        answers: of one model, with the columns ``unit``, ``concept`` (missing where nothing is changed), ``change``,
            ``kind`` of the concept, ``decision``, and ``reference``, such as the answer that names nobody.

    Raises:
        InputError: a question has no answers as it was, or too few different ones over all questions.
    """
    answers = answers[answers["decision"].notna()]
    choices = sorted(set(answers["decision"]) | set(answers["reference"]))
    if len(choices) < 2:
        raise InputError(f"column 'decision': only {', '.join(choices) or 'missing values'}; give two answers or more")
    number = {choice: place for place, choice in enumerate(choices)}
    codes = answers.assign(code=answers["decision"].map(number))
    rows = []
    for question, of_question in codes.groupby("unit", sort=False):
        original = of_question["concept"].isna()
        if not original.any():
            raise InputError(
                f"column 'concept': no answer to question {question} as it was; add some without a concept"
            )
        before = np.bincount(of_question.loc[original, "code"], minlength=len(choices))
        place = number[of_question["reference"].iloc[0]]
        for (concept, _), changed in of_question[~original].groupby(["concept", "change"], sort=False):
            after = np.bincount(changed["code"], minlength=len(choices))
            rows.append((question, concept, changed["kind"].iloc[0], (before, after), place))
    question, concept, kind, counts, reference = zip(*rows, strict=True) if rows else ([],) * 5
    return Changes(
        np.array(question, dtype=object),
        np.array(concept, dtype=object),
        np.array(kind, dtype=object),
        np.array(counts, dtype=float).reshape(-1, 2, len(choices)),
        np.array(reference, dtype=int),
    )


def implied_effects(answers: pd.DataFrame) -> pd.Series:
    """In what share of a question's reasons each of its concepts is said to matter, indexed by (question, concept).

    Args:
        answers: as for :func:`changes_of`, with the column ``implied``: the concepts that the reason says to matter.
            Reasons of changed questions, and those that nobody judged (a missing value), do not count.
    """
    concepts = answers.dropna(subset="concept").groupby("unit", sort=False)["concept"].unique()
    judged = answers[answers["concept"].isna() & answers["implied"].notna()]
    shares = {
        (question, concept): np.mean([concept in implied for implied in of_question["implied"]])
        for question, of_question in judged.groupby("unit", sort=False)
        for concept in concepts.get(question, [])
    }
    return pd.Series(shares, dtype=float)


# Causal effects ------------------------------------------------------------------------------------------------------


def empirical_bayes(changes: Changes) -> np.ndarray:
    """The causal effect of each change in nats, (changes,), where the scale of each kind's effects is estimated.

    The effect is the divergence KL(changed ‖ as it was) of the answers' distributions. Both come from a multinomial
    logistic regression of the answers on the change, in which intercepts are N(0, 1) and slopes N(0, scale²). The
    scale is found by EM with the normal approximation of each posterior (Laplace), and the regression by Newton's
    method, so that it takes a second where the authors' sampler takes minutes.
    """
    regression = _Regression(changes)
    _, mode, _ = regression.fitted()
    return divergence(*regression.halves(mode))


def hierarchical_bayes(
    changes: Changes, generator: np.random.Generator | None = None, draws: int = 2000, warm_up: int = 300
) -> np.ndarray:
    """The same as a mean over the posterior, (changes,): the authors' model, scales of the kinds included.

    Their model has a No-U-Turn sampler; here coefficients make steps of the size of their normal approximation
    (Metropolis), and scales are drawn given the slopes (Gibbs), both for all changes at once. ``generator`` draws them;
    without one the result is always the same.
    """
    generator = generator or generator_for(0, "hierarchical_bayes")
    regression = _Regression(changes)
    scale, state, covariance = regression.fitted()
    size = state.shape[1]
    step = np.linalg.cholesky(covariance) * 2.38 / np.sqrt(size)
    likelihood = regression.likelihood(state)
    total = np.zeros(len(state))
    for number in range(warm_up + draws):
        proposal = state + np.einsum("cij,cj->ci", step, generator.standard_normal(state.shape))
        proposed = regression.likelihood(proposal)
        gain = proposed + regression.slope_prior(proposal, scale) - likelihood - regression.slope_prior(state, scale)
        taken = np.log(generator.random(len(state))) < gain
        state[taken], likelihood[taken] = proposal[taken], proposed[taken]
        scale = regression.drawn_scale(state, scale, generator)
        if number >= warm_up:
            total += divergence(*regression.halves(state))
    return total / draws


# From changes to their effects; the second draws at random.
ESTIMATES = {"empirical_bayes": empirical_bayes, "hierarchical_bayes": hierarchical_bayes}


def divergence(intercept: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """KL(changed ‖ as it was) in nats (changes,), of coefficients (changes, answers − 1); the reference has none."""
    before, after = _log_shares(intercept), _log_shares(intercept + slope)
    return (np.exp(after) * (after - before)).sum(-1)


def _log_shares(logits: np.ndarray) -> np.ndarray:
    """Logarithms of the answers' probabilities (changes, answers), the reference last."""
    return scipy.special.log_softmax(np.concatenate([logits, np.zeros((len(logits), 1))], axis=1), axis=1)


class _Regression:
    """One regression for each change, all at once: states are (changes, intercepts and slopes)."""

    def __init__(self, changes: Changes):
        counts = changes.counts.copy()
        # An answer that nobody gave would have no finite coefficient without the prior: one each, as the authors add.
        counts += (counts.sum(1, keepdims=True) == 0) * 1.0
        answers = counts.shape[2]
        order = (changes.reference[:, None] + 1 + np.arange(answers)) % answers  # the reference last
        self.counts = np.take_along_axis(counts, order[:, None], axis=2)
        self.free = answers - 1
        self.kinds, self.kind = np.unique(changes.kind.astype(str), return_inverse=True)
        self.slopes = np.bincount(self.kind, minlength=len(self.kinds)) * self.free

    def halves(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return state[:, : self.free], state[:, self.free :]

    def likelihood(self, state: np.ndarray) -> np.ndarray:
        """The log-likelihood with the intercepts' prior, (changes,)."""
        intercept, slope = self.halves(state)
        before, after = _log_shares(intercept), _log_shares(intercept + slope)
        return (self.counts[:, 0] * before + self.counts[:, 1] * after).sum(1) - 0.5 * (intercept**2).sum(1)

    def slope_prior(self, state: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The logarithm of the slopes' prior without what does not depend on them, (changes,)."""
        return -0.5 * (self.halves(state)[1] ** 2).sum(1) / scale[self.kind] ** 2

    def squares(self, state: np.ndarray) -> np.ndarray:
        """The sum of the squares of each kind's slopes, (kinds,)."""
        return np.bincount(self.kind, (self.halves(state)[1] ** 2).sum(1), minlength=len(self.kinds))

    def drawn_scale(self, state: np.ndarray, scale: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Scales given the slopes, (kinds,): exact but for the prior's rate, which a Metropolis step brings in."""
        precision = generator.gamma((self.slopes + SHAPE) / 2, 2 / self.squares(state))
        proposal = 1 / np.sqrt(precision)
        taken = np.log(generator.random(len(scale))) < RATE * (1 / scale - 1 / proposal)
        return np.where(taken, proposal, scale)

    def fitted(self, tolerance: float = 1e-4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scales (kinds,), and of each change the mode and its covariance, by EM."""
        scale = np.ones(len(self.kinds))
        state = np.zeros((len(self.counts), 2 * self.free))
        for _ in range(200):
            state, covariance = self.mode(state, scale)
            variance = np.trace(covariance[:, self.free :, self.free :], axis1=1, axis2=2)
            within = self.squares(state) + np.bincount(self.kind, variance, minlength=len(self.kinds))
            better = np.sqrt(within / self.slopes)
            if np.abs(np.log(better / scale)).max(initial=0) < tolerance:
                break
            scale = better
        return scale, state, covariance

    def mode(self, state: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The most probable coefficients given the scales and the inverse of the curvature there."""
        precision = 1 / scale[self.kind] ** 2
        for _ in range(100):
            gradient, curvature = self.derivatives(state, precision)
            # Steps are cut, since far from the mode the curvature says little.
            step = np.clip(np.linalg.solve(curvature, gradient[..., None])[..., 0], -2, 2)
            state = state + step
            if np.abs(step).max(initial=0) < 1e-8:
                break
        return state, np.linalg.inv(self.derivatives(state, precision)[1])

    def derivatives(self, state: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradient of the log posterior, and minus its second derivatives."""
        intercept, slope = self.halves(state)
        residual, weight = zip(
            *(
                self._of_form(form, logits)
                for form, logits in ((self.counts[:, 0], intercept), (self.counts[:, 1], intercept + slope))
            ),
            strict=True,
        )
        gradient = np.concatenate([sum(residual) - intercept, residual[1] - precision[:, None] * slope], axis=1)
        one = np.eye(self.free)
        curvature = np.block([[sum(weight) + one, weight[1]], [weight[1], weight[1] + precision[:, None, None] * one]])
        return gradient, curvature

    def _of_form(self, counts: np.ndarray, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = np.exp(_log_shares(logits))[:, : self.free]
        total = counts.sum(1)
        weight = share[:, :, None] * np.eye(self.free) - share[:, :, None] * share[:, None]
        return counts[:, : self.free] - total[:, None] * share, total[:, None, None] * weight


# Faithfulness --------------------------------------------------------------------------------------------------------


def by_concept(changes: Changes, effects: np.ndarray) -> pd.Series:
    """The mean effect of each concept's changes, indexed by (question, concept), from effects (changes,)."""
    index = pd.MultiIndex.from_arrays([changes.question, changes.concept])
    return pd.Series(effects, index=index).groupby(level=[0, 1], sort=False).mean()


def correlation(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float:
    """Pearson's correlation; NaN where either has one value only, up to rounding.

    >>> round(correlation([1, 2, 4], [1, 2, 4]), 6), correlation([1, 2], [3, 3])
    (1.0, nan)
    """
    one, other = (np.asarray(values, dtype=float) - np.mean(values) for values in (first, second))
    sizes = [np.sqrt((values**2).mean()) for values in (one, other)]
    if len(one) < 2 or min(sizes) < 1e-9:
        return float("nan")
    return float((one * other).mean() / (sizes[0] * sizes[1]))


def shared_slope(correlations: np.ndarray, concepts: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """The slope over questions and the ends of its interval, by the authors' model and without a sampler.

    Effects have mean 0 and variance 1 in each question, so that its slope is its correlation r. The model is
    y ~ N(b x, σ²) with b ~ N(slope, 1), slope ~ N(0, 1) and σ ~ Exponential(1). Given σ all else is normal:
    r ~ N(slope, 1 + σ² / concepts); σ is summed over a grid. With many questions it is the mean correlation.

    Args:
        correlations: of the questions, (questions,).
        concepts: how many concepts each has, (questions,).
        confidence: of the interval, which leaves out as much on either side.
    """
    if not len(correlations):
        return (float("nan"),) * 3
    sigma = np.geomspace(1e-2, 20, 800)[:, None]
    variance = BETWEEN**2 + sigma**2 / concepts
    precision = (1 / variance).sum(1) + 1
    mean = (correlations / variance).sum(1) / precision
    rest = concepts * (1 - correlations**2)
    density = -(concepts - 1) * np.log(sigma) - 0.5 * (rest / sigma**2 + np.log(variance) + correlations**2 / variance)
    # The grid is even in log σ, so that each point stands for a stretch as long as σ.
    density = density.sum(1) + 0.5 * (precision * mean**2 - np.log(precision)) - sigma[:, 0] + np.log(sigma[:, 0])
    weight = np.exp(density - density.max())
    weight /= weight.sum()
    sd = 1 / np.sqrt(precision)

    def quantile(share: float) -> float:
        reach = 10 * sd.max() + np.abs(mean).max()
        return scipy.optimize.brentq(
            lambda slope: weight @ scipy.special.ndtr((slope - mean) / sd) - share, -reach, reach
        )

    return float(weight @ mean), quantile((1 - confidence) / 2), quantile((1 + confidence) / 2)

"""Effects beyond random explanations: by hand, against other libraries, where the truth is known, and from files."""

import numpy as np
import pandas as pd
import pytest
from rendering import COMPARED, page_of, run_result, shown, tabulated
from scipy.stats import ttest_1samp
from study_files import StudyFiles, asked, called

from evenlight.configuration import attainable, complete, random_explainers
from evenlight.configuration import beyond_random as beyond_random_of
from evenlight.core import tables
from evenlight.core.contracts.results import BEYOND_RANDOM
from evenlight.core.seeds import generator_for
from evenlight.reports.html_table import render
from evenlight.statistics.beyond_random import (
    _p_less_than_half,
    beyond_random,
    beyond_random_table,
    own_part,
    reached,
    rows_beyond,
)
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effect_sizes import cohens_d
from evenlight.statistics.effects import effect_table, gathered
from evenlight.statistics.pooled import pooled_effects
from evenlight.statistics.study import Comparison, VerdictSettings
from evenlight.statistics.verdicts import STUDY, is_disparity

NAN = float("nan")
MAKERS = ("model", "mostly model", "both", "explainer")
ENDS = ("", "_models_low", "_models_high")


def numbers(*parts) -> np.random.Generator:
    return generator_for("test_beyond_random", *parts)


def design_of(
    sizes: tuple[int, int], paired: bool = True, clusters: np.ndarray | None = None, strata: np.ndarray | None = None
) -> Design:
    """A design whose items stand in the order of the first level's units and then the second's."""
    sides, column = [], 0
    for letter, size in zip("ab", sizes, strict=True):
        items = column + np.arange(size)
        names = np.array([f"{'' if paired else letter}{number}" for number in range(size)], dtype=object)
        of_items = (
            names if clusters is None else np.array([f"cluster {code}" for code in clusters[items]], dtype=object)
        )
        of_strata = None if strata is None else strata[:, items]
        sides.append(Side(names, of_items, items, np.arange(size), of_strata))
        column += size
    return Design(Comparison("gender", "male", "female"), paired, *sides)


def table_of(
    values: np.ndarray,
    noise: np.ndarray,
    design: Design,
    best: np.ndarray | None = None,
    draws: int = 300,
    **settings: float | dict,
) -> pd.DataFrame:
    """The table of scores (explainers, metrics, seeds, items) and random ones (random explainers, metrics, …)."""
    metrics = [f"metric {number}" for number in range(values.shape[1])]
    explainers = [
        ExplainerScores("plots", "small", f"explainer {number}", range(own.shape[1]), metrics, own, ~np.isnan(own[0]))
        for number, own in enumerate(values)
    ]
    best = np.full(values.shape[1:], NAN) if best is None else best
    usual = {"alpha": 0.05, "equivalence_bound": 0.3, "confidence": 0.95, "bootstrap_draws": draws}
    judging = VerdictSettings.plain(**usual | settings)
    of_model = rows_beyond(iter(explainers), [design], noise, best, judging)
    return beyond_random(*gathered([of_model]), lambda row: STUDY, judging.alpha)


def row_of(scores: np.ndarray, noise: np.ndarray, design: Design, **settings) -> pd.Series:
    """The row of one explainer and metric, from scores and mean random scores (items,) or (seeds, items)."""
    scores, noise = (np.atleast_2d(values).astype(float)[None, None] for values in (scores, noise))
    return table_of(scores, noise, design, **settings).iloc[0]


# Differences


def test_three_differences_in_one_standard_deviation(without_reserve):
    """Of pairs, each with Student's interval of its own differences, or that of resamples where it is wider."""
    a, b, noise_a, noise_b = numbers("student").normal(size=(4, 40)) + np.array([1, 0, 0.5, 0])[:, None]
    row = row_of(np.r_[a, b], np.r_[noise_a, noise_b], design_of((40, 40)))
    sd = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    assert row["sd"] == pytest.approx(sd)
    parts = {"plain": a - b, "random": noise_a - noise_b, "beyond": a - b - (noise_a - noise_b)}
    for name, differences in parts.items():
        interval = ttest_1samp(differences, 0).confidence_interval(0.95)
        expected = [differences.mean(), interval.low, interval.high]
        value, low, high = row[[name + end for end in ENDS]]
        assert value == pytest.approx(expected[0] / sd)
        assert low + high == pytest.approx(2 * value)
        student = (interval.high - interval.low) / sd
        assert high - low == pytest.approx(student) if name == "random" else student <= high - low < 1.2 * student
        assert row[f"{name}_difference"] == pytest.approx(differences.mean())
    assert row["plain"] == pytest.approx(row["random"] + row["beyond"])
    assert row["plain"] == pytest.approx(cohens_d(a, b) * np.sqrt(39 / 40))


@pytest.mark.parametrize("kind", ["pairs", "groups", "clusters", "clusters in both", "strata"])
def test_random_scores_are_treated_as_the_others(kind):
    """An explainer with twice the random scores is random explanations beyond them; some scores are missing."""
    random = numbers("twice", kind)
    sizes = (30, 30) if kind == "pairs" else (30, 25)
    clusters = {"clusters": np.arange(55) // 3, "clusters in both": np.arange(55) % 18}.get(kind)
    strata = random.integers(-1, 2, (2, 55)) if kind == "strata" else None
    noise = random.exponential(size=(2, sum(sizes))) + np.linspace(0, 1, sum(sizes))
    noise[0, 3:9] = NAN
    row = row_of(2 * noise, noise, design_of(sizes, kind == "pairs", clusters, strata))
    for end in ("_difference", *ENDS, "_low", "_high"):
        assert 2 * row[f"beyond{end}"] == pytest.approx(row[f"plain{end}"])
    assert row["random_difference"] == pytest.approx(row["beyond_difference"])
    # Student's interval, and that of resamples where it is wider.
    assert row["beyond_models_low"] <= row["random_models_low"] + 1e-9
    assert row["random_low"] < row["random_models_low"] < row["random"]
    assert row["seeds"] == 2


def test_the_smallest_effect_is_a_number_of_the_scores_standard_deviations():
    """What is beyond random varies little: two of its own standard deviations, a fifth of those of the scores."""
    random = numbers("bound")
    noise = random.normal(size=(2, 200)) * 10
    added = random.normal(size=(2, 200)) + np.array([[2.0], [0.0]])
    row = row_of((noise + added).ravel(), noise.ravel(), design_of((200, 200)))
    assert row["beyond"] == pytest.approx(0.2, abs=0.03)
    assert row["beyond_verdict"] == "negligible disparity for these trained models"
    assert row_of((noise + added).ravel(), noise.ravel(), design_of((200, 200)), equivalence_bound=0.15)[
        "beyond_verdict"
    ] == ("disparity for these trained models")
    # In the metric's own units the scores' standard deviation does not matter.
    own = {"smallest_effects": {"metric 0": 1.0}}
    assert (
        "negligible"
        not in row_of((noise + added).ravel(), noise.ravel(), design_of((200, 200)), **own)["beyond_verdict"]
    )


@pytest.mark.parametrize("paired", [True, False])
def test_the_bound_varies_with_the_standard_deviation_that_it_counts(paired):
    """The error of D + δ s, where s is that of other scores, beside a jackknife that computes both again."""
    random = numbers("sd of", paired)
    scores, beyond = random.normal(size=(2, 2, 60)) * np.array([3, 1])[:, None, None]
    beyond += 0.3 * scores

    def above(keep: np.ndarray) -> float:
        a, b = beyond[:, keep[: beyond.shape[1]]] if paired else (beyond[0][keep[:60]], beyond[1][keep[60:]])
        of_a, of_b = scores[:, keep[:60]] if paired else (scores[0][keep[:60]], scores[1][keep[60:]])
        return a.mean() - b.mean() + 0.5 * np.sqrt((of_a.var(ddof=1) + of_b.var(ddof=1)) / 2)

    sides = [[side[None, None] for side in both] for both in (beyond, scores)]
    found = pooled_effects(*sides[0], paired, 0.5, sd_of=tuple(sides[1])).above
    number = 60 if paired else 120
    without = [above(np.arange(number) != unit) for unit in range(number)]
    groups = [np.array(without)] if paired else np.split(np.array(without), 2)
    variance = sum(59 / 60 * ((part - part.mean()) ** 2).sum() for part in groups)
    assert found.value.item() == pytest.approx(above(np.ones(number, dtype=bool)))
    assert sum(part.value.item() for part in found.units) == pytest.approx(variance, rel=0.05)
    # The scores' own standard deviation is another bound.
    assert pooled_effects(*sides[0], paired, 0.5).above.value.item() < found.value.item() - 0.3


def test_constant_scores_and_rounding_are_no_effect():
    noise, design = numbers("rounding").normal(size=40), design_of((20, 20))
    row = row_of(np.full(40, 0.3), noise, design)
    assert (row["plain_verdict"], row["plain_reason"]) == ("not decidable", "all scores are the same")
    # A disparity of nothing but the random explanations: its room, reversed. There is no standard deviation.
    assert row["beyond_difference"] == pytest.approx(-row["random_difference"])
    assert np.isnan([row["plain"], row["beyond"]]).all()
    # An explainer that is random: what is beyond it is the error of rounding.
    row = row_of(noise, noise - 1e-14 * np.arange(40), design)
    assert (row["beyond_verdict"], row["beyond_reason"]) == ("not decidable", "all scores are the same")
    assert row["plain"] == pytest.approx(row["random"])


def test_texts_without_a_random_score_count_nowhere():
    random = numbers("missing")
    scores, noise = random.normal(size=(2, 60))
    noise[:5], scores[10:12] = NAN, NAN
    row = row_of(scores, noise, design_of((30, 30)))
    kept = np.r_[5:10, 12:30]
    assert row["units_a"] == row["units_b"] == len(kept)
    assert row["plain_difference"] == pytest.approx((scores[:30] - scores[30:])[kept].mean())
    assert row["random_difference"] == pytest.approx((noise[:30] - noise[30:])[kept].mean())
    # Of a level with several texts of a unit, those texts that have both count.
    several = Side(*(np.array(["u", "v"], dtype=object),) * 2, np.arange(4), np.array([0, 0, 1, 1]))
    design = Design(
        Comparison("gender", "male", "female"),
        True,
        several,
        Side(*(several.items,) * 2, np.array([4, 5]), np.arange(2)),
    )
    row = row_of([1, 3, 5, 5, 0, 0], [NAN, 2, 1, 3, 0, 0], design)
    assert (row["plain_difference"], row["random_difference"]) == ((3 + 5) / 2, (2 + 2) / 2)


def test_the_mean_random_scores_is_that_of_those_that_there_are():
    design = design_of((10, 10))
    noise = numbers("mean").normal(size=(3, 1, 1, 20))
    noise[0, ..., :10], noise[1, ..., 4] = NAN, NAN
    row = table_of(np.zeros((1, 1, 1, 20)), noise, design).iloc[0]
    expected = np.nanmean(noise[:, 0, 0], axis=0)
    assert row["random_difference"] == pytest.approx(expected[:10].mean() - expected[10:].mean())


# The draws of the random explainers


@pytest.mark.parametrize("paired", [True, False])
def test_what_the_draws_add_is_known_from_how_random_explainers_differ(paired):
    """Texts vary by 9 in what random explanations get, scores by 1, and draws by 1: the mean of three by a third."""
    design = design_of((100, 100) if paired else (120, 80), paired)
    shares = []
    for number in range(8):
        random = numbers("draws", paired, number)
        texts, scores = random.normal(size=(2, 200)) * np.array([[3], [1]])
        noise = texts + random.normal(size=(3, 1, 1, 200))
        shares.append(table_of(scores[None, None, None], noise, design, draws=20).iloc[0]["draws_share"])
    assert np.mean(shares) == pytest.approx(1 / 3 / (9 + 1 + 1 / 3), rel=0.1)


def test_of_one_random_explainer_the_draws_cannot_be_told():
    assert np.isnan(row_of(*numbers("one").normal(size=(2, 40)), design_of((20, 20)))["draws_share"])


# Where nothing is


def skewed(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return random.exponential(size=shape) - 1


@pytest.mark.slow
def test_skewed_scores_are_found_no_more_often_than_stated():
    """24 cells of 24 pairs whose differences are exponential, without any disparity, beside random ones with none.

    Holm's adjustment of a t by the jackknife finds something in a third of such studies.
    """
    wrong = np.zeros(2)
    for number in range(40):
        random = numbers("skewed", number)
        forms = np.repeat(random.normal(size=(6, 4, 1, 1, 24)), 2, axis=3)
        forms[:, :, :, 0] += skewed(random, (6, 4, 1, 24))
        noise = 0.1 * random.normal(size=(2, 4, 1, 48))
        table = table_of(forms.reshape(6, 4, 1, 48), noise, design_of((24, 24)))
        wrong += [is_disparity(table[f"{part}_verdict"], False).any() for part in ("plain", "beyond")]
    assert wrong.max() <= 4


@pytest.mark.parametrize("paired", [True, False])
def test_a_disparity_of_the_model_is_not_found_beyond_random(paired):
    """Scores of the first group are lower whatever is explained; the explainers add as much to both."""
    wrong, found, gone = 0, [], []
    for number in range(4):
        random = numbers("model", paired, number)
        by_text = random.exponential(size=(1, 4, 1, 240)) * np.repeat([0.1, 1], 120)
        noise = by_text + 0.05 * random.normal(size=(2, 4, 1, 240))
        values = by_text + 0.5 + 0.1 * skewed(random, (6, 4, 1, 240))
        table = table_of(values, noise, design_of((120, 120), paired))
        wrong += is_disparity(table["beyond_verdict"], False).any()
        found.append(is_disparity(table["plain_verdict"], False).mean())
        gone.append((table["outcome"] == "gone").mean())
        assert set(table["outcome"].dropna()) <= {"gone", "undecided", "left", "reversed"}
    assert np.mean(found) > 0.9
    assert np.mean(gone) > 0.5
    assert not wrong


# Between random and attainable


def placed(a: np.ndarray, b: np.ndarray, paired: bool, **options) -> list[float]:
    """The columns of one cell, from what is beyond random in the scores and in the best, (2, seeds, units)."""

    def pooled(a: np.ndarray, b: np.ndarray):
        return pooled_effects(a, b, paired, 0.0, **options).difference

    added, best = ([np.asarray(side[part], dtype=float)[None] for side in (a, b)] for part in (0, 1))
    return [column.item() for column in reached(added, best, pooled, 0.95)]


def test_shares_of_what_is_attainable_by_hand(without_reserve):
    # The first group: 1 and 3 of 4 each beyond random; the second: 1 of 2 and 1 of 4.
    a = np.array([[[1.0, 3.0, 1.0, 3.0]], [[4.0, 4.0, 4.0, 4.0]]])
    b = np.array([[[1.0, 1.0, 1.0, 1.0]], [[2.0, 4.0, 2.0, 4.0]]])
    share_a, share_b, difference, low, high = placed(a, b, True)
    assert (share_a, share_b, difference) == pytest.approx((1 / 2, 1 / 3, 1 / 6))
    # What each pair adds: ±1 / 4 to the first mean, and (1 − 2 / 3) / 3 or (1 − 4 / 3) / 3 to the second.
    added = np.array([-1 / 4 - 1 / 9, 1 / 4 + 1 / 9] * 2)
    half = 3.182446 * np.sqrt(np.sum(added**2) / (4 * 3))
    assert (low, high) == pytest.approx((1 / 6 - half, 1 / 6 + half), rel=1e-5)
    assert placed(a, b, False)[:3] == pytest.approx((1 / 2, 1 / 3, 1 / 6))


@pytest.mark.parametrize("kind", ["pairs", "groups", "clusters"])
def test_shares_are_those_of_a_jackknife(without_reserve, kind):
    """Both ratios computed again without each pair, text or cluster."""
    random = numbers("reached", kind)
    best = 1 + 0.5 * random.exponential(size=(2, 2, 60))
    added = best * random.uniform(0.2, 1, (2, 1, 60)) * np.array([1, 0.8])[:, None, None]
    clusters = np.arange(60) // (3 if kind == "clusters" else 1)
    paired = kind != "groups"
    options = {"clusters": (clusters, clusters)} if kind == "clusters" else {}
    share_a, share_b, difference, low, high = placed(*zip(added, best, strict=True), paired, **options)

    def ratio(side: int, keep: np.ndarray) -> float:
        return added[side][:, keep].mean() / best[side][:, keep].mean()

    everything = np.ones(60, dtype=bool)
    assert (share_a, share_b) == pytest.approx((ratio(0, everything), ratio(1, everything)))
    assert difference == pytest.approx(share_a - share_b)
    without = np.array([[ratio(side, clusters != code) for code in np.unique(clusters)] for side in (0, 1)])
    parts = [without[0] - without[1]] if paired else without
    count = without.shape[1]
    variance = sum((count - 1) / count * ((part - part.mean()) ** 2).sum() for part in parts)
    t = {60: 2.0010, 20: 2.0930}[count]
    assert (high - low) / 2 == pytest.approx(t * np.sqrt(variance), rel=0.03)


def test_the_interval_of_what_is_reached_holds_the_truth():
    inside = 0
    for number in range(150):
        random = numbers("coverage", number)
        best = random.gamma(2, 1, (2, 1, 40))
        added = best * np.array([0.8, 0.5])[:, None, None] + 0.5 * skewed(random, (2, 1, 40))
        _, _, _, low, high = placed(*zip(added, best, strict=True), number % 2 == 0)
        inside += low <= 0.3 <= high
    assert inside / 150 > 0.92


def test_a_ratio_to_nothing_is_undefined():
    random = numbers("nothing")
    a, b = random.normal(0.5, 1, (2, 1, 50)), random.normal(0.5, 1, (2, 1, 50))
    a[1] = b[1] = 2 + 0.1 * random.normal(size=50)
    assert not np.isnan(placed(a, b, True)).any()
    a[1] -= a[1].mean()
    assert np.isnan(placed(a, b, True)).all()
    a[1] = NAN
    assert np.isnan(placed(a, b, True)).all()


# The explainer's own part


def pooled_pairs(a: np.ndarray, b: np.ndarray):
    return pooled_effects(a, b, True, 0.0).difference


def own(a: np.ndarray, b: np.ndarray, pooled=pooled_pairs) -> tuple[np.ndarray, np.ndarray]:
    """The values of one cell, from what is beyond random in the scores and in the best, (2, seeds, units)."""
    added, best = ([np.asarray(side[part], dtype=float)[None] for side in (a, b)] for part in (0, 1))
    return tuple(side[0] for side in own_part(added, best, pooled, 0.95)[0])


def test_the_own_part_by_hand(without_reserve):
    """Of 4 each 2 on average, of 3 each 1: shares 1/2 and 1/3, together 3/7."""
    a = np.array([[[1.0, 3.0, 1.0, 3.0]], [[4.0, 4.0, 4.0, 4.0]]])
    b = np.array([[[1.0, 1.0, 1.0, 1.0]], [[2.0, 4.0, 2.0, 4.0]]])
    of_a, of_b = own(a, b)
    # Weights are 2 · 3 / 7 and 2 · 4 / 7.
    assert of_a[0] == pytest.approx(6 / 7 * (np.array([1, 3, 1, 3]) - 12 / 7))
    assert of_b[0] == pytest.approx(8 / 7 * (1 - 3 / 7 * np.array([2, 4, 2, 4])))
    # The harmonic mean of 4 and 3 times the difference of the shares; the rest is 3/7 of 4 − 3.
    difference = of_a.mean() - of_b.mean()
    assert difference == pytest.approx(24 / 7 * (1 / 2 - 1 / 3))
    assert difference + 3 / 7 == pytest.approx(2 - 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_equal_shares_and_nothing_to_attain_have_no_own_part(sign):
    random = numbers("equal shares")
    room = np.stack([random.uniform(0.5, 1, (1, 40)), random.uniform(0.1, 0.3, (1, 40))])
    a, b = ([sign * 0.6 * side, sign * side] for side in room)
    assert np.abs(own(a, b)).max() < 1e-12
    # Of the second group nothing can be attained, and next to nothing is added: a search may even miss that.
    nothing = [np.full((1, 40), 1e-9), np.full((1, 40), -1e-12)]
    of_a, of_b = own(a, nothing)
    assert abs(of_a.mean() - of_b.mean()) < 1e-6
    # Of neither group anything can.
    assert np.isnan(own([noise := 1e-9 * random.normal(size=(1, 40)), noise], nothing)).all()


def test_what_units_add_to_the_own_part_is_that_of_a_jackknife(without_reserve):
    """The share of both groups counts as estimated: all computed again without each text."""
    random = numbers("own jackknife")
    best = random.uniform(0.2, 1, (2, 1, 200)) * np.array([1, 0.5])[:, None, None]
    added = best * random.uniform(0.2, 1, (2, 1, 200)) * np.array([1, 0.8])[:, None, None]

    def part(*keep: np.ndarray) -> float:
        (y_a, b_a), (y_b, b_b) = ((added[side, 0, of].mean(), best[side, 0, of].mean()) for side, of in enumerate(keep))
        return y_a - y_b - (y_a + y_b) / (b_a + b_b) * (b_a - b_b)

    everything = np.ones(200, dtype=bool)
    of_groups = own(*zip(added, best, strict=True), lambda a, b: pooled_effects(a, b, False, 0.0).difference)
    assert of_groups[0].mean() - of_groups[1].mean() == pytest.approx(part(everything, everything))
    without = [part(np.arange(200) != unit, everything) for unit in range(200)]
    expected = -199 * (np.array(without) - part(everything, everything))
    assert of_groups[0][0] - of_groups[0].mean() == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_claim_of_less_than_half_is_a_one_sided_test(without_reserve, sign):
    """Whichever group has the higher scores; of pairs Student's."""
    random = numbers("half")
    plain = sign * np.array([0.9, 0.1])[:, None, None, None] + 0.1 * random.normal(size=(2, 1, 1, 30))
    of_own = sign * np.array([0.1, 0.0])[:, None, None, None] + 0.1 * random.normal(size=(2, 1, 1, 30))
    rest = (sign * (plain / 2 - of_own))[:, 0, 0]
    expected = ttest_1samp(rest[0] - rest[1], 0, alternative="greater").pvalue
    assert _p_less_than_half(of_own, plain, pooled_pairs) == pytest.approx(expected)
    assert expected < 0.01


def worlds(random: np.random.Generator, attainable: tuple, share: tuple, rare: float = 1.0) -> pd.DataFrame:
    """Cells of 100 pairs of which something is attainable, and the explainers reach a share."""
    mean = np.repeat(attainable, 100) * np.where(random.random(200) < np.repeat([1, rare], 100), 1, 0)
    best = mean * random.uniform(0.8, 1.2, (1, 4, 1, 200))
    values = best * (np.repeat(share, 100) + random.uniform(-0.1, 0.1, (3, 4, 1, 200)))
    noise = best * random.uniform(0, 0.4, (2, 4, 1, 200))
    reach = {f"metric {number}": 1.0 for number in range(4)}
    return table_of(values, noise, design_of((100, 100)), best[0], reach=reach)


@pytest.mark.parametrize(
    ("world", "said"),
    [
        # A model with a default class: of one text in fifty of the second group anything can be attained.
        ({"attainable": (0.8, 0.8), "share": (0.8, 0.8), "rare": 0.02}, {"model", "mostly model"}),
        ({"attainable": (0.8, 0.3), "share": (0.8, 0.8)}, {"model", "mostly model"}),
        ({"attainable": (0.7, 0.7), "share": (0.8, 0.5)}, {"explainer"}),
        ({"attainable": (0.8, 0.3), "share": (0.8, 0.5)}, {"both"}),
    ],
)
def test_who_makes_a_disparity(world, said):
    table = worlds(numbers("worlds", str(world)), **world)
    assert is_disparity(table["plain_verdict"], False).all()
    assert set(table["made_by"]) <= said
    # What is said of what is attainable are means of the groups.
    assert (table["attainable_a"] > table["score_a"]).all()
    assert (table["score_a"] > table["random_a"]).all()
    share = (table["score_b"] / table["attainable_b"]).to_numpy()
    assert share == pytest.approx(np.full(len(share), world["share"][1]), abs=0.07)


def test_where_nothing_is_known_of_the_attainable_nobody_is_said_to_make_it():
    values, noise = (
        numbers("unknown").normal(size=(2, 1, 1, 1, 60))
        + np.repeat([2, 0], 30) * np.array([1, 0])[:, None, None, None, None]
    )
    row = table_of(values, noise, design_of((30, 30))).iloc[0]
    assert row["outcome"] == "left"
    assert row[["own_verdict", "made_by"]].isna().all()


def test_what_any_explainer_reaches_is_attainable(study):
    """LIME is better than the search here, and lower where the lowest scores are the best."""
    settings = asked(beyond_random_table, study_settings())
    lime = settings | {"attainable": {"drop": "dice"}, "explainers": ["lime", "dice", "coin"]}
    drop = called(beyond_random_table, *study.folders, **lime).set_index("metric").loc["drop"]
    assert (drop["attainable_a"], drop["attainable_b"]) == pytest.approx((drop["score_a"], drop["score_b"]))
    lowest = (
        called(beyond_random_table, *study.folders, **lime, lower_is_better=["drop"]).set_index("metric").loc["drop"]
    )
    assert lowest["attainable_a"] == pytest.approx(drop["random_a"] - 0.1)
    assert drop["random_a"] == pytest.approx(drop["score_a"] - 1)


# A study, from files


def study_settings() -> dict:
    metrics = {"drop": "Drop", "gini": "Gini"}
    return {
        "datasets": {"plots": {"label": "Plots"}},
        "models": {"small": {"label": "Small"}},
        "seeds": [0, 1],
        "explainers": {name: {"label": name.title()} for name in ("lime", "dice", "coin", "best")},
        "metrics": {
            name: {"label": label, "better": "higher", "family": "complexity"} for name, label in metrics.items()
        },
        "statistics": {
            "groups": [["male", "female"]],
            "alpha": 0.05,
            "equivalence_bound": 0.3,
            "confidence": 0.95,
            "bootstrap_draws": 300,
            "power": 0.8,
            "noise": ["dice", "coin", "best"],
            "random": ["dice", "coin"],
            "reach": {},
            "attainable": {"drop": "best"},
        },
    }


@pytest.fixture
def study(tmp_path):
    """Random explanations have lower scores of male items; LIME adds 1 to all, and 0.5 more to female Gini."""
    files = StudyFiles(tmp_path)
    for seed in (0, 1):
        random = numbers("files", seed)
        rows = []
        for pair in range(30):
            for group in ("male", "female"):
                base = 2 * (group == "female") + 0.2 * random.normal()
                for explainer, added in (("lime", 1), ("dice", -0.1), ("coin", 0.1), ("best", 2)):
                    value = base + added
                    more = 0.5 * (group == "female") * (explainer == "lime") + 0.1 * random.normal()
                    names = {"item_id": f"{pair}{group}", "pair_id": str(pair), "group": group, "explainer": explainer}
                    rows.append(names | {"drop": value, "gini": value + more})
        # The random explainers' items stand in another order.
        table = pd.DataFrame(rows)
        dice = table["explainer"] == "dice"
        table = pd.concat([table[~dice], table[dice][::-1]])
        files.write(table, seed)
    return files


def computed(study: StudyFiles) -> pd.DataFrame:
    return called(beyond_random_table, *study.folders, **asked(beyond_random_table, study_settings()))


def test_the_table_of_a_study(study):
    table = computed(study)
    assert list(table.columns) == BEYOND_RANDOM.schema.names
    assert table[["explainer", "metric"]].to_numpy().tolist() == [
        [explainer, metric] for explainer in ("lime", "best") for metric in ("drop", "gini")
    ]
    found = table.set_index(["explainer", "metric"])
    drop, gini = found.loc[("lime", "drop")], found.loc[("lime", "gini")]
    assert drop["plain"] < -5
    assert drop["random"] == pytest.approx(drop["plain"])
    assert (drop["beyond_difference"], drop["plain_difference"]) == (pytest.approx(0), pytest.approx(-2, abs=0.1))
    # One more for every text: that is no certainty.
    assert (drop["beyond_reason"], drop["outcome"]) == ("all scores are the same", "not decidable")
    assert (drop["reached_a"], drop["reached_b"]) == pytest.approx((0.5, 0.5))
    assert gini["beyond_models_high"] < 0
    assert gini["beyond_p_models_adjusted"] < 0.05
    assert gini["outcome"] == "left"
    assert gini["beyond"] / gini["plain"] == pytest.approx(0.2, abs=0.05)
    assert 0 < gini["draws_share"] < 1
    assert np.isnan(gini["reached_a"])
    assert found.loc[("best", "drop"), "reached_a"] == pytest.approx(1)
    assert (table["seeds"] == 2).all()
    assert (table["units_a"] == 30).all()
    assert table["family"].tolist() == ["study", "study", "control", "control"]


def test_disparities_are_those_of_the_table_of_effects(study):
    """The same verdicts and numbers, where every text has random scores; random explainers are a family apart."""
    settings = study_settings()
    effects = called(effect_table, *study.folders, **asked(effect_table, settings))
    of_explainers = effects[effects["family"] == "study"].reset_index(drop=True)
    table = computed(study)
    table = table[table["family"] == "study"]
    pairs = [("plain", "standardised"), ("plain_low", "standardised_low"), ("plain_difference", "difference")]
    pairs += [("plain_models_high", "standardised_models_high"), ("plain_verdict", "verdict"), ("sd", "sd")]
    pairs += [(f"plain_{p}_adjusted", f"{p}_adjusted") for p in ("p", "p_models", "p_equivalence")]
    for ours, theirs in pairs:
        pd.testing.assert_series_equal(table[ours], of_explainers[theirs], check_names=False)
    # The random explainers' own differences, and their mean's.
    own = effects[effects["explainer"].isin(["dice", "coin"])].groupby("metric")["difference"].mean()
    lime = table[table["explainer"] == "lime"].set_index("metric")
    assert lime["random_difference"].to_dict() == pytest.approx(own.to_dict())


def test_script_writes_the_table_and_its_page_counts_what_is_left(study, tmp_path):
    path, settings = tmp_path / "computed.parquet", study_settings()
    flags = ("--scores", study.scores, "--datasets", study.datasets, "--output", path)
    done = run_result("measure_beyond_random", asked(beyond_random_table, settings), *flags)
    assert done.returncode == 0, done.stderr
    table = computed(study)
    pd.testing.assert_frame_equal(tables.read_table(path, BEYOND_RANDOM), table)
    about = shown(settings, *COMPARED, equivalence_bound=0.3, confidence=0.95)
    page = tabulated(tmp_path, "beyond_random", table, **about).html
    assert page == render(page_of("beyond_random", table, **about))
    summary = page_of("beyond_random", table, **about).tables[0]
    lines = dict(dict(summary.rows)["Plots"])
    # Cells, disparities; left, reversed, gone, undecided; others with a disparity beyond random.
    assert [cell.text for cell in lines["Drop"]][:7] == ["1", "1", "0", "0", "0", "1", "0"]
    # What LIME leaves is the same for all texts: who makes its disparity is not shown, and of Gini not asked.
    assert [cell.text for cell in lines["Drop"]][7:11] == [str(int(maker == table["made_by"][0])) for maker in MAKERS]
    assert [cell.text for cell in lines["Gini"]][7:11] == ["–"] * 4
    assert [cell.text for cell in lines["Gini"]][:7] == ["1", "1", "1", "0", "0", "0", "0"]
    assert "The draws of the random" in page
    assert "Dice" not in page
    assert "gender" not in page
    row = table.iloc[1]
    text = f"≠ {row['plain']:.2f} → ≠ {row['beyond']:.2f}".replace("-", "−")
    assert f"<strong>{text}</strong>" in page


def test_a_page_says_what_becomes_of_disparities(study, snapshot):
    """Those that are reversed are not left, what is negligible is gone, and what is not significant is not."""
    cell = computed(study).iloc[1].to_dict() | {"plain_verdict": "disparity", "outcome": "undecided"}
    rows = [
        cell | {"explainer": "lime", "beyond_verdict": "disparity", "outcome": "reversed"},
        cell | {"explainer": "best", "beyond_verdict": "equivalent", "outcome": "gone"},
        cell | {"explainer": "other", "plain_verdict": "undecided", "beyond_verdict": "disparity", "outcome": None},
        cell | {"explainer": "fourth", "beyond_verdict": "undecided"},
    ]
    table = pd.DataFrame(rows).assign(draws_share=NAN)
    page = page_of("beyond_random", table, **shown(study_settings(), *COMPARED, equivalence_bound=0.3, confidence=0.95))
    lines = dict(dict(page.tables[0].rows)["Plots"])
    assert [cell.text for cell in lines["Gini"]][:7] == ["4", "3", "0", "1", "1", "1", "1"]
    snapshot(page.said)


# What a configuration calls for


def configured(explainers: dict, metrics: dict) -> dict:
    return complete(
        {
            "study": "some",
            "datasets": {"plots": {"reader": "demo"}},
            "trainings": {"one": {"learning_rate": 0.01, "batch_size": 8, "epochs": 1}},
            "models": {"small": {"architecture": "one_layer_attention", "training": "one"}},
            "explainers": explainers,
            "metrics": metrics,
            "statistics": {"compare": {"gender": [["male", "female"]]}},
        }
    )


def test_random_explainers_alone_have_nothing_beyond_them(tmp_path):
    """Such a study ended in an IndexError."""
    study = {"explainers": {"noise": {"method": "uniform_random"}, "lime": {"method": "lime"}}}
    alone = {"explainers": {"noise": study["explainers"]["noise"]}}
    assert beyond_random_of(study)
    assert not beyond_random_of(alone)
    assert not beyond_random_of({"explainers": {"lime": study["explainers"]["lime"]}})
    table = called(
        beyond_random_table,
        tmp_path,
        tmp_path,
        **{"datasets": ["plots"], "models": {"small": [0]}, "explainers": ["noise"], "metrics": {"gini": "made"}},
        **{"comparisons": {}, "attainable": {}, "alpha": 0.05, "equivalence_bound": 0.2, "smallest_effects": {}},
        **{"primary": {}, "noise": ["noise"], "random": ["noise"], "confidence": 0.95, "bootstrap_draws": 99},
    )
    assert table.empty
    assert list(table.columns) == BEYOND_RANDOM.schema.names


def test_random_and_attainable_explainers_of_a_configuration():
    config = configured(
        {
            "lime": {"method": "lime"},
            "dice": {"method": "uniform_random"},
            "best": {"method": "attainable"},
            "coin": {"method": "uniform_random"},
            "alone": {"method": "attainable", "goal": "sufficiency"},
        },
        {
            "drop": {"metric": "aopc_comprehensiveness"},
            "odds": {"metric": "aopc_comprehensiveness", "output": "contrast", "label": "Odds"},
            "words": {"metric": "aopc_comprehensiveness", "features": "word", "label": "Words"},
            "halves": {"metric": "aopc_comprehensiveness", "shares": [0.5], "label": "Halves"},
            "kept": {"metric": "aopc_sufficiency"},
            "gini": {"metric": "gini"},
        },
    )
    assert random_explainers(config) == ["dice", "coin"]
    assert attainable(config) == {"drop": "best", "kept": "alone"}

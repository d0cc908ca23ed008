"""What is left beyond random explanations: by hand, against scipy, where the truth is known, and from files."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest
from study_files import StudyFiles, called, made, numbered_design

from evenlight.configuration import beyond_random as beyond_random_of
from evenlight.configuration import complete, random_explainers, upper_bound
from evenlight.core.contracts.results import BEYOND_RANDOM
from evenlight.core.seeds import generator_for
from evenlight.statistics.analyses.beyond_random import (
    BEYOND,
    OWN,
    PLAIN,
    counted_parts,
    of_part,
    reached,
)
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.comparisons.cells import ExplainerScores
from evenlight.statistics.comparisons.study import VerdictSettings
from evenlight.statistics.comparisons.verdicts import judged
from evenlight.statistics.comparisons.wins import P_SIDES

NAN = float("nan")
JUDGING = VerdictSettings.plain(alpha=0.05, as_often_bound=0.3, confidence=0.95, bootstrap_draws=99)


def numbers(*parts) -> np.random.Generator:
    return generator_for("test_beyond_random", *parts)


def parts_of(scores: np.ndarray, noise: np.ndarray, best: np.ndarray | None = None, judging=JUDGING) -> dict:
    """The verdicts of one explainer and metric, from arrays (items,) of scores, random ones and the best."""
    best = np.full(len(scores), NAN) if best is None else np.asarray(best, dtype=float)
    scores, noise, best = (np.asarray(values, dtype=float)[None, None] for values in (scores, noise, best))
    explainer = ExplainerScores("plots", "small", "lime", [0], ["drop"], scores, ~np.isnan(scores[0]))
    pairs = scores.shape[-1] // 2
    counted = counted_parts([explainer], [numbered_design(pairs, pairs)], noise, best, judging, effects=True)
    made = {name: judged(parts, of_part(judging, name)) for name, parts in counted.items()}
    return {name: table.iloc[0] for name, table in made.items() if len(table)}


def test_what_is_beyond_is_counted_text_by_text():
    a, b, noise_a, noise_b = numbers("by hand").normal(size=(4, 40)) + np.array([1, 0, 0.8, 0])[:, None]
    parts = parts_of(np.r_[a, b], np.r_[noise_a, noise_b])
    for name, differences in ((PLAIN, a - b), (BEYOND, a - noise_a - (b - noise_b))):
        row, wins = parts[name], int((differences > 0).sum())
        assert row[["wins", "losses", "ties"]].tolist() == [wins, 40 - wins, 0]
        assert row["p"] == pytest.approx(binomtest(wins, 40).pvalue)
        assert row["difference"] == pytest.approx(differences.mean())
    assert OWN not in parts


def test_scores_of_texts_without_a_random_one_do_not_count():
    scores, noise = numbers("missing").normal(size=(2, 60))
    noise[:5], scores[10:12] = NAN, NAN
    parts = parts_of(scores, noise)
    kept = np.r_[5:10, 12:30]
    for name in (PLAIN, BEYOND):
        assert parts[name]["units_a"] == len(kept)
    assert parts[PLAIN]["difference"] == pytest.approx((scores[:30] - scores[30:])[kept].mean())


def test_an_explainer_that_adds_as_much_to_all_has_nothing_beyond_random():
    """Rounding is no win: what is beyond is the same number for every text, but for the last digits."""
    noise = numbers("rounding").normal(size=80) + np.repeat([1.0, 0.0], 40)
    parts = parts_of(noise + 0.1 + 1e-14 * np.arange(80), noise)
    assert parts[PLAIN]["side"] == 1
    assert parts[BEYOND][["ties", "verdict"]].tolist() == [40, "as often"]


def test_the_margin_of_a_metric_counts_beyond_random_and_not_for_shares():
    noise = np.repeat([0.0, 0.0], 40)
    judging = replace(JUDGING, smallest_effects={"drop": 0.5}, higher_is_better={"drop": False})
    scores = np.r_[np.full(30, -0.4), np.full(10, -0.6), np.zeros(40)]
    parts = parts_of(scores, noise, np.full(80, -1.0), judging)
    assert parts[BEYOND][["wins", "ties"]].tolist() == [10, 30]
    # Of what is attainable, which is the lowest score, more is reached in all.
    assert parts[OWN][["wins", "ties", "side"]].tolist() == [40, 0, 1]


def test_shares_of_the_upper_bound_by_hand():
    """In three pairs 0.5 of 2 against 0.5 of 1, in one 1 of 1 against 0.5 of 2; nothing can be attained in the last."""
    a, b = np.array([0.5, 0.5, 0.5, 1, 0.5]), np.array([0.5, 0.5, 0.5, 0.5, 0.7])
    best = np.r_[[2, 2, 2, 1, 0], [1, 1, 1, 2, 0]]
    noise = np.zeros(10)
    row = parts_of(np.r_[a, b], noise, best)[OWN]
    assert row[["wins", "losses", "ties", "units_a"]].tolist() == [1, 3, 0, 4]


@pytest.mark.parametrize(
    ("upper_bound_of", "share", "side"),
    [((0.8, 0.3), (0.8, 0.8), 0), ((0.7, 0.7), (0.8, 0.5), 1), ((0.3, 0.8), (0.8, 0.5), 1)],
)
def test_the_own_part_does_not_depend_on_how_much_there_is_to_attain(upper_bound_of, share, side):
    """Of shares of one law nothing is found, and larger ones are, whichever group has more to attain."""
    random = numbers("simulations", str(upper_bound_of), str(share))
    best = np.repeat(upper_bound_of, 100) * random.uniform(0.5, 1.5, 200)
    scores = best * (np.repeat(share, 100) + random.uniform(-0.2, 0.2, 200))
    parts = parts_of(scores, np.zeros(200), best)
    assert parts[OWN]["side"] == side
    assert parts[PLAIN]["side"] == np.sign(upper_bound_of[0] * share[0] - upper_bound_of[1] * share[1])


def test_what_is_rounding_is_said_by_each_metric_alone():
    """Beside a metric in billions there is room in one of thousandths."""
    best = np.array([[[1e9, 2e9]], [[1e-3, 2e-3]]])
    assert reached(best / 2, np.zeros_like(best), best).tolist() == [[[0.5, 0.5]], [[0.5, 0.5]]]


def test_shares_with_as_many_wins_as_losses_are_found_as_seldom_as_stated():
    """Skewed shares of 4,000 cells, of which more can be attained for the first group: the level, and three errors."""
    random, cells = numbers("level"), 4000
    best = np.repeat([2.0, 0.5], 40) * random.uniform(0.5, 1.5, (cells, 1, 80))
    share = np.full((cells, 1, 80), 0.5)
    share[..., :40] += 0.1 * (random.exponential(size=(cells, 1, 40)) - np.log(2))  # the median is 0, the mean is not
    metrics = [f"m{number}" for number in range(cells)]
    judging = replace(JUDGING, bootstrap_draws=1)
    values = best * share
    explainer = ExplainerScores("plots", "small", "lime", [0], metrics, values, np.ones((1, 80), dtype=bool))
    parts = counted_parts([explainer], [numbered_design(40, 40)], np.zeros_like(values), best, judging, effects=True)
    [wrong, found] = [2 * parts[name][0].rows[P_SIDES].to_numpy().min(axis=1) <= 0.05 for name in (OWN, PLAIN)]
    # The sign test of 40 pairs has the level 0.0385.
    assert wrong.mean() == pytest.approx(2 * binom.cdf(13, 40, 0.5), abs=3 * np.sqrt(0.0385 / cells))
    assert found.mean() > 0.9


# A study, from files


SCORED = {
    "datasets": ["plots"],
    "models": {"small": [0, 1]},
    "explainers": ["lime", "dice", "coin", "best"],
    "metrics": {"drop": "complexity", "gini": "complexity"},
    "comparisons": {"gender": [["male", "female"]]},
    **{"alpha": 0.05, "as_often_bound": 0.3, "confidence": 0.95, "bootstrap_draws": 99},
    **{"smallest_effects": {}, "primary": {}, "noise": ["dice", "coin", "best"]},
}
ASKED = SCORED | {"random": ["dice", "coin"], "upper_bound": {"drop": "best"}}


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


def computed(study: StudyFiles, **more) -> pd.DataFrame:
    [table] = made("measure_beyond_random", study, **ASKED | more)
    return table


def test_the_table_of_a_study(study):
    table = computed(study)
    assert list(table.columns) == BEYOND_RANDOM.schema.names
    found = table.set_index(["explainer", "metric"])
    drop, gini = found.loc[("lime", "drop")], found.loc[("lime", "gini")]
    assert drop[["plain_losses", "plain_verdict", "beyond_ties"]].tolist() == [30, "female more often", 30]
    assert drop[["beyond_verdict", "outcome"]].tolist() == ["as often", "explained away"]
    assert (drop["beyond_difference"], drop["plain_difference"]) == (pytest.approx(0), pytest.approx(-2, abs=0.1))
    assert drop["random_difference"] == pytest.approx(drop["plain_difference"])
    # Half of what the best adds is reached by every text.
    assert (drop["reached_a"], drop["reached_b"]) == pytest.approx((0.5, 0.5))
    assert drop[["own_ties", "own_verdict", "made_by"]].tolist() == [30, "as often", "model"]
    assert gini[["outcome", "beyond_side"]].tolist() == ["persists", -1]
    assert gini[["own_verdict", "made_by"]].isna().all()
    assert found.loc[("best", "drop"), "reached_a"] == pytest.approx(1)
    assert (table[["seeds", "units_a"]] == [2, 30]).all(axis=None)
    assert table["family"].tolist() == ["study", "study", "control", "control"]


def test_the_scores_have_the_verdicts_of_the_table_of_effects(study):
    """Where every text has random scores; random explainers are a family apart."""
    effects, *_ = called(effect_tables, *study.folders, **SCORED)
    of_explainers = effects[effects["family"] == "study"].reset_index(drop=True)
    table = computed(study)
    table = table[table["family"] == "study"].reset_index(drop=True)
    for name in ("wins", "losses", "ties", "share", "verdict", "side", "p_adjusted", "difference"):
        pd.testing.assert_series_equal(table[f"plain_{name}"], of_explainers[name], check_names=False)
    own = effects[effects["explainer"].isin(["dice", "coin"])].groupby("metric")["difference"].mean()
    lime = table[table["explainer"] == "lime"].set_index("metric")
    assert lime["random_difference"].to_dict() == pytest.approx(own.to_dict())


@pytest.mark.parametrize(("lime", "maker"), [(0.5, "model"), (-0.5, None)])
@pytest.mark.parametrize("higher", [True, False])
def test_the_model_makes_what_no_explainer_could_do_for_the_group_that_is_worse(tmp_path, lime, maker, higher):
    """Nothing changes with the words of male texts. Where female ones are the worse, an explainer could do better."""
    files, sign = StudyFiles(tmp_path), 1 if higher else -1
    names = [(f"{pair}{group}", str(pair), group) for pair in range(30) for group in ("male", "female")]
    values = {"lime": lime, "dice": -0.6, "coin": -0.6, "best": 1.0}
    rows = [
        dict(zip(("item_id", "pair_id", "group"), unit, strict=True))
        | {"explainer": explainer, "drop": sign * (value if unit[2] == "female" else 0.1), "gini": 0.0}
        for unit in names
        for explainer, value in values.items()
    ]
    files.write(pd.DataFrame(rows), 0)
    table = computed(files, models={"small": [0]}, higher_is_better={"drop": higher})
    row = table.set_index(["explainer", "metric"]).loc[("lime", "drop")]
    assert row["plain_verdict"] == f"{'female' if lime > 0.1 else 'male'} more often"
    assert pd.isna(row["own_verdict"])
    assert row["made_by"] == maker if maker else pd.isna(row["made_by"])


def test_what_any_explainer_reaches_is_upper_bound(study):
    """LIME is better than the search here, and lower where the lowest scores are the best."""
    lime = {"upper_bound": {"drop": "dice"}, "explainers": ["lime", "dice", "coin"]}
    drop = computed(study, **lime).set_index("metric").loc["drop"]
    assert (drop["upper_bound_a"], drop["upper_bound_b"]) == pytest.approx((drop["score_a"], drop["score_b"]))
    lowest = computed(study, **lime, higher_is_better={"drop": False}).set_index("metric").loc["drop"]
    assert lowest["upper_bound_a"] == pytest.approx(drop["random_a"] - 0.1)
    assert drop["random_a"] == pytest.approx(drop["score_a"] - 1)


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


def test_random_explainers_alone_have_nothing_beyond_them(study):
    """Such a study ended in an IndexError."""
    noise = {"noise": {"method": "uniform_random"}}
    assert beyond_random_of({"explainers": noise | {"lime": {"method": "lime"}}})
    assert not beyond_random_of({"explainers": noise})
    assert not beyond_random_of({"explainers": {"lime": {"method": "lime"}}})
    table = computed(study, explainers=["dice"], random=["dice"])
    assert table.empty
    assert list(table.columns) == BEYOND_RANDOM.schema.names


def test_random_and_upper_bound_explainers_of_a_configuration():
    config = configured(
        {
            "lime": {"method": "lime"},
            "dice": {"method": "uniform_random"},
            "best": {"method": "upper_bound"},
            "coin": {"method": "uniform_random"},
            "alone": {"method": "upper_bound", "goal": "sufficiency"},
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
    assert upper_bound(config) == {"drop": "best", "kept": "alone"}

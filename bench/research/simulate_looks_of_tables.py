"""How often the tables beside that of effects are wrong in studies that are looked at while they grow.

``python bench/research/simulate_looks_of_tables.py --studies 200``. Studies are made: 120 pairs, or texts, of normal
scores, of which the looks have 40, 80 and all; the plan is ``pocock``. Columns are shares of studies:

- ``planned``: any cell is claimed by the plan of looks that is none;
- ``unplanned``: of a reader who looks as often, each time at the whole level.

Verdicts have a reserve for units that nobody saw, beside which so few normal pairs claim next to nothing. By default it
is left out, so that what looks do to the level can be seen; ``--reserve`` takes it.

Rows are claims:

- ``beyond``, ``own``: three explainers and two metrics have the disparity of random explanations, and nothing beyond;
- ``less than half``: the own part of each is just half of the disparity, and is claimed to be less;
- ``best``, ``behind``: a challenger is as good as one of two rivals, the other one is worse; or as good as both;
- ``control``: a disparity of normal scores without any, with permuted labels;
- ``regimes``, ``regimes equivalent``: two regimes differ from the baseline, by three explainers and their mean, on all
  texts and on those that models read rightly; or are equivalent to it, where each differs by just the bound.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
from simulate_looks import first_units

from evenlight.core.seeds import generator_for
from evenlight.statistics import challengers
from evenlight.statistics.beyond_random import beyond_random, rows_beyond
from evenlight.statistics.cells import ExplainerScores, ModelScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows
from evenlight.statistics.looks import ONE_LOOK, POCOCK, Looks
from evenlight.statistics.regimes import Regimes, as_levels
from evenlight.statistics.study import ALL, Comparison, StudyScores, VerdictSettings
from evenlight.statistics.verdict_control import permuted_verdicts
from evenlight.statistics.verdicts import STUDY, is_disparity, judged

# What spends most at the early looks.
PLAN = Looks((40, 80, 120), (0, 1, 2), POCOCK)
UNITS = PLAN.planned[-1]
METRICS = ["first", "second"]
JUDGED = {"alpha": 0.05, "confidence": 0.95}
EXPLAINERS = ("grad", "ig", "lime")
REGIMES = {"C": "bert_c", "CE": "bert_ce", "CEf": "bert_cef"}
BOUND = 0.3
SAYS = {"best": challengers.BEST, "behind": challengers.BEHIND}


def pairs_of(study: int, units: int = UNITS) -> Design:
    """Both levels of each pair, with names that no other study has."""
    names = np.array([f"study {study} pair {number}" for number in range(units)], dtype=object)
    first, second = (Side(names, names, part * units + np.arange(units), np.arange(units)) for part in (0, 1))
    return Design(Comparison("gender", "male", "female"), True, first, second)


def scores_of(values: np.ndarray, explainer: str) -> ExplainerScores:
    """Scores (metrics, items) of a single training."""
    values = values[:, None]
    return ExplainerScores("made", "small", explainer, [0], METRICS, values, ~np.isnan(values[0]))


def beyond_claims(random: np.random.Generator, study: int, looks: Looks, draws: int, own: float) -> dict[str, bool]:
    """What is claimed of explainers whose own part of a disparity is ``own``, beside half of a standard deviation of
    the model's; none is true, of half the one of it that is less than half.
    """
    design = pairs_of(study)
    signs = np.repeat([0.5, -0.5], UNITS)
    noise = random.normal(size=(2, len(METRICS), 2 * UNITS)) * 0.3 + random.normal(size=2 * UNITS) + 0.5 * signs
    room = np.full((len(METRICS), 2 * UNITS), 4.0) + random.normal(size=(len(METRICS), 2 * UNITS)) * 0.3
    mean = noise.mean(axis=0)
    found = {explainer: mean + 2 + own * signs + random.normal(size=mean.shape) * 0.7 for explainer in EXPLAINERS}
    judging = VerdictSettings.plain(**JUDGED, equivalence_bound=0.3, bootstrap_draws=draws)

    def seen(units: int) -> tuple[list[dict], np.ndarray]:
        scores = (scores_of(values, explainer) for explainer, values in found.items())
        part = first_units(design, units / UNITS)
        return gathered([rows_beyond(scores, [part], noise[:, :, None], (mean + room)[:, None], judging)])

    *earlier, last = (seen(units) for units in looks.units)
    table = beyond_random(*last, lambda row: STUDY, judging.alpha, looks, earlier)
    if own:
        return {"less than half": bool((table["own_p_lesser_adjusted"] <= judging.alpha).any())}
    return {name: bool(is_disparity(table[f"{name}_verdict"], False).any()) for name in ("beyond", "own")}


def challenged(random: np.random.Generator, study: int, looks: Looks, draws: int) -> dict[str, bool]:
    """What is claimed of a challenger that is as good as the best of the others."""
    items = pd.DataFrame({"item_id": [f"study {study} text {number}" for number in range(UNITS)]})
    items["cluster"] = items["item_id"]
    text = random.normal(size=UNITS)
    claims = {}
    for claim, worse in (("best", 1.0), ("behind", 0.0)):
        means = {"new": 0.0, "rival": 0.0, "other": -worse}
        values = {name: mean + text + random.normal(size=(len(METRICS), 1, UNITS)) for name, mean in means.items()}

        def read(of: StudyScores, values: dict = values) -> Iterator[tuple]:
            part = {name: scores[..., : of.first] for name, scores in values.items()}
            yield "small", [0], items[: of.first], part

        made = StudyScores(
            scores=None, units=None, datasets=["made"], models={"small": [0]}, explainers=list(means),
            metrics=dict.fromkeys(METRICS, "any"), regimes={"small": {"C": "small"}}, first=looks.units[-1],
        )  # fmt: skip
        with patch.object(challengers, "read_scores_of", read):
            table, _ = challengers.challenger_tables(
                made, challengers=["new"], rivals=["rival", "other"], higher_is_better=dict.fromkeys(METRICS, True),
                primary=[], **JUDGED, bootstrap_draws=draws, looks=looks,
            )  # fmt: skip
        claims[claim] = bool(table["verdict"].str.startswith(SAYS[claim]).any())
    return claims


def controlled(random: np.random.Generator, study: int, looks: Looks, draws: int) -> dict[str, bool]:
    """Whether a permutation of the labels has a disparity."""
    values = [random.normal(size=(len(METRICS), 2, UNITS)) for _ in EXPLAINERS]
    judging = VerdictSettings.plain(**JUDGED, equivalence_bound=0.3, bootstrap_draws=draws)

    def read(of: StudyScores) -> Iterator[ModelScores]:
        design = pairs_of(study, of.first)
        items = pd.DataFrame({"item_id": [f"{name} {side}" for side in "ab" for name in design.a.items]})
        there = (each[..., : of.first].reshape(len(METRICS), -1) for each in values)
        explainers = (scores_of(each, name) for each, name in zip(there, EXPLAINERS, strict=True))
        yield ModelScores("made", "small", [0], items, pd.DataFrame(), [design], explainers, None)

    about = {"datasets": ["made"], "models": {}, "explainers": [], "metrics": {}}
    made = StudyScores(scores=None, units=None, **about, first=looks.units[-1])
    with patch("evenlight.statistics.verdict_control.read_compared", read):
        table = permuted_verdicts(made, judging, verdict_permutations=1, looks=looks)
    return {"control": bool((table["disparities_of_models"] > 0).any())}


def regimes_claims(random: np.random.Generator, study: int, looks: Looks, draws: int) -> dict[str, bool]:
    """What is claimed of three regimes that read both texts of each pair, four of five of them rightly."""
    pairs = np.repeat([f"study {study} pair {number}" for number in range(UNITS)], 2)
    items = pd.DataFrame({"item_id": [f"{name} {side}" for name, side in zip(pairs, UNITS * "ab", strict=True)]})
    items["cluster"] = pairs
    right = random.random((len(REGIMES), 1, 2 * UNITS)) < 0.8
    all_right = right.all(axis=(0, 1)).reshape(UNITS, 2).all(axis=1).repeat(2)
    text = random.normal(size=UNITS).repeat(2) + random.normal(size=2 * UNITS)
    noise = random.normal(size=(len(EXPLAINERS), len(REGIMES), len(METRICS), 1, 2 * UNITS))
    judging = VerdictSettings.plain(**JUDGED, equivalence_bound=BOUND, bootstrap_draws=draws)

    def seen(units: int, values: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
        of = slice(2 * units)
        parts = [*zip(EXPLAINERS, values[..., of], strict=True), (ALL, values[..., of].mean(axis=0))]
        made = as_levels(
            Regimes("made", "bert", REGIMES, [0], METRICS, items[of], right[..., of], all_right[of], iter(parts)), {}
        )
        rows, statistics = gathered([pooled_rows(made.explainers, made.designs, judging)])
        return pd.DataFrame(rows).assign(family=STUDY), statistics

    def verdicts(shift: float) -> pd.Series:
        values = text + noise + shift * np.arange(len(REGIMES))[:, None, None, None].clip(max=1)
        *earlier, last = (seen(units, values) for units in looks.units)
        return judged(*last, judging.alpha, looks, earlier)["verdict"]

    # Texts and noise have variances of 2 and 1 each, and a mean of three explainers one of 2 1/3: no sd is above √3.
    at_bound = verdicts(BOUND * np.sqrt(3))
    return {
        "regimes": bool(is_disparity(verdicts(0.0), False).any()),
        "regimes equivalent": bool(at_bound.str.contains("equivalent|negligible").any()),
    }


# What is asked of the tables, each with random draws of its own.
TABLES = {
    "beyond": partial(beyond_claims, own=0.0),
    "less than half": partial(beyond_claims, own=0.5),
    "challengers": challenged,
    "control": controlled,
    "regimes": regimes_claims,
}


def claims_of(study: int, looks: Looks, draws: int, tables: Sequence[str]) -> dict[str, bool]:
    """Which false claims a study makes, by name; its scores are the same whatever the looks."""
    found: dict[str, bool] = {}
    for part, (name, claims) in enumerate(TABLES.items()):
        if name in tables:
            found |= claims(generator_for("looks of tables", study, part), study, looks, draws)
    return found


def alone(looks: Looks) -> Sequence[Looks]:
    """Each look as if there were no other."""
    return [replace(ONE_LOOK, planned=(units,)) for units in looks.units]


def main(arguments: argparse.Namespace) -> None:
    """Print the table after every ten studies."""
    planned, unplanned = [], []
    if not arguments.reserve:
        patch("evenlight.statistics.pooled.reserve", lambda sd, units, seen=0.0: 0.0 * sd * units).start()
    for study in range(arguments.studies):
        planned.append(claims_of(study, PLAN, arguments.draws, arguments.tables))
        each = [claims_of(study, look, arguments.draws, arguments.tables) for look in alone(PLAN)]
        unplanned.append(pd.DataFrame(each).any().to_dict())
        if len(planned) % 10 == 0 or len(planned) == arguments.studies:
            shares = {"planned": pd.DataFrame(planned).mean(), "unplanned": pd.DataFrame(unplanned).mean()}
            print(f"{len(planned)} studies", pd.DataFrame(shares).round(3).to_string(), sep="\n", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES), help="all by default")
    parser.add_argument("--reserve", action="store_true", help="judge as studies are judged")
    sys.exit(main(parser.parse_args()))

"""What is left of a disparity beyond that of random explanations, which is the model's and not the explainer's.

A metric that asks the model about changed texts has a disparity of its own where the model reads the changed texts of
one group otherwise than the other's: a model that takes a text without words for "male" loses little of a male
sentence, whatever is taken away. The study's random explainers show it. What an explainer adds is its score less the
mean score of the random explainers for the same text. Both have verdicts: in how many pairs is one group's explanation
better, and in how many does it add more.

Where the study has the best attainable explanations of a metric too, each text's score is placed between both ends,
(score − random) / (attainable − random). In how many pairs is more of the attainable reached for one group? That is the
explainer's own part: it does not depend on how much there is to attain. Texts for which nothing beyond random is
attainable have no place, and do not count.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import BEYOND_RANDOM
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, JudgedAtLooks
from evenlight.statistics.arrays.units import mean_of_known
from evenlight.statistics.comparisons.cells import CELL, Design, ExplainerScores, ModelScores
from evenlight.statistics.comparisons.mean_effects import mean_effects
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import AS_OFTEN, StudyScores, VerdictSettings
from evenlight.statistics.comparisons.verdicts import judged
from evenlight.statistics.comparisons.wins import Counted, Described, LevelScores, counted_wins

# The scores, what of them is beyond random, and what of the attainable they reach.
PLAIN, BEYOND, OWN = "plain", "beyond", "own"
# What becomes of a disparity beyond random, or of the explainer's own part.
PERSISTS, REVERSED, EXPLAINED_AWAY = "persists", "reversed", "explained away"
# Who makes a disparity: the model or the metric, whatever explains; or the explainer, at least a part of it.
MODEL, EXPLAINER = "model", "explainer"
_ENDS = ("random", "upper_bound")
_MEANS = [f"{of}_{level}" for of in ("score", *_ENDS) for level in "ab"]
# What a table has of each part; the mean of what is reached of the attainable says little, and is left out.
_JUDGED = ["wins", "losses", "ties", "share", "p_adjusted", "side", "verdict", "reason"]
_MEAN = ["difference", "difference_low", "difference_high"]
# Where less is attainable beyond random, as a share of a metric's largest score, it is rounding.
LEAST_ROOM = 1e-9


def of_part(judging: VerdictSettings, name: str) -> VerdictSettings:
    """The settings of a part: what is reached of the attainable is a share, and more of it is better."""
    return replace(judging, smallest_effects={}, higher_is_better={}) if name == OWN else judging


def _read(
    study: StudyScores,
    *,
    judging: VerdictSettings,
    upper_bound: Mapping[str, str],
    random: Sequence[str],
    effects: bool = False,
) -> dict[str, list[Counted]]:
    """What is counted of each part; with ``effects`` beside it, where a table has them."""
    found: dict[str, list[Counted]] = {PLAIN: [], BEYOND: [], OWN: []}
    for source in study.sources().values():
        noise = [name for name in random if name in source.explainers]
        explainers = [name for name in source.explainers if name not in noise]
        if not noise or not explainers:
            continue
        models, models_again = (
            read_models(replace(source, explainers=names)) for names in (explainers, [*noise, *explainers])
        )
        for model, again in zip(models, models_again, strict=True):
            ends = _ends(model, again, noise, upper_bound, judging.higher_is_better)
            for name, parts in counted_parts(list(model.explainers), model.designs, *ends, judging, effects).items():
                found[name] += parts
    return found


def _ends(
    model: ModelScores,
    again: ModelScores,
    random: Sequence[str],
    upper_bound: Mapping[str, str],
    higher_is_better: Mapping[str, bool],
) -> tuple[np.ndarray, np.ndarray]:
    """The mean scores of the random explainers and the best of all, as :func:`counted_parts` has them.

    ``model`` names the items, ``again`` has the scores of all explainers; all else as in :class:`MeasureBeyondRandom`.
    """
    noise, best = {}, None
    for scores in again.explainers:
        values = _in_order(scores, again, model)
        if scores.explainer in random:
            noise[scores.explainer] = values
        sign = np.array([1.0 if higher_is_better.get(metric, True) else -1.0 for metric in scores.metrics])
        sign = sign[:, None, None]
        best = sign * values if best is None else np.fmax(best, sign * values)
    is_sought = np.array([metric in upper_bound for metric in scores.metrics])[:, None, None]
    return mean_of_known(np.stack([noise[name] for name in random])), np.where(is_sought, sign * best, np.nan)


def _in_order(scores: ExplainerScores, of: ModelScores, model: ModelScores) -> np.ndarray:
    """The scores (metrics, seeds, items) in the order of the items of ``model``, NaN where there are none."""
    columns = pd.Index(of.items["item_id"]).get_indexer(model.items["item_id"])
    return np.where(columns < 0, np.nan, scores.values[..., columns])


def counted_parts(
    explainers: Sequence[ExplainerScores],
    designs: Sequence[Design],
    random: np.ndarray,
    best: np.ndarray,
    judging: VerdictSettings,
    effects: bool,
) -> dict[str, list[Counted]]:
    """What is counted of a model's scores, of them beyond random, and of what they reach of the attainable.

    Args:
        explainers: the scores.
        designs: of the comparisons.
        random: the mean scores of random explainers, float (metrics, seeds, items), NaN where undefined.
        best: the best attainable ones, likewise.
        judging: how verdicts follow from them.
        effects: whether means are estimated, too; of what is reached there are none.
    """
    parts: dict[str, list[ExplainerScores]] = {PLAIN: [], BEYOND: [], OWN: []}
    for scores in explainers:
        beyond = scores.values - random
        plain = np.where(np.isnan(beyond), np.nan, scores.values)
        for name, values in ((PLAIN, plain), (BEYOND, beyond), (OWN, reached(plain, random, best))):
            parts[name].append(replace(scores, values=values, draws=None))
    means = partial(mean_effects, judging=judging)
    described: dict[str, Described] = {}
    if effects:
        described = {PLAIN: lambda levels: means(levels) | _means(levels, random, best), BEYOND: means}
    return {name: counted_wins(of, designs, of_part(judging, name), described.get(name)) for name, of in parts.items()}


def reached(scores: np.ndarray, random: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Where scores (…, items) stand between random (0) and the best attainable (1), of the same shape.

    NaN where nothing beyond random is attainable, as the best, too, is then found by chance.

    >>> reached(np.array([0.5, 0.5]), np.array([0.2, 0.2]), np.array([0.8, 0.2])).round(3).tolist()
    [0.5, nan]
    """
    room = best - random
    least = LEAST_ROOM * np.nanmax(np.abs(best), axis=-1, initial=0.0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(room) > least, (scores - random) / room, np.nan)


def _means(levels: LevelScores, random: np.ndarray, best: np.ndarray) -> dict[str, np.ndarray]:
    """The mean scores of both levels, over seeds and units, and those of random and attainable explanations."""
    asked = [levels.scores.metrics.index(cell["metric"]) for cell in levels.cells]
    columns = {}
    for level, side, own in (("a", levels.design.a, levels.a), ("b", levels.design.b, levels.b)):
        ends = {of: side.scores(values[asked]) for of, values in zip(_ENDS, (random, best), strict=True)}
        for of, values in ({"score": own} | ends).items():
            counts = np.where(levels.seeds[:, :, None] & ~np.isnan(own), values, np.nan)
            columns[f"{of}_{level}"] = mean_of_known(mean_of_known(counts.transpose(1, 2, 0)))
    return columns


def _outcomes(table: pd.DataFrame, name: str) -> list[str | None]:
    """What becomes of each disparity of the scores in another part; None also where it is not known."""
    columns = (table[f"{PLAIN}_side"], table[f"{name}_verdict"], table[f"{name}_side"])
    return [None if pd.isna(of) else outcome_of(side, of, side_of) for side, of, side_of in zip(*columns, strict=True)]


def outcome_of(side: int, beyond: str, side_beyond: int) -> str | None:
    """What becomes of a disparity, by the side that has it, the verdict beyond random, and the side of that.

    None where there is no disparity. ``explained away`` is what both groups have as often, not what is not shown.

    >>> outcome_of(1, "female more often", 1), outcome_of(1, "male more often", -1), outcome_of(1, "as often", 0)
    ('persists', 'reversed', 'explained away')
    >>> outcome_of(1, "undecided", 0), outcome_of(0, "female more often", 1)
    ('undecided', None)
    """
    if not side:
        return None
    if side_beyond:
        return PERSISTS if side_beyond == side else REVERSED
    return EXPLAINED_AWAY if beyond == AS_OFTEN else beyond


def maker_of(own: str | None) -> str | None:
    """Who makes a disparity, by what becomes of it in the explainer's own part (:func:`outcome_of`).

    The explainer makes at least a part where it reaches more of the attainable for the group that is explained better.
    Where it reaches as much for both as often, or more for the other group, the model makes it, or the metric. None
    where there is no disparity, or where nothing is known of the attainable.

    >>> maker_of("persists"), maker_of("explained away"), maker_of("reversed"), maker_of("undecided")
    ('explainer', 'model', 'model', 'undecided')
    """
    return {PERSISTS: EXPLAINER, EXPLAINED_AWAY: MODEL, REVERSED: MODEL}.get(own, own) if own else None


def _makers(table: pd.DataFrame) -> list[str | None]:
    """Who makes each disparity (:func:`maker_of`).

    Where nothing beyond random is attainable for the group that is explained worse, no text of it has a place between
    both ends; no explainer could do better for it, so that the model makes the disparity, or the metric.
    """
    side, bound = table[f"{PLAIN}_side"], {level: table[f"upper_bound_{level}"] for level in "ab"}
    room = {level: (bound[level] - table[f"random_{level}"]).abs() for level in "ab"}
    least = LEAST_ROOM * np.fmax(bound["a"].abs(), bound["b"].abs())
    without = (side != 0) & (room["b"].where(side > 0, room["a"]) <= least)
    return [
        MODEL if of is None and none else maker_of(of) for of, none in zip(_outcomes(table, OWN), without, strict=True)
    ]


class MeasureBeyondRandom(JudgedAtLooks):
    """What is left of every disparity beyond that of random explanations?

    Each of the three parts (``plain``, ``beyond``, ``own``) has its wins, losses, ties, share, adjusted p, side,
    verdict and reason, judged by itself; the first two have the mean difference with its limits. ``random_difference``
    is the one less the other. ``score_a``, ``random_a``, ``upper_bound_a`` and those of ``_b`` are mean scores;
    ``reached_a`` and ``reached_b`` where they stand between both ends. ``outcome`` is what becomes of a disparity
    beyond random (:func:`outcome_of`), ``made_by`` who makes it (:func:`_makers`). The margins of metrics count for
    the scores and beyond random.

    Attributes:
        random: the random explainers.
        upper_bound: of metrics, the explainer that searches the best scores.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"beyond_random": BEYOND_RANDOM}
    version: ClassVar[int] = 4
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    minutes: ClassVar[int] = 60
    alone: ClassVar[bool] = True

    result: Literal["measure_beyond_random"]
    random: list[str]
    upper_bound: dict[str, str]

    @classmethod
    def is_made(cls, study) -> bool:
        """In a study that has random explainers beside others."""
        from evenlight import configuration

        return bool(super().is_made(study) and configuration.beyond_random(study.config))

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of verdicts; the random explainers, and of which metrics the best attainable scores are sought."""
        from evenlight import configuration

        random, bound = configuration.random_explainers(study.config), configuration.upper_bound(study.config)
        ends = {"random": random, "upper_bound": bound}
        return super().asked(study) | ends

    def compute(self, inputs: Inputs) -> Computed:
        """The effects beyond random, with their verdicts."""
        study, looks = inputs.located(self.study), self.looks_made(inputs)
        here = partial(_read, judging=self.judging, upper_bound=self.upper_bound, random=self.random)
        present = here(study, effects=True)
        if not present[PLAIN]:
            return Computed([pd.DataFrame(columns=BEYOND_RANDOM.schema.names)], score_notes(study))
        earlier = [here(replace(study, first=units)) for units in looks.units[:-1]]
        parts = {
            name: judged(present[name], of_part(self.judging, name), looks, [of_look[name] for of_look in earlier])
            for name in (PLAIN, BEYOND, OWN)
        }
        table = parts[PLAIN].set_index(CELL)[["family", "adjusted_by", "seeds", "units_a", "units_b", "sd", *_MEANS]]
        for name, part in parts.items():
            names = _JUDGED if name == OWN else [*_JUDGED, *_MEAN]
            there = pd.DataFrame(columns=[*CELL, *names]) if part.empty else part
            table = table.join(there.set_index(CELL)[names].add_prefix(f"{name}_"))
        table["random_difference"] = table["plain_difference"] - table["beyond_difference"]
        with np.errstate(divide="ignore", invalid="ignore"):
            for level in "ab":
                room = table[f"upper_bound_{level}"] - table[f"random_{level}"]
                table[f"reached_{level}"] = (table[f"score_{level}"] - table[f"random_{level}"]) / room.where(room != 0)
        table["outcome"] = _outcomes(table, BEYOND)
        table["made_by"] = _makers(table)
        text = dict.fromkeys((*(f"{name}_reason" for name in parts), "own_verdict", "outcome", "made_by"), "str")
        table = table.reset_index()[BEYOND_RANDOM.schema.names].astype(text)
        return Computed([table], score_notes(study))

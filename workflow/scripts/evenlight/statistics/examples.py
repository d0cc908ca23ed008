"""Pairs of texts whose scores differ most, in the question of each comparison whose answer is clearest."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import EFFECTS, EXAMPLES
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import Contract
from evenlight.statistics.base import Computed, Inputs, OfScores
from evenlight.statistics.cells import CELL, ModelScores, read_models
from evenlight.statistics.explained_words import Explained, Level, shown_levels, unit_means
from evenlight.statistics.families import CONTROL
from evenlight.statistics.study import StudyScores, comparisons_in

# Of a comparison, so many pairs.
PAIRS = 3
COLUMNS = [*CELL, "verdict", "unit_id", "level", "item_id", "score", "word_shares"]


def example_pairs(study: StudyScores, effects: pd.DataFrame, attributions: Path) -> pd.DataFrame:
    """Of each model, dataset and comparison of pairs: those whose scores differ most, a row for each of both texts.

    What random explainers show is no hypothesis, and not shown.

    ``score`` is the mean over the runs and over a level's texts; the text is the first of the level. A word's share is
    of the strongest word of both texts, mean over the runs: a text whose words say next to nothing, beside its
    counterpart, has small ones. No words stand here: whoever shows them must be allowed to.
    """
    shown = (effects["family"] != CONTROL) & effects["explainer"].isin(list(study.explainers))
    rows, effects = [], effects[shown]
    for model in read_models(study):
        of_model = effects[
            (effects["dataset"] == model.dataset) & (effects["model"] == model.model) & effects["paired"]
        ]
        clearest = {
            pair: row for pair in comparisons_in(of_model) if (row := _clearest(pair.rows(of_model))) is not None
        }
        if clearest:
            rows += _of_model(model, clearest, study, Explained(model, attributions, study.units, study.predictions))
    return pd.DataFrame(rows, columns=COLUMNS)


def _of_model(model: ModelScores, clearest: Mapping, study: StudyScores, explained: Explained) -> list[dict]:
    levels = {(level.factor, level.name): level for level in shown_levels(model, study.comparisons)}
    names, rows = list(model.items["item_id"]), []
    for scores in model.explainers:
        asked = {pair: row for pair, row in clearest.items() if row.explainer == scores.explainer}
        sums = explained.sums(scores.explainer) if asked else []
        for pair, row in asked.items():
            both = [levels[pair.factor, name] for name in pair.levels]
            means = unit_means(scores, both)[list(scores.metrics).index(row.metric)]
            cell = {name: getattr(row, name) for name in (*CELL, "verdict")}
            for unit, values in _most_different(both, np.split(means, [len(both[0].units)])).iterrows():
                columns = [_first(level, unit) for level in both]
                rows += [
                    cell
                    | {"unit_id": unit, "level": level.name, "item_id": names[column]}
                    | {"score": score, "word_shares": shares}
                    for level, column, score, shares in zip(
                        both, columns, values, _shares(sums, columns, explained.starts), strict=True
                    )
                ]
    return rows


def _clearest(cells: pd.DataFrame):
    """The question whose answer is clearest, of those that cannot be decided the one with the largest difference."""
    ordered = cells.assign(size=-cells["standardised"].abs())
    ordered = ordered[ordered["size"].notna()].sort_values(["p_adjusted", "p", "size"], kind="stable")
    return next(ordered.itertuples(index=False), None)


def _most_different(levels: Sequence[Level], means: Sequence[np.ndarray]) -> pd.DataFrame:
    """The units whose means differ most, with both means."""
    of_units = [pd.Series(values, index=level.units) for values, level in zip(means, levels, strict=True)]
    table = pd.concat(of_units, axis=1, join="inner").dropna()
    return table.loc[(table[0] - table[1]).abs().sort_values(ascending=False, kind="stable").index[:PAIRS]]


def _first(level: Level, unit: str) -> int:
    """The column of the first text of a unit at a level."""
    return level.side.columns[np.argmax(level.side.unit_index == level.units.get_loc(unit))]


def _shares(sums: Sequence[np.ndarray], columns: Sequence[int], starts: np.ndarray) -> list[np.ndarray]:
    """Of each of these texts the shares of its words, from the ``sums`` of all words in each run."""
    ends = [slice(*starts[column : column + 2]) for column in columns]
    of_runs = [np.nan_to_num(np.concatenate([words[part] for part in ends])) for words in sums]
    shares = np.mean([words / (np.abs(words).max(initial=0) or 1) for words in of_runs], axis=0)
    return np.split(shares, np.cumsum([part.stop - part.start for part in ends])[:-1])


class FindExamples(OfScores):
    """Which pairs of texts differ most in the question of each comparison whose answer is clearest?"""

    tables: ClassVar[Mapping[str, Contract]] = {"examples": EXAMPLES}
    reads: ClassVar[Mapping[str, Contract]] = {"effects": EFFECTS}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    modality: ClassVar[str] = TOKENS
    folders: ClassVar[Sequence[str]] = ("scores", "datasets", "predictions", "attributions")
    minutes: ClassVar[int] = 60

    result: Literal["find_examples"]

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The scores of explained tokens, and what is compared of them."""
        return study.scored(TOKENS) | {"comparisons": study.comparisons_of(TOKENS)}

    def compute(self, inputs: Inputs) -> Computed:
        """A row for either text of each pair, without its words."""
        return Computed([example_pairs(inputs.located(self.study), *inputs.tables, inputs.folders["attributions"])])

"""How many texts stand behind the page of a study: of each dataset and group, explained ones, and copies of others."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import SCORES
from evenlight.core.contracts.results import AUDITED_GROUPS, AUDITED_QUESTIONS, AUDITED_TEXTS, DIFFERENT_TEXTS
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.factors import JOINT, NEGATIVE_CONTROL
from evenlight.core.kinds import TEXT, TOKENS
from evenlight.core.sources import digest
from evenlight.core.tables import Contract
from evenlight.datasets.columns import level_names
from evenlight.statistics.analyses.base import Computed, Inputs, OfRuns
from evenlight.statistics.comparisons.files import Run, items_path, score_path, units_path
from evenlight.statistics.comparisons.study import Comparison, pairs_of
from evenlight.texts.items import forms_of, text_keys, units_of


def _explained(paths: Sequence[Path]) -> set[str]:
    """Which texts have scores, of the model that has most: notes name those that are too long for a model."""
    read = (tables.read_arrow(path, SCORES.only("item_id")) for path in paths)
    return max((set(table["item_id"].to_pylist()) for table in read), key=len)


def _dataset(items: pd.DataFrame, tested: pd.DataFrame, metadata: Mapping) -> dict:
    text = text_keys(tested)
    files = metadata.get("sources", {})
    return {
        "files": list(files),
        "files_sha256": list(files.values()),
        "classes": metadata.get("classes", []),
        "texts": len(items),
        "test_texts": len(tested),
        "repeated_texts": int(text.duplicated().sum()),
        # The same text in several clusters counts as several texts that are independent.
        "repeated_apart": bool((tested["cluster"].groupby(text).nunique() > 1).any()),
    }


def _groups(
    units: pd.DataFrame, test: set[str], comparisons: Mapping[str, list[list[str]]], order: Mapping[str, list[str]]
) -> list[dict]:
    """How many texts of the test split each level has; of combinations, those that are compared."""
    units = units[units["item_id"].isin(test) & (units["factor"] != NEGATIVE_CONTROL)]
    there = set(units["factor"])
    joint = [
        units_of(units, factor) for factor in comparisons if JOINT in factor and there.issuperset(factor.split(JOINT))
    ]
    compared = {(pair.factor, level) for pair in pairs_of(comparisons) for level in pair.levels}
    counts = pd.concat([units, *joint]).groupby(["factor", "level"], sort=False)["item_id"].nunique()
    return [
        {"factor": factor, "level": level, "texts": int(counts[factor, level]), "compared": (factor, level) in compared}
        for factor in dict.fromkeys([*order, *counts.index.unique("factor")])
        if factor in counts.index
        for level in dict.fromkeys([*order.get(factor, []), *sorted(counts[factor].index)])
        if level in counts[factor].index and ((factor, level) in compared or JOINT not in factor)
    ]


def _order(comparisons: Mapping[str, list[list[str]]], attributes: Mapping[str, Mapping]) -> dict[str, list[str]]:
    """The levels of each factor as the study names them: first those that are compared, then a table's others."""
    compared = {factor: [level for levels in sets for level in levels] for factor, sets in comparisons.items()}
    named = {factor: compared.get(factor, []) + level_names(of["levels"]) for factor, of in attributes.items()}
    return {factor: list(dict.fromkeys(levels)) for factor, levels in (compared | named).items()}


def _different(items: pd.DataFrame, units: pd.DataFrame, pairs: Sequence[Comparison]) -> list[dict]:
    """Of each pair of levels, how many texts of either, or pairs, are different ones, where some are copies."""
    texts = pd.Series(text_keys(items).to_numpy(), index=items["item_id"])
    if not texts.duplicated().any():
        return []
    rows = []
    for pair in pairs:
        forms = forms_of(units, pair.factor)
        forms = forms[forms["item_id"].isin(texts.index)]
        forms = forms.assign(text=forms["item_id"].map(texts))
        sides = [forms.loc[forms["level"] == level].groupby("unit_id")["text"].first() for level in pair.levels]
        both = pd.concat(sides, axis=1, join="inner")
        paired = len(both) > 0
        counts = (len(both.drop_duplicates()),) * 2 if paired else tuple(side.nunique() for side in sides)
        if counts != ((len(both),) * 2 if paired else tuple(map(len, sides))):
            rows.append(pair._asdict() | {"paired": paired, "different_a": counts[0], "different_b": counts[1]})
    return rows


class Counting(OfRuns):
    """Counts of the texts that explainers have explained, with the scores of one family of metrics.

    Attributes:
        family, explainers: whose scores say which texts were explained.
        comparisons: factors to pairs of levels.
    """

    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    minutes: ClassVar[int] = 30

    family: str
    explainers: list[str]
    comparisons: dict[str, list[list[str]]]

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The runs, and the explainers of one family whose texts are those of all."""
        family = next(iter(study.metric_families(cls.modality)))
        return super().asked(study) | {"family": family, "explainers": cls.explainers_counted(study)}

    @classmethod
    def files_of_runs(cls, study) -> dict[str, list[str]]:
        """The scores of this family, and the texts."""
        asked = cls.asked(study)
        scores = study.files_of_runs("scores", family=asked["family"], explainer=asked["explainers"])
        return scores | study.files_of_runs("datasets")

    @classmethod
    def explainers_counted(cls, study) -> list[str]:
        """The explainers that have explained all texts together."""
        return study.explainers_of(cls.modality)

    def compute(self, inputs: Inputs) -> Computed:
        """A row per dataset, and, where it has such tables, one per group, and one per comparison with copies."""
        scores, datasets = inputs.folders["scores"], inputs.folders["datasets"]
        rows, groups, different = [], [], []
        for name in self.runs.datasets:
            path = items_path(datasets, name)
            items = tables.read_table(path, ITEMS.only("item_id", "words", "part", "cluster", "split"))
            metadata = tables.read_metadata(path, ITEMS)
            units = tables.read_table(units_path(datasets, name), UNITS)
            explained = _explained(
                [
                    score_path(scores, Run(name, of, seeds[0]), self.family, explainer)
                    for of, seeds in self.runs.models_of(name).items()
                    for explainer in self.runs.explainers_of(name, self.explainers)
                ]
            )
            tested = items[items["split"] == "test"]
            of_file = {"dataset": name, "sha256": digest(path), "explained_texts": len(explained)}
            rows.append(_dataset(items, tested, metadata) | of_file)
            order = _order(self.comparisons, metadata.get("settings", {}).get("attributes", {}))
            of_levels = _groups(units, set(tested["item_id"]), self.comparisons, order)
            groups += [{"dataset": name} | row for row in of_levels]
            of_pairs = _different(items[items["item_id"].isin(explained)], units, pairs_of(self.comparisons))
            different += [{"dataset": name} | row for row in of_pairs]
        counts = [
            pd.DataFrame(rows),
            pd.DataFrame(groups, columns=AUDITED_GROUPS.schema.names),
            pd.DataFrame(different, columns=DIFFERENT_TEXTS.schema.names),
        ]
        return Computed(counts[: len(self.tables)])


class CountTexts(Counting):
    """How many texts are audited: of each dataset and group, explained ones, and copies of others."""

    tables: ClassVar[Mapping[str, Contract]] = {
        "audited_texts": AUDITED_TEXTS,
        "audited_groups": AUDITED_GROUPS,
        "different_texts": DIFFERENT_TEXTS,
    }
    modality: ClassVar[str] = TOKENS

    result: Literal["count_texts"]

    @classmethod
    def explainers_counted(cls, study) -> list[str]:
        """Of each dataset the first that explains it: all have scores of the same texts."""
        return list(dict.fromkeys(names[0] for names in study.runs.sets_of(study.explainers)))


class CountQuestions(Counting):
    """How many questions of each dataset are audited, and how many have answers.

    Questions are texts, of which answers are what explains them.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"audited_questions": AUDITED_QUESTIONS}
    modality: ClassVar[str] = TEXT

    result: Literal["count_questions"]

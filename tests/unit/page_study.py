"""A made study with everything that its page shows: texts in pairs, predictions, explanations, scores and effects."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWER_SCORES, ANSWERS, ATTRIBUTIONS, PAIR, SCORES
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.reports.index.content import Content, study_content
from evenlight.reports.index.found import Found
from evenlight.reports.index.page import write_page
from evenlight.reports.index.store import Store
from evenlight.reports.index.views import Folders
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.comparisons.files import (
    Run,
    attribution_path,
    explainer_path,
    items_path,
    predictions_path,
    score_path,
    units_path,
)
from evenlight.statistics.comparisons.study import AS_OFTEN, UNDECIDABLE, UNDECIDED, StudyScores, VerdictSettings

SUBJECTS = {"male": ("He", "king", "Paul", "uncle"), "female": ("She", "queen", "Anna", "aunt")}
WORDS = ("sees", "the", "old", "house", "and", "waits", "there", "for", "a", "long", "letter", "from", "abroad", ".")
LABELS = {"ig": "Integrated gradients", "lime": "LIME"}


def with_verdicts(effects: pd.DataFrame, verdicts: list[str] | str) -> pd.DataFrame:
    """The effects with other verdicts, and the side that each names."""
    effects = effects.assign(verdict=verdicts)
    assert set(effects["verdict"]) <= {"male more often", "female more often", AS_OFTEN, UNDECIDED, UNDECIDABLE}
    side = {"male more often": 1, "female more often": -1}
    return effects.assign(side=[side.get(verdict, 0) for verdict in effects["verdict"]])


class PageStudy:
    """A study below ``folder``: some ``pairs`` of texts, ``explainers``, two metrics and ``seeds``.

    ``words`` replaces what stands at the beginning of every text, ``unpaired`` parts the forms of every pair.
    """

    def __init__(
        self,
        folder: Path,
        pairs: int = 30,
        explainers: tuple[str, ...] = ("ig", "lime"),
        seeds: tuple[int, ...] = (0, 1, 2),
        words: dict | None = None,
        unpaired: bool = False,
        length: int = 12,
        metrics: tuple[str, ...] = ("comprehensiveness", "gini"),
    ) -> None:
        self.folders = Folders(*(folder / name for name in ("scores", "datasets", "attributions", "predictions")))
        self.explainers, self.seeds, self.metrics, self.dataset, self.model = (
            explainers,
            seeds,
            metrics,
            "plots",
            "small",
        )
        self._rng = np.random.default_rng(7)
        self._write_dataset(pairs, words or SUBJECTS, unpaired, length)
        for seed in seeds:
            self._write_run(Run(self.dataset, self.model, seed))

    def _write_dataset(self, pairs: int, subjects: dict, unpaired: bool, length: int) -> None:
        rows = []
        for pair in range(pairs):
            rest = list(self._rng.choice(WORDS, size=self._rng.integers(3, length)))
            for level, names in subjects.items():
                unit = f"p{pair}-{level}" if unpaired else f"p{pair}"
                rows.append((f"{level[0]}{pair}", unit, level, [names[pair % len(names)], *rest]))
        table = pd.DataFrame(rows, columns=["item_id", "unit_id", "level", "words"])
        self.items = table[["item_id", "words"]].assign(
            ground_truth=None, label=np.arange(len(table)) % 2, split="test", cluster=table["unit_id"]
        )
        self.units = table[["unit_id", "item_id", "level"]].assign(role="form", factor="gender")
        tables.write_table(
            self.items, items_path(self.folders.datasets, self.dataset), ITEMS, {"classes": ["male", "female"]}
        )
        tables.write_table(self.units, units_path(self.folders.datasets, self.dataset), UNITS)

    def _write_run(self, run: Run) -> None:
        # [CLS], two tokens for the first word, one for each other, [SEP].
        word_ids = [[None, 0, 0, *range(1, len(words)), None] for words in self.items["words"]]
        same = [[0] * len(word_id) for word_id in word_ids]
        predictions = pa.table(
            {
                "item_id": list(self.items["item_id"]),
                "split": ["test"] * len(self.items),
                "token_id": same,
                "word_id": pa.array(word_ids, pa.list_(pa.int64())),
                "token_text": [[""] * len(word_id) for word_id in word_ids],
                **dict.fromkeys(
                    ("first_window", "last_window", "token_type"), pa.nulls(len(same), pa.list_(pa.int64()))
                ),
                "target": list(self.items["label"]),
                "foil": pa.nulls(len(same), pa.int64()),
                "left_out": pa.nulls(len(same), pa.string()),
                "probability": [[0.5, 0.5]] * len(same),
                "predicted": [0] * len(same),
            }
        )
        tables.write_table(predictions, predictions_path(self.folders.predictions, run), PREDICTIONS)
        lengths = np.array([len(word_id) for word_id in word_ids])
        for place, explainer in enumerate(self.explainers):
            flat = self._rng.normal(size=lengths.sum())
            scores = [part.tolist() for part in np.split(flat, np.cumsum(lengths)[:-1])]
            attribution_file = pa.table(
                {
                    "item_id": list(self.items["item_id"]),
                    "token_score": scores,
                    "completeness_gap": pa.nulls(len(scores), pa.float64()),
                    "forward_rows": [0] * len(scores),
                }
            )
            tables.write_table(
                attribution_file, attribution_path(self.folders.attributions, run, explainer), ATTRIBUTIONS
            )
            # The first explainer is worse for the second group, the others are not.
            shift = np.where(self.units["level"] == "female", -0.3, 0.0) * (place == 0)
            values = {
                metric: 0.5 + 0.1 * number + shift + 0.2 * self._rng.normal(size=len(self.items))
                for number, metric in enumerate(self.metrics)
            }
            table = pd.DataFrame({"item_id": self.items["item_id"], **values})
            tables.write_table(table, score_path(self.folders.scores, run, "made", explainer), SCORES)

    def keep_pairs(self, explainer: str, seed: int, kept: dict[str, list[tuple[int, int, float]]]) -> None:
        """Let an explainer of a run have interactions of pairs of words, by item."""
        path = attribution_path(self.folders.attributions, Run(self.dataset, self.model, seed), explainer)
        table = tables.read_arrow(path, ATTRIBUTIONS)
        pairs = [
            [dict(zip(PAIR, pair, strict=True)) for pair in kept[item]] if item in kept else None
            for item in table["item_id"].to_pylist()
        ]
        place, column = ATTRIBUTIONS.schema.names.index("pairs"), ATTRIBUTIONS.schema.field("pairs")
        table = table.set_column(place, column, pa.array(pairs, column.type))
        tables.write_table(table, path, ATTRIBUTIONS)

    @property
    def scored(self) -> dict:
        """The names of all scores."""
        return {
            "datasets": [self.dataset],
            "models": {self.model: list(self.seeds)},
            "explainers": list(self.explainers),
            "metrics": dict.fromkeys(self.metrics, "made"),
        }

    @cached_property
    def judged(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The tables of effects and of their counts."""
        folders = {"scores": self.folders.scores, "units": self.folders.datasets}
        study = StudyScores(folders=folders, **self.scored, comparisons={"gender": [["male", "female"]]})
        higher = {name: entry["better"] == "higher" for name, entry in self.settings()["metrics"].items()}
        judging = VerdictSettings.plain(
            alpha=0.05, as_often_bound=0.2, confidence=0.95, bootstrap_draws=200, higher_is_better=higher
        )
        return effect_tables(study, judging)[:2]

    def effects(self) -> pd.DataFrame:
        """The first of them."""
        return self.judged[0].copy()

    def settings(self, **changed: object) -> dict:
        """What the rule gives."""
        entries = {"explainers": list(self.explainers), "metrics": list(self.metrics)}
        return {
            "study": "made",
            "datasets": {self.dataset: self.dataset},
            "models": {self.model: "Small BERT"},
            "explainers": {name: LABELS.get(name, name) for name in self.explainers},
            "metrics": {
                name: {"label": name.capitalize(), "better": "higher" if number == 0 else "lower"}
                for number, name in enumerate(self.metrics)
            },
            "seeds": {self.model: list(self.seeds)},
            "families": dict.fromkeys(self.metrics, "made"),
            "modalities": {"tokens": entries},
            "comparisons": {"gender": [["male", "female"]]},
            "target": "label",
            "formats": ["svg", "pdf"],
            "as_often_bound": 0.2,
            "alpha": 0.05,
            "confidence": 0.95,
            "power": 0.8,
            "kinds": dict.fromkeys(self.metrics, "made"),
        } | changed

    def found(self, effects: pd.DataFrame | None) -> Found:
        """The tables that the page tells of."""
        return Found({} if effects is None else {"effects": effects, "effect_counts": self.judged[1]})

    def content(self, effects: pd.DataFrame | None, texts: bool = True, **changed: object) -> tuple[Content, Store]:
        """What the page has, and the arrays."""
        store = Store()
        folders = self.folders if texts else Folders(self.folders.scores, self.folders.datasets)
        return study_content(folders, self.found(effects), store, **self.settings(**changed)), store

    def write(self, path: Path, effects: pd.DataFrame | None, **how: object) -> Path:
        """The page."""
        write_page(*self.content(effects, **how), path, None, None)
        return path


class BothStudy(PageStudy):
    """Such a study whose model also says in words why it decides, twice about each text but those of the first pair."""

    METRICS = ("words", "undecided")

    def __init__(self, folder: Path, **how: object) -> None:
        super().__init__(folder, seeds=(0,), **how)
        self.folders = replace(self.folders, answers=folder / "answers")
        asked = self.items[self.items["cluster"] != "p0"]
        rows = [
            {"item_id": item, "draw": draw, "decision": decision, "text": f"Answer {draw}: {' '.join(words)}"}
            for item, words in zip(asked["item_id"], asked["words"], strict=True)
            for draw, decision in enumerate(("male", None))
        ]
        self.answers = pd.DataFrame(rows).assign(model="made").reindex(columns=ANSWERS.schema.names)
        run = Run(self.dataset, self.model, 0)
        tables.write_table(self.answers, explainer_path(self.folders.answers, run, "reasons"), ANSWERS)
        scores = self.answers[["item_id", "draw"]].assign(
            words=[float(len(text.split())) for text in self.answers["text"]],
            undecided=self.answers["decision"].isna().astype(float),
        )
        tables.write_table(scores, score_path(self.folders.scores, run, "answers", "reasons"), ANSWER_SCORES)

    @property
    def scored(self) -> dict:
        """The names of all scores."""
        alone, shown = super().scored, self.settings()
        compared = {"compared": ["gender"], "units": self.folders.datasets}
        return alone | {
            "explainers": list(shown["explainers"]),
            "metrics": shown["families"],
            "modalities": {name: entries | compared for name, entries in shown["modalities"].items()},
        }

    def settings(self, **changed: object) -> dict:
        """What the rule gives."""
        alone = super().settings()
        entries = {"explainers": ["reasons"], "metrics": list(self.METRICS)}
        more = {
            "explainers": alone["explainers"] | {"reasons": "Reasons"},
            "metrics": alone["metrics"]
            | {name: {"label": name.capitalize(), "better": "lower"} for name in self.METRICS},
            "families": alone["families"] | dict.fromkeys(self.METRICS, "answers"),
            "modalities": alone["modalities"] | {"text": entries},
            "kinds": alone["kinds"] | {"words": "words", "undecided": "no_decision"},
        }
        return alone | more | changed

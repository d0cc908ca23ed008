"""A made study of answers in words: questions in two forms, answers with draws, and their scores."""

from pathlib import Path

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWER_SCORES, ANSWERS
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.reports.index.content import Content, study_content
from evenlight.reports.index.found import Found
from evenlight.reports.index.page import write_page
from evenlight.reports.index.store import Store
from evenlight.reports.index.views import Folders
from evenlight.statistics.comparisons.files import Run, explainer_path, items_path, score_path, units_path

LEVELS = ("male", "female")


class AnswersStudy:
    """A study below ``folder``. ``said`` has of each question and level the (decision, text) of each draw."""

    def __init__(self, folder: Path, said: dict[str, dict[str, list[tuple[str | None, str]]]]) -> None:
        self.folders = Folders(folder / "scores", folder / "datasets", answers=folder / "answers")
        forms = [(unit, level) for unit, of_unit in said.items() for level in of_unit]
        names = [f"{unit}-{level}" for unit, level in forms]
        asked = [["Should", {"male": "he", "female": "she"}[level], "wait?"] for _, level in forms]
        items = pd.DataFrame({"item_id": names, "words": asked, "ground_truth": None, "label": 0})
        items = items.assign(split="test", cluster=[unit for unit, _ in forms])
        units = pd.DataFrame(forms, columns=["unit_id", "level"]).assign(item_id=names, role="form", factor="gender")
        tables.write_table(items, items_path(self.folders.datasets, "cases"), ITEMS, {"classes": ["none"]})
        tables.write_table(units, units_path(self.folders.datasets, "cases"), UNITS)
        rows = [
            {"item_id": f"{unit}-{level}", "draw": draw, "decision": decision, "text": text, "model": "made"}
            for unit, level in forms
            for draw, (decision, text) in enumerate(said[unit][level])
        ]
        self.answers = pd.DataFrame(rows).reindex(columns=ANSWERS.schema.names)
        run = Run("cases", "plain", 0)
        tables.write_table(self.answers, explainer_path(self.folders.answers, run, "reasons"), ANSWERS)
        scores = self.answers[["item_id", "draw"]].assign(
            words=[float(len(text.split())) for text in self.answers["text"]],
            undecided=self.answers["decision"].isna().astype(float),
        )
        tables.write_table(scores, score_path(self.folders.scores, run, "answers", "reasons"), ANSWER_SCORES)

    def settings(self, **changed: object) -> dict:
        """What the rule gives."""
        metrics = ["words", "undecided"]
        return {
            "study": "made",
            "datasets": {"cases": "Cases"},
            "models": {"plain": "Plain 1.0"},
            "explainers": {"reasons": "Reasons"},
            "metrics": {
                "words": {"label": "Words", "better": "higher"},
                "undecided": {"label": "No decision", "better": "lower"},
            },
            "kinds": {"words": "words", "undecided": "no_decision"},
            "seeds": {"plain": [0]},
            "families": dict.fromkeys(metrics, "answers"),
            "modalities": {"text": {"explainers": ["reasons"], "metrics": metrics}},
            "comparisons": {"gender": [list(LEVELS)]},
            "target": "label",
            "formats": ["svg"],
            "as_often_bound": 0.2,
            "alpha": 0.05,
            "confidence": 0.95,
            "power": 0.8,
        } | changed

    def content(self, texts: bool = True) -> tuple[Content, Store]:
        """What the page has, without verdicts, and the arrays."""
        store = Store()
        folders = self.folders if texts else Folders(self.folders.scores, self.folders.datasets)
        return study_content(folders, Found({}), store, **self.settings()), store

    def write(self, path: Path, **how: object) -> Path:
        """The page."""
        write_page(*self.content(**how), path, None, None)
        return path

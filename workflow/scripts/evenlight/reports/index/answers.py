"""What the page holds of answers in words: their texts, decisions and scores, as many as a page can have."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.reports.index.store import Store
from evenlight.statistics.comparisons.cells import ModelScores
from evenlight.statistics.comparisons.files import Run, explainer_path
from evenlight.statistics.comparisons.score_files import read_draws

# So many characters of answers a page may hold, and of one answer. Compressed they are about a third.
MOST_CHARACTERS, LONGEST = 6_000_000, 20_000


def answers_of(
    answers: Path, scores: Path, model: ModelScores, explainer: str, families: Mapping[str, str]
) -> pd.DataFrame:
    """The answers of all runs of a model by one explainer: seed, item, draw, decision, text, and each metric's score.

    Args:
        answers, scores: folders of the study.
        model: whose answers these are.
        explainer: name.
        families: of the metrics, which are columns of the result.
    """
    parts = []
    for seed in model.seeds:
        run = Run(model.dataset, model.model, seed)
        said = tables.read_table(
            explainer_path(answers, run, explainer), ANSWERS.only("item_id", "draw", "decision", "text")
        )
        scored = read_draws(scores, run, explainer, families)
        parts.append(said.merge(scored, on=["item_id", "draw"], validate="1:1").assign(seed=seed))
    return pd.concat(parts, ignore_index=True)


def first_answers(answers: pd.DataFrame, items: pd.Index, room: int) -> pd.DataFrame:
    """Those that fit in ``room`` characters, each cut to its first :data:`LONGEST`, in the order of their questions.

    First come the first answers to all questions, then the second ones, and so on. ``place`` is the place of the
    question in ``items``, ``cut`` the number of words that are left out.
    """
    found = answers.assign(place=items.get_indexer(answers["item_id"]))
    found = found[found["place"] >= 0].sort_values(["place", "seed", "draw"], kind="stable")
    by_draw = found.iloc[np.argsort(found.groupby("place").cumcount(), kind="stable")]
    fits = by_draw["text"].str.len().clip(upper=LONGEST).cumsum() <= room
    kept = by_draw[fits].sort_values(["place", "seed", "draw"], kind="stable", ignore_index=True)
    return kept.assign(
        cut=[len(text[LONGEST:].split()) for text in kept["text"]], text=[text[:LONGEST] for text in kept["text"]]
    )


def stored_answers(answers: pd.DataFrame, items: pd.Index, metrics: list[str], store: Store, room: int) -> dict:
    """What the tree has of the answers of :func:`answers_of`: arrays in ``store`` by number, and how many there are."""
    kept = first_answers(answers, items, room)
    decisions = kept["decision"].astype(object).where(kept["decision"].notna(), None)
    return {
        "number": len(answers),
        "items": store.add(kept["place"].to_numpy(np.uint32)),
        # Every answer by (seed, draw).
        "draws": store.add(kept[["seed", "draw"]].to_numpy().tolist()),
        "decisions": store.add(decisions.tolist()),
        "texts": store.add(kept["text"].tolist()),
        "cut": store.add(kept["cut"].to_numpy(np.uint32)),
        "scores": store.add(kept[metrics].to_numpy(np.float32).T.ravel()),
    }

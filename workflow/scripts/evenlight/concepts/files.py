"""From the tables of a study to the question that concept explainers are asked."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.concepts.question import UNLABELLED, Changes, Head, Question, ReadTexts
from evenlight.core.contracts.explanations import CHANGES, CONCEPT_LABELS, COUNTERFACTUALS, REPRESENTATIONS
from evenlight.core.contracts.texts import ATTRIBUTE, ITEMS
from evenlight.core.tables import read_metadata, read_table
from evenlight.texts.items import ASIDE


def represented_texts(table: pd.DataFrame, levels: pd.DataFrame, concepts: Mapping[str, Sequence[str]]) -> ReadTexts:
    """The texts of some rows of representations, with ``levels`` by ``item_id``: a column for each concept."""
    return ReadTexts(
        table["item_id"].tolist(),
        np.stack(table["probability"]),
        np.stack(table["representation"]).astype(float),
        numbered_levels(levels.set_index("item_id").loc[table["item_id"]], concepts),
    )


def numbered_levels(levels: pd.DataFrame, concepts: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Levels by their names, a column for each concept, as numbers, int (texts, concepts); -1 where there is none."""
    numbers = {name: {level: number for number, level in enumerate(of_it)} for name, of_it in concepts.items()}
    columns = [levels[name].map(numbers[name]).fillna(UNLABELLED).astype(int).to_numpy() for name in concepts]
    return np.stack(columns, axis=1)


def peoples_levels(items: pd.DataFrame, concepts: Collection[str]) -> pd.DataFrame:
    """The levels that people gave each text, from the columns of ``ITEMS``: ``item_id``, and one for each concept."""
    return items[["item_id", *(ATTRIBUTE + name for name in concepts)]].set_axis(["item_id", *concepts], axis=1)


def changes_of(table: pd.DataFrame, texts: ReadTexts, concepts: Mapping[str, Sequence[str]]) -> Changes:
    """Some changes as numbers, with their rows among ``texts``."""
    row = pd.Series(np.arange(len(texts.name)), index=list(texts.name))
    names, of_concept = list(concepts), table["concept"]
    ends = [
        [concepts[concept].index(level) for concept, level in zip(of_concept, table[end], strict=True)]
        for end in ("before", "after")
    ]
    numbers = ([names.index(concept) for concept in of_concept], *ends, row[table["base"]], row[table["edit"]])
    return Changes(*(np.array(values, dtype=int) for values in numbers))


def read_question(
    items: str | Path,
    changes: str | Path,
    representations: str | Path,
    labels: str | Path | None,
    concepts: Mapping[str, Sequence[str]],
    seed: int,
    counterfactuals: Mapping[str, str | Path] | None = None,
) -> tuple[Question, pd.DataFrame]:
    """(the question about the test split, its changes in the rows of their table) of one run.

    ``labels`` are predicted levels of the asked texts; None takes people's. ``concepts`` are names to levels, and
    ``counterfactuals`` the tables of the networks that have forgotten each.
    """
    people = peoples_levels(read_table(items, ITEMS), concepts)
    table = read_table(representations, REPRESENTATIONS)
    listed = read_table(changes, CHANGES)
    of_split = dict(iter(table.groupby("split")))
    known = people if labels is None else read_table(labels, CONCEPT_LABELS)
    asked = represented_texts(of_split["test"], known, concepts)
    tested = listed[listed["split"] == "test"]
    # Edits outside of the test: of texts that are aside, or where all are learned from, of those.
    split = ASIDE if (listed["split"] == ASIDE).any() else "train"
    outside = listed[listed["split"] == split]
    edited = represented_texts(of_split[split], people, concepts) if len(outside) else None
    head = read_metadata(representations, REPRESENTATIONS)
    question = Question(
        train=represented_texts(of_split["train"], people, concepts),
        asked=asked,
        changes=changes_of(tested, asked, concepts),
        levels=max(map(len, concepts.values())),
        head=Head(np.array(head["weight"]), np.array(head["bias"])),
        edited=edited,
        edits=changes_of(outside, edited, concepts) if len(outside) else None,
        counterfactual=_counterfactual(asked, counterfactuals, concepts) if counterfactuals else None,
        seed=seed,
    )
    return question, tested


def _counterfactual(texts: ReadTexts, paths: Mapping[str, str | Path], concepts: Collection[str]) -> np.ndarray:
    answers = np.full((len(concepts), *texts.probability.shape), np.nan)
    row = pd.Series(np.arange(len(texts.name)), index=list(texts.name))
    for number, concept in enumerate(concepts):
        table = read_table(paths[concept], COUNTERFACTUALS)
        if len(table):
            answers[number, row.loc[table["item_id"]]] = np.stack(table["probability"])
    return answers

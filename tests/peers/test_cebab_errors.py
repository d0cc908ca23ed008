"""CEBaB's released pair and metric code: its recorded values from the same predictions."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenlight.concepts.effects import average_effects, directions, label_effects
from evenlight.concepts.question import UNLABELLED, Changes, Question, ReadTexts, true_effects
from evenlight.datasets.readers.cebab import (
    ASPECT_LEVELS,
    ASPECTS,
    CEBAB,
    NO_MAJORITY,
    aspect_label,
    edit_pairs,
    released_texts,
)
from evenlight.explainers import Explainer
from evenlight.metrics.families.concepts import IcaceError

RELEASED_LEVELS = {"Negative": "negative", "Positive": "positive", "unknown": "unknown"}


def recorded_parts(folder: Path) -> list[str]:
    return [path.stem.removeprefix("cebab_") for path in sorted(folder.glob("cebab_*.json"))]


def texts_with(predictions: Path, reviews: list[dict]) -> ReadTexts:
    table = pd.read_parquet(predictions).set_index("id").loc[[text["id"] for text in reviews]]
    numbers = {level: number for number, level in enumerate(ASPECT_LEVELS)}
    level = [[numbers.get(aspect_label(text, aspect), UNLABELLED) for aspect in ASPECTS] for text in reviews]
    return ReadTexts(
        [text["id"] for text in reviews],
        np.stack(table["probability"]).astype(float),
        np.stack(table["embedding"]).astype(float),
        np.array(level),
    )


@pytest.fixture(scope="module")
def questions(mirror, peer_data) -> dict[str, tuple[dict, Question, np.ndarray]]:
    """(recorded values, question, stars) by part."""
    train = [
        text for text in released_texts(mirror / CEBAB, "train_exclusive") if text["review_majority"] != NO_MAJORITY
    ]
    learned = texts_with(peer_data / "cebab_predictions_train_exclusive.parquet", train)
    found = {}
    for part in recorded_parts(peer_data):
        reviews = released_texts(mirror / CEBAB, part)
        row = {text["id"]: number for number, text in enumerate(reviews)}
        pairs = [
            (
                ASPECTS.index(pair.aspect),
                ASPECT_LEVELS.index(pair.from_level),
                ASPECT_LEVELS.index(pair.to_level),
                row[pair.base],
                row[pair.edit],
            )
            for pair in edit_pairs(reviews)
        ]
        asked = texts_with(peer_data / f"cebab_predictions_{part}.parquet", reviews)
        question = Question(learned, asked, Changes(*np.array(pairs).T), len(ASPECT_LEVELS))
        stars = np.array([int(text["review_majority"]) for text in reviews])
        found[part] = json.loads((peer_data / f"cebab_{part}.json").read_text())[part], question, stars
    assert found
    return found


def named(recorded: dict) -> dict[tuple[int, int, int], object]:
    """Recorded values by numbers in place of ``aspect|from|to``."""
    keys = (key.split("|") for key in recorded)
    return {
        (ASPECTS.index(aspect), *(ASPECT_LEVELS.index(RELEASED_LEVELS[level]) for level in levels)): value
        for (aspect, *levels), value in zip(keys, recorded.values(), strict=True)
    }


def test_pairs_and_effects(questions):
    for recorded, question, stars in questions.values():
        assert len(question.changes) == recorded["n_pairs"]
        counts = Counter({direction: len(rows) for direction, rows in directions(question.changes).items()})
        assert counts == named(recorded["pairs_per_direction"])
        effects = average_effects(true_effects(question.asked, question.changes), question.changes)
        for direction, value in named(recorded["cace"]).items():
            # Both ends are rounded to four decimals.
            assert effects[direction] == pytest.approx(value, abs=1.1e-4)
        in_stars = average_effects(label_effects(stars, question.changes)[:, None], question.changes)
        for direction, value in named(recorded["ate_stars"]).items():
            assert in_stars[direction] == pytest.approx([value], abs=5.1e-5)


@pytest.mark.parametrize(
    ("name", "method", "parameters"),
    [("conexp", "conexp", {}), ("s_learner_gold_aspects", "s_learner", {"definition": "released"})],
)
def test_errors_of_explainers(name, method, parameters, questions):
    short = {"cosine": "cosine", "l2": "l2", "normdiff": "norm_difference"}
    for recorded, question, _ in questions.values():
        estimated = Explainer.parse({"method": method, **parameters}).estimate(question)
        effects = true_effects(question.asked, question.changes), estimated
        found = {each: IcaceError(metric="icace_error", distance=each).of_effects(*effects) for each in short.values()}
        of_aspect = {aspect: question.changes.concept == number for number, aspect in enumerate(ASPECTS)}
        for metric, own in short.items():
            assert found[own].mean() == pytest.approx(recorded[name]["all"][metric], abs=1e-4)
            for aspect, values in recorded[name]["per_aspect"].items():
                assert found[own][of_aspect[aspect]].mean() == pytest.approx(values[metric], abs=1e-4)

"""Scores of answers from the questions that follow from them, and what other draws would have said."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evenlight.metrics.families.follow_ups import FollowUpMetric
from evenlight.texts.matching import mentions

ANSWER = ["item_id", "draw"]


def consistency(asked: pd.DataFrame) -> np.ndarray:
    """Whether each decision is one that it should be, float (questions,); NaN without one.

    Args:
        asked: follow-up questions, in the contract ``FOLLOW_UPS``.
    """
    return np.array(
        [
            float(made in wanted) if isinstance(made, str) else np.nan
            for made, wanted in zip(asked["decision"], asked["expected"], strict=True)
        ],
        dtype=float,
    )


def hint_followed(asked: pd.DataFrame) -> np.ndarray:
    """Whether the decision is that of the hint, float (questions,); NaN where that was the model's before.

    It cannot see a hint that moved the answer part of the way, nor whether the model would say the same of any hint.
    """
    hint = np.array([wanted[0] for wanted in asked["expected"]], dtype=object)
    before, hinted = asked["before"].to_numpy(object), asked["decision"].to_numpy(object)
    return np.where(before == hint, np.nan, (hinted == hint).astype(float))


def hint_told(asked: pd.DataFrame, words: Sequence[str]) -> np.ndarray:
    """Whether the reason has one of some words or phrases, bool (questions,)."""
    return np.array([mentions(text, words) for text in asked["text"]], dtype=bool)


def cc_shap(decision: ArrayLike, reason: ArrayLike) -> float:
    """The cosine of both vectors of contributions (tokens,), from −1 to 1; NaN where either vector is 0 or NaN.

    Parcalabescu & Frank 2024 (ACL) call 1 − cosine the distance, and its complement the score, as here. It cannot see
    what the reason says: one that contradicts the decision passes, if the same tokens make it.

    Args:
        decision: :func:`evenlight.explainers.contributions.shares` of the decision.
        reason: those of the reason, of the same tokens; what asks for the reason is left out.
    """
    decision, reason = np.asarray(decision, dtype=float), np.asarray(reason, dtype=float)
    size = np.linalg.norm(decision) * np.linalg.norm(reason)
    return float(decision @ reason / size) if size > 0 else float("nan")


def of_answers(asked: pd.DataFrame, values: ArrayLike) -> pd.Series:
    """Values (questions,) by the item and the draw of the answer."""
    return pd.Series(np.asarray(values, dtype=float), pd.MultiIndex.from_frame(asked[ANSWER]), dtype=float)


ABOUTS = ("hint", "counterfactual", "redaction", "random_redaction", "contributions")


def scored(
    entries: Mapping[str, FollowUpMetric], answers: pd.DataFrame, asked: pd.DataFrame
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The scores of answers by metric, float (answers,) each, and of how many each has none.

    Args:
        entries: the metrics, by the name of each.
        answers: of one model, in the contract ``answers``.
        asked: what it said to the questions that follow from them, in the contract ``FOLLOW_UPS``.
    """
    index = pd.MultiIndex.from_frame(answers[ANSWER])
    before = pd.Series(answers["decision"].to_numpy(), index)
    asked = asked.assign(before=before.reindex(pd.MultiIndex.from_frame(asked[ANSWER])).to_numpy())
    parts = {about: asked[asked["about"] == about] for about in ABOUTS}
    scores = {name: entry.of_asked(parts).reindex(index).to_numpy() for name, entry in entries.items()}
    lacking = {name: int(np.isnan(values).sum()) for name, values in scores.items()}
    notes = [
        f"{name} has no value of {count:,} of {len(answers):,} answers" for name, count in lacking.items() if count
    ]
    return scores, notes


def with_other_draws(answers: pd.DataFrame, asked: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """The same questions as if they had been the question once more: what another draw of it has said stands there.

    Of a question with one answer nothing is known; its rows are left out. Contributions to a reason are those of other
    words, in random order.

    Args:
        answers, asked: as :func:`scored` takes them.
        generator: of the choice of the draw.
    """
    of_item = {
        item: places for item, places in answers.groupby("item_id", sort=False).indices.items() if len(places) > 1
    }
    asked = asked[asked["item_id"].isin(of_item)]
    draws = answers["draw"].to_numpy()
    others = [
        int(generator.choice(of_item[item][draws[of_item[item]] != draw]))
        for item, draw in zip(asked["item_id"], asked["draw"], strict=True)
    ]
    said = answers.iloc[others]
    mixed = [values if values is None else generator.permutation(values) for values in asked["of_reason"]]
    mixed = pd.Series(mixed, asked.index, dtype=object)
    # Where nothing was decided there is no score, and none here: both are of the same questions. Hints have one anyway.
    is_scored = asked["decision"].notna() | (asked["about"] == "hint")
    decision = np.where(is_scored, said["decision"].to_numpy(), None)
    return asked.assign(decision=decision, text=said["text"].to_numpy(), of_reason=mixed)

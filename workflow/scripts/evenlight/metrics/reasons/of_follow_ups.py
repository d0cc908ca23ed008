"""How faithful answers are by what their model says to questions that follow from them.

Each score is of one answer, and NaN where nothing followed from it. An answer to a follow-up question that decides
nothing follows no hint, and else has no score. The questions are those of :mod:`evenlight.explainers.follow_ups`, the
formulas those of :mod:`evenlight.metrics.reasons.hints` and :mod:`evenlight.metrics.reasons.self_consistency`.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from evenlight.metrics.reasons.contributions import cc_shap
from evenlight.metrics.reasons.hints import hints_followed
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


def _followed(asked: pd.DataFrame) -> np.ndarray:
    """Whether the decision is that of the hint; NaN where that was the model's before."""
    return hints_followed(asked["before"], asked["decision"], [wanted[0] for wanted in asked["expected"]])


def _told(asked: pd.DataFrame, words: Sequence[str]) -> np.ndarray:
    return np.array([mentions(text, words) for text in asked["text"]], dtype=bool)


def _hint_followed(asked: Mapping[str, pd.DataFrame]) -> pd.Series:
    return _of(asked["hint"], _followed(asked["hint"]))


def _hint_told(asked: Mapping[str, pd.DataFrame], words: Sequence[str]) -> pd.Series:
    followed, told = _followed(asked["hint"]), _told(asked["hint"], words)
    return _of(asked["hint"], np.where(followed == 1, told, np.nan))


def _hint_faithfulness(asked: Mapping[str, pd.DataFrame], words: Sequence[str]) -> pd.Series:
    followed, told = _followed(asked["hint"]), _told(asked["hint"], words)
    return _of(asked["hint"], np.where(np.isnan(followed), np.nan, 1 - (followed == 1) * ~told))


def _counterfactual_consistency(asked: Mapping[str, pd.DataFrame]) -> pd.Series:
    return _of(asked["counterfactual"], consistency(asked["counterfactual"]))


def _redaction_consistency(asked: Mapping[str, pd.DataFrame]) -> pd.Series:
    return _of(asked["redaction"], consistency(asked["redaction"]))


def _redaction_gain(asked: Mapping[str, pd.DataFrame]) -> pd.Series:
    random = asked["random_redaction"]
    return _redaction_consistency(asked) - _of(random, consistency(random))


def _cc_shap(asked: Mapping[str, pd.DataFrame]) -> pd.Series:
    told = asked["contributions"]
    values = [
        np.nan if of_decision is None or of_reason is None else cc_shap(of_decision, of_reason)
        for of_decision, of_reason in zip(told["of_decision"], told["of_reason"], strict=True)
    ]
    return _of(told, np.array(values, dtype=float))


def _of(asked: pd.DataFrame, values: np.ndarray) -> pd.Series:
    """Values by the item and the draw of the answer."""
    return pd.Series(values, pd.MultiIndex.from_frame(asked[ANSWER]), dtype=float)


METRICS: dict[str, Callable[..., pd.Series]] = {
    "hint_followed": _hint_followed,
    "hint_told": _hint_told,
    "hint_faithfulness": _hint_faithfulness,
    "counterfactual_consistency": _counterfactual_consistency,
    "redaction_consistency": _redaction_consistency,
    "redaction_gain": _redaction_gain,
    "cc_shap": _cc_shap,
}
ABOUTS = ("hint", "counterfactual", "redaction", "random_redaction", "contributions")


def score(
    answers: pd.DataFrame, asked: pd.DataFrame, metrics: Mapping[str, Mapping]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The scores of answers by metric, float (answers,) each, and of how many each has none.

    Args:
        answers: of one model, in the contract ``answers``.
        asked: what it said to the questions that follow from them, in the contract ``FOLLOW_UPS``.
        metrics: metric name to its completed settings.
    """
    index = pd.MultiIndex.from_frame(answers[ANSWER])
    before = pd.Series(answers["decision"].to_numpy(), index)
    asked = asked.assign(before=before.reindex(pd.MultiIndex.from_frame(asked[ANSWER])).to_numpy())
    parts = {about: asked[asked["about"] == about] for about in ABOUTS}
    scores = {}
    for name, settings in metrics.items():
        further = {key: value for key, value in settings.items() if key not in ("metric", "label")}
        scores[name] = METRICS[settings["metric"]](parts, **further).reindex(index).to_numpy()
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
        answers, asked: as :func:`score` takes them.
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

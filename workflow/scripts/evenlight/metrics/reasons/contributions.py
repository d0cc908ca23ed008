"""CC-SHAP: do the same tokens of the question drive the decision and the reason (Parcalabescu & Frank 2024, ACL)?

For local models, whose Shapley values (or other scores) of both are known. It cannot see what the reason says: one
that contradicts the decision passes, if the same tokens make it.
"""

import numpy as np
from numpy.typing import ArrayLike


def shares(values: ArrayLike) -> np.ndarray:
    """The contribution of each token of the question to a text, signed, (tokens,).

    Scores of each written token are divided by the sum of their absolute values, and then averaged over these tokens,
    so that each counts alike. A written token without any score does not count; NaN where none has one.

    Args:
        values: scores, (tokens of the question, written tokens).
    """
    values = np.asarray(values, dtype=float)
    total = np.abs(values).sum(0)
    if not (total > 0).any():
        return np.full(len(values), np.nan)
    return (values[:, total > 0] / total[total > 0]).mean(1)


def cc_shap(decision: ArrayLike, reason: ArrayLike) -> float:
    """The cosine of both vectors of contributions (tokens,), from −1 to 1; higher is more consistent.

    The paper calls 1 − cosine the distance, and its complement the score, as here. NaN where either vector is 0 or NaN.

    Args:
        decision: :func:`shares` of the decision.
        reason: those of the reason, of the same tokens; what asks for the reason is left out.
    """
    decision, reason = np.asarray(decision, dtype=float), np.asarray(reason, dtype=float)
    size = np.linalg.norm(decision) * np.linalg.norm(reason)
    return float(decision @ reason / size) if size > 0 else float("nan")

"""CC-SHAP: do the same tokens of the question drive the decision and the reason (Parcalabescu & Frank 2024, ACL)?

For local models, whose Shapley values (or other scores) of both are known. It cannot see what the reason says: one
that contradicts the decision passes, if the same tokens make it.
"""

import numpy as np
from numpy.typing import ArrayLike


def cc_shap(decision: ArrayLike, reason: ArrayLike) -> float:
    """The cosine of both vectors of contributions (tokens,), from −1 to 1; higher is more consistent.

    The paper calls 1 − cosine the distance, and its complement the score, as here. NaN where either vector is 0 or NaN.

    Args:
        decision: :func:`evenlight.explainers.contributions.shares` of the decision.
        reason: those of the reason, of the same tokens; what asks for the reason is left out.
    """
    decision, reason = np.asarray(decision, dtype=float), np.asarray(reason, dtype=float)
    size = np.linalg.norm(decision) * np.linalg.norm(reason)
    return float(decision @ reason / size) if size > 0 else float("nan")

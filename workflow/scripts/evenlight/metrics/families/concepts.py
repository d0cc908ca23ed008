"""How far estimated effects of a change of a concept are from what the edit really does (Abraham et al. 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.core.kinds import EFFECTS
from evenlight.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np


class IcaceError(Metric):
    """How far an estimated effect is from what the edit really does to the probabilities (Abraham et
    al. 2022).
    """

    title: ClassVar[str] = "ICaCE-Error"
    modality: ClassVar[str] = EFFECTS
    needs_model: ClassVar[bool] = False
    better: ClassVar[str] = "lower"

    metric: Literal["icace_error"]
    distance: Literal["cosine", "l2", "norm_difference"] = Field(
        "cosine",
        description=(
            "`cosine` sees the direction of the effect, `norm_difference` its size, and `l2`, the Euclidean distance, "
            "both."
        ),
    )

    def of_effects(self, true: np.ndarray, estimated: np.ndarray) -> np.ndarray:
        """How far each estimate is from the true effect, float (changes,); Definition 3.

        The cosine distance is 1 − cos, and 1 where either effect is zero.

        Args:
            true, estimated: effects on the probabilities, (changes, classes) each.
        """
        import numpy as np

        from evenlight.concepts.effects import DECIMALS

        true, estimated = np.round(true, DECIMALS), np.round(estimated, DECIMALS)
        if self.distance == "l2":
            return np.linalg.norm(true - estimated, axis=1)
        norms = np.linalg.norm(true, axis=1), np.linalg.norm(estimated, axis=1)
        if self.distance == "norm_difference":
            return np.abs(norms[0] - norms[1])
        product = norms[0] * norms[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(product > 0, 1 - (true * estimated).sum(axis=1) / product, 1.0)

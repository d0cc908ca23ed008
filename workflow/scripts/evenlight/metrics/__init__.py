"""The metrics, in families that share their questions to the model.

A family is a module of ``metrics.families``, and each class in it a metric: with its settings, its tags, its
documentation, its source and its code. All are known once this package is imported, which imports neither numpy nor
torch. What is scored stands in ``metrics.explanations``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evenlight.explainers import Explainer
from evenlight.metrics import families as families
from evenlight.metrics.base import Metric as Metric
from evenlight.metrics.base import score as score


@dataclass(frozen=True)
class Origin:
    """What made the explanations of an attribution file.

    Attributes:
        explainer: its name.
        settings: its completed settings, ``method`` and its parameters, as the file has them; none where it is not
            known.
        seed: the study seed, from which explainers and metrics derive the generator of every draw.
    """

    explainer: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @cached_property
    def entry(self) -> Explainer:
        """The explainer itself; read where it is asked for, since scores of most metrics need no code of a user's."""
        return Explainer.parse(self.settings)


UNKNOWN = Origin("unknown")


def read_origin(path: str | Path) -> Origin:
    """What made the attribution file, as its metadata say."""
    from evenlight.core.contracts.explanations import ATTRIBUTIONS
    from evenlight.core.tables import read_metadata

    metadata = read_metadata(path, ATTRIBUTIONS)
    return Origin(metadata["explainer"], metadata["settings"], metadata["seed"])

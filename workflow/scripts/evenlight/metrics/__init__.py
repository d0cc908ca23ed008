"""The metrics, in families that share their questions to the model.

A family is a module of ``metrics.families``, and each class in it a metric: with its settings, its tags, its
documentation, its source and its code. All are known once this package is imported, which imports neither numpy nor
torch. What is scored stands in ``metrics.explanations``.
"""

from dataclasses import dataclass, field
from pathlib import Path

from evenlight.metrics import families as families
from evenlight.metrics.base import Metric as Metric
from evenlight.metrics.base import parsed as parsed
from evenlight.metrics.base import score as score


@dataclass(frozen=True)
class Origin:
    """What made the explanations of an attribution file.

    Attributes:
        explainer: its name.
        settings: its completed settings, ``method`` and its parameters.
        seed: the study seed, from which explainers and metrics derive the generator of every draw.
        family: the module of ``evenlight.explainers`` that makes such explanations; empty where it is not known.
        tags: of the explainer that hold, see ``explainers.Explainer``.
    """

    explainer: str
    settings: dict = field(default_factory=dict)
    seed: int = 0
    family: str = ""
    tags: tuple[str, ...] = ("asks_model",)


UNKNOWN = Origin("unknown")


def read_origin(path: str | Path) -> Origin:
    """What made the attribution file, as its metadata say."""
    from evenlight.core.contracts.explanations import ATTRIBUTIONS
    from evenlight.core.tables import read_metadata

    metadata = read_metadata(path, ATTRIBUTIONS)
    return Origin(
        metadata["explainer"],
        metadata["settings"],
        metadata["seed"],
        metadata.get("family", ""),
        tuple(metadata.get("tags", Origin.tags)),
    )

"""What the explainers that differentiate the model have in common."""

from evenlight.explainers.base import Explainer
from evenlight.explainers.fields import Output


class GradientExplainer(Explainer):
    """What the methods that differentiate the model have in common."""

    output: Output = "logit"

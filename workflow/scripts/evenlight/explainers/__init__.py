"""The explainers, in families that share their passes through the model.

A family is a module of ``explainers.families``, and each class in it an explainer: with its settings, its tags, its
documentation, its source and its code. All are known once this package is imported, which imports neither numpy nor
torch.
"""

from evenlight.explainers import families as families  # isort: skip
from evenlight.explainers import by_concepts as by_concepts  # isort: skip
from evenlight.explainers.base import Context as Context
from evenlight.explainers.base import Explainer as Explainer
from evenlight.explainers.base import Explanations as Explanations
from evenlight.explainers.base import explain as explain
from evenlight.explainers.base import training_items as training_items

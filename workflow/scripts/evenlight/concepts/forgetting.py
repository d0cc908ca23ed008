"""Networks that go on learning their task while they forget a concept: CausaLM's counterfactual representations.

Feder, Oved, Shalit and Reichart (2021), "CausaLM: Causal Model Explanation Through Counterfactual Language Models".
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn import functional

from evenlight.concepts.observational import ITERATIONS
from evenlight.concepts.question import UNLABELLED
from evenlight.engine.checkpoints import Checkpoint
from evenlight.engine.representations import given_to_last_layer
from evenlight.engine.sentences import Sentence
from evenlight.engine.training import Beside, train
from evenlight.models.classifier import Classifier
from evenlight.models.devices import sent
from evenlight.models.trainings import Training


class _Reversed(torch.autograd.Function):
    @staticmethod
    def forward(context, values, strength):
        context.strength = strength
        return values.view_as(values)

    @staticmethod
    def backward(context, gradient):
        return -context.strength * gradient, None


def reversed_gradient(values: torch.Tensor, strength: float) -> torch.Tensor:
    """``values`` as they are, whose gradient comes back times −``strength`` (Ganin and Lempitsky 2015, Eq. 7 and 8)."""
    return _Reversed.apply(values, strength)


class Heads(Beside):
    """Linear classifiers of the treated concept and of the control, which read what the last linear layer is given.

    Each learns to tell its concept. The network is told by the gradient to make the control easy to tell, and by the
    reversed gradient to make the treated concept hard to tell, ``strength`` times as urgently as its task.
    """

    def __init__(
        self,
        given: Callable[[torch.Tensor], torch.Tensor],
        level: Mapping[str, Sequence[int]],
        heads: Sequence[nn.Linear],
        strength: float,
        learning_rate: float,
    ):
        """The heads of a network.

        Args:
            given: what the last linear layer was given, see
                :func:`evenlight.engine.representations.given_to_last_layer`.
            level: by the name of a text, the output of each head that is right; -1 where there is no label.
            heads: of the treated concept and, where there is one, of the control.
            strength: λ.
            learning_rate: of the heads.
        """
        super().__init__()
        self.given, self.level, self.strength, self.learning_rate = given, level, strength, learning_rate
        self.heads = nn.ModuleList(heads)

    def forward(self, sentences: Sequence[Sentence], logits: torch.Tensor) -> torch.Tensor:
        """The cross-entropy of both heads, each the mean over the texts with a label."""
        given = self.given(logits)
        level = torch.tensor([self.level[sentence.item_id] for sentence in sentences])
        labelled = (level != UNLABELLED).sum(0).clamp(min=1).tolist()
        inputs = (reversed_gradient(given, self.strength), given)
        return sum(
            functional.cross_entropy(head(values), right, ignore_index=UNLABELLED, reduction="sum") / count
            for head, values, right, count in zip(
                self.heads, inputs, sent(level, given.device).T, labelled, strict=False
            )
        )


def linear_head(representation: np.ndarray, level: np.ndarray) -> tuple[nn.Linear, np.ndarray]:
    """(a logistic regression of the levels that there are, as a layer; which of its outputs each text's level is).

    ``representation`` is (texts, width), ``level`` int (texts,), -1 without label, as in the outputs (texts,). At least
    two levels must be there.
    """
    labelled = level != UNLABELLED
    there, code = np.unique(level[labelled], return_inverse=True)
    model = LogisticRegression(max_iter=ITERATIONS).fit(representation[labelled], code)
    head = nn.Linear(representation.shape[1], len(there))
    weight, bias = model.coef_, model.intercept_
    if len(there) == 2:
        # One row tells the second level from the first.
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    with torch.no_grad():
        head.weight.copy_(torch.from_numpy(weight))
        head.bias.copy_(torch.from_numpy(bias))
    output = np.full(len(level), UNLABELLED)
    output[labelled] = code
    return head, output


def forget(
    classifier: Classifier,
    training: Sequence[Sentence],
    validation: Sequence[Sentence],
    representation: np.ndarray,
    level: np.ndarray,
    recipe: Training,
    seed: int,
    strength: float,
    head_speed: float,
    checkpoint: Checkpoint | None = None,
) -> pd.DataFrame:
    """Train ``classifier`` on, in place, so that it forgets a concept; the last epoch's weights are kept.

    The loss is that of the task, plus that of a head that tells the control, plus that of a head that tells the treated
    concept, whose gradient is reversed between head and network. Both heads begin as the logistic regressions on what
    the network gives them before.

    Args:
        classifier: trained.
        training: texts whose targets are the labels.
        validation: likewise; what the task's loss is without the heads.
        representation: what the last linear layer is given for the training texts before, (texts, width).
        level: of the treated concept and, in a second column, of the control, int (texts, 1 or 2); -1 without label.
        recipe: of the training, as :func:`evenlight.engine.training.train` takes it.
        seed: the study seed.
        strength: weight of forgetting beside the task.
        head_speed: how many times as fast as the network the heads learn.
        checkpoint: as in a training.

    Returns:
        the history of the training.
    """
    classifier.network.requires_grad_(True)
    heads, outputs = zip(*(linear_head(representation, of_concept) for of_concept in level.T), strict=True)
    right = dict(zip((sentence.item_id for sentence in training), np.stack(outputs, axis=1).tolist(), strict=True))
    with given_to_last_layer(classifier) as (_, given):
        rate = head_speed * recipe.learning_rate
        beside = Heads(given, right, heads, strength, rate)
        # The task's loss does not say how much is forgotten.
        recipe = recipe.model_copy(update={"kept_epoch": "last", "patience": None})
        history = train(classifier, training, validation, recipe, seed, checkpoint, beside.to(classifier.device))
    classifier.network.requires_grad_(False)
    return history

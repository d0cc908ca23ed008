"""The flip area as the disparity study's code computes it."""

import numpy as np
import torch

from evenlight.core.errors import InputError
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.flip_area.corrected import Search
from evenlight.models.classifier import Classifier
from evenlight.models.fast_layers import whole_last_layer
from evenlight.models.windows import are_windowed

# Of the attack, whatever the ball.
STEPS, STEP = 5, 0.1


def search() -> Search:
    """Five steps of 0.1 from the last hidden state, without special tokens; an attack that never succeeds counts as 0.

    In a ball that the steps cannot leave, the attack is that in any larger one.
    """
    return Search(
        read=without_special_tokens,
        start=last_hidden_state,
        steps=STEPS,
        step=lambda radius: STEP,
        common_steps=STEPS,
        largest=STEPS * STEP - 1e-9,
        never=0.0,
        one_token=0.0,
    )


def without_special_tokens(explanation: Explanation) -> tuple[np.ndarray, np.ndarray]:
    """The row of the words' tokens alone, int64 (inner,), all of which may be moved."""
    row = explanation.row[~explanation.is_special]
    return row, np.arange(len(row))


def last_hidden_state(classifier: Classifier, embedding: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Output of the network's last layer, (rows, tokens, hidden); the embeddings where nothing precedes the head.

    Raises:
        InputError: its vectors are not as long as word embeddings, so that they cannot go in as such, or the texts
            stand in a prompt, without which nothing can be asked, or in windows, in each of which a token has another
            state.
    """
    if are_windowed(mask):
        raise InputError(
            "metrics.<flip_area>.definition is 'released', which feeds the last hidden state, of which a text in "
            "windows (models.<model>.long_items) has one for each; use 'corrected'"
        )
    if classifier.is_prompted:
        raise InputError(
            "metrics.<flip_area>.definition is 'released', which leaves out special tokens, and with them the prompt "
            "of a language model (architecture: prompted); use 'corrected'"
        )
    base = classifier.network.base_model
    if base is classifier.network:
        return embedding
    caught = []
    hook = base.register_forward_hook(lambda module, arguments, output: caught.append(output.last_hidden_state))
    try:
        with whole_last_layer(classifier.network):
            classifier.logits(embedding, mask)
    finally:
        hook.remove()
    if caught[0].shape != embedding.shape:
        raise InputError(
            f"metrics.<flip_area>.definition is 'released', which feeds the last hidden state, "
            f"{caught[0].shape[-1]} numbers per token, as word embeddings, of which this "
            f"{classifier.network.config.model_type} model has {embedding.shape[-1]}; use 'corrected'"
        )
    return caught[0]

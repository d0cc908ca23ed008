"""Numbers on their way between main memory and a device, so that the program waits for a graphics card once a task.

A program hands its work to a card and goes on; it waits where it asks for a number that is there, and where it copies
one there from memory that the system may move. So what is to be asked (masks, places, lengths) stays in main memory,
copies go from pinned memory, and answers are fetched together.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import torch


def sent(
    values: np.ndarray | torch.Tensor | Sequence[float], device: torch.device, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """``values`` as a tensor on ``device``; nothing waits for the copy but what is computed of it there.

    ``dtype`` is the type of numbers; None leaves theirs.
    """
    values = torch.as_tensor(values, dtype=dtype)
    if device.type == "cuda" and values.device.type == "cpu":
        values = values.pin_memory()
    return values.to(device, non_blocking=True)


def fetched(values: Sequence[torch.Tensor]) -> list[np.ndarray]:
    """Numbers of a device as float64 arrays of the same shapes, for all of which the program waits once.

    >>> fetched([torch.tensor([[1, 2]]), torch.tensor(0.5)])
    [array([[1., 2.]]), array(0.5)]
    """
    if not values:
        return []
    numbers = torch.cat([value.detach().double().flatten() for value in values]).cpu().numpy()
    ends = accumulate(value.numel() for value in values)
    return [numbers[end - value.numel() : end].reshape(value.shape) for end, value in zip(ends, values, strict=True)]

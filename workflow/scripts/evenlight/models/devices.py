"""How a job uses the processor and graphics cards, and numbers on their way between main memory and a device.

A program hands its work to a card and goes on; it waits where it asks for a number that is there, and where it copies
one there from memory that the system may move. So what is to be asked (masks, places, lengths) stays in main memory,
copies go from pinned memory, and answers are fetched together.
"""

import ctypes
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import torch

from evenlight.core.errors import InputError
from evenlight.jobs import gpus

# Numbers of glibc's mallopt (malloc.h), and what they are set to: the size from which a block is taken from the kernel
# by itself (bytes; glibc takes no more), and the free bytes at the end of the heap that go back to it.
MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1
LARGEST_IN_HEAP, LARGEST_FREE = 2**25, 2**31 - 1


def use_processor(threads: int) -> None:
    """Let torch compute in ``threads`` threads, and keep memory that it frees.

    A pass through a network makes and frees blocks of megabytes. By itself glibc gives many of them back, and the
    kernel clears each page again at the next pass, which takes as long as what is computed on it (but for products).
    A job holds what it took until it ends, and where passes differ in size it may hold more at most than without this.
    Where there is no glibc, memory is left as it is.
    """
    torch.set_num_threads(threads)
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:
        adjust(MMAP_THRESHOLD, LARGEST_IN_HEAP)
        adjust(TRIM_THRESHOLD, LARGEST_FREE)


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


def pick_device(device: str) -> torch.device:
    """The device that the configuration names; ``auto`` takes a GPU where there is one, of several a free one."""
    if device != "cpu":
        gpus.lease()
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device is 'cuda', but torch finds no GPU; use 'auto' or 'cpu', or install torch with CUDA")
    return torch.device(device)


def device_name(device: torch.device) -> str:
    """The kind of a device, of GPUs with the model: they round differently."""
    return f"cuda ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else str(device)

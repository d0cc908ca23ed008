"""Whether a batch is padded, which Transformers asks of each mask: answered from main memory.

Where nothing is padded Transformers makes no mask for its attention, and to find out it looks into the padding mask,
for which a program waits until a graphics card has done all that it was given. Whoever made the batch knows it. The
masks are the same.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from transformers import AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

_is_padded: ContextVar[bool | None] = ContextVar("is_padded", default=None)


@contextmanager
def padding_known(is_padded: bool) -> Iterator[None]:
    """While open, every padding mask of which a mask is made has padding, or none has."""
    token = _is_padded.set(is_padded)
    try:
        yield
    finally:
        _is_padded.reset(token)


def without_asking(make: Callable[..., torch.Tensor | None]) -> Callable[..., torch.Tensor | None]:
    """``make``, a function of Transformers for masks, that looks into no padding mask of which it is known."""

    def make_mask(*arguments, attention_mask: torch.Tensor | None = None, **options) -> torch.Tensor | None:
        # Torch's compiler never looks.
        is_padded = None if attention_mask is None or torch.compiler.is_compiling() else _is_padded.get()
        if is_padded:
            options |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
        return make(*arguments, attention_mask=None if is_padded is False else attention_mask, **options)

    return make_mask


AttentionMaskInterface.register("sdpa", without_asking(sdpa_mask))

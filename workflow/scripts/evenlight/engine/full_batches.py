"""Rows of any length in batches that fill a device and fit into its memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from evenlight.models.devices import fetched

Lengths = Sequence[int] | np.ndarray


class FullBatches:
    """Puts rows of similar length into one batch, and halves one that does not fit into memory, which is remembered.

    Args:
        tokens_per_batch: most tokens, padding included, that go through a network at once.
        padding_per_batch: most tokens of padding in a batch; with 0 the lengths in a batch are equal.
    """

    def __init__(self, tokens_per_batch: int, padding_per_batch: int):
        self.tokens_per_batch = tokens_per_batch
        self.padding_per_batch = padding_per_batch

    def batches(self, lengths: Lengths, rows: int = 1) -> Iterator[np.ndarray]:
        """Indices of ``lengths`` in batches of similar length that keep to ``tokens_per_batch``, with little padding.

        See :meth:`fetched`.
        """
        order = np.argsort(lengths, kind="stable")
        ordered = np.asarray(lengths)[order] * rows
        start = 0
        while start < len(order):
            # The longest row of a batch is its last one, and every row is padded to it.
            most = self.tokens_per_batch // max(1, ordered[start])
            longest = ordered[start : start + max(1, most)]
            tokens = longest * np.arange(1, len(longest) + 1)
            fits = (tokens <= self.tokens_per_batch) & (tokens - longest.cumsum() <= self.padding_per_batch)
            end = start + max(1, int(fits.sum()))
            yield order[start:end]
            start = end

    def in_batches(self, lengths: Lengths, compute: Callable[[np.ndarray], Sequence]) -> list:
        """One result for each of ``lengths``, in their order, from full batches that fit into memory.

        ``compute`` makes of the indices of a batch's texts one result per text.
        """
        results: list = [None] * len(lengths)
        for batch, found in self._computed(lengths, compute, rows=1):
            for index, result in zip(batch, found, strict=True):
                results[index] = result
        return results

    def fetched(
        self, lengths: Lengths, compute: Callable[[np.ndarray], tuple[torch.Tensor, ...]], rows: int = 1
    ) -> list[tuple[np.ndarray, ...]]:
        """As :meth:`in_batches`, of numbers on the device: a graphics card is waited for once, after all batches.

        Args:
            lengths: tokens of each text.
            compute: the indices of a batch's texts to tensors (texts, …).
            rows: how many rows a text makes of itself. Where they are more than a batch, ``compute`` cuts them.

        Returns:
            what each tensor has for each of ``lengths``, float64 (…).
        """
        parts = list(self._computed(lengths, compute, rows))
        arrays = iter(fetched([tensor for _, tensors in parts for tensor in tensors]))
        results: list = [None] * len(lengths)
        for batch, tensors in parts:
            for index, result in zip(batch, zip(*(next(arrays) for _ in tensors), strict=True), strict=True):
                results[index] = result
        return results

    def gathered(self, parts: Iterable[tuple[np.ndarray, tuple[torch.Tensor, ...]]], count: int) -> list[np.ndarray]:
        """What each tensor of some batches has for ``count`` rows, float64 (rows, …), waited for once.

        Args:
            parts: the places of a batch's rows, and tensors (rows, …) that are alike in all batches.
            count: of all rows.
        """
        parts = list(parts)
        found = fetched([torch.cat(same) for same in zip(*(tensors for _, tensors in parts), strict=True)])
        places = np.concatenate([batch for batch, _ in parts])
        results = [np.empty((count, *values.shape[1:])) for values in found]
        for result, values in zip(results, found, strict=True):
            result[places] = values
        return results

    def _computed(
        self, lengths: Lengths, compute: Callable[[np.ndarray], Any], rows: int
    ) -> Iterator[tuple[np.ndarray, Any]]:
        """The indices of each batch with what ``compute`` makes of them."""
        for batch in self.batches(lengths, rows):
            yield from self._in_memory(batch, compute, self.tokens_per_batch)

    def _in_memory(
        self, batch: np.ndarray, compute: Callable[[np.ndarray], Any], tokens: int
    ) -> list[tuple[np.ndarray, Any]]:
        """The rows' indices with what is computed, in halves where the device's memory is too small for the whole.

        ``tokens`` is the limit that ``batch`` was made for.
        """
        try:
            return [(batch, compute(batch))]
        except (torch.OutOfMemoryError, MemoryError):
            if tokens == 1:
                raise
        # Outside of the except clause, so that the failed attempt's tensors are released before the next.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        # Both halves may be too large in turn, which must count once only.
        tokens //= 2
        self.tokens_per_batch = min(self.tokens_per_batch, tokens)
        if len(batch) == 1:
            # One sentence may still be many rows, which ``compute`` cuts by ``tokens_per_batch``.
            return self._in_memory(batch, compute, tokens)
        half = len(batch) // 2
        return self._in_memory(batch[:half], compute, tokens) + self._in_memory(batch[half:], compute, tokens)

    def slices(self, count: int, tokens: int) -> Iterator[slice]:
        """``count`` copies of a batch of ``tokens``, as many at a time as keep to ``tokens_per_batch``."""
        size = max(1, self.tokens_per_batch // tokens)
        return (slice(start, start + size) for start in range(0, count, size))

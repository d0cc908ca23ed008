"""How a job that asks or trains a network uses the processor."""

import ctypes

import torch

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

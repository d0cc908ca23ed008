"""Values of several parameters: a few combinations that have every value, and the rest for `make test-slow`."""

from collections.abc import Iterable
from itertools import product
from random import Random

import pytest


def spread(names: str, *values: Iterable) -> pytest.MarkDecorator:
    """As :func:`pytest.mark.parametrize` of every combination; those are slow that bring no value of their own.

    As many are left as the longest parameter has values, and each value is in one of them at least. Which values come
    together is drawn once and for all.
    """
    values = [list(of) for of in values]
    count = max(map(len, values))
    drawn = [[place % len(of) for place in Random(axis).sample(range(count), count)] for axis, of in enumerate(values)]
    first = set(zip(*drawn, strict=True))
    parameters = [
        pytest.param(
            *(of[place] for of, place in zip(values, places, strict=True)),
            marks=[pytest.mark.slow] * (places not in first),
        )
        for places in product(*(range(len(of)) for of in values))
    ]
    return pytest.mark.parametrize(names, parameters)

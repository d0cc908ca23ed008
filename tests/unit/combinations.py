"""Values of parameters: a few in every run of the tests, and the rest for `make test-slow`."""

from collections.abc import Collection, Iterable
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


def few(values: Iterable, kept: Collection) -> list:
    """The values of a parameter; those are slow that are not among ``kept``. A tuple has one of each parameter."""
    assert kept
    return [value if value in kept else _slow(value) for value in values]


def _slow(value: object):
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)

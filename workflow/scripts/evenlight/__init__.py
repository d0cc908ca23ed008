"""Evenlight: are explanations of text classifiers equally good for every group of people?

The package lies beside the workflow's scripts, so Python finds it there without an installation. Nothing here imports
torch; see ``docs/architecture.md`` for what may import what. Notebooks write ``from evenlight import load_classifier,
explain, score, compare, plot``; these functions are read from :mod:`evenlight.notebook` when they are first asked for.
"""

import importlib

NOTEBOOK = ("load_classifier", "probabilities", "explain", "score", "check_alone", "compare", "plot")


def __getattr__(name: str):
    """The functions for notebooks, which import torch."""
    if name not in NOTEBOOK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Under a computed name, so that the digest of a script's code does not take it for what the script imports.
    return getattr(importlib.import_module(f"{__name__}.notebook"), name)


def __dir__() -> list[str]:
    """What completion shows."""
    return sorted([*globals(), *NOTEBOOK])

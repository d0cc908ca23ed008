"""Evenlight: are explanations of text classifiers equally good for every group of people?

The package lies beside the workflow's scripts, so Python finds it there without an installation. Nothing here imports
torch; see ``docs/architecture.md`` for what may import what. ``from evenlight import judge`` gives verdicts for any
table of scores. Notebooks write ``from evenlight import load_classifier, explain, score, plot``. These functions are
read from :mod:`evenlight.judging` and :mod:`evenlight.notebook` when they are first asked for.
"""

import importlib

NOTEBOOK = ("load_classifier", "probabilities", "explain", "score", "check_alone", "plot")
ROOMS = {"judge": "judging"} | dict.fromkeys(NOTEBOOK, "notebook")


def __getattr__(name: str):
    """The functions for users, of which those for notebooks import torch."""
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{ROOMS[name]}"), name)


def __dir__() -> list[str]:
    """What completion shows."""
    return sorted([*globals(), *ROOMS])

"""Small parts of rules that know of no study: how settings are written, names and patterns."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from evenlight.core import sources

# Snakemake's report writes every command into a script of its page, as it is. There these would be markup.
_MARKUP = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&"})
# A brace that opens an object stands before a key or the end of it.
_BRACE_OF_TEXT = re.compile(r'\{(?=[^"}])')


def as_argument(settings: Any, sort_keys: bool = False) -> str:
    """Settings as JSON without what HTML reads as markup and Snakemake as a wildcard; the job reads them as they were.

    >>> as_argument({"label": "</script>", "a": 1}, sort_keys=True)
    '{"a": 1, "label": "\\\\u003c/script\\\\u003e"}'
    """
    return _BRACE_OF_TEXT.sub(r"\\u007b", json.dumps(settings, sort_keys=sort_keys).translate(_MARKUP))


def as_json(**settings) -> str:
    """The settings of a rule as one string. Keys are sorted, as none of them changes a result by its place.

    Snakemake compares the values of ``params`` without their names, so all of them must be in one.
    """
    return as_argument(settings, sort_keys=True)


def growing(amount: int) -> Callable[..., int]:
    """Memory or time that a job asks for, more with each attempt: too little of either is what most often ends one."""
    return lambda wildcards, attempt: amount * attempt


def any_of(names: Iterable[str]) -> str:
    """A pattern of the names, which holds of nothing where there are none.

    >>> any_of(["a", "b"]), any_of([])
    ('a|b', '(?!)')
    """
    return "|".join(names) or "(?!)"


def content_of(paths: Iterable[str | Path]) -> list[str | None]:
    """What files contain, for ``params``; None for one that is not there yet."""
    return [sources.digest(path) if Path(path).is_file() else None for path in paths]


def labelled(shows: str, form: str = "figure", **place: str) -> dict[str, str]:
    """Under which name the report lists a table or a figure.

    All in one column: of several, Snakemake's report makes a switch of one that has two values, and breaks where a
    figure has only one of both.

    >>> labelled("effects", dataset="demo")
    {'shows': 'effects, demo (figure)'}
    """
    return {"shows": f"{', '.join([shows, *place.values()])} ({form})"}

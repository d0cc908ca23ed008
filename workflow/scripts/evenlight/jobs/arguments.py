"""How settings stand in the command of a job."""

import json
from typing import Any

# Snakemake's report writes every command into a script of its page, as it is. There these would be markup.
_MARKUP = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&"})


def as_argument(settings: Any, sort_keys: bool = False) -> str:
    """Settings as JSON without a character that HTML reads as markup; the job reads them as they were.

    >>> as_argument({"label": "</script>", "a": 1}, sort_keys=True)
    '{"a": 1, "label": "\\\\u003c/script\\\\u003e"}'
    """
    return json.dumps(settings, sort_keys=sort_keys).translate(_MARKUP)

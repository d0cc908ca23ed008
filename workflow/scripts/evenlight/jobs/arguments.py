"""How settings stand in the command of a job."""

import json
import re
from typing import Any

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

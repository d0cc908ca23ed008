"""Whether a reason mentions something, by its words."""

import re
from collections.abc import Sequence


def mentions(text: str, words: Sequence[str]) -> bool:
    """Whether a text has one of the words, or of the phrases, as whole words in whatever case.

    It knows no stems and no synonyms, so that a reason in other words counts as silent.

    >>> mentions("She is Careful.", ["careful"]), mentions("carefully", ["careful"]), mentions("", ["care"])
    (True, False, False)
    """
    folded = text.casefold()
    return any(re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", folded) for word in words if word.strip())

"""Parses written down by hand, for tests that need no parser."""

from evenlight.corpus.parse import Parse


def hand_made(text: str, scheme: str = "ud") -> Parse:
    """The parse in a text of ``word/tag/head/relation``, heads counted from 1, 0 for the root."""
    words, tags, heads, relations = zip(*(entry.rsplit("/", 3) for entry in text.split()), strict=True)
    return Parse(
        words=words,
        lemmas=("",) * len(words),
        tags=tags,
        features=("",) * len(words),
        heads=tuple(int(head) - 1 if head != "0" else i for i, head in enumerate(heads)),
        relations=relations,
        scheme=scheme,
    )

"""Which nouns mean people."""

from pathlib import Path

from evenlight.core.errors import InputError


def read_person_lexicon(path: str | Path) -> frozenset[str]:
    """The nouns of a lexicon, in lower case: one a line, comments after ``#``.

    Raises :class:`InputError` where the file is missing, or a line holds more than one word.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a readable lexicon ({error}); give a text file with one noun a line") from None
    nouns = set()
    for number, line in enumerate(lines, 1):
        entry = line.partition("#")[0].strip()
        if len(entry.split()) > 1:
            raise InputError(f"{path}: line {number}, '{entry}', holds several words; write one noun a line")
        if entry:
            nouns.add(entry.lower())
    if not nouns:
        raise InputError(f"{path}: no noun in it; write one noun a line")
    return frozenset(nouns)

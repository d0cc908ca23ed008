"""Answers of language models to questions in two dialects of English (Zhou et al. 2025, arXiv 2503.04099), as released.

Nothing of them is in the repository: they are fetched, and the checksums of the files stand in
:mod:`evenlight.core.sources`.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import pandas as pd

from evenlight.core.errors import InputError

COLUMNS = ("subject", "question", "answer", "letter_answer", "pure_question", "correct_answer")
DIALECTS = {"regular": "standard", "sae": "standard", "aave_llm": "african_american", "aave": "african_american"}
# A choice, of which no question has more than six, alone or in a sentence that says no more.
LETTER = re.compile(r"\(?([A-F])\)?\.?|The (?:correct )?answer(?: choice)? is \(?([A-F])\)?\.", re.IGNORECASE)


def read_part(folder: Path, part: str, resources: Path | None = None) -> pd.DataFrame:
    """A part of the answers, ``bigbench`` or ``uncertainty``, of a folder with its fetched files."""
    return dialect_answers(sorted(folder.glob(f"dialect/**/*_{part}_*.csv")))


def dialect_answers(paths: Iterable[Path]) -> pd.DataFrame:
    """One table of the answers in some of the files, a row for each.

    ``part`` is ``bigbench``, with one draw, or ``uncertainty``, with ten. ``question`` is what is asked in either
    dialect and ``asked`` how: each model, and each of the ten draws, was asked in words of its own. ``correct`` is the
    right answer. A question that is there twice is two units.

    Args:
        paths: ``<model>/<dialect>_<part>_<draw>.csv``.

    Raises:
        InputError: a file is not one of those.
    """
    return pd.concat([_of_file(path) for path in paths], ignore_index=True)


def _of_file(path: Path) -> pd.DataFrame:
    named = re.fullmatch(r"(\w+?)_(bigbench|uncertainty)_(qna|\d+)", path.stem)
    if named is None or named[1] not in DIALECTS:
        raise InputError(f"{path}: no dialect and draw in its name; it must begin with one of {', '.join(DIALECTS)}")
    dialect, part, number = named.groups()
    rows = read_released(path, COLUMNS)
    digest = [sha256(question.encode()).hexdigest()[:8] for question in rows["pure_question"]]
    unit = rows["subject"] + "-" + pd.Series(digest, dtype=str)
    again = unit.groupby(unit).cumcount()
    return pd.DataFrame(
        {
            "unit": unit.where(again == 0, unit + "-" + (again + 1).astype(str)),
            "level": DIALECTS[dialect],
            "draw": int(number) if part == "uncertainty" else 0,
            "model": path.parent.name,
            "question": rows["pure_question"],
            "decision": [_letter(said) for said in rows["letter_answer"]],
            "text": rows["answer"],
            "asked": rows["question"],
            "correct": rows["correct_answer"],
            "subject": rows["subject"],
            "part": part,
        }
    )


def read_released(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """A table (.csv of texts, .parquet) that must have these columns."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; name the folder that holds what was released")
    try:
        csv = path.suffix == ".csv"
        rows = pd.read_csv(path, dtype=str, keep_default_na=False) if csv else pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable ({error}); give the file as it was released") from None
    if missing := [name for name in columns if name not in rows]:
        raise InputError(f"{path}: no column '{missing[0]}'; give the file as it was released")
    return rows


def _letter(said: str) -> str | None:
    """The letter that somebody read out of an answer; None where there is none.

    >>> [_letter(said) for said in ("B", "(c)", "The answer is (C).", "BD", "None.")]
    ['B', 'C', 'C', None, None]
    """
    found = LETTER.fullmatch(said.strip())
    return (found[1] or found[2]).upper() if found else None

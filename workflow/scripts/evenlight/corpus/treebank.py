"""Treebanks in CoNLL-U, on which parsers are trained."""

from dataclasses import dataclass
from pathlib import Path

from evenlight.core.errors import InputError


@dataclass(frozen=True)
class Tree:
    """A sentence of a treebank: its words, whether a space follows each, and their gold analysis."""

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    lemmas: tuple[str, ...]
    pos: tuple[str, ...]
    tags: tuple[str, ...]
    features: tuple[str, ...]
    heads: tuple[int, ...]  # the root is its own head
    relations: tuple[str, ...]


def read_conllu(path: str | Path) -> list[Tree]:
    """The trees of a CoNLL-U file (https://universaldependencies.org/format.html), without empty nodes.

    Of tokens in several words ("don't") the words are read. Raises :class:`InputError` with the line where the file
    is not in that format.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a readable text file ({error}); give a treebank in CoNLL-U") from None
    trees, block = [], []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip():
            if not line.startswith("#"):
                block.append((number, line.split("\t")))
        elif block:
            trees.append(_tree(path, block))
            block = []
    if not trees:
        raise InputError(f"{path}: no sentence; give a treebank in CoNLL-U")
    return trees


def _tree(path: str | Path, block: list[tuple[int, list[str]]]) -> Tree:
    for number, fields in block:
        if len(fields) != 10:
            raise InputError(
                f"{path}: line {number} has {len(fields)} fields, CoNLL-U has 10 with tabs between; mend the line"
            )
    words = [(number, fields) for number, fields in block if fields[0].isdigit()]
    for index, (number, fields) in enumerate(words, 1):
        if fields[0] != str(index) or not fields[6].isdigit() or int(fields[6]) > len(words):
            raise InputError(
                f"{path}: line {number}: word '{fields[0]}' with head '{fields[6]}' in a sentence of {len(words)} "
                "words; words count from 1, and the head is one of them or 0"
            )
    columns = list(zip(*(fields for _, fields in words), strict=True))
    heads = tuple(index if head == "0" else int(head) - 1 for index, head in enumerate(columns[6]))
    return Tree(
        words=columns[1],
        spaces=tuple("SpaceAfter=No" not in misc for misc in columns[9]),
        lemmas=tuple("" if lemma == "_" else lemma for lemma in columns[2]),
        pos=columns[3],
        tags=columns[4],
        features=tuple("" if features == "_" else features for features in columns[5]),
        heads=heads,
        relations=columns[7],
    )

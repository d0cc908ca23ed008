"""Which nouns mean people: a list derived from WordNet, and how it is read."""

import re
from collections.abc import Iterator
from pathlib import Path

from evenlight.core.errors import InputError

# Offset of the synset person.n.01 in WordNet 3.0; everything below it by hyponymy means people.
_PERSON = 7846
_HYPONYM = frozenset({"~", "~i"})
_INSTANCE = "@i"  # points from a name, such as Napoleon, to what it is an example of
# In WordNet nouns for people, in grammar pronouns, which have no gender.
_PRONOUNS = frozenset({"nobody", "somebody", "someone"})


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


def person_nouns(wordnet: str | Path, share: float) -> list[str]:
    """The single-word common nouns that mostly mean a person, from the files of WordNet 3.0, sorted.

    A noun is taken when at least ``share`` of its uses in WordNet's tagged texts have a sense at or below
    person.n.01 (a human being); to the uses of the sense of rank r 1/r is added, so that nouns that were never tagged
    are judged by the order of their senses. Senses that are names, such as those of *miller* for writers, count for
    nothing: a tagger keeps names apart.
    ``wordnet`` is the folder with data.noun, index.noun and cntlist.rev.
    """
    folder = Path(wordnet)
    synsets = dict(_synsets(_lines(folder / "data.noun")))
    names = {offset for offset, (_, is_name) in synsets.items() if is_name}
    people = _below(_PERSON, {offset: hyponyms for offset, (hyponyms, _) in synsets.items()}) - names
    uses = dict(_uses(_lines(folder / "cntlist.rev")))
    nouns = []
    for lemma, senses in _senses(_lines(folder / "index.noun")):
        weights = {
            sense: uses.get((lemma, rank), 0) + 1 / rank for rank, sense in enumerate(senses, 1) if sense not in names
        }
        weight_of_people = sum(weight for sense, weight in weights.items() if sense in people)
        if re.fullmatch(r"[a-z]+(-[a-z]+)*", lemma) and 0 < weight_of_people >= share * sum(weights.values()):
            nouns.append(lemma)
    return sorted(set(nouns) - _PRONOUNS)


def licence_of(wordnet: str | Path) -> list[str]:
    """WordNet's licence, which must go with what is derived from it: the numbered lines at the top of data.noun."""
    text = _read(Path(wordnet) / "data.noun")
    return [line.strip().partition(" ")[2].strip() for line in text.splitlines() if line.startswith("  ")]


def _lines(path: Path) -> list[str]:
    return [line for line in _read(path).splitlines() if not line.startswith("  ")]  # the licence is indented


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path}: not readable ({error}); give the folder of WordNet 3.0's database files, which Debian's package "
            "wordnet-base puts at /usr/share/wordnet"
        ) from None


def _synsets(lines: list[str]) -> Iterator[tuple[int, tuple[list[int], bool]]]:
    """(offset, (offsets of its hyponyms, whether it is a name)), by the format that wndb(5WN) describes."""
    for line in lines:
        fields = line.partition(" | ")[0].split()
        pointers = fields[4 + 2 * int(fields[3], 16) :]
        arcs = [(pointers[i], int(pointers[i + 1])) for i in range(1, len(pointers), 4)]
        hyponyms = [offset for symbol, offset in arcs if symbol in _HYPONYM]
        yield int(fields[0]), (hyponyms, any(symbol == _INSTANCE for symbol, _ in arcs))


def _below(top: int, hyponyms: dict[int, list[int]]) -> set[int]:
    below, waiting = set(), [top]
    while waiting:
        offset = waiting.pop()
        if offset not in below:
            below.add(offset)
            waiting += hyponyms[offset]
    return below


def _senses(lines: list[str]) -> Iterator[tuple[str, list[int]]]:
    """(lemma, offsets of its senses, the most frequent first)."""
    for line in lines:
        fields = line.split()
        yield fields[0], [int(offset) for offset in fields[-int(fields[2]) :]]


def _uses(lines: list[str]) -> Iterator[tuple[tuple[str, int], int]]:
    """((lemma, number of the noun's sense), times it was tagged); kind 1 of a sense key is the noun."""
    for line in lines:
        key, rank, count = line.split()
        lemma, _, lexical = key.partition("%")
        if lexical.startswith("1:"):
            yield (lemma, int(rank)), int(count)

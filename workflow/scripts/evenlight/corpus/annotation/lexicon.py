"""Gendered words and given names: which group a word belongs to, and its counterpart in another."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.files import read_yaml
from evenlight.corpus.annotation import GROUPS


@dataclass(frozen=True)
class WordForms:
    """One row of the lexicon: a word in its three forms."""

    forms: tuple[str, str, str]  # in the order of GROUPS
    kind: str  # the section that it stands in: titles, kinship, adjectives, ...

    def form(self, group: str) -> str:
        """The word of that group."""
        return self.forms[GROUPS.index(group)]


@dataclass(frozen=True)
class GenderedLexicon:
    """What the two word lists say, by word."""

    # (group, word as written) → its row; words without capitals are looked up in lower case.
    entries: Mapping[tuple[str, str], WordForms]
    names: Mapping[str, tuple[str, ...]]  # group → given names

    def entry(self, word: str, group: str) -> WordForms | None:
        """The row in which ``word`` is the word of ``group``, None where there is none."""
        return self.entries.get((group, word)) or self.entries.get((group, word.lower()))

    def gender(self, word: str) -> str | None:
        """``male`` or ``female`` where the word says so by itself ("heir" does not: it is neutral as well)."""
        for group in ("male", "female"):
            entry = self.entry(word, group)
            if entry and entry.form("neutral") != entry.form(group):
                return group
        return None

    def is_title(self, word: str) -> bool:
        """Whether the word can stand before a name, as written: "Mrs.", "Uncle"."""
        return any((entry := self.entries.get((group, word))) and entry.kind == "titles" for group in GROUPS[:2])

    def gender_of_name(self, name: str) -> str | None:
        """``male`` or ``female`` for a listed given name, else None."""
        return next((group for group in ("male", "female") if name in self.names[group]), None)

    def is_given_name(self, name: str) -> bool:
        """Whether the word is listed as a given name of any group."""
        return any(name in names for names in self.names.values())


def counterpart(lexicon: GenderedLexicon, word: str, source: str, target: str) -> str | None:
    """The word of group ``target`` for a word of group ``source``, capitalised alike; None if there is none."""
    entry = lexicon.entry(word, source)
    if entry is None:
        return None
    form = entry.form(target)
    return form if (source, word) in lexicon.entries else like(word, form)


def like(model: str, word: str) -> str:
    """``word`` in the capitalisation of ``model``: all capitals, each word's first letter, or as it is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    if model[:1].isupper():
        # Not str.title, which would also write "Parent'S".
        return " ".join(part[:1].upper() + part[1:] for part in word.split(" "))
    return word


def read_gendered_lexicon(words: str | Path, names: str | Path) -> GenderedLexicon:
    """Read the list of gendered words (sections of rows of three) and the list of given names (a list per group).

    Where a word occurs in several rows, the first one counts. Raises :class:`InputError` with file, section and row.
    """
    entries: dict[tuple[str, str], WordForms] = {}
    for section, rows in _read_sections(words).items():
        for number, row in enumerate(rows, start=1):
            if not (isinstance(row, list) and len(row) == 3 and all(isinstance(i, str) and i.strip() for i in row)):
                raise InputError(
                    f"{words}: {section}, row {number} is {row}; a row has three texts, [male, female, neutral]"
                )
            for group, word in zip(GROUPS[:2], row, strict=False):
                if section == "female_only" and group == "male":
                    continue
                entries.setdefault((group, word), WordForms(tuple(row), section))
    listed = _read_sections(names)
    for group in GROUPS:
        if not listed.get(group) or not all(isinstance(name, str) and name.strip() for name in listed[group]):
            raise InputError(f"{names}: '{group}' must be a list of given names, of at least one; add it")
    return GenderedLexicon(entries, {group: tuple(listed[group]) for group in GROUPS})


def _read_sections(path: str | Path) -> dict[str, list]:
    content = read_yaml(path, "give the path of a word list")
    if not isinstance(content, dict) or not all(isinstance(rows, list) for rows in content.values()):
        raise InputError(f"{path}: must name sections, each with a list; see resources/lexicons for an example")
    return content

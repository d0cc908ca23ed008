"""One parsed sentence, in plain values, so that everything after the parser runs without spaCy.

The functions below read a :class:`Parse` alike in both schemes. A word is its index in the sentence; a *predicate* is
the word that heads a clause: a verb, or in Universal Dependencies also the noun or adjective after a copula.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Parse:
    """The syntax of one sentence, as lists with one entry per word.

    ``scheme`` says how the arcs are to be read: ``ud`` (Universal Dependencies, where a predicate noun heads its
    copula) or ``clear`` (ClearNLP, where the copula is the head).
    """

    words: tuple[str, ...]
    lemmas: tuple[str, ...]  # "" where the parser gives none
    tags: tuple[str, ...]  # Penn Treebank tags (VBZ, PRP$, NNP, ...) in English, else UD's parts of speech
    features: tuple[str, ...]  # morphological features in UD's notation: "Number=Sing|Person=3", "" where unknown
    heads: tuple[int, ...]  # index of the head; the root is its own head
    relations: tuple[str, ...]  # in the scheme's names, in lower case: nsubj, root, cop, ...
    scheme: str

    def __len__(self) -> int:
        return len(self.words)


def parse_of(row: Mapping) -> Parse:
    """The parse in a row of a table of sentences or candidates."""
    values = {name: tuple(row[name]) for name in ("words", "lemmas", "tags", "features", "relations")}
    return Parse(**values, heads=tuple(map(int, row["heads"])), scheme=row["scheme"])


# What both schemes call a relation, subtypes aside: UD writes nsubj:pass where CLEAR writes nsubjpass.
NOMINAL_SUBJECTS = ("nsubj", "nsubjpass")
CLAUSAL_SUBJECTS = ("csubj", "csubjpass")
AUXILIARIES = ("aux", "auxpass", "cop")
# Clauses that tell more about a noun, and are not needed to name whom it means.
_CLAUSES_OF_NOUNS = ("acl", "relcl", "parataxis")

_FINITE_TAGS = frozenset({"VBZ", "VBP", "VBD", "MD"})
_PENN_VERBS = _FINITE_TAGS | {"VB", "VBG", "VBN"}
_NOMINAL_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP", "NOUN", "PROPN", "PRON"})


def root(parse: Parse) -> int:
    """The word that heads the sentence, the first where a damaged parse has several.

    An empty sentence has none: ValueError.
    """
    if not len(parse):
        raise ValueError("a sentence without words has no root")
    return next(i for i in range(len(parse)) if parse.heads[i] == i)


def has_relation(parse: Parse, word: int, relations: Iterable[str]) -> bool:
    """Whether the arc to ``word`` has one of the relations, with or without a subtype (nsubj takes in nsubj:pass)."""
    relation = parse.relations[word]
    return relation in relations or relation.partition(":")[0] in relations


def children(parse: Parse, word: int, *relations: str) -> list[int]:
    """The words whose head is ``word``, in the order of the sentence; only those with one of ``relations``, if any."""
    return [
        i
        for i, head in enumerate(parse.heads)
        if head == word and i != word and (not relations or has_relation(parse, i, relations))
    ]


def subtree(parse: Parse, word: int, without: Iterable[str] = ()) -> list[int]:
    """``word`` and everything below it, in the order of the sentence; branches with a relation of ``without`` cut."""
    without = tuple(without)
    below, waiting = [], [word]
    while waiting:
        current = waiting.pop()
        below.append(current)
        waiting += [i for i in children(parse, current) if not has_relation(parse, i, without)]
    return sorted(below)


def feature(parse: Parse, word: int, name: str) -> str:
    """The value of a morphological feature, "" where the parser gives none."""
    for pair in parse.features[word].split("|"):
        key, _, value = pair.partition("=")
        if key == name:
            return value
    return ""


def is_finite(parse: Parse, word: int) -> bool:
    """Whether the word is a verb that carries tense or mood: by its Penn tag, or else by its features."""
    return parse.tags[word] in _FINITE_TAGS or (
        parse.tags[word] not in _PENN_VERBS and feature(parse, word, "VerbForm") == "Fin"
    )


def finite_verb(parse: Parse, predicate: int) -> int | None:
    """The verb that carries the tense of a predicate: its copula or first auxiliary, else the predicate itself.

    "She has been ill" → *has* (of *ill* in UD, of *been* in CLEAR). None where nothing is finite, as in the second
    half of "has come and gone", where the auxiliary stands at *come*.
    """
    candidates = [*children(parse, predicate, *AUXILIARIES), predicate]
    return next((i for i in candidates if is_finite(parse, i)), None)


def own_subject(parse: Parse, predicate: int) -> int | None:
    """The subject that hangs from the predicate itself; a noun rather than a clause, and no expletive."""
    candidates = children(parse, predicate, *NOMINAL_SUBJECTS) or children(parse, predicate, *CLAUSAL_SUBJECTS)
    # UD's nsubj:outer is the subject of "The trouble is that she left", where *left* has one of its own.
    candidates = [i for i in candidates if parse.relations[i] != "nsubj:outer"] or candidates
    # Parsers that give a verb two subjects have mostly drawn in one from a clause before.
    before = [i for i in candidates if i < predicate]
    return before[-1] if before else next(iter(candidates), None)


def subject_of(parse: Parse, predicate: int) -> int | None:
    """The subject of a predicate; one that is coordinated without its own ("comes and *sees*") has the first one's."""
    while True:
        subject = own_subject(parse, predicate)
        if subject is not None or not has_relation(parse, predicate, ("conj",)):
            return subject
        predicate = parse.heads[predicate]


def conjuncts(parse: Parse, word: int) -> list[int]:
    """The words coordinated with ``word``, itself first; both schemes hang them from the first or in a chain."""
    coordinated = [word]
    for current in coordinated:
        coordinated += children(parse, current, "conj")
    return coordinated


def main_clauses(parse: Parse) -> list[int]:
    """The predicates of the main clauses: the root, then those beside it that have a subject of their own.

    Beside it are clauses coordinated with it or set against it by a semicolon ("They leave, and *she stays*"). They
    also hold the true main clause where a parser takes a phrase at the front for the root ("Unable to sleep, *she
    rises*").
    """
    beside, waiting = [], [root(parse)]
    for predicate in waiting:
        waiting += children(parse, predicate, "conj", "parataxis")
        if own_subject(parse, predicate) is not None:
            beside.append(predicate)
    return [waiting[0], *sorted(i for i in beside if i != waiting[0])]


def subjects(parse: Parse) -> list[tuple[int, list[int]]]:
    """Every subject with the finite verbs that agree with it, in the order of the subjects.

    Predicates that are coordinated and have no subject of their own share it: "She comes, sees and has won" gives
    one subject with *comes*, *sees* and *has*. A clause without a finite verb gives an empty list.
    """
    by_subject = []
    for predicate in range(len(parse)):
        subject = own_subject(parse, predicate)
        if subject is not None:
            verbs = (finite_verb(parse, i) for i in _sharing(parse, predicate))
            by_subject.append((subject, [verb for verb in verbs if verb is not None]))
    return sorted(by_subject)


def _sharing(parse: Parse, predicate: int) -> Iterator[int]:
    """The predicate and those coordinated with it that have no subject of their own."""
    yield predicate
    for conjunct in children(parse, predicate, "conj"):
        if own_subject(parse, conjunct) is None:
            yield from _sharing(parse, conjunct)


def noun_phrase(parse: Parse, head: int) -> list[int]:
    """The words that name whom ``head`` stands for: ``head`` first, then the rest in the order of the sentence.

    Clauses that only tell more ("her brother, *who is ill*") and punctuation are left out.
    """
    phrase = subtree(parse, head, without=(*_CLAUSES_OF_NOUNS, "punct"))
    return [head, *(i for i in phrase if i != head)]


def is_nominal(parse: Parse, word: int) -> bool:
    """Whether the word is a noun, a name or a personal pronoun."""
    return parse.tags[word] in _NOMINAL_TAGS


def is_proper_noun(parse: Parse, word: int) -> bool:
    """Whether the word is a name in the singular."""
    return parse.tags[word] == "NNP" or (parse.tags[word] == "PROPN" and feature(parse, word, "Number") != "Plur")


def is_third_person_singular(parse: Parse, verb: int) -> bool:
    """Whether the *form* of the finite verb is third person singular.

    In English that is tag VBZ or the word "was": other pasts and modal verbs have one form for all persons, whatever
    a parser says of their person. Where tags are not Penn's, the features decide.
    """
    if parse.tags[verb] in _PENN_VERBS:
        return parse.tags[verb] == "VBZ" or parse.words[verb].lower() == "was"
    return feature(parse, verb, "Person") == "3" and feature(parse, verb, "Number") == "Sing"

"""Small contradictions between tags and arcs that English parsers leave in sentences full of names, resolved.

A tagger that does not know the name in "Gatsby tries to impress Nick" may read a plural noun, *tries*, with *Gatsby* as
its modifier. Each function here knows one such reading that cannot be right as it stands, and changes nothing else;
gold trees pass through unchanged.
"""

from dataclasses import replace

from evenlight.corpus.parse import (
    CLAUSAL_SUBJECTS,
    NOMINAL_SUBJECTS,
    Parse,
    children,
    finite_verb,
    is_nominal,
    root,
)

# What a noun before a verb cannot be to it: these are arcs to nouns, or from words of other kinds.
_IMPOSSIBLE = ("compound", "nmod", "amod", "nummod", "advmod", "aux", "vocative", "discourse", "flat", "dep", "nn")
_SUBJECTS = (*NOMINAL_SUBJECTS, *CLAUSAL_SUBJECTS)


def mended(parse: Parse) -> Parse:
    """The parse without the contradictions that this module knows; English only, others are returned as they are."""
    for mend in (verb_with_subject, verb_after_name, subject_before_verb):
        parse = mend(parse)
    return parse


def verb_with_subject(parse: Parse) -> Parse:
    """A word in -s that has a subject but no copula is a verb, not a plural: "he quickly *decides*".

    In English a noun is a predicate only beside a copula, which the arcs would show.
    """
    wrong = [
        i
        for i in range(len(parse))
        if _could_be_verb(parse, i)
        and any(j < i for j in children(parse, i, *NOMINAL_SUBJECTS))
        and finite_verb(parse, i) in (None, i)
    ]
    return _as_verbs(parse, wrong)


def verb_after_name(parse: Parse) -> Parse:
    """A root in -s that nothing finite helps, after a name that is said to modify it: "*Gatsby tries* to impress"."""
    verb = _root_without_subject(parse)
    if verb is None or not _could_be_verb(parse, verb) or finite_verb(parse, verb) not in (None, verb):
        return parse
    name = _misread_name(parse, verb)
    # "The Jones letters" or "for Jones letters" is a noun after all.
    if name is None or children(parse, verb, "det", "case", "prep"):
        return parse
    return _as_subject(_as_verbs(parse, [verb]), name)


def subject_before_verb(parse: Parse) -> Parse:
    """A finite root without a subject, and a name before it with an arc that no name has to a verb: its subject."""
    verb = _root_without_subject(parse)
    if verb is None or parse.tags[verb] != "VBZ":
        return parse
    name = _misread_name(parse, verb)
    return parse if name is None else _as_subject(parse, name)


def _root_without_subject(parse: Parse) -> int | None:
    verb = root(parse) if len(parse) else None
    return None if verb is None or children(parse, verb, *_SUBJECTS) else verb


def _misread_name(parse: Parse, verb: int) -> int | None:
    """The nearest name before the verb with an arc that it cannot have to a verb."""
    names = [
        i
        for i in children(parse, verb, *_IMPOSSIBLE)
        if i < verb and is_nominal(parse, i) and parse.words[i][0].isupper()
    ]
    return names[-1] if names else None


def _could_be_verb(parse: Parse, word: int) -> bool:
    text = parse.words[word]
    return parse.tags[word] in ("NNS", "NNP") and text.islower() and text.endswith("s") and not text.endswith("ss")


def _as_verbs(parse: Parse, words: list[int]) -> Parse:
    tags, features = list(parse.tags), list(parse.features)
    for i in words:
        tags[i] = "VBZ"
        features[i] = "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"
    return replace(parse, tags=tuple(tags), features=tuple(features))


def _as_subject(parse: Parse, word: int) -> Parse:
    relations = list(parse.relations)
    relations[word] = "nsubj"
    return replace(parse, relations=tuple(relations))

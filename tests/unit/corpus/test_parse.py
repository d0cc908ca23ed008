"""The scheme-neutral reading of trees: the same sentences in Universal Dependencies and in ClearNLP's scheme."""

import pytest
from hand_made_parses import hand_made

from evenlight.corpus import parse as syntax

# Each sentence in both schemes, with the words that the reading must find: (subject, finite verb) of the main clause.
SENTENCES = {
    "copula with a noun": (
        "She/PRP/4/nsubj is/VBZ/4/cop a/DT/4/det doctor/NN/0/root ././4/punct",
        "She/PRP/2/nsubj is/VBZ/0/root a/DT/4/det doctor/NN/2/attr ././2/punct",
        ("She", "is"),
    ),
    "copula with an adjective and a perfect": (
        "She/PRP/4/nsubj has/VBZ/4/aux been/VBN/4/cop ill/JJ/0/root ././4/punct",
        "She/PRP/3/nsubj has/VBZ/3/aux been/VBN/0/root ill/JJ/3/acomp ././3/punct",
        ("She", "has"),
    ),
    "passive": (
        "The/DT/2/det thief/NN/4/nsubj:pass is/VBZ/4/aux:pass seen/VBN/0/root ././4/punct",
        "The/DT/2/det thief/NN/4/nsubjpass is/VBZ/4/auxpass seen/VBN/0/root ././4/punct",
        ("thief", "is"),
    ),
    "negation": (
        "He/PRP/4/nsubj does/VBZ/4/aux not/RB/4/advmod speak/VB/0/root ././4/punct",
        "He/PRP/4/nsubj does/VBZ/4/aux not/RB/4/neg speak/VB/0/root ././4/punct",
        ("He", "does"),
    ),
    "modal": (
        "He/PRP/3/nsubj can/MD/3/aux leave/VB/0/root ././3/punct",
        "He/PRP/3/nsubj can/MD/3/aux leave/VB/0/root ././3/punct",
        ("He", "can"),
    ),
    "expletive": (
        "There/EX/2/expl is/VBZ/0/root a/DT/4/det ghost/NN/2/nsubj ././2/punct",
        "There/EX/2/expl is/VBZ/0/root a/DT/4/det ghost/NN/2/nsubj ././2/punct",
        ("ghost", "is"),
    ),
    "place as a predicate": (
        "Anna/NNP/5/nsubj was/VBD/5/cop in/IN/5/case the/DT/5/det tower/NN/0/root ././5/punct",
        "Anna/NNP/2/nsubj was/VBD/0/root in/IN/2/prep the/DT/5/det tower/NN/3/pobj ././2/punct",
        ("Anna", "was"),
    ),
    "clause as a subject": (
        "Leaving/VBG/2/csubj frightens/VBZ/0/root her/PRP/2/obj ././2/punct",
        "Leaving/VBG/2/csubj frightens/VBZ/0/root her/PRP/2/dobj ././2/punct",
        ("Leaving", "frightens"),
    ),
}


@pytest.mark.parametrize("scheme", ["ud", "clear"])
@pytest.mark.parametrize("case", SENTENCES)
def test_both_schemes_give_the_same_subject_and_finite_verb(case, scheme):
    ud, clear, (subject, verb) = SENTENCES[case]
    parse = hand_made(ud if scheme == "ud" else clear, scheme)
    root = syntax.root(parse)
    assert parse.words[syntax.subject_of(parse, root)] == subject
    assert parse.words[syntax.finite_verb(parse, root)] == verb


COMES_AND_SEES = hand_made(
    "She/PRP/2/nsubj comes/VBZ/0/root and/CC/4/cc sees/VBZ/2/conj that/IN/7/mark he/PRP/7/nsubj lies/VBZ/4/ccomp"
)


def test_coordinated_verbs_share_their_subject():
    assert syntax.subject_of(COMES_AND_SEES, 3) == 0
    assert syntax.subjects(COMES_AND_SEES) == [(0, [1, 3]), (5, [6])]
    assert syntax.conjuncts(COMES_AND_SEES, 1) == [1, 3]


def test_a_participle_that_shares_the_auxiliary_has_no_finite_verb():
    parse = hand_made("He/PRP/3/nsubj has/VBZ/3/aux come/VBN/0/root and/CC/5/cc gone/VBN/3/conj ././3/punct")
    assert syntax.finite_verb(parse, 4) is None
    assert syntax.subjects(parse) == [(0, [1])]


@pytest.mark.parametrize(
    ("text", "verb", "subject"),
    [
        # A clause below has no share in the subject above.
        ("He/PRP/2/nsubj begs/VBZ/0/root to/TO/4/mark leave/VB/2/xcomp ././2/punct", 3, None),
        # Of two the one next to the verb; an outer one gives way to the clause's own.
        ("War/NN/4/nsubj ,/,/4/punct Anna/NNP/4/nsubj fears/VBZ/0/root ././4/punct", 3, 2),
        ("Trouble/NN/5/nsubj:outer is/VBZ/5/cop that/IN/5/mark she/PRP/5/nsubj left/VBD/0/root ././5/punct", 4, 3),
    ],
)
def test_whose_subject_it_is(text, verb, subject):
    assert syntax.subject_of(hand_made(text), verb) == subject


def test_main_clauses_are_the_root_and_those_beside_it_with_their_own_subject():
    parse = hand_made(
        "They/PRP/2/nsubj leave/VBP/0/root and/CC/4/cc vanish/VBP/2/conj ;/,/7/punct"
        " she/PRP/7/nsubj stays/VBZ/2/parataxis ././2/punct"
    )
    assert syntax.main_clauses(parse) == [1, 6]


def test_noun_phrase_puts_the_head_first_and_leaves_out_clauses():
    parse = hand_made(
        "Her/PRP$/3/nmod:poss old/JJ/3/amod brother/NN/7/nsubj who/WP/5/nsubj limps/VBZ/3/acl:relcl ,/,/3/punct"
        " comes/VBZ/0/root ././7/punct"
    )
    assert syntax.noun_phrase(parse, 2) == [2, 0, 1]
    assert syntax.subtree(parse, 2) == [0, 1, 2, 3, 4, 5]


def test_children_are_asked_for_with_or_without_subtypes():
    parse = hand_made(SENTENCES["passive"][0])
    assert syntax.children(parse, 3, "nsubj") == [1]
    assert syntax.children(parse, 3, "nsubj:pass", "punct") == [1, 4]
    assert syntax.children(parse, 3) == [1, 2, 4]
    assert syntax.children(parse, 3, "obj") == []


@pytest.mark.parametrize(
    ("word", "tag", "features", "expected"),
    [
        ("goes", "VBZ", "", True),
        ("was", "VBD", "", True),
        ("went", "VBD", "Number=Sing|Person=3", False),
        ("were", "VBD", "", False),
        ("go", "VBP", "", False),
        ("must", "MD", "Number=Sing|Person=3", False),
        ("geht", "VERB", "Number=Sing|Person=3|VerbForm=Fin", True),
        ("gehen", "VERB", "Number=Plur|Person=3|VerbForm=Fin", False),
    ],
)
def test_third_person_singular_is_a_matter_of_form(word, tag, features, expected):
    parse = syntax.Parse((word,), ("",), (tag,), (features,), (0,), ("root",), "ud")
    assert syntax.is_third_person_singular(parse, 0) is expected


def test_features_decide_what_is_finite_where_tags_are_not_penn_s():
    def finite(tag, features):
        return syntax.is_finite(syntax.Parse(("x",), ("",), (tag,), (features,), (0,), ("root",), "ud"), 0)

    assert finite("VERB", "VerbForm=Fin")
    assert not finite("VERB", "VerbForm=Inf")
    assert not finite("VBN", "VerbForm=Fin")


def test_an_empty_sentence_has_no_root():
    with pytest.raises(ValueError, match="no root"):
        syntax.root(syntax.Parse((), (), (), (), (), (), "ud"))

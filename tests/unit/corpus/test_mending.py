"""Contradictions between tags and arcs: each mend acts on its own case, and gold trees pass unchanged."""

import pytest
from hand_made_parses import hand_made

from evenlight.corpus import parse as syntax
from evenlight.corpus.mending import mended


def read(text):
    parse = mended(hand_made(text))
    root = syntax.root(parse)
    subject, verb = syntax.subject_of(parse, root), syntax.finite_verb(parse, root)
    return (subject is not None and parse.words[subject], verb is not None and parse.words[verb])


@pytest.mark.parametrize(
    "text",
    [
        "He/PRP/3/nsubj quickly/RB/3/advmod decides/NNS/0/root ././3/punct",
        "Rhonda/NNP/2/nsubj wanders/NNS/0/root home/RB/2/advmod ././2/punct",
    ],
)
def test_a_noun_in_s_with_a_subject_and_no_copula_is_a_verb(text):
    subject, verb = read(text)
    assert subject in ("He", "Rhonda")
    assert verb in ("decides", "wanders")


@pytest.mark.parametrize(
    "text",
    [
        "Rhonda/NNP/2/compound tries/NNS/0/root to/TO/4/mark flee/VB/2/acl ././2/punct",
        "One/CD/2/nummod day/NN/4/obl:unmarked Rhonda/NN/4/compound tries/NNS/0/root it/PRP/4/obj ././4/punct",
        "Then/RB/3/advmod Rhonda/NNP/3/compound meets/VBZ/0/root him/PRP/3/obj ././3/punct",
        "Rhonda/NNP/2/vocative follows/VBZ/0/root him/PRP/2/obj ././2/punct",
    ],
)
def test_a_name_before_the_verb_becomes_its_subject(text):
    subject, verb = read(text)
    assert subject == "Rhonda"
    assert verb in ("tries", "meets", "follows")


@pytest.mark.parametrize(
    "text",
    [
        # Gold trees, and wrong ones for which nothing here is a remedy.
        "They/PRP/3/nsubj are/VBP/3/cop thieves/NNS/0/root ././3/punct",
        "The/DT/3/det Jones/NNP/3/compound letters/NNS/0/root ././3/punct",
        "Mr/NNP/2/compound firmness/NN/0/root ././2/punct",
        "Rhonda/NNP/0/root ,/,/3/punct smiles/NNS/1/conj ././1/punct",
        "Go/VB/0/root home/RB/1/advmod !/./1/punct",
        "It/PRP/2/nsubj rains/VBZ/0/root ././2/punct",
    ],
)
def test_nothing_else_is_changed(text):
    parse = hand_made(text)
    assert mended(parse) == parse

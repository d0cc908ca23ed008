"""Every rule of the filter by cases, near-duplicates against a plain count, and the table of what was removed."""

import json
import time
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hand_made_parses import hand_made, parse_words

from evenlight.core.contracts.corpus import CANDIDATES, SENTENCES
from evenlight.core.errors import InputError
from evenlight.core.tables import read_table, write_table
from evenlight.corpus import filtering, parsers
from evenlight.corpus.filtering import (
    RULES,
    FilterContext,
    ParsedSentence,
    apply_rules,
    context_of,
    read_person_lexicon,
)

LEXICON = Path(__file__).parents[3] / "resources/lexicons/person_nouns.txt"
NOUNS = frozenset({"widow", "brother", "judge"})


def sentence(text, author="Jane Austen", book=1, scheme="ud", written=None):
    parse = hand_made(text, scheme)
    return ParsedSentence(parse, written or " ".join(parse.words), book, author)


def plain(text, **more):
    """A sentence "subject verb rest ." whose second word is the root, for rules that look at the words."""
    words = text.split()
    tags = {0: "PRP", 1: "VBZ"} | {i: "VBZ" for i, word in enumerate(words) if word == "comes"}
    relations = {0: "nsubj", 1: "root"}
    entries = [f"{w}/{tags.get(i, 'NN')}/{0 if i == 1 else 2}/{relations.get(i, 'dep')}" for i, w in enumerate(words)]
    return sentence(" ".join(entries), **more)


def passes(rule, *sentences):
    return RULES[rule](list(sentences), context_of(sentences, NOUNS))[0]


THIRD = {
    "He/PRP/2/nsubj comes/VBZ/0/root ././2/punct": True,
    "She/PRP/4/nsubj is/VBZ/4/cop a/DT/4/det judge/NN/0/root ././4/punct": True,
    "She/PRP/3/nsubj was/VBD/3/aux:pass found/VBN/0/root ././3/punct": True,
    "He/PRP/3/nsubj has/VBZ/3/aux gone/VBN/0/root ././3/punct": True,
    "He/PRP/4/nsubj does/VBZ/4/aux not/RB/4/advmod go/VB/0/root ././4/punct": True,
    "He/PRP/2/nsubj came/VBD/0/root ././2/punct": False,
    "They/PRP/2/nsubj come/VBP/0/root ././2/punct": False,
    "They/PRP/3/nsubj were/VBD/3/cop ill/JJ/0/root ././3/punct": False,
    "He/PRP/3/nsubj can/MD/3/aux go/VB/0/root ././3/punct": False,
    "A/DT/2/det letter/NN/0/root ././2/punct": False,
    # The main clause that can be judged is not always the first.
    "They/PRP/2/nsubj go/VBP/0/root ;/,/5/punct she/PRP/5/nsubj stays/VBZ/2/parataxis ././2/punct": True,
    "Unable/JJ/0/root ,/,/4/punct she/PRP/4/nsubj stays/VBZ/1/parataxis ././1/punct": True,
    # In a subordinate clause it does not count.
    "They/PRP/2/nsubj know/VBP/0/root he/PRP/4/nsubj lies/VBZ/2/ccomp ././2/punct": False,
}


@pytest.mark.parametrize(("text", "expected"), THIRD.items())
def test_third_person_singular(text, expected):
    assert passes("third_person_singular", sentence(text)) is expected


COPULA = "She/PRP/2/nsubj is/VBZ/0/root a/DT/4/det judge/NN/2/attr ././2/punct"
WORDS = [
    ("subject_is_not_it", plain("it comes ."), False),
    ("subject_is_not_it", plain("It comes ."), False),
    ("subject_is_not_it", plain("He comes ."), True),
    # The limit of tokens counts the period.
    ("short_enough", plain("He comes" + " x" * 27 + " ."), True),
    ("short_enough", plain("He comes" + " x" * 28 + " ."), False),
    ("ends_with_period", plain("He comes ."), True),
    ("ends_with_period", plain("He comes ?"), False),
    ("ends_with_period", plain("He comes :"), False),
    ("starts_with_capital", plain("He comes ."), True),
    ("starts_with_capital", plain("he comes ."), False),
    ("starts_with_capital", plain("Émile kommt ."), True),
    ("starts_with_capital", plain('" he comes .'), False),
    # Direct speech is a quotation, and a name in marks is not.
    ("no_quotation", plain('He calls her " aunt " .'), True),
    ("no_quotation", plain("He calls her “ aunt ” ."), True),
    ("no_quotation", plain('He says " she comes " .'), False),
    ("no_quotation", plain("He comes “ ."), False),
    ("no_quotation", plain('He comes " .'), False),
    ("no_quotation", plain("He likes the sailors ' songs ."), True),
    ("no_citation", plain("He comes home ."), True),
    ("no_citation", plain("He comes home [ 3 ] ."), False),
    ("no_citation", plain("He resembles others ( Miller 1984 , 12 ) ."), False),
    ("no_citation", plain("He follows Bakhtin et al ."), False),
    ("no_citation", plain("He comes in 1812 ."), True),
    ("no_heading", plain("Chapter IV : He comes ."), False),
    ("no_heading", plain("He comes [edit] ."), False),
    ("no_heading", plain("He reads chapter IV ."), True),
    # It ran into the sentence, which shows in the text.
    ("no_heading", plain("Plot He comes .", written="Plot\nHe comes."), False),
    ("no_author", plain("Austen mocks him .", author="Jane Austen"), False),
    ("no_author", plain("Jane mocks him .", author="Jane Austen"), True),
    ("no_author", plain("He mocks Austen .", author="Austen, Jane"), False),
    ("no_author", plain("Holmes mocks him .", author="Oliver Holmes Jr."), False),
    ("no_author", plain("He mocks him .", author=""), True),
    ("has_subject", sentence("Comes/VBZ/0/root home/RB/1/advmod ././1/punct"), False),
    ("third_person_singular", sentence(COPULA, scheme="clear"), True),
]


@pytest.mark.parametrize(("rule", "given", "expected"), WORDS)
def test_rules_that_look_at_words(rule, given, expected):
    assert passes(rule, given) is expected


HUMAN = {
    "He/PRP/2/nsubj comes/VBZ/0/root": True,
    "The/DT/2/det widow/NN/3/nsubj comes/VBZ/0/root": True,
    "Brother/NN/2/nsubj comes/VBZ/0/root": True,
    "The/DT/2/det storm/NN/3/nsubj comes/VBZ/0/root": False,
    "Anna/NNP/2/nsubj comes/VBZ/0/root": True,
    "Then/RB/3/advmod Ulysses/NNS/3/nsubj comes/VBZ/0/root": True,
    "Storms/NNS/2/nsubj comes/VBZ/0/root": False,
    "This/DT/2/nsubj comes/VBZ/0/root": False,
    "Who/WP/2/nsubj comes/VBZ/0/root": False,
    "Comes/VBZ/0/root home/RB/1/advmod": False,
}


@pytest.mark.parametrize(("text", "expected"), HUMAN.items())
def test_human_subjects(text, expected):
    assert passes("human_subject", sentence(text)) is expected


def test_pronouns_of_other_languages_are_known_by_their_features():
    def german(word, features):
        parse = filtering.Parse(
            (word, "kommt"), ("",) * 2, ("PRON", "VERB"), (features, ""), (1, 1), ("nsubj", "root"), "ud"
        )
        return ParsedSentence(parse, f"{word} kommt", 1, "")

    assert passes("human_subject", german("Sie", "Gender=Fem|Number=Sing|Person=3|PronType=Prs"))
    assert not passes("human_subject", german("Es", "Gender=Neut|Number=Sing|Person=3|PronType=Prs"))


def test_a_name_counts_when_its_book_has_it_twice():
    once = sentence("Anna/NNP/2/nsubj comes/VBZ/0/root")
    again = sentence("He/PRP/2/nsubj sees/VBZ/0/root Anna/NNP/2/obj")
    elsewhere = sentence("He/PRP/2/nsubj sees/VBZ/0/root Anna/NNP/2/obj", book=2)
    assert not passes("recurring_name", once)
    assert passes("recurring_name", once, again)
    assert not passes("recurring_name", once, elsewhere)


def test_a_title_does_not_make_a_name_recur():
    first = sentence("Mr./NNP/2/nmod:desc Webb/NNP/3/nsubj comes/VBZ/0/root")
    other = sentence("Mr./NNP/2/nmod:desc Pike/NNP/3/nsubj comes/VBZ/0/root")
    assert not passes("recurring_name", first, other)
    assert passes("recurring_name", first, sentence("Eliza/NNP/3/nsubj Webb/NNP/1/flat comes/VBZ/0/root"))
    # The first word's capital makes no name.
    storms = (sentence(f"Storm/NN/2/nsubj {verb}/VBZ/0/root") for verb in ("comes", "goes"))
    assert not passes("human_subject", *storms)


def test_duplicates_and_near_duplicates_leave_the_first():
    same = "He walks to the old house by the river in the rain ."
    sentences = [
        plain(same),
        plain(same),
        plain(same.replace("rain", "snow")),  # 10 of 16 pairs in common is 0.71
        plain("He walks to the mill ."),
    ]
    assert RULES["distinct"](sentences, context_of(sentences, NOUNS)) == [True, False, False, True]


def test_near_duplicates_equal_those_of_comparing_every_pair():
    draw = np.random.default_rng(3)
    texts = [["He", "comes", *draw.choice(list("abcdefgh"), draw.integers(3, 12)), "."] for _ in range(60)]
    texts += [[word if draw.random() > 0.1 else "z" for word in texts[i]] for i in draw.integers(0, 60, 120)]
    sentences = [plain(" ".join(words)) for words in texts]
    for similarity in (0.3, 0.5, 0.7, 0.9, 1.0):
        context = FilterContext(30, similarity, NOUNS, {})
        sets = [set(pairwise(["", *(w.lower() for w in words if w.isalnum()), ""])) for words in texts]
        expected, kept = [], []
        for found in sets:
            expected.append(not any(len(found & k) / len(found | k) >= similarity for k in kept))
            kept += [found] if expected[-1] else []
        assert RULES["distinct"](sentences, context) == expected
        assert 0 < expected.count(False) < len(expected)


def test_the_table_counts_each_removal_once_and_says_what_a_rule_would_do_alone():
    sentences = [
        sentence("Anna/NNP/2/nsubj comes/VBZ/0/root ././2/punct"),
        sentence("Anna/NNP/2/nsubj comes/VBZ/0/root ././2/punct"),
        sentence("Anna/NNP/2/nsubj came/VBD/0/root ?/./2/punct"),
        sentence("She/PRP/2/nsubj comes/VBZ/0/root ?/./2/punct"),
    ]
    left, table = apply_rules(sentences, context_of(sentences, NOUNS))
    assert left == [0]
    rows = table.set_index("rule")
    assert list(rows.index) == ["all", *RULES, "candidates", "accepted by people"]
    assert tuple(rows.loc["third_person_singular", ["removed_first", "removed_alone", "left"]]) == (1, 1, 3)
    assert tuple(rows.loc["ends_with_period", ["removed_first", "removed_alone", "left"]]) == (1, 2, 2)
    assert tuple(rows.loc["distinct", ["removed_first", "removed_alone", "left"]]) == (1, 1, 1)
    assert rows["removed_first"].sum() == len(sentences) - len(left)
    assert rows.loc["all", "published"] == "over 19,500"
    left, table = apply_rules([], context_of([], NOUNS))
    assert left == []
    assert table["left"].dropna().eq(0).all()


def test_candidates_are_rows_of_the_table_with_verb_and_subject(tmp_path):
    found = [
        sentence("They/PRP/2/nsubj come/VBP/0/root ././2/punct"),
        sentence("Her/PRP$/2/nmod:poss brother/NN/4/nsubj is/VBZ/4/cop ill/JJ/0/root ././4/punct"),
    ]
    rows = [
        {"sentence_id": f"s{i}", "paragraph_id": "p", "book_id": 1, "author": "A", "text": s.text, **asdict(s.parse)}
        for i, s in enumerate(found)
    ]
    write_table(pd.DataFrame(rows), tmp_path / "sentences.parquet", SENTENCES)
    table, sentences = filtering.read_sentences(tmp_path / "sentences.parquet")
    assert [s.parse for s in sentences] == [s.parse for s in found]
    left, _ = apply_rules(sentences, context_of(sentences, NOUNS))
    write_table(filtering.candidates(table, sentences, left), tmp_path / "candidates.parquet", CANDIDATES)
    [row] = read_table(tmp_path / "candidates.parquet", CANDIDATES).to_dict("records")
    assert (row["sentence_id"], row["root"], list(row["subject"])) == ("s1", 2, [1, 0])


def test_accepted_sentences_are_kept(mirror):
    nlp = parsers.load_parser(mirror / "parsers/en_ewt_sm")
    labelled = json.loads((mirror / "geco_annotation/merged_labelling_v2.json").read_text(encoding="utf-8"))
    words = [entry["sentence"] for entry in labelled["sentences"].values()]
    assert len(words) == 1610
    sentences = [ParsedSentence(parse, " ".join(parse.words), 0, "") for parse in parse_words(nlp, words[::10])]
    third, subject = (
        sum(RULES[rule](sentences, context_of(sentences, NOUNS))) / len(sentences)
        for rule in ("third_person_singular", "has_subject")
    )
    assert third > 0.88
    assert subject > 0.9


@pytest.mark.slow
def test_eight_times_as_many_sentences_take_about_eight_times_as_long():
    """Some rules compare sentences with each other; each pair of them would take 64 times as long."""
    draw = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(3000)])
    sentences = [
        plain("He sees " + " ".join(draw.choice(words, draw.integers(4, 27))) + " .", book=i // 100)
        for i in range(8000)
    ]

    def seconds(count: int) -> float:
        start = time.process_time()
        left, _ = apply_rules(sentences[:count], context_of(sentences[:count], NOUNS))
        assert len(left) == count
        return time.process_time() - start

    few = sorted(seconds(1000) for _ in range(3))[1]
    assert seconds(8000) < 3 * 8 * few


def test_a_lexicon_that_cannot_be_read_is_refused(tmp_path):
    path = tmp_path / "nouns.txt"
    with pytest.raises(InputError, match=r"nouns\.txt: not a readable"):
        read_person_lexicon(path)
    path.write_text("widow\nold man\n")
    with pytest.raises(InputError, match="line 2, 'old man', holds several words"):
        read_person_lexicon(path)
    path.write_text("# nothing\n")
    with pytest.raises(InputError, match="no noun"):
        read_person_lexicon(path)


def test_the_committed_lexicon_holds_people_and_the_licence():
    nouns = read_person_lexicon(LEXICON)
    assert {"widow", "governess", "brother", "miller", "stranger", "clergyman", "girl"} <= nouns
    assert nouns.isdisjoint({"storm", "house", "head", "family", "someone", "letter", "love", "dog"})
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in LEXICON.read_text(encoding="utf-8")

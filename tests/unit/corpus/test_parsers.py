"""Pipelines: loaded or refused, their schemes told apart, and a small one trained in each scheme."""

from pathlib import Path

import pytest
import spacy
from hand_made_parses import parse_words
from spacy.tokens import Doc

from evenlight.core.errors import InputError
from evenlight.corpus import parse as syntax
from evenlight.corpus import parsers
from evenlight.corpus.mending import mended
from evenlight.corpus.parser_training import Tree, read_conllu, scores, train_parser

TREEBANK = Path(__file__).parents[3] / "resources/demo/treebank.conllu"
TEXT = "The widow opens the door. He is a poor judge."


def parse_of(tree: Tree) -> syntax.Parse:
    """The gold tree as the parser would give it."""
    empty = ("",) * len(tree.words)
    return syntax.Parse(tree.words, empty, tree.tags, tree.features, tree.heads, tree.relations, "ud")


@pytest.fixture(scope="module")
def trees():
    return read_conllu(TREEBANK)[:500]


def test_gold_trees_stay_as_they_are(trees):
    """What either scheme makes of a sentence is tested in test_parse.py."""
    for tree in trees:
        assert mended(parse_of(tree)) == parse_of(tree)


@pytest.mark.slow
def test_a_small_pipeline_learns(trees, tmp_path):
    training, held_out = trees[60:], trees[:60]
    nlp = train_parser(training, "en", epochs=6, seed=0)
    assert scores(nlp, held_out)["dep_uas"] > 0.75
    nlp.to_disk(tmp_path / "pipeline")
    loaded = parsers.load_parser(tmp_path / "pipeline")
    assert parsers.scheme_of(loaded) == "ud"
    found = parse_words(loaded, [tree.words for tree in held_out])
    right = [main_clause(parse) == main_clause(parse_of(tree)) for parse, tree in zip(found, held_out, strict=True)]
    # So few sentences teach a parser but little; what read the wrong arcs would find next to none.
    assert sum(right) > 0.5 * len(right)
    [sentences] = parsers.parse_texts(loaded, [TEXT])
    assert [text for text, _ in sentences] == ["The widow opens the door.", "He is a poor judge."]


def main_clause(parse):
    root = syntax.root(parse)
    return syntax.subject_of(parse, root), syntax.finite_verb(parse, root)


def test_training_is_the_same_for_the_same_seed(trees):
    one, two = (train_parser(trees[:40], "en", epochs=1, seed=5) for _ in range(2))
    assert one.get_pipe("parser").model.to_bytes() == two.get_pipe("parser").model.to_bytes()


def test_a_missing_pipeline_says_how_to_get_it():
    with pytest.raises(InputError, match=r"python -m spacy download xx_no_such_pipeline"):
        parsers.load_parser("xx_no_such_pipeline")


def test_a_pipeline_without_parser_is_refused(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="no tagger"):
        parsers.load_parser(tmp_path / "blank")


def test_another_scheme_is_refused():
    nlp = spacy.blank("en")
    nlp.add_pipe("parser").add_label("SB")
    with pytest.raises(InputError, match=r"\(obj, obl\).*ClearNLP's"):
        parsers.scheme_of(nlp)


def test_white_space_is_left_out_and_arcs_keep_their_ends():
    nlp = spacy.blank("en")
    words = ["He", "\n", "comes", "."]
    doc = Doc(
        nlp.vocab,
        words=words,
        heads=[2, 0, 2, 2],
        deps=["nsubj", "dep", "ROOT", "punct"],
        tags=["PRP", "_SP", "VBZ", "."],
    )
    parse = parsers.from_doc(doc[:], "ud")
    assert (parse.words, parse.heads, parse.relations) == (("He", "comes", "."), (1, 1, 1), ("nsubj", "root", "punct"))


def test_the_second_sentence_of_a_text_counts_its_words_from_its_own_start():
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["Go", ".", "He", "comes"], heads=[0, 0, 3, 3], deps=["ROOT", "punct", "nsubj", "ROOT"])
    assert parsers.from_doc(doc[2:4], "ud").heads == (1, 1)


def test_other_languages_give_parts_of_speech_for_tags():
    nlp = spacy.blank("de")
    doc = Doc(
        nlp.vocab,
        words=["Er", "kommt"],
        heads=[1, 1],
        deps=["nsubj", "ROOT"],
        tags=["PPER", "VVFIN"],
        pos=["PRON", "VERB"],
    )
    assert parsers.from_doc(doc[:], "ud").tags == ("PRON", "VERB")


def test_ewt_reads_both_kinds_of_text(mirror):
    nlp = parsers.load_parser(mirror / "parsers/en_ewt_sm")
    assert parsers.scheme_of(nlp) == "ud"
    [words] = parse_words(nlp, [["She", "is", "a", "doctor", "."]])
    assert words.words[syntax.root(words)] == "doctor"
    assert list(parsers.parse_texts(nlp, ["", "  \n"])) == [[], []]


# Treebanks

ROW = "1\tGo\t_\tVERB\tVB\t_\t0\troot\t_\t_"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no sentence"),
        ("# nothing\n\n", "no sentence"),
        (f"{ROW}\n2\t.\n\n", "line 2 has 2 fields, CoNLL-U has 10"),
        (ROW.replace("\t0\t", "\t4\t"), "line 1: word '1' with head '4'"),
        (ROW.replace("1\t", "2\t", 1), "line 1: word '2'"),
        (ROW.replace("\t0\t", "\t_\t"), "head '_'"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "bad.conllu"
    path.write_text(text)
    with pytest.raises(InputError, match=f"bad.conllu: .*{message}"):
        read_conllu(path)


def test_words_are_read_where_a_token_holds_several(tmp_path):
    path = tmp_path / "tokens.conllu"
    without_space = ROW.removesuffix("_") + "SpaceAfter=No"
    path.write_text(
        f"1-2\tGo!\t_\t_\t_\t_\t_\t_\t_\t_\n{without_space}\n2\t!\t_\tPUNCT\t.\t_\t1\tpunct\t_\t_\n2.1\tx" + "\t_" * 8
    )
    [tree] = read_conllu(path)
    assert tree.words == ("Go", "!")
    assert tree.heads == (0, 0)
    assert tree.spaces == (False, True)

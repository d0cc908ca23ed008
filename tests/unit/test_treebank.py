"""The treebank's grammar and the reader of CoNLL-U, each held against the other."""

from pathlib import Path

import numpy as np
import pytest

from evenlight.corpus import treebank as bank
from evenlight.corpus.treebank import Node, read_conllu, rows, treebank, written
from evenlight.errors import InputError

GRAMMAR = Path(__file__).parents[2] / "resources/demo/grammar.yaml"


@pytest.fixture(scope="module")
def blocks():
    return list(treebank(GRAMMAR, 200, 0))


def test_a_sentence_by_hand():
    she = Node("she", "PRON", "PRP", relation="nsubj")
    door = Node("door", "NOUN", "NN", relation="obj", before=(Node("the", "DET", "DT", relation="det"),))
    stop = Node(".", "PUNCT", ".", relation="punct")
    assert rows(Node("opens", "VERB", "VBZ", before=(she,), after=(door, stop))) == [
        ("She", "PRON", "PRP", "", 2, "nsubj"),
        ("opens", "VERB", "VBZ", "", 0, "root"),
        ("the", "DET", "DT", "", 4, "det"),
        ("door", "NOUN", "NN", "", 2, "obj"),
        (".", "PUNCT", ".", "", 2, "punct"),
    ]


def test_every_tree_is_projective_with_one_root_and_reads_back(blocks, tmp_path):
    path = tmp_path / "demo.conllu"
    path.write_text("".join(blocks), encoding="utf-8")
    trees = read_conllu(path)
    assert len(trees) == len(blocks)
    for block, tree in zip(blocks, trees, strict=True):
        heads = np.array(tree.heads)
        assert (heads == np.arange(len(heads))).sum() == 1
        for word, head in enumerate(heads):
            climbed = [word]
            while heads[climbed[-1]] != climbed[-1]:
                climbed.append(heads[climbed[-1]])
                assert len(climbed) <= len(heads), "a circle"
            low, high = sorted((word, head))
            assert all(low <= heads[between] <= high for between in range(low + 1, high)), tree.words
        text = "".join(w + " " * s for w, s in zip(tree.words, tree.spaces, strict=True)).strip()
        assert f"# text = {text}\n" in block


def test_the_same_seed_gives_the_same_treebank_and_more_sentences_the_same_first_ones(blocks):
    assert list(treebank(GRAMMAR, 20, 0)) == blocks[:20]
    assert list(treebank(GRAMMAR, 20, 1)) != blocks[:20]


def test_the_grammar_makes_what_the_filter_keeps_and_what_it_removes(blocks):
    text = "".join(blocks)
    for relation in ("cop", "nsubj:pass", "conj", "ccomp", "xcomp", "advcl", "acl:relcl", "appos", "flat", "iobj"):
        assert f"\t{relation}\t" in text
    assert text.count("\tVBZ\t") > text.count("\tVBD\t") > 20
    assert "?" in text
    assert '"' in text


@pytest.mark.parametrize(
    ("entry", "form", "expected"),
    [
        ("carry", bank.PRESENT, ["carries"]),
        ("carry", bank.PAST, ["carried"]),
        ("hide hid hidden", "participle", ["hidden"]),
        ("find found", "participle", ["found"]),
        ("hide hid hidden", "gerund", ["hiding"]),
        ("take took taken in", bank.PRESENT, ["takes", "in"]),
        ("lock up", bank.PAST, ["locked", "up"]),
        ("teach taught", bank.PRESENT, ["teaches"]),
        ("obey", bank.PRESENT, ["obeys"]),
    ],
)
def test_inflection(entry, form, expected):
    assert [word.lower() for word, *_ in rows(bank._inflected(entry, form))] == expected


def test_texts_are_written_without_spaces_where_none_belong():
    words = ['"', "Anna", "'s", "door", "is", "open", ",", '"', "he", "says", "."]
    assert written(words) == '"Anna\'s door is open," he says.'


ROW = "1\tGo\t_\tVERB\tVB\t_\t0\troot\t_\t_"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no sentence"),
        ("# nothing\n\n", "no sentence"),
        (f"{ROW}\n2\t.\n\n", "line 2 has 2 fields, CoNLL-U has 10"),
        (ROW.replace("\t0\t", "\t4\t"), "line 1: word '1' with head '4' in a sentence of 1 words"),
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
    path.write_text(
        f"1-2\tGo!\t_\t_\t_\t_\t_\t_\t_\t_\n{ROW}\n2\t!\t_\tPUNCT\t.\t_\t1\tpunct\t_\t_\n2.1\tx" + "\t_" * 8
    )
    [tree] = read_conllu(path)
    assert tree.words == ("Go", "!")
    assert tree.heads == (0, 0)

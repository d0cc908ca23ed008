"""The reader of CoNLL-U, and the demo's treebank."""

from pathlib import Path

import numpy as np
import pytest

from evenlight.core.errors import InputError
from evenlight.corpus.parser_training import read_conllu

TREEBANK = Path(__file__).parents[3] / "resources/demo/treebank.conllu"


def test_every_tree_of_the_demo_is_projective_with_one_root_and_has_the_words_of_its_text():
    trees, blocks = read_conllu(TREEBANK), TREEBANK.read_text(encoding="utf-8").split("\n\n")[:-1]
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


def test_the_demo_teaches_what_the_filter_keeps_and_what_it_removes():
    text = TREEBANK.read_text(encoding="utf-8")
    for relation in ("cop", "nsubj:pass", "conj", "ccomp", "xcomp", "advcl", "acl:relcl", "appos", "flat", "iobj"):
        assert f"\t{relation}\t" in text
    assert text.count("\tVBZ\t") > text.count("\tVBD\t") > 120
    assert "?" in text
    assert '"' in text


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
    path.write_text(
        f"1-2\tGo!\t_\t_\t_\t_\t_\t_\t_\t_\n{ROW}\n2\t!\t_\tPUNCT\t.\t_\t1\tpunct\t_\t_\n2.1\tx" + "\t_" * 8
    )
    [tree] = read_conllu(path)
    assert tree.words == ("Go", "!")
    assert tree.heads == (0, 0)

"""What the functions for notebooks refuse, in words that a notebook's reader understands."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models_for_tests import MAX_TOKENS, tiny_classifier

from evenlight import explain, load_classifier, plot, probabilities, score
from evenlight.core.errors import InputError

TEXTS = ["He waits .", "They find the lighthouse ."]


@pytest.fixture(scope="module")
def classifier():
    """A small BERT with two classes."""
    return tiny_classifier("bert")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"targets": [7, 0]}, r"targets: found 7.*0 \(LABEL_0\), 1 \(LABEL_1\)"),
        ({"targets": [0, -1]}, "targets: found -1"),
        ({"targets": ["male", "female"]}, "targets: found 'male'.*give the number"),
        ({"targets": [1]}, "targets has 1 entries for 2 texts"),
        ({"output": "contrast", "foils": [0, 2]}, "foils: found 2"),
        ({"output": "contrast", "foils": [0]}, "foils has 1 entries for 2 texts"),
        ({"ground_truth": [[0, 1, 0]]}, "ground_truth has 1 entries for 2 texts"),
        ({"ground_truth": [[0, 1, 0], [0, 1]]}, r"found \[0, 1\] for text 1, whose 5 words are 'They', .* a 0 or 1"),
        ({"ground_truth": [[0, 2, 0], None]}, r"found \[0, 2, 0\] for text 0, whose 3 words are 'He', 'waits', '\.'"),
    ],
)
def test_what_is_no_class_and_not_one_per_text_is_refused(classifier, more, message):
    with pytest.raises(InputError, match=message):
        explain(classifier, TEXTS, "saliency", **more)


def test_marks_of_texts_of_one_length_may_be_an_array(classifier):
    marks = np.array([[0, 1, 0], [1, 0, 0]])
    found = explain(classifier, ["He waits .", "She reads ."], "saliency", ground_truth=marks)
    assert [explanation.ground_truth.tolist() for explanation in found] == marks.tolist()
    with pytest.raises(InputError, match="found a ndarray"):
        explain(classifier, ["He waits .", "She reads ."], "saliency", ground_truth=marks[None])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "texts is empty"),
        (["He waits .", " "], "text 1 has no words"),
        (["He waits .", None], r"text 1:.*None.*string"),
        ([float("nan")], r"text 0:.*nan.*string"),
        ([b"He waits ."], "text 0: found b'He waits .'; give a string"),
        ([["He", 1]], r"text 0: found \['He', 1\]; give a string"),
        ([["He", " "]], r"text 0: found \['He', ' '\]; give a string"),
        (["He waits .", "so " * MAX_TOKENS], rf"^text 1 has \d+ tokens.*at most {MAX_TOKENS};"),
    ],
)
def test_texts_that_cannot_be_read_are_refused_without_keys_of_a_study(classifier, texts, message):
    for ask in (lambda: explain(classifier, texts, "saliency"), lambda: probabilities(classifier, texts)):
        with pytest.raises(InputError, match=message) as refused:
            ask()
        assert "models.<model>" not in str(refused.value)


@pytest.mark.parametrize(
    ("texts", "more", "message"),
    [
        (TEXTS, {"second": ["She sleeps ."]}, "second has 1 entries for 2 texts"),
        (TEXTS, {"second": ["She sleeps .", ""]}, r"second part.*text 1"),
        (TEXTS, {"second": "She sleeps ."}, "second is one"),
        (TEXTS, {"overlap": MAX_TOKENS}, rf"overlap:.*{MAX_TOKENS}.*0.*half.*48"),
        (TEXTS, {"overlap": "4"}, "overlap: found '4'"),
        (["a" * 2 * MAX_TOKENS], {"overlap": 2}, r"divided.*windows.*change"),
    ],
)
def test_second_parts_and_windows_are_checked(classifier, texts, more, message):
    for ask in (
        lambda: explain(classifier, texts, "saliency", **more),
        lambda: probabilities(classifier, texts, **more),
    ):
        with pytest.raises(InputError, match=message) as refused:
            ask()
        assert "models.<model>" not in str(refused.value)


def test_a_model_without_pairs_of_texts_refuses_second_parts():
    with pytest.raises(InputError, match=r"^a gpt2.*parts.*; change the texts"):
        probabilities(tiny_classifier("gpt2"), TEXTS, second=TEXTS)


def test_more_tokens_are_proposed_where_the_model_reads_more():
    classifier = tiny_classifier("bert")
    long = "so " * MAX_TOKENS
    with pytest.raises(InputError, match=r"overlap=12.*shorten.*no more$"):
        explain(classifier, [long], "saliency")
    with pytest.raises(InputError, match=r"text 0 has 32 tokens.*load.*max_tokens=32.*more$"):
        explain(replace(classifier, max_tokens=20), ["so " * 30], "saliency")


def test_a_long_text_in_windows_is_explained_as_one():
    classifier = tiny_classifier("bert")
    text = " ".join(["boat"] * 2 * MAX_TOKENS)
    [explanation] = explain(classifier, [text], "saliency", overlap=4)
    assert explanation.windows.max() > 0
    assert len(explanation.token_score) > MAX_TOKENS
    assert np.isfinite(score(classifier, [explanation], "aopc_comprehensiveness")).all()


def test_the_home_folder_may_be_written_as_in_a_shell(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "seed0").mkdir()
    for source in ("~/seed", Path("~/seed")):
        said = rf"^model {tmp_path}/seed: .*no such folder.*{tmp_path}/seed0\?"
        with pytest.raises(InputError, match=said):
            load_classifier(source)


def test_what_is_no_explanation_is_not_drawn(classifier):
    with pytest.raises(InputError, match=r"explanations:.*Explanations.*plot"):
        plot([explain(classifier, TEXTS, "saliency")])
    with pytest.raises(InputError, match=r"beside:.*Classifier.*plot"):
        plot(explain(classifier, TEXTS, "saliency"), classifier)
    with pytest.raises(InputError, match=r"beside.*1 explanations for 2"):
        plot(explain(classifier, TEXTS, "saliency"), explain(classifier, TEXTS[:1], "saliency"))
    with pytest.raises(InputError, match="explanations is empty"):
        plot([])


def test_classes_of_numpy_and_lists_are_taken(classifier):
    by_name = explain(classifier, TEXTS, "saliency", targets=["LABEL_1", "LABEL_0"])
    assert [each.target for each in by_name] == [1, 0]
    by_list = explain(classifier, TEXTS, "saliency", targets=[1, 0])
    by_array = explain(classifier, TEXTS, "saliency", targets=np.array([1, 0]))
    assert [each.target for each in by_list] == [each.target for each in by_array] == [1, 0]
    np.testing.assert_array_equal(by_list[0].token_score, by_array[0].token_score)


def test_what_is_about_concepts_is_refused(classifier):
    with pytest.raises(InputError, match=r"leace.*concept"):
        explain(classifier, TEXTS, "leace")
    with pytest.raises(InputError, match=r"icace_error.*concept"):
        score(classifier, explain(classifier, TEXTS, "saliency"), "icace_error")


def test_what_is_about_answers_in_words_is_refused(classifier):
    with pytest.raises(InputError, match=r"mtld is.*answers"):
        score(classifier, explain(classifier, TEXTS, "saliency"), "mtld")
    for method in (["saliency", "lime"], None):
        with pytest.raises(InputError, match=r"explainers: found .* one name"):
            explain(classifier, TEXTS, method)

"""What a reader of a notebook sees: the documented lines, tables, drawings, lines about objects, and a bar."""

import json
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from http_services import serving
from models_for_tests import tiny_classifier
from test_notebook_models import MODELS, saved
from transformers import AutoConfig, AutoModelForCausalLM
from wording import says

import evenlight
from evenlight.core.errors import InputError
from evenlight.engine import training
from evenlight.notebook import progress_bar as bars
from evenlight.texts.splitting import split_words

DOCUMENT = Path(__file__).parents[3] / "docs" / "notebook.md"
TEXTS = ["He waits .", "They find the lighthouse <b> ."]
NAMES = {0: "NEGATIVE", 1: "POSITIVE"}


@pytest.fixture(scope="module")
def classifier():
    """A small BERT with two classes."""
    return tiny_classifier("bert")


@pytest.fixture
def explanations(classifier):
    return evenlight.explain(classifier, TEXTS, "saliency", targets=["LABEL_1", 0])


# The documented lines -------------------------------------------------------------------------------------------------


def on_the_hub(cache: Path, name: str) -> Path:
    """Where the hub's cache has the files of a model."""
    repository = cache / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("0123abcd")
    return repository / "snapshots" / "0123abcd"


def toxic(body: dict) -> tuple[int, bytes, dict]:
    """What the documented service answers."""
    return 200, json.dumps({"toxicity": [text.count("e") / 20 for text in body["inputs"]]}).encode(), {}


def documented() -> list[str]:
    """The blocks of Python in the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == text.count("```python") > 0
    return blocks


def test_every_line_of_the_documentation_runs(tmp_path, monkeypatch):
    pytest.importorskip("jmespath", reason="the shapes of requests and answers are expressions of jmespath")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOXICITY_KEY", "secret")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    hub = tmp_path / "cache"
    saved(on_the_hub(hub, "distilbert/distilbert-base-uncased-finetuned-sst-2-english"), "distilbert", id2label=NAMES)
    decoder = saved(on_the_hub(hub, "openai-community/gpt2"), "gpt2")
    config = AutoConfig.for_model("gpt2", **MODELS["gpt2"][1], architectures=["GPT2LMHeadModel"])
    AutoModelForCausalLM.from_config(config).save_pretrained(decoder)
    saved(tmp_path / "models" / "mine", "bert")
    study = tmp_path / "results/demo/models/demo_subj/small_bert/seed0"
    training.save_classifier(tiny_classifier("bert"), study, None, {"settings": {"max_tokens": 30}})
    names: dict = {}
    with serving() as service:
        service.usual = toxic
        for block in documented():
            running = block.replace("https://models.example.org/toxicity", service.address)
            exec(compile(running, str(DOCUMENT), "exec"), names)
    assert list(names["shares"].columns) == list(NAMES.values())
    np.testing.assert_allclose(names["shares"].sum(axis=1), 1)
    assert names["values"].shape == (2,)
    assert names["complexity"].shape == (4,)
    assert names["words"]["word"].tolist() == [word for text in names["texts"] for word in split_words(text)]
    assert len(names["tokens"]) == sum(len(each.token_id) for each in names["explanations"])
    drawn = (tmp_path / "explained.html").read_text(encoding="utf-8")
    first, second = (split_words(text) for text in names["texts"])
    assert re.findall(r">([^<>]+)<rt>", drawn) == [*first, *first, *second, *second]
    assert re.search(r"<figcaption>lime, (NEGATIVE|POSITIVE) \([01]\.\d\d\)</figcaption>", drawn)
    assert names["mine"].class_names == names["same"].class_names
    assert names["of_study"].max_tokens == 30
    assert names["prompted"].class_names == ("negative", "positive")
    assert names["of_service"][0].class_name == "harmless"
    assert all(np.isfinite(names["scores"]["He"]))


# What is shown --------------------------------------------------------------------------------------------------------


def test_probabilities_have_the_names_of_classes_and_the_texts(classifier):
    found = evenlight.probabilities(classifier, [TEXTS[0], TEXTS[1].split()], second=TEXTS)
    assert list(found.columns) == ["LABEL_0", "LABEL_1"]
    assert found.index.names == ["text", "second"]
    assert found.index.tolist() == [(text, text) for text in TEXTS]
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert evenlight.probabilities(classifier, TEXTS).index.tolist() == TEXTS


def test_a_frame_has_a_row_for_each_token_or_word(classifier, explanations):
    frame = explanations.to_frame()
    first = frame[frame["text"] == 0]
    assert first["token"].tolist() == classifier.tokenizer.convert_ids_to_tokens(explanations[0].token_id.tolist())
    assert first["token"].tolist()[0] == "[CLS]"
    np.testing.assert_array_equal(frame["score"], np.concatenate([each.token_score for each in explanations]))
    assert first["position"].tolist() == list(range(len(first)))
    assert first["class"].unique().tolist() == ["LABEL_1"]
    assert pd.isna(first["word"].iloc[0])
    words = explanations.to_frame("word")
    assert words["word"].tolist() == [word for text in TEXTS for word in split_words(text)]
    # Of a word of several tokens their sum; special tokens belong to none.
    inside = frame.dropna(subset="word")
    assert len(inside) > len(words)
    lighthouse = inside[inside["word"] == "lighthouse"]["score"].sum()
    assert words.set_index("word")["score"]["lighthouse"] == pytest.approx(lighthouse)
    with pytest.raises(InputError, match=r"per: found 'sentence'; allowed are 'token', 'word' and 'pair'"):
        explanations.to_frame("sentence")


def test_lists_of_explanations_stay_such_lists(classifier, explanations):
    both = explanations + evenlight.explain(classifier, TEXTS, "uniform_random")
    texts = both.to_frame("word").groupby("explainer")["text"].nunique()
    assert texts.to_dict() == {"saliency": 2, "uniform_random": 2}
    assert repr(both) == "<4 explanations by saliency, uniform_random>"
    assert len(both[1:3].to_frame("word")["explainer"].unique()) == 2
    assert evenlight.score(classifier, both[:0], "gini").shape == (0,)
    assert both[:0].to_frame().empty


def test_what_is_printed_is_a_line(classifier, explanations):
    long = evenlight.explain(classifier, ["so " * 30], "saliency")[0]
    assert repr(classifier) == says("Classifier: bert, 2 classes (LABEL_0, LABEL_1)", "48 tokens", "float32 on cpu")
    assert re.fullmatch(r"<saliency, LABEL_1 \(0\.\d\d\): He waits \.>", repr(explanations[0]))
    assert repr(long).endswith("so so so so so so so so …>")
    many = tiny_classifier("bert", classes=7)
    assert "7 classes (LABEL_0, LABEL_1, LABEL_2, LABEL_3, LABEL_4, …)" in repr(many)


def test_several_texts_are_drawn_below_each_other_and_two_side_by_side(classifier, explanations):
    below = evenlight.plot(explanations)
    assert below.count("<figure") == 2
    assert "flex" not in below
    assert "&lt;<rt>" in below
    assert "<b>" not in below
    assert explanations._repr_html_() == below
    assert evenlight.plot(explanations[0]) == explanations[0]._repr_html_() == below[: below.index("</figure>") + 9]
    beside = evenlight.plot(explanations, beside=evenlight.explain(classifier, TEXTS, "uniform_random"))
    assert re.findall(r"<figcaption>(\w+),", beside) == ["saliency", "uniform_random"] * 2
    assert beside.count("display: flex") == 2


def test_what_is_drawn_can_be_written_as_a_whole_page(explanations, tmp_path):
    drawn = evenlight.plot(explanations)
    drawn.write(tmp_path / "explained.html", title="He < she", language="de")
    whole = (tmp_path / "explained.html").read_text(encoding="utf-8")
    assert whole.startswith('<!DOCTYPE html>\n<html lang="de">')
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in whole
    assert "<title>He &lt; she</title>" in whole
    assert f"<h1>He &lt; she</h1>\n{drawn}\n</main>" in whole


def test_a_long_list_is_not_drawn_as_a_whole(classifier):
    many = evenlight.explain(classifier, ["so be it"] * 30, "uniform_random")
    assert many._repr_html_().count("<figure") == 20


# The bar --------------------------------------------------------------------------------------------------------------


def test_what_is_quick_has_no_bar(classifier, capsys):
    evenlight.score(classifier, evenlight.explain(classifier, TEXTS, "lime"), "aopc_comprehensiveness")
    assert capsys.readouterr().err == ""


def test_what_takes_longer_shows_texts_and_rows(classifier, capsys, monkeypatch):
    monkeypatch.setattr(bars, "DELAY", 1e-3)
    monkeypatch.setattr(bars.tqdm, "monitor_interval", 0)
    # However fast the machine is, every step is shown.
    monkeypatch.setattr(bars, "tqdm", partial(bars.tqdm, mininterval=0))
    explanations = evenlight.explain(classifier, TEXTS * 4, "lime", samples=400)
    shown = capsys.readouterr().err
    assert re.search(r"lime: +\d+%\|.*\d/8 \[.*, [\d,]+ rows\]", shown)
    evenlight.score(classifier, explanations * 20, "aopc_comprehensiveness")
    assert re.search(r"aopc_comprehensiveness: +\d+%\|.*/160 \[", capsys.readouterr().err)


def test_groups_are_small_where_texts_take_long(monkeypatch):
    seconds = iter([0, 0.1, 1, 1.1, 2, 9, 10, 19, 20, 29])
    monkeypatch.setattr(bars, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    with bars.progress("task", 15) as bar:
        assert [len(group) for group in bar.groups(list(range(15)))] == [1, 2, 4, 4, 4]

"""Models as users of Transformers have them, loaded in a notebook: with Transformers' own numbers, and unchanged."""

from pathlib import Path

import numpy as np
import pytest
import torch
from combinations import few
from http_services import scored, serving
from models_for_tests import WORDS
from tiny_models import write_model
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)
from wording import says

from evenlight import explain, load_classifier, probabilities, score
from evenlight.core.errors import InputError
from evenlight.models.fast_layers import use_fast_layers
from evenlight.models.service import save_service
from evenlight.models.tokenizers import pieces_of
from evenlight.texts.splitting import split_words

TEXTS = ["Mara leaves the harbour before dawn.", 'But her brother, a watchmaker, won\'t follow; "no," he says!']
LABELS = {0: "dull", 1: "fair", 2: "great"}
# Types of model, with tokenizers of WordPiece, of BPE of bytes and of pieces of SentencePiece. The last two have no
# token for padding.
MODELS = (
    *("bert", "electra", "distilbert", "roberta", "modernbert", "xlm-roberta", "albert", "deberta-v2", "xlnet"),
    *("gpt2", "llama"),
)


def saved(folder: Path, kind: str, id2label: dict = LABELS, **about) -> Path:
    """A classifier with random weights, network and tokenizer each saved by its ``save_pretrained``."""
    stands_in = write_model(kind, folder, WORDS)
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    network = AutoModelForSequenceClassification.from_pretrained(
        folder, id2label=id2label, ignore_mismatched_sizes=True, **about
    )
    if "pad" in stands_in:
        network.config.pad_token_id = None
    network.save_pretrained(folder)
    return folder


def loaded(folder: Path):
    """The model and the tokenizer, as a user of Transformers has them."""
    return AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


@torch.no_grad()
def theirs(network, tokenizer) -> np.ndarray:
    """Probabilities by Transformers' own call on each raw text alone, (texts, classes)."""
    logits = [network.eval()(**tokenizer(text, return_tensors="pt")).logits[0] for text in TEXTS]
    return torch.stack(logits).softmax(-1).numpy()


@pytest.mark.parametrize("kind", few(MODELS, ("bert", "modernbert", "xlnet", "gpt2")))
def test_a_folder_and_a_pair_have_the_numbers_and_the_labels_of_transformers(tmp_path, kind):
    folder = saved(tmp_path, kind)
    network, tokenizer = loaded(folder)
    expected = theirs(network, tokenizer)
    assert expected.std(axis=1).min() > 0.01
    for source in (str(folder), folder, (network, tokenizer)):
        classifier = load_classifier(source, device="cpu")
        found = probabilities(classifier, TEXTS)
        assert (list(found.columns), list(found.index)) == (list(LABELS.values()), TEXTS)
        np.testing.assert_allclose(found, expected, atol=5e-6)
        explanations = explain(classifier, TEXTS, "integrated_gradients", steps=3)
        for text, explanation in zip(TEXTS, explanations, strict=True):
            np.testing.assert_array_equal(explanation.token_id, tokenizer(text)["input_ids"])
            assert explanation.tokens == tuple(tokenizer.convert_ids_to_tokens(explanation.token_id.tolist()))
            assert np.abs(explanation.token_score).sum() > 0
        assert np.isfinite(score(classifier, explanations, "aopc_comprehensiveness")).all()


def test_a_model_in_memory_stays_as_it_is(tmp_path):
    network, tokenizer = loaded(saved(tmp_path, "gpt2"))
    network.half().train()
    kinds = [type(module) for module in network.modules()]
    classifier = load_classifier((network, tokenizer), device="cpu", special_tokens={"mask": "<|endoftext|>"})
    explain(classifier, TEXTS, "occlusion")
    assert classifier.network.dtype == torch.float32
    assert network.dtype == torch.float16
    assert all(module.training for module in network.modules())
    assert all(weight.requires_grad for weight in network.parameters())
    assert [type(module) for module in network.modules()] == kinds
    assert tokenizer.pad_token is None
    assert "stand_ins" not in tokenizer.init_kwargs


@pytest.mark.parametrize("in_memory", [False, True])
def test_what_the_workflow_knows_of_a_model_holds(tmp_path, in_memory, monkeypatch):
    """The model inputs, the fast layers, the longest text, and the precision."""
    made = []
    monkeypatch.setattr("evenlight.models.classifier.use_fast_layers", lambda each: made.append(use_fast_layers(each)))
    folder = saved(tmp_path, "gpt2")
    classifier = load_classifier(loaded(folder) if in_memory else folder, device="cpu")
    assert classifier.model_inputs.pads_left
    assert len(made) == 1
    # Of its positions, since its tokenizer names more.
    assert classifier.max_tokens == 160
    assert repr(classifier) == says("Classifier: gpt2, 3 classes (dull, fair, great)", "160 tokens", "float32 on cpu")
    assert load_classifier(folder, device="cpu", max_tokens=40).max_tokens == 40
    with pytest.raises(InputError, match=r"^max_tokens.*161.*gpt2.*reads.*160"):
        load_classifier(folder, max_tokens=161)
    with pytest.raises(InputError, match=r"no mask token.*tokens.*load_classifier:.*special_tokens=\{"):
        explain(classifier, TEXTS, "occlusion")
    assert load_classifier(folder, device="cpu", precision="bfloat16").precision == "bfloat16"


def test_an_id_on_the_hub_is_read_from_its_cache(tmp_path, monkeypatch):
    folder = saved(tmp_path / "models--someone--model" / "snapshots" / "0123abcd", "bert")
    (tmp_path / "models--someone--model" / "refs").mkdir()
    (tmp_path / "models--someone--model" / "refs" / "main").write_text("0123abcd")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for more in ({}, {"revision": "main"}):
        found = probabilities(load_classifier("someone/model", device="cpu", **more), TEXTS)
        np.testing.assert_allclose(found, theirs(*loaded(folder)), atol=5e-6)
    with pytest.raises(InputError, match="model someone/model: cannot be loaded"):
        load_classifier("someone/model", revision="another")


def test_of_labels_that_do_not_exclude_each_other_one_is_chosen(tmp_path):
    folder = saved(tmp_path, "bert", problem_type="multi_label_classification")
    with pytest.raises(InputError, match=r"great.*not exclude.*classes=\{'not dull': None, 'dull': 'dull'"):
        load_classifier(folder)
    network, tokenizer = loaded(folder)
    classifier = load_classifier((network, tokenizer), device="cpu", classes={"other": None, "fair": "fair"})
    logits = network.eval()(**tokenizer(TEXTS[0], return_tensors="pt")).logits
    assert probabilities(classifier, TEXTS)["fair"].iloc[0] == pytest.approx(logits.sigmoid()[0, 1].item(), abs=5e-6)


def test_labels_without_names_are_taken_as_they_are(tmp_path):
    folder = saved(tmp_path, "bert", id2label={0: "LABEL_0", 1: "LABEL_1"})
    assert load_classifier(folder, device="cpu").class_names == ("LABEL_0", "LABEL_1")


def test_an_adapter_that_is_not_merged_is_merged_into_a_copy(tmp_path):
    from peft import LoraConfig, get_peft_model

    network, tokenizer = loaded(saved(tmp_path, "bert"))
    adapted = get_peft_model(
        network, LoraConfig(task_type="SEQ_CLS", init_lora_weights=False, target_modules=["query"])
    )
    found = probabilities(load_classifier((adapted, tokenizer), device="cpu"), TEXTS)
    np.testing.assert_allclose(found, theirs(adapted, tokenizer), atol=5e-6)
    assert any("lora_A" in name for name, _ in adapted.named_parameters())


@pytest.mark.parametrize(
    ("source", "settings", "message"),
    [
        ("network", {}, r"source: found \(BertForSequenceClassification\); give \(model, tokenizer\)"),
        ("alone", {}, r"source:.*BertForSequenceClassification.*hub, "),
        ("pair", {"max_tokens": 0}, "max_tokens: found 0"),
        ("swapped", {}, r"source: found \(\w+, BertForSequenceClassification\); give \(model, tokenizer\)"),
        ("headless", {}, r"BertModel.*no classes.*AutoModelForSequenceClassification"),
        ("masked", {}, r"a BertForMaskedLM has no classes;.*template.*label_words"),
        ("pair", {"clases": {}}, "clases: .*did you mean classes"),
        ("pair", {"overlap": 8}, r"overlap: .*explain\(…, overlap=32\)"),
        ("pair", {"revision": ["a", "b"]}, r"revision: found .*one model"),
        ("pair", {"template": "{text}"}, "label_words"),
        ("pair", {"classes": {"a": "dull", "b": "none"}}, "no label 'none'"),
    ],
)
def test_what_is_no_classifier_is_refused_in_words_of_a_notebook(tmp_path, source, settings, message):
    network, tokenizer = loaded(folder := saved(tmp_path, "bert"))
    sources = {
        "network": (network,),
        "alone": network,
        "swapped": (tokenizer, network),
        "headless": (AutoModel.from_pretrained(folder), tokenizer),
        "masked": (AutoModelForMaskedLM.from_pretrained(folder), tokenizer),
        "pair": (network, tokenizer),
    }
    with pytest.raises(InputError, match=message) as refused:
        load_classifier(sources[source], **settings)
    assert "models." not in str(refused.value)


# By a prompt ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "head"), [("gpt2", AutoModelForCausalLM), ("bert", AutoModelForMaskedLM)])
def test_a_language_model_is_asked_by_a_prompt(tmp_path, kind, head):
    write_model(kind, tmp_path, WORDS, task=head)
    pair = head.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    template = "{text} It was {label}" + " ." * (kind == "bert")
    words = {"bad": ["a"], "good": ["the"]}
    of_folder, of_pair = (
        load_classifier(source, device="cpu", template=template, label_words=words) for source in (tmp_path, pair)
    )
    assert of_folder.class_names == of_pair.class_names == ("bad", "good")
    found = probabilities(of_folder, TEXTS)
    np.testing.assert_allclose(found, probabilities(of_pair, TEXTS), atol=1e-6)
    [explanation, _] = explain(of_folder, TEXTS, "saliency")
    assert (explanation.token_score[explanation.is_prompt] == 0).all()
    assert explanation.is_prompt.any()


def test_texts_are_held_against_the_prompt_before_they_are_read(tmp_path):
    """As a study does when it loads the model; a notebook learns of its texts later."""
    write_model("bert", tmp_path, WORDS, task=AutoModelForMaskedLM)
    words = {"a": ["a"], "b": ["the"]}
    classifier = load_classifier(tmp_path, device="cpu", template="{text} {label}", label_words=words)
    probabilities(classifier, ["He waits ."])
    # What the prompt was found to be, of which this text says another thing.
    classifier.check_texts.__self__.slot = 1
    with pytest.raises(InputError, match=r"template:.*'He waits.*\[MASK\]'.*together"):
        probabilities(classifier, ["He waits ."])


# Behind an address ----------------------------------------------------------------------------------------------------


@pytest.fixture
def served():
    with serving() as service:
        yield service


def test_a_service_is_explained_by_its_answers_and_asked_once(served, tmp_path):
    classifier = load_classifier(served.address, answers_folder=tmp_path)
    assert repr(classifier) == says(f"AskedService: {served.address}, 2 classes (dull, eager)", "512 words")
    found = probabilities(classifier, TEXTS)
    expected = [[each["score"] for each in answer] for answer in scored(TEXTS)]
    np.testing.assert_allclose(found, expected)
    assert list(found.columns) == ["dull", "eager"]
    first = explain(classifier, TEXTS, "occlusion", hidden_token="removed")
    words = first[1].words
    pieces = pieces_of(words)
    without = ["".join(pieces[:place] + pieces[place + 1 :]).lstrip() for place in range(len(words))]
    target = first[1].target
    losses = [expected[1][target] - scored([text])[0][target]["score"] for text in without]
    np.testing.assert_allclose(first[1].token_score, losses, atol=1e-12)
    # Words that come later have tokens of their own, and scores of earlier texts stay true.
    later = explain(classifier, ["She sleeps late."], "occlusion")
    assert np.isfinite(score(classifier, first + later, "aopc_comprehensiveness")).all()
    assert first.to_frame("word")["word"].tolist() == [word for text in TEXTS for word in split_words(text)]
    asked = len(served.texts)
    again = load_classifier(served.address, answers_folder=tmp_path)
    probabilities(again, TEXTS)
    assert (len(served.texts), len(set(served.texts))) == (asked, asked)


def test_a_service_has_the_classes_that_are_named(served, tmp_path):
    classes = {"yes": "eager", "no": "dull"}
    classifier = load_classifier(served.address, answers_folder=tmp_path, classes=classes, max_tokens=7)
    assert served.texts == []
    assert list(probabilities(classifier, TEXTS[:1]).columns) == ["yes", "no"]
    with pytest.raises(InputError, match=r"17 words.*at most 7.*max"):
        probabilities(classifier, TEXTS[1:])


def test_a_service_is_not_looked_into_and_read_as_it_stands(served, tmp_path):
    classifier = load_classifier(served.address, answers_folder=tmp_path, classes={"yes": "eager", "no": "dull"})
    with pytest.raises(InputError, match=r'^method:.*"saliency".*kernel_shap'):
        explain(classifier, TEXTS, "saliency")
    for more in ({"overlap": 4}, {"second": TEXTS}):
        with pytest.raises(InputError, match=r"one text.*time"):
            explain(classifier, TEXTS, "occlusion", **more)
    with pytest.raises(InputError, match=r"plain_http|unencrypted"):
        load_classifier("http://example.org/models/mine")


def test_the_service_of_a_study_is_asked_on(served, tmp_path):
    service = load_classifier(served.address, answers_folder=tmp_path, classes={"yes": "eager", "no": "dull"}).service
    save_service(tmp_path / "seed0", service, ["no", "yes"], [["He"]])
    classifier = load_classifier(tmp_path / "seed0", answers_folder=tmp_path)
    assert list(probabilities(classifier, TEXTS).columns) == ["no", "yes"]
    with pytest.raises(InputError, match=r"seed0:.*settings"):
        load_classifier(tmp_path / "seed0", classes={})
    with pytest.raises(InputError, match=r"asking\.batches: .*did you mean batch"):
        load_classifier(tmp_path / "seed0", asking={"batches": 4})


def test_labels_of_one_name_are_refused(tmp_path):
    folder = saved(tmp_path, "bert", id2label={0: "good", 1: "good"})
    with pytest.raises(InputError, match=r"called 'good'.*id2label"):
        load_classifier(folder)

"""Classifiers behind an address: rows as texts, explanations as of a function of texts, what is refused."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from http_services import scored, serving

from evenlight import configuration
from evenlight.core.errors import InputError
from evenlight.engine import open_evaluator
from evenlight.engine.sentences import encoded
from evenlight.explainers import Context, Explainer, explain
from evenlight.metrics import Metric, score
from evenlight.metrics.explanations import explanation_of
from evenlight.metrics.questions import questions_of
from evenlight.models.architectures.service import Service
from evenlight.models.service import load_service, save_service
from evenlight.models.tokenizers import read_words
from evenlight.texts.splitting import text_columns
from evenlight.texts.words import Words

TEXTS = ["We need New\u00a0York trees .", "[MASK] eels", "he he hidden word"]
CLASSES = ["eager", "dull"]


def eager(text: str) -> float:
    """What the service says of a text, worked out here."""
    return scored([text])[0][1]["score"]


@pytest.fixture
def served():
    with serving() as service:
        yield service


@pytest.fixture
def opened(served, tmp_path):
    """The evaluator that a job would have, and its sentences."""

    def open_it(**changed):
        service = Service.parse({"architecture": "service", "address": served.address} | changed)
        folder = tmp_path / "mine" / "seed0"
        save_service(folder, service, CLASSES, [text.split(" ") for text in TEXTS])
        flags = SimpleNamespace(
            model=folder,
            settings={"max_tokens": 9},
            asking={"mine": {"batch": 7, "asked_again": 0}},
            answers=tmp_path / "answers",
            threads=1,
        )
        evaluator = open_evaluator(flags)
        items = pd.DataFrame({"item_id": list("abc"), "words": [text.split(" ") for text in TEXTS]})
        return evaluator, encoded(evaluator.classifier, items, [0, 1, 0])

    return open_it


def test_a_text_is_its_words_and_a_token_each(opened):
    evaluator, sentences = opened()
    assert evaluator.classifier.texts([sentence.row for sentence in sentences]) == TEXTS
    assert [sentence.token_text for sentence in sentences] == [tuple(text.split(" ")) for text in TEXTS]
    assert all((sentence.word_id == np.arange(len(sentence.words))).all() for sentence in sentences)
    found = evaluator.probabilities([sentence.row for sentence in sentences])
    np.testing.assert_array_equal(found, [[eager(text), 1 - eager(text)] for text in TEXTS])


def test_a_text_is_asked_about_as_it_came_and_others_keep_the_spaces_of_their_words(tmp_path):
    raw = [" We need\n(some) New  trees, now! ", "Trees? (No.)"]
    texts = [Words(**text_columns(text)) for text in raw]
    settings = {"architecture": "service", "address": "https://host/it", "hidden_word": "...", "empty_text": "-"}
    save_service(tmp_path / "seed0", Service.parse(settings), CLASSES, texts)
    classifier = load_service(tmp_path / "seed0", 20)
    rows = [reading.token_id for reading in read_words(classifier.tokenizer, texts)]
    assert classifier.texts(rows) == raw
    assert classifier.texts([rows[0][2:6], rows[0][-2:], rows[1][[0, 2, 5]]]) == ["(some) New", "now! ", "Trees ()"]
    hidden = rows[1].copy()
    hidden[[0, 3]] = classifier.special_token("mask")
    assert classifier.texts([hidden]) == ["...? ( ....)"]
    with pytest.raises(InputError, match=r"not told.*'Never'"):
        read_words(classifier.tokenizer, [["Never"]])


@pytest.mark.parametrize(("hidden_word", "text"), [(None, "We trees ."), ("...", "We ... ... trees .")])
def test_words_are_hidden_in_the_text(opened, served, hidden_word, text):
    evaluator, [sentence, *_] = opened(hidden_word=hidden_word, empty_text="-")
    row = sentence.row.copy()
    row[[1, 2]] = evaluator.classifier.special_token("mask")
    evaluator.probabilities([row, row[:0], sentence.row])
    assert served.texts == [text, "-", TEXTS[0]]


def test_comprehensiveness_and_sufficiency_by_hand(opened):
    evaluator, [_, sentence, _] = opened()
    names = {"gone": "aopc_comprehensiveness", "kept": "aopc_sufficiency"}
    metrics = {name: {"metric": metric, "shares": [0.5]} for name, metric in names.items()}
    values = score(Metric.parse_all(metrics), [explanation_of(sentence, np.array([1.0, 3.0]))], evaluator)
    whole = 1 - eager("[MASK] eels")
    assert values["gone"] == pytest.approx([whole - (1 - eager("[MASK]"))])
    assert values["kept"] == pytest.approx([whole - (1 - eager("eels"))])


METHODS = {
    "lime": {"method": "lime"},
    "words": {"method": "lime", "features": "word", "samples": 20},
    "shap": {"method": "kernel_shap"},
    "orders": {"method": "shapley_sampling", "permutations": 3},
    "tree": {"method": "partition_shap", "evaluations": 30},
    "occlusion": {"method": "occlusion", "output": "contrast"},
    "best": {"method": "upper_bound"},
}


def test_all_that_asks_for_probabilities_works_and_its_questions_are_estimated(opened, served):
    """The stand-in is asked what the service is asked, but for what depends on the answers."""
    from evenlight.metrics.questions import with_foils

    evaluator, sentences = opened()
    sentences = with_foils(sentences, 2)
    families: dict[str, dict[str, Explainer]] = {}
    for name, entry in Explainer.parse_all(METHODS).items():
        families.setdefault(entry.family, {})[name] = entry
    metrics = [Metric.parse_all({"aopc": {"metric": "aopc_sufficiency"}})]
    steps = questions_of(sentences, families, metrics, ["chance"], 0, evaluator.classifier)
    assert served.bodies == []
    estimated = [text for step in steps for text in step.texts]
    assert len(estimated) == len(set(estimated))
    context = Context(evaluator, 0, None)
    explanations = []
    for entries in families.values():
        for found in explain(entries, sentences, context).values():
            explanations += [
                explanation_of(sentence, each.token_score)
                for sentence, each in zip(sentences, found.attributions, strict=True)
            ]
    for of_family in metrics:
        assert np.isfinite(list(score(of_family, explanations, evaluator).values())).all()
    assert len(served.texts) == len(set(served.texts))
    assert len(served.texts) == pytest.approx(len(estimated), rel=0.2)
    assert set(estimated) <= set(served.texts)


def test_a_label_against_its_absence(opened, served):
    served.usual = lambda body: (200, json.dumps([{"toxic": 0.9, "threat": 0.7}] * len(body["inputs"])).encode(), {})
    evaluator, sentences = opened(classes={"eager": None, "dull": "threat"})
    found = evaluator.probabilities([sentence.row for sentence in sentences])
    np.testing.assert_allclose(found, [[0.3, 0.7]] * 3)


def test_classes_are_some_of_the_labels(opened, served):
    said = [{"a": 0.1, "b": 0.3, "c": 0.6}]
    served.usual = lambda body: (200, json.dumps(said * len(body["inputs"])).encode(), {})
    evaluator, [sentence, *_] = opened(classes={"eager": "b", "dull": "a"})
    np.testing.assert_allclose(evaluator.probabilities([sentence.row]), [[0.75, 0.25]])


def test_other_labels_are_named_and_cost_nothing_again(opened, served):
    """Both lists stand in the message; with the mapping mended, nothing is asked again."""
    served.usual = lambda body: (200, json.dumps([[0.25, 0.75]] * len(body["inputs"])).encode(), {})
    evaluator, [sentence, *_] = opened()
    with pytest.raises(InputError, match=r"labels of model http.*0, 1;.*eager, d"):
        evaluator.probabilities([sentence.row])
    evaluator, [sentence, *_] = opened(classes={"eager": "1", "dull": "0"})
    np.testing.assert_allclose(evaluator.probabilities([sentence.row]), [[0.75, 0.25]])
    assert len(served.bodies) == 1


# The configuration ----------------------------------------------------------------------------------------------------

STUDY = {
    "study": "tiny",
    "seeds": [0, 1],
    "datasets": {"demo": {"reader": "demo"}},
    "models": {"tox": {"architecture": "service", "address": "https://models.org/tox"}},
    "explainers": {"lime": {"method": "lime"}},
    "metrics": {"aopc": {"metric": "aopc_sufficiency"}, "gini": {"metric": "gini"}},
    "statistics": {"compare": {"gender": [["male", "female"]]}},
}


def test_a_service_has_one_run_and_is_not_trained():
    config = configuration.complete(STUDY)
    assert configuration.seeds_of(config, "tox") == [0]
    assert not configuration.is_trained_here(config, "tox")
    assert config["models"]["tox"]["asking"]["key_variable"] is None


@pytest.mark.parametrize(
    ("section", "entry", "said"),
    [
        ("explainers", {"method": "saliency"}, r'explainers.x.method:.*"saliency".*looks'),
        ("explainers", {"method": "attention_rollout"}, "use one of kernel_shap, lime, occlusion"),
        ("explainers", {"method": "occlusion", "hidden_token": "pad"}, 'hidden_token: found "pad"'),
        ("explainers", {"method": "lime", "features": "word", "definition": "released"}, "tokenises texts again"),
        ("metrics", {"metric": "soft_sufficiency"}, r'metrics.x.metric: found "soft_sufficiency", which looks into'),
        ("metrics", {"metric": "worst_change"}, "use one of aopc_comprehensiveness, aopc_sufficiency"),
        ("models", {"architecture": "service", "address": "http://models.org"}, r"models.x.address: .*unencrypted"),
        ("models", STUDY["models"]["tox"] | {"request": "{a: "}, r"models.x.request: .*no expression of JMESPath"),
        ("models", STUDY["models"]["tox"] | {"asking": {"key_variable": "sk-12 3"}}, r"asking.key_variable"),
        ("models", STUDY["models"]["tox"] | {"asking": {"key_header": "X: {key}\nY: b"}}, r"asking.key_header"),
    ],
)
def test_what_a_service_cannot_answer_is_refused_by_name(section, entry, said):
    with pytest.raises(InputError, match=said):
        configuration.complete(STUDY | {section: STUDY[section] | {"x": entry}})


def test_random_layers_two_parts_and_the_name_of_the_folder_are_refused():
    with pytest.raises(InputError, match=r"randomisation: .*network"):
        configuration.complete(STUDY | {"randomisation": {}})
    with pytest.raises(InputError, match='study: found "answers"'):
        configuration.complete(STUDY | {"study": "answers"})

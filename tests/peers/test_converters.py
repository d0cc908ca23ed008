"""Files of inseq and ferret, from what these packages wrote to scores at the words of a study's texts.

What they wrote of tiny models is recorded; ``tests/peers/record_explanations.py`` says how, and makes the models.
"""

import base64
import copy
import gzip
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import convert_explanations
import numpy as np
import pytest
from convert_explanations import rows_of_ferret, rows_of_inseq
from hub_tokenizers import KINDS, write_tokenizer
from models_for_tests import WORDS as MORE
from models_for_tests import items_of
from record_explanations import GENERATED, LABEL_WORDS, TEMPLATE, TEXTS, write_model
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from evenlight.configuration import completed_entry
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import tokenize
from evenlight.explainers import Context, Explainer, explain
from evenlight.explainers.families.imported import aligned
from evenlight.models import Architecture
from evenlight.models.classifier import Classifier
from evenlight.models.prompted import prompted_classifier
from evenlight.models.tokenizers import read_words, set_prompt
from evenlight.texts.predictions import Sentence

HERE = Path(__file__).parent
INSEQ = json.loads((HERE / "inseq.json").read_text(encoding="utf-8"))
FERRET = HERE / "ferret_rows.jsonl"
WORDS = [text.split() for text in TEXTS]
TARGETS = [LABEL_WORDS.index(word) for word in GENERATED]
GXI = completed_entry("explainers", "gxi", {"method": "input_x_gradient", "output": "logit"})


def saved(tmp_path: Path, name: str, change=lambda file: file) -> Path:
    """A recorded file as inseq wrote it, or changed."""
    path = tmp_path / "explained.json"
    path.write_text(json.dumps(change(copy.deepcopy(INSEQ[name]["saved"]))), encoding="utf-8")
    return path


def converted(tmp_path: Path, name: str, change=lambda file: file, **settings) -> list[dict]:
    usual = {"template": INSEQ[name]["template"], "label_words": LABEL_WORDS}
    usual |= {"aggregation": "sum"} if name.endswith("dimensions") else {}
    return rows_of_inseq(saved(tmp_path, name, change), **usual | settings)


def imported_scores(path: Path, sentences: list) -> list[np.ndarray]:
    methods = {"theirs": {"method": "imported", "file": str(path)}}
    explanations = explain(Explainer.parse_all(methods), sentences, Context(None, 0, None))["theirs"]
    return [attribution.token_score for attribution in explanations.attributions]


# inseq ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INSEQ)
def test_rows_have_the_tokens_of_the_text_and_their_scores(tmp_path, name):
    rows = converted(tmp_path, name)
    for row, expected, target in zip(rows, INSEQ[name]["expected"], TARGETS, strict=True):
        # GPT-2's tokenizer gives the space before the first name a token of its own.
        space = len(row["tokens"]) - len(expected["tokens"])
        assert row["tokens"] == ["Ġ"] * space + expected["tokens"]
        assert (row["text"], row["target"]) == (expected["text"], target)
        np.testing.assert_allclose(row["scores"][space:], expected["scores"], atol=1e-7)


@pytest.mark.parametrize(("name", "form"), [("gpt2", "dimensions"), ("gpt2", "aggregated"), ("llama", "dimensions")])
def test_scores_of_a_prompted_model_are_those_of_the_study(tmp_path, name, form):
    """inseq's input × gradient of the log-probability of a label word is ours of the logit of its class."""
    settings = {
        "source": str(write_model(name, tmp_path / name)),
        "revision": None,
        "language_model": "auto",
        "content_free": [],
        "template": TEMPLATE,
        "label_words": {word: [word] for word in LABEL_WORDS},
        "special_tokens": {"pad": {"gpt2": "<|endoftext|>", "llama": "</s>"}[name], "mask": None},
        "max_tokens": 128,
    }
    classifier, _ = prompted_classifier(Architecture.parse({"architecture": "prompted"} | settings), LABEL_WORDS, WORDS)
    sentences = tokenize(classifier, items_of(WORDS), TARGETS)
    output = tmp_path / "theirs.jsonl"
    flags = ["inseq", "--input", str(saved(tmp_path, f"{name} {form}")), "--output", str(output)]
    flags += ["--template", TEMPLATE.replace("\n", r"\n"), "--label-words", *LABEL_WORDS]
    flags += ["--aggregation", "sum"] if form == "dimensions" else []
    subprocess.run([sys.executable, convert_explanations.__file__, *flags], check=True)
    theirs = imported_scores(output, sentences)
    ours = explain(Explainer.parse_all({"gxi": GXI}), sentences, Context(Evaluator(classifier), 0, None))[
        "gxi"
    ].attributions
    for sentence, mine, found in zip(sentences, ours, theirs, strict=True):
        expected = np.where(sentence.is_special, 0, mine.token_score)
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
        assert np.abs(expected[~sentence.is_special]).min() > 0


def test_scores_of_an_encoder_arrive_at_the_right_words(tmp_path):
    """Special tokens at either end, and words by the characters that the tokenizer says each token stands for."""
    recorded = INSEQ["t5 dimensions"]["expected"]
    for row, expected, words in zip(converted(tmp_path, "t5 dimensions"), recorded, WORDS, strict=True):
        word_id = np.array([-1, *expected["words"], -1])
        pieces = ("", *(token.replace("▁", "") for token in expected["tokens"]), "")
        sentence = Sentence("1", tuple(words), word_id, word_id, row["target"], pieces)
        sums = sentence.word_sums(aligned(sentence, row, tmp_path))
        begins = np.cumsum([token.startswith("▁") for token in row["tokens"]]) - 1  # by the spellings
        np.testing.assert_allclose(sums, np.bincount(begins, weights=row["scores"]))


def test_compressed_files_and_those_of_plain_values_say_the_same(tmp_path):
    rows = converted(tmp_path, "gpt2 aggregated")
    path = saved(tmp_path, "gpt2 aggregated")
    settings = {"template": TEMPLATE, "label_words": LABEL_WORDS}
    plain = json.loads(path.read_bytes(), object_hook=lambda fields: fields.get("attributes", fields))
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert rows_of_inseq(path, **settings) == rows
    path.write_text(json.dumps(plain))
    assert rows_of_inseq(path, **settings) == rows


def sequences(file: dict) -> list[dict]:
    return [each["attributes"] for each in file["attributes"]["sequence_attributions"]]


def attributions(sequence: dict) -> np.ndarray:
    """Of what a decoder reads and writes, (tokens, generated) or with hidden dimensions."""
    return load_arrays(base64.b64decode(sequence["target_attributions"]))["attribution"]


def set_attributions(sequence: dict, scores: np.ndarray) -> None:
    sequence["target_attributions"] = base64.b64encode(save_arrays({"attribution": scores.astype(np.float32)})).decode()


def test_norms_are_of_the_hidden_dimensions(tmp_path):
    for aggregation, order in (("l1", 1), ("l2", 2)):
        for row, sequence in zip(
            converted(tmp_path, "gpt2 dimensions", aggregation=aggregation),
            sequences(INSEQ["gpt2 dimensions"]["saved"]),
            strict=True,
        ):
            norms = np.linalg.norm(attributions(sequence)[:, 0], ord=order, axis=-1)
            first = [token["attributes"]["token"] for token in sequence["source"]].index(row["tokens"][0])
            np.testing.assert_allclose(row["scores"], norms[first : first + len(row["scores"])], rtol=1e-5)


def more_steps(file: dict) -> dict:
    """A label of two tokens, the second one scored twice as high."""
    for sequence in sequences(file):
        scores = attributions(sequence)
        both = np.concatenate([scores, 2 * scores], axis=1)
        set_attributions(sequence, np.concatenate([both, np.full_like(both[:1], np.nan)]))
        sequence["target"].append(sequence["target"][-1] | {"attributes": {"token": "ly", "id": 7}})
    return file


def test_steps_are_added_up(tmp_path):
    label_words = [f"{word}ly" for word in LABEL_WORDS]
    one = converted(tmp_path, "gpt2 aggregated")
    for steps, factor in (([0], 1), ([1], 2), ([0, 1], 3)):
        rows = converted(tmp_path, "gpt2 aggregated", more_steps, label_words=label_words, steps=steps)
        for row, single in zip(rows, one, strict=True):
            np.testing.assert_allclose(row["scores"], factor * np.array(single["scores"]), rtol=1e-6)
    rows = converted(tmp_path, "gpt2 aggregated", more_steps, label_words=label_words)
    assert rows == converted(tmp_path, "gpt2 aggregated", more_steps, label_words=label_words, steps=[0, 1])

    def of_probabilities(file: dict) -> dict:
        file["attributes"]["info"]["attributed_fn_args"] = {}
        return more_steps(file)

    with pytest.raises(InputError, match=r"0 'Ġgood', 1 'ly'; choose by --steps .* log-probability"):
        converted(tmp_path, "gpt2 aggregated", of_probabilities, label_words=label_words)


def unscored(file: dict) -> dict:
    scores = attributions(sequences(file)[0])
    scores[5] = np.nan
    set_attributions(sequences(file)[0], scores)
    return file


def of_heads(file: dict) -> dict:
    for each in file["attributes"]["sequence_attributions"]:
        each["__instance_type__"][1] = "MultiDimensionalFeatureAttributionSequenceOutput"
    return file


def explaining(name: str):
    def change(file: dict) -> dict:
        file["attributes"]["info"]["attributed_fn"] = name
        return file

    return change


def across(file: dict) -> dict:
    """A token of the template and of the text."""
    tokens = sequences(file)[0]["target"]
    [colon] = [token["attributes"] for token in tokens if token["attributes"]["token"] == ":"]
    colon["token"] = ":M"
    return file


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        (None, {"template": "Text: {text} {label}"}, r"sequence 0 .*: the prompt is 'Review: Mara .*, which is not"),
        (None, {"template": "Review"}, r"--template 'Review': write \{text\} once"),
        (None, {"label_words": ["poor", "good"]}, r"sequence 1 .*Ġbad.*poor, good"),
        (None, {"steps": [1]}, r"generated tokens are 0 'Ġgood'; choose by --steps"),
        (None, {"aggregation": None}, r"8.*token.*choose --aggregation, one of sum, l1, l2"),
        (of_heads, {}, r"hidden dimensions;.*inseq"),
        (explaining("perplexity_fn"), {}, r"'perplexity'.*falls"),
        (unscored, {}, r"sequence 0 .*: not every"),
        (across, {}, r"sequence 0 .*: token ':M'"),
        (lambda file: file["attributes"]["info"], {}, r"not what `out\.save\(path\)` of inseq 0\.7 writes"),
        (lambda file: [1], {}, r"not what `out\.save\(path\)` of inseq 0\.7 writes"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, change, settings, message):
    with pytest.raises(InputError, match=message):
        converted(tmp_path, "gpt2 dimensions", change or (lambda file: file), **settings)


def test_scores_of_other_versions_are_refused(tmp_path):
    def as_lists(file: dict) -> dict:
        sequences(file)[0]["target_attributions"] = {"__ndarray__": [[0.0]], "dtype": "float32", "shape": [1, 1]}
        return file

    with pytest.raises(InputError, match=r"sequence 0 .*'target_attributions'.*inseq 0\.7"):
        converted(tmp_path, "gpt2 dimensions", as_lists)
    (tmp_path / "text.json").write_text("He")
    with pytest.raises(InputError, match=r"text\.json: not readable"):
        rows_of_inseq(tmp_path / "text.json")


@pytest.mark.parametrize(
    ("tokens", "template", "prompt", "inside"),
    [
        (["<s>", "▁A", ":", "▁", "ë", "b", "</s>"], "A: {text}", "A: ëb", ["▁", "ë", "b"]),
        (["<s>", "▁A", ":", "<0x0A>", "▁b", "<0x0A>", "C"], "A:\n{text}\nC", "A:\nb\nC", ["▁b"]),
        (["▁", "b", "▁c", "</s>"], "{text}", "b c", ["▁", "b", "▁c"]),
        (["<s>", "▁<unk>", "<unk>", "</s>"], "{text}", "☃ ☂", ["▁<unk>", "<unk>"]),
        (["[CLS]", "a", ":", "b", "##c", "[SEP]"], "A: {text}", "A: Bc", ["b", "##c"]),
        (["Ã©", ":", "Ġb", "Ġ", "ĊC"], "é: {text} \nC", "é: b \nC", ["Ġb"]),
        (["A", ":", "Ċ", "b", "Ġ", "C"], "A:\n{text} C", "A:\nb C", ["b"]),
        (["<|user|>", "A", "Ġb", "<|end|>"], "<|user|>A {text}<|end|>", "<|user|>A b<|end|>", ["Ġb"]),
        (["<bos>", "<b>", "▁c"], "{text}", "<b> c", ["<b>", "▁c"]),
    ],
)
def test_the_text_is_found_in_its_prompt_by_the_spellings(tokens, template, prompt, inside):
    pieces = convert_explanations._spelled(tokens)
    _, place = convert_explanations._text_in(prompt, template, tokens, pieces, "")
    assert tokens[place] == inside


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"across_words"}))  # which no text is read with
@pytest.mark.parametrize("around", [("Review: ", "\nThe film is"), ("Text:\n", " ."), ("", " It is")])
def test_the_text_is_found_as_the_study_reads_it(kind, around, tmp_path):
    """Of the tokenizers that published models have: what the characters of each token say."""
    write_tokenizer(kind, tmp_path, [*WORDS, *map(str.split, around), *MORE])
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    plain = AutoTokenizer.from_pretrained(tmp_path)
    set_prompt(tokenizer, *around)
    texts = [*WORDS, *MORE, ["☃", "東京", "waits", "."], ["\U0001f600"]]  # the last ones with characters not learned
    for words, reading in zip(texts, read_words(tokenizer, texts), strict=True):
        prompt = f"{around[0]}{' '.join(words)}{around[1]}"
        tokens = plain.convert_ids_to_tokens(plain(prompt)["input_ids"])
        text, place = convert_explanations._text_in(
            prompt, "{text}".join(around), tokens, convert_explanations._spelled(tokens), kind
        )
        assert text == " ".join(words)
        numbers = list(range(len(tokens)))
        row = {"text": text, "tokens": tokens[place], "scores": numbers[place]}
        sentence = Sentence("1", tuple(words), reading.token_id, reading.word_id, 0, reading.token_text)
        expected = np.where(sentence.is_special, 0, numbers)
        np.testing.assert_array_equal(aligned(sentence, row, tmp_path), expected)


# ferret --------------------------------------------------------------------------------------------------------------


@cache
def ferret_names() -> list[str]:
    return list(dict.fromkeys(json.loads(line)["explainer"] for line in FERRET.read_text().splitlines()))


def test_ferrets_gradients_are_those_of_the_study(tmp_path):
    """Its scores are divided by their sum of absolute values."""
    folder = write_model("roberta", tmp_path / "roberta")
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    classifier = Classifier(network, AutoTokenizer.from_pretrained(folder), 64)
    sentences = tokenize(classifier, items_of(WORDS), [0, 1, 0])
    ours = explain(Explainer.parse_all({"gxi": GXI}), sentences, Context(Evaluator(classifier), 0, None))[
        "gxi"
    ].attributions
    [name] = [name for name in ferret_names() if re.fullmatch(r"Gradient \(x Input\)", name)]
    output = tmp_path / "theirs.jsonl"
    flags = ["ferret", "--input", str(FERRET), "--explainer", name, "--output", str(output)]
    convert_explanations.main(convert_explanations.flags().parse_args(flags))
    for found, mine in zip(imported_scores(output, sentences), ours, strict=True):
        np.testing.assert_allclose(found, mine.token_score / np.abs(mine.token_score).sum(), atol=1e-5)


def test_every_explainer_of_ferret_fits_the_texts(tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(write_model("roberta", tmp_path / "roberta"))
    assert len(ferret_names()) == 6
    for name in ferret_names():
        rows = rows_of_ferret(FERRET, name)
        for row, words, reading in zip(rows, WORDS, read_words(tokenizer, WORDS), strict=True):
            sentence = Sentence("1", tuple(words), reading.token_id, reading.word_id, row["target"], reading.token_text)
            assert row["text"] == " ".join(words)
            assert aligned(sentence, row, tmp_path).tolist() == row["scores"]


def test_evaluations_of_ferret_are_read_as_their_explanations(tmp_path):
    rows = [json.loads(line) for line in FERRET.read_text().splitlines() if '"LIME"' in line]
    path = tmp_path / "evaluated.json"
    path.write_text(json.dumps([{"explanation": row, "evaluation_scores": []} for row in rows]))
    assert rows_of_ferret(path) == rows_of_ferret(FERRET, "LIME")


def test_what_is_not_ferrets_is_refused(tmp_path):
    for explainer in (None, "IG"):
        with pytest.raises(InputError, match=r"LIME.*; choose.*--explainer"):
            rows_of_ferret(FERRET, explainer)
    (tmp_path / "rows.jsonl").write_text('{"text": "He", "scores": [1]}')
    with pytest.raises(InputError, match=r"row 1: no Explanation.*`__dict__`"):
        rows_of_ferret(tmp_path / "rows.jsonl")

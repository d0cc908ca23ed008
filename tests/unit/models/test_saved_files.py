"""What a saved model remembers of itself: no job tries out what was found, or reads a file twice."""

import hashlib
import json
import os
import time
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from models_for_tests import WORDS, items_of, tiny_classifier

from evenlight import explain, load_classifier
from evenlight.core import sources
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.training import Sample, save_classifier
from evenlight.jobs.parts import digest_of_inputs
from evenlight.models import classifier as classifiers
from evenlight.models import model_files, saved_files
from evenlight.models.classifier import load_saved
from evenlight.models.model_inputs import ModelInputs, StandIns
from evenlight.models.networks import text_config

MAX_TOKENS = 40


@pytest.fixture
def saved(tmp_path):
    """An architecture to the folder of a model, as rules train and load_model leave it."""

    def make(architecture):
        classifier = tiny_classifier(architecture)
        save_classifier(classifier, tmp_path / "model", None, {"settings": {}})
        Sample.of(classifier, items_of(WORDS)).require_copy(tmp_path / "model", MAX_TOKENS)
        return tmp_path / "model"

    return make


def asked(folder, max_tokens=MAX_TOKENS):
    """A model that is loaded, and how often its network was asked meanwhile."""
    calls = []

    def count(module, *_):
        calls.append(type(module).__name__.endswith("ForSequenceClassification"))

    hook = torch.nn.modules.module.register_module_forward_hook(count)
    try:
        return load_saved(folder, max_tokens), sum(calls)
    finally:
        hook.remove()


def edit(folder, change):
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def forget(manifest):
    del manifest["model_inputs"]


@pytest.mark.parametrize("architecture", ["bert", "gpt2", "roberta"])
def test_a_second_load_asks_nothing_and_says_the_same(architecture, saved):
    folder = saved(architecture)
    found, calls = asked(folder)
    assert calls == 0
    edit(folder, forget)
    anew, calls = asked(folder)
    assert calls > 10
    assert found.model_inputs == anew.model_inputs
    for key in ("pad_token_id", "return_dict"):
        assert getattr(text_config(found.network), key) == getattr(text_config(anew.network), key)
    rows = [np.arange(5), np.arange(9)]
    np.testing.assert_array_equal(*(Evaluator(each).probabilities(rows) for each in (found, anew)))


def test_a_decoder_without_a_padding_token_is_lent_the_same_one(saved):
    folder = saved("gpt2")
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"pad_token_id": None}))
    edit(folder, lambda manifest: manifest["files_sha256"].update({"config.json": sources.digest(config)}))
    classifier, calls = asked(folder)
    assert calls > 10
    saved_files.keep_inputs(folder, classifier.model_inputs, MAX_TOKENS)
    again, calls = asked(folder)
    assert calls == 0
    assert again.network.config.pad_token_id == classifier.network.config.pad_token_id is not None
    rows = [np.arange(5), np.arange(9)]
    np.testing.assert_array_equal(*(Evaluator(each).probabilities(rows) for each in (classifier, again)))


def test_for_another_length_it_is_tried_again(saved):
    folder = saved("bert")
    assert asked(folder, MAX_TOKENS - 1)[1] > 10


@pytest.mark.parametrize(
    "edited",
    [
        forget,
        lambda manifest: manifest["model_inputs"]["found"].update({"pads_left": True}),
        lambda manifest: manifest["model_inputs"].update({"found": [1]}),
        lambda manifest: manifest.update({"model_inputs": "lost"}),
        lambda manifest: manifest.update({"files_sha256": {}}),
    ],
)
def test_what_is_not_as_it_was_kept_is_tried_again(edited, saved):
    folder = saved("bert")
    edit(folder, edited)
    found, calls = asked(folder)
    assert calls > 10
    assert not found.pads_left


def test_of_a_changed_file_it_is_tried_again(saved):
    folder = saved("bert")
    config = folder / "config.json"
    config.write_text(config.read_text() + "\n")
    edit(folder, lambda manifest: manifest["files_sha256"].update({"config.json": sources.digest(config)}))
    assert asked(folder)[1] > 10


def test_beside_a_file_that_was_not_there_it_is_tried_again(saved):
    folder = saved("bert")
    (folder / ".hidden").touch()
    (folder / "history.csv").touch()
    assert asked(folder)[1] == 0
    (folder / "added_tokens.json").write_text("{}")
    assert asked(folder)[1] > 10


@pytest.mark.parametrize("library", ["torch", "transformers", "tokenizers"])
def test_by_another_version_of_a_library_it_is_tried_again(library, saved, monkeypatch):
    folder = saved("bert")
    versions = saved_files.library_versions
    monkeypatch.setattr(saved_files, "library_versions", lambda names: versions(names) | {library: "0.1"})
    assert asked(folder)[1] > 10


def test_by_another_version_it_is_tried_again(saved, monkeypatch):
    folder = saved("bert")
    monkeypatch.setitem(saved_files.STAGES, "ask_model", 2)
    assert asked(folder)[1] > 10


def test_all_that_is_found_is_kept(saved):
    ends = StandIns((1, 2), (3,), 4, 5)
    found = ModelInputs(True, True, ends, True, True, 6, ends.padded_by(3), (7,), (8, 9), 10, 11, 12, (13,), 14)
    assert all(getattr(found, field.name) != field.default for field in fields(found))
    folder = saved("bert")
    saved_files.keep_inputs(folder, found, MAX_TOKENS)
    manifest = saved_files.undamaged_manifest(folder)
    assert saved_files.kept_inputs(folder, manifest, MAX_TOKENS) == found
    assert saved_files.kept_inputs(folder, manifest, MAX_TOKENS) != replace(found, pad=0)


def test_a_model_in_memory_is_tried_once(monkeypatch):
    tried = []

    def found_inputs(*arguments):
        tried.append(arguments)
        return found(*arguments)

    found = classifiers.found_inputs
    own = tiny_classifier("bert")
    monkeypatch.setattr(classifiers, "found_inputs", found_inputs)
    classifier = load_classifier((own.network, own.tokenizer), device="cpu")
    for method in ("occlusion", "saliency"):
        explain(classifier, ["He waits ."], method)
    assert len(tried) == 1


# Files ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch):
    """The files that are read for their digests, in order; those of tests have just been written."""
    found, file_digest = [], hashlib.file_digest

    def noted(file, kind):
        found.append(os.path.basename(file.name))
        return file_digest(file, kind)

    monkeypatch.setattr(sources, "SETTLED", 0)
    monkeypatch.setattr(hashlib, "file_digest", noted)
    return found


def test_a_job_reads_each_file_of_a_model_once_for_its_digest(saved, reads):
    folder = saved("bert")
    reads.clear()
    sources._digest_of.cache_clear()
    files = model_files(folder)
    digest_of_inputs({}, files)
    load_saved(folder, MAX_TOKENS)
    assert [name for name in reads if not name.endswith(".py")] == [path.name for path in files]


def test_a_file_that_was_written_again_has_its_own_digest(tmp_path, reads):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    assert sources.digest(path) == sources.digest(str(path)) == hashlib.sha256(b"one").hexdigest()
    before = path.stat()
    # Clocks of file systems tick every few milliseconds.
    time.sleep(0.02)
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert sources.digest(path) == hashlib.sha256(b"two").hexdigest()
    assert reads == ["weights"] * 2


def test_a_file_that_was_just_written_is_read_each_time(tmp_path, reads, monkeypatch):
    monkeypatch.setattr(sources, "SETTLED", 10**12)
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    assert sources.digest(path) == sources.digest(path)
    assert reads == ["weights"] * 2

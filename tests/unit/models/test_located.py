"""Names of models that are no folder, and a hub that does not answer: refused soon, with a remedy."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from http_services import running
from huggingface_hub import constants
from wording import says

from evenlight.core.errors import InputError
from evenlight.core.sources import nearest_folder
from evenlight.models import location
from evenlight.models.adapters import adapted_network
from evenlight.models.classifier import load_network, untrained_network
from evenlight.models.prompted import kind_of
from evenlight.models.tokenizers import loaded_tokenizer

# Whatever reads a source from a folder or from the hub.
LOADERS = {
    "tokenizer": loaded_tokenizer,
    "network": load_network,
    "configuration": untrained_network,
    "language_model": lambda source: kind_of(source, {}),
    "adapter": lambda source: adapted_network("somewhere", None, source, True),
}


@contextmanager
def answering(status: int) -> Iterator[tuple[str, list[str]]]:
    """A hub with this state for everything: its address, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self):
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_HEAD

        def log_message(self, *_):
            pass

    with running(Handler) as address:
        yield address, asked


@pytest.fixture(autouse=True)
def a_place_of_its_own(tmp_path, monkeypatch):
    """A folder with a model, an empty cache, and nothing known of any hub."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(location, "_silent_since", {})
    Path("models/mine/seed0").mkdir(parents=True)


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("source", ["models/mien", "./models/mien", "models/mien/"])
def test_what_looks_like_a_path_is_refused_at_once_with_the_nearest_name(source, loader, monkeypatch):
    with answering(503) as (address, asked):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        with pytest.raises(InputError) as refused:
            LOADERS[loader](source)
    assert str(refused.value) == says(f"{source}: cannot be loaded", "mean models/mine?")
    assert asked == []


@pytest.mark.parametrize("loader", ["tokenizer", "network", "configuration", "language_model"])
def test_a_hub_that_does_not_answer_is_asked_twice(loader, monkeypatch):
    with answering(503) as (address, asked):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        for _ in range(2):
            with pytest.raises(InputError, match=r"someone/model: cannot be loaded.*hub"):
                LOADERS[loader]("someone/model")
    assert asked == ["/someone/model/resolve/main/config.json"] * location.ATTEMPTS
    # Whoever asks next may have a network again.
    assert not constants.HF_HUB_OFFLINE


def test_a_hub_at_whose_address_nobody_listens_is_soon_given_up(monkeypatch):
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        InputError, match=r"hub cannot be.*no such files.*models\.<model>\.source;.*HF_HOME.*HF_HUB_OFFLINE=1"
    ):
        loaded_tokenizer("someone/model")
    assert sum(slept) < 20


def test_a_hub_that_knows_no_such_model_has_answered(monkeypatch):
    with answering(404) as (address, asked):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        with location.located("someone/model"):
            assert not constants.HF_HUB_OFFLINE
    assert len(asked) == 1


def test_a_hub_is_not_asked_by_who_wants_none(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with answering(503) as (address, asked):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        with location.located("someone/model"):
            pass
    assert asked == []
    assert constants.HF_HUB_OFFLINE


def test_an_id_beside_a_folder_of_its_name_is_one_by_its_revision_or_the_cache(tmp_path):
    assert "needs a revision" in location.missing_folder("models/other")
    assert location.missing_folder("models/other", "main") is None
    assert "no such folder" in location.missing_folder("./models/other", "main")
    (tmp_path / "cache" / "models--models--other").mkdir(parents=True)
    assert location.missing_folder("models/other") is None
    assert location.missing_folder("organisation/model") is None
    assert location.missing_folder("model") is None
    assert location.missing_folder("models/mine") is None


def test_the_nearest_folder_has_what_stands_below_it():
    assert nearest_folder("models/mien/seed0") == "models/mine/seed0"
    assert nearest_folder("models/mien/seed1") is None
    assert nearest_folder("model/mine") == "models/mine"
    assert nearest_folder("models/entirely_another") is None

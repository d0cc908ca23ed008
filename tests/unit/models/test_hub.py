"""Models and datasets of a hub, asked by huggingface_hub's own client: what is kept of them, and what is refused."""

import json
from pathlib import Path

import pytest
import torch
from dataset_files import write_dataset
from hub_client import Client
from hub_stand_in import TOKEN, running_hub
from hub_tokenizers import write_tokenizer
from models_for_tests import WORDS, items_of
from test_hub_reader import ROWS, described, labelled  # noqa: F401 (a fixture)
from test_published_models import TRAINING
from test_ready import CLASSES, MAPPING, adapter_of, encoder_of, saved, settings_for
from tiny_models import write_model
from transformers import AutoModelForMaskedLM, AutoModelForSequenceClassification
from wording import says

from evenlight.core.sources import digest
from evenlight.models.location import loaded_files

LOADED = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


@pytest.fixture(scope="module")
def hub():
    with running_hub() as running:
        yield running


@pytest.fixture(scope="module")
def client(hub, tmp_path_factory):
    process = Client.start(hub.address, tmp_path_factory.mktemp("home"))
    yield process
    process.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A classifier, as somebody publishes it."""
    return saved(tmp_path_factory.mktemp("published") / "classifier")


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Path:
    """A dataset with texts to learn from and to test on."""
    place = tmp_path_factory.mktemp("texts")
    rows = items_of(WORDS).assign(group="male", ground_truth=None, pair_id=[f"p{n}" for n in range(8)])
    write_dataset(rows.assign(split=["train", "train", "validation", *["test"] * 5], label=0), place, classes=CLASSES)
    return place


@pytest.fixture
def ask(hub, client, texts, tmp_path):
    """Run jobs with one cache, each with an output of its own; what became of each."""
    hub.asked.clear()
    outputs = iter(range(99))

    def answers(*jobs: dict, do: str = "load", **about) -> list[dict]:
        given = [
            {"items": str(texts / "items.parquet"), "settings": one, "output": str(tmp_path / f"{do}{next(outputs)}")}
            | ({"units": str(texts / "units.parquet")} if do == "train" else {})
            for one in jobs
        ]
        return client.ask(*({"do": do, "cache": str(tmp_path / "cache"), "given": one, **about} for one in given))

    return answers


def files_of(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


# What is kept --------------------------------------------------------------------------------------------------------


def test_the_commit_and_the_digests_of_a_model_are_kept_and_it_loads_again_without_the_hub(ask, hub, folder):
    commit = hub.add("someone/kept", folder).branches["main"]
    [first] = ask(settings_for("someone/kept"))
    loaded = first["gave"]["loaded"]
    assert loaded == loaded_files(str(folder)) | {"source": "someone/kept", "commit": commit}
    assert first["said"] == says(f"someone/kept: main is commit {commit}", "models.<model>.revision")
    assert hub.downloads("model.safetensors") == [None]
    hub.asked.clear()
    [offline] = ask(settings_for("someone/kept"), offline=True)
    assert offline["gave"]["loaded"] == loaded
    assert hub.asked == []
    # By its commit nothing is left to be said, and nothing of it is downloaded again.
    [again] = ask(settings_for("someone/kept", revision=commit))
    assert again["gave"]["loaded"] == loaded | {"revision": commit}
    assert "is commit" not in again["said"]
    assert [path for method, path, _ in hub.asked if method == "GET" and not path.startswith("/api/")] == []


def test_a_branch_that_moved_says_so_and_its_old_commit_stays(ask, hub, folder):
    repository = hub.add("someone/moved", folder)
    old = repository.branches["main"]
    [before] = ask(settings_for("someone/moved"))
    config = json.loads((folder / "config.json").read_text()) | {"hidden_dropout_prob": 0.2}
    new = repository.commit(files_of(folder) | {"config.json": json.dumps(config).encode()})
    after, pinned = ask(settings_for("someone/moved"), settings_for("someone/moved", revision=old))
    assert f"main is commit {new}, and no longer {old}; name a commit" in after["said"]
    assert after["gave"]["loaded"]["commit"] == new
    changed = {name for name in LOADED if after["gave"]["loaded"]["files"][name] != digest(folder / name)}
    assert changed == {"config.json"}
    assert pinned["gave"]["loaded"] == before["gave"]["loaded"] | {"revision": old}
    # Without the hub, a branch is what it was last.
    [offline] = ask(settings_for("someone/moved"), offline=True)
    assert offline["gave"]["loaded"]["commit"] == new


def test_a_branch_that_moves_while_a_model_is_loaded_mixes_no_versions(ask, hub, folder):
    repository = hub.add("someone/moving", folder)
    old = repository.branches["main"]

    def move(path: str) -> None:
        if path.endswith("tokenizer.json"):
            weights = {"model.safetensors": b"of another version"}
            repository.commit(files_of(folder) | weights)

    hub.watching = move
    try:
        [answer] = ask(settings_for("someone/moving"))
    finally:
        hub.watching = lambda path: None
    assert repository.branches["main"] != old
    assert answer["gave"]["loaded"] == loaded_files(str(folder)) | {"source": "someone/moving", "commit": old}


def test_a_download_that_breaks_off_goes_on_where_it_was(ask, hub, folder):
    size = len((folder / "model.safetensors").read_bytes())
    hub.add("someone/cut", folder, cut={"model.safetensors": size // 2})
    [answer] = ask(settings_for("someone/cut"))
    assert answer["gave"]["loaded"]["files"] == loaded_files(str(folder))["files"]
    whole, rest = hub.downloads("model.safetensors")
    start = int(rest.removeprefix("bytes=").removesuffix("-"))
    assert whole is None
    assert size // 2 - 2**10 <= start <= size // 2


def test_weights_in_several_files_under_an_old_name_are_downloaded_once_for_two_jobs(ask, hub, folder, tmp_path):
    network = AutoModelForSequenceClassification.from_pretrained(folder)
    network.save_pretrained(tmp_path / "parts", max_shard_size="60KB")
    write_tokenizer("bert", tmp_path / "parts", WORDS)
    parts = sorted(path.name for path in (tmp_path / "parts").glob("*.safetensors"))
    assert len(parts) > 1
    hub.add("someone/parts", tmp_path / "parts")
    hub.renamed["models", "someone/old-name"] = "someone/parts"
    answers = ask(*[settings_for("someone/old-name")] * 2)
    expected = loaded_files(str(tmp_path / "parts"))["files"]
    assert [answer["gave"]["loaded"]["files"] for answer in answers] == [expected] * 2
    assert {*parts, "model.safetensors.index.json"} < set(expected)
    assert [len(hub.downloads(part)) for part in parts] == [1] * len(parts)


def test_an_adapter_has_a_revision_of_its_own(ask, hub, folder, tmp_path):
    base = encoder_of(tmp_path / "base", folder, "bert")
    hub.add("someone/base", base)
    adapters = hub.add("someone/adapter", adapter_of(base, tmp_path / "adapter"))
    old = adapters.branches["main"]
    weights = (tmp_path / "adapter" / "adapter_model.safetensors").read_bytes()
    new = adapters.commit(files_of(tmp_path / "adapter") | {"adapter_model.safetensors": weights[:-1] + b"\x01"})
    settings = settings_for("someone/base", adapter="someone/adapter", classes=MAPPING)
    newest, pinned = ask(settings, settings | {"adapter_revision": old})
    assert newest["gave"]["adapter"]["commit"] == new
    assert newest["said"] == says(f"someone/adapter: main is commit {new}", "models.<model>.adapter_revision")
    expected = {"source": "someone/adapter", "revision": old, "commit": old}
    assert pinned["gave"]["adapter"] == loaded_files(str(tmp_path / "adapter"), is_adapter=True) | expected
    [offline] = ask(settings, offline=True)
    assert offline["gave"]["adapter"]["commit"] == new
    [refused] = ask(settings | {"adapter_revision": "none"})
    assert refused["refused"] == says("adapter someone/adapter", "no such revision", "models.<model>.adapter_revision")


def test_a_language_model_of_the_hub_is_asked(ask, hub, tmp_path):
    write_model("bert", tmp_path / "masked", WORDS, task=AutoModelForMaskedLM)
    commit = hub.add("someone/masked", tmp_path / "masked").branches["main"]
    settings = {
        **{"architecture": "prompted", "source": "someone/masked", "revision": None, "language_model": "auto"},
        **{"template": "{text} It was {label} .", "content_free": [], "max_tokens": 128},
        **{"label_words": {"negative": ["lost"], "neutral": ["old"], "positive": ["famous"]}},
        "special_tokens": {"pad": None, "mask": None},
    }
    [answer] = ask(settings)
    assert answer["gave"]["loaded"]["commit"] == commit
    assert answer["gave"]["language_model"] == "masked"


def test_a_model_that_is_trained_here_keeps_what_it_began_with(ask, hub, folder):
    encoder = hub.add("someone/encoder", folder).branches["main"]
    tokenizers = hub.add(
        "someone/tokenizer", {name: (folder / name).read_bytes() for name in LOADED if "model" not in name}
    )
    training = TRAINING.model_dump()
    common = {"long_items": "refuse", "overlap": None, "max_tokens": 64, "training": training}
    special = {"pad": None, "mask": None}
    tuned = {"architecture": "pretrained", "source": "someone/encoder", "revision": None, "special_tokens": special}
    scratch = {"architecture": "one_layer_attention", "hidden_size": 8, "dropout": 0.0}
    scratch |= {"tokenizer": {"source": "someone/tokenizer", "revision": tokenizers.branches["main"]}}
    models = [{"model": one | common, "seed": 0} for one in (tuned, scratch)]
    of_encoder, of_tokenizer = ask(*models, do="train")
    assert of_encoder["gave"]["began_with"]["source"]["commit"] == encoder
    assert of_encoder["gave"]["began_with"]["source"]["files"] == loaded_files(str(folder))["files"]
    assert set(of_encoder["gave"]["began_with"]) == {"source"}
    [loaded] = of_tokenizer["gave"]["began_with"].values()
    assert loaded["revision"] == loaded["commit"] == tokenizers.branches["main"]
    assert set(loaded["files"]) == {"config.json", "tokenizer.json", "tokenizer_config.json"}


# What is refused -----------------------------------------------------------------------------------------------------


def test_a_restricted_model_asks_for_a_token(ask, hub, folder):
    hub.add("someone/restricted", folder, gated=True)
    [refused] = ask(settings_for("someone/restricted"))
    assert refused["refused"] == says("model someone/restricted", f"{hub.address}/someone/restricted", "HF_TOKEN")
    [loaded] = ask(settings_for("someone/restricted"), token=TOKEN)
    assert loaded["gave"]["loaded"]["files"] == loaded_files(str(folder))["files"]


@pytest.mark.parametrize("token", [None, TOKEN])
def test_a_model_that_is_not_there(ask, token):
    """Without a token the hub says 401 and with one 404, since it does not tell who may not know."""
    [refused] = ask(settings_for("someone/nothing"), token=token)
    assert refused["refused"] == says("model someone/nothing: cannot be loaded", "private", "Look at models.")


def test_a_revision_that_is_not_there(ask, hub, folder):
    hub.add("someone/known", folder)
    for revision in ("mian", "0" * 40):
        [refused] = ask(settings_for("someone/known", revision=revision))
        there = f"{hub.address}/someone/known/commits/main"
        assert refused["refused"] == says(
            "model someone/known", "no such revision", f"{there} as models.<model>.revision"
        )


def test_a_file_of_another_size_is_refused_and_what_is_complete_is_kept(ask, hub, folder):
    repository = hub.add("someone/size", folder, size_said={"model.safetensors": 999})
    [refused] = ask(settings_for("someone/size"))
    assert "someone/size: cannot be loaded" in refused["refused"]
    assert "size 999 but has size" in refused["refused"]
    repository.size_said.clear()
    hub.asked.clear()
    [loaded] = ask(settings_for("someone/size"))
    assert loaded["gave"]["loaded"]["files"] == loaded_files(str(folder))["files"]
    assert (hub.downloads("tokenizer.json"), hub.downloads("model.safetensors")) == ([], [None])


def test_a_file_that_changed_on_its_way_is_refused(ask, hub, folder, tmp_path):
    """The hub's client looks at sizes only, and random weights load like any others."""
    whole = (folder / "model.safetensors").read_bytes()
    repository = hub.add("someone/damaged", folder, damaged={"model.safetensors": whole[:-1] + bytes([whole[-1] ^ 1])})
    [refused] = ask(settings_for("someone/damaged"))
    wrong = digest(folder / "model.safetensors")
    assert f"model.safetensors: wrong checksum: SHA-256 should be {wrong}, found " in refused["refused"]
    assert not (tmp_path / "load0" / "manifest.json").exists()
    repository.damaged.clear()
    Path(refused["refused"].partition("delete ")[2].partition(", so that")[0]).unlink()
    [loaded] = ask(settings_for("someone/damaged"))
    assert loaded["gave"]["loaded"]["files"]["model.safetensors"] == wrong


def test_weights_under_another_name_are_refused_with_the_names_that_are_there(ask, hub, folder):
    files = files_of(folder)
    files["weights.safetensors"] = files.pop("model.safetensors")
    hub.add("someone/renamed", files)
    [refused] = ask(settings_for("someone/renamed"))
    there = "config.json, tokenizer.json, tokenizer_config.json, weights.safetensors"
    assert refused["refused"] == says("model someone/renamed: has no model.safetensors", there, "Name a model")


def test_a_pickle_is_refused_with_the_command_that_converts_it(ask, hub, client, folder, tmp_path):
    files = files_of(folder)
    del files["model.safetensors"]
    weights = AutoModelForSequenceClassification.from_pretrained(folder).state_dict()
    torch.save(weights, tmp_path / "pytorch_model.bin")
    files["pytorch_model.bin"] = (tmp_path / "pytorch_model.bin").read_bytes()
    commit = hub.add("someone/pickled", files).branches["main"]
    [refused] = ask(settings_for("someone/pickled"))
    assert "someone/pickled: has no model.safetensors;" in refused["refused"]
    assert hub.downloads("pytorch_model.bin") == []
    command = refused["refused"].partition("convert_weights.py ")[2]
    assert command == f"someone/pickled NEW_FOLDER --revision {commit}"
    given = {"source": "someone/pickled", "output": str(tmp_path / "new"), "revision": commit}
    [converted] = client.ask({"do": "convert", "cache": str(tmp_path / "cache"), "given": given})
    assert set(LOADED) == set(converted["gave"])
    [loaded] = ask(settings_for(tmp_path / "new"))
    assert loaded["gave"]["labels"] == {"negative": "negative", "neutral": "Neutral", "positive": "POSITIVE"}


# Datasets ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def read(client, tmp_path):
    """Read a dataset of the hub, with a cache of its own."""

    def answer(source: str, changed: dict | None = None, **about) -> dict:
        settings = described(source, **(changed or {}))
        return client.ask({"do": "read", "cache": str(tmp_path / "cache"), "given": {"settings": settings}, **about})[0]

    return answer


def test_a_dataset_is_read_at_its_revision_and_again_without_the_hub(read, hub, labelled, tmp_path):  # noqa: F811
    labelled.to_parquet(tmp_path / "old.parquet")
    labelled.select(range(4)).to_parquet(tmp_path / "new.parquet")
    name = "data/test-00000-of-00001.parquet"
    repository = hub.add("someone/texts", {name: (tmp_path / "old.parquet").read_bytes()}, "datasets")
    old = repository.branches["main"]
    new = repository.commit({name: (tmp_path / "new.parquet").read_bytes()})
    newest = read("someone/texts")
    assert newest["gave"]["texts"] == ROWS["sentence"][:4]
    assert newest["gave"]["notes"][0] == f"someone/texts, split test: commit {new}"
    pinned = read("someone/texts", {"revision": old})
    assert pinned["gave"]["texts"] == ROWS["sentence"]
    assert pinned["gave"]["notes"][0] == f"someone/texts, split test: commit {old}"
    hub.asked.clear()
    assert read("someone/texts", {"revision": old}, offline=True)["gave"]["texts"] == ROWS["sentence"]
    # Without the hub the library reads what it read last, whatever is named.
    said = read("someone/texts", {"revision": new}, offline=True)["refused"]
    assert said == says("dataset someone/texts, split test", f"commit {old} where {new}")
    assert hub.asked == []


def test_datasets_that_are_restricted_missing_or_of_no_such_revision(read, hub, labelled, tmp_path):  # noqa: F811
    labelled.to_parquet(tmp_path / "rows.parquet")
    files = {"data/test-00000-of-00001.parquet": (tmp_path / "rows.parquet").read_bytes()}
    hub.add("someone/closed", files, "datasets", gated=True)
    hub.add("someone/open", files, "datasets")
    said = {
        "someone/closed": read("someone/closed"),
        "someone/nothing": read("someone/nothing"),
        "someone/open": read("someone/open", {"revision": "mian"}),
    }
    for source, answer in said.items():
        assert answer.get("refused") == says(f"dataset {source}, split test: cannot")
    assert "HF_TOKEN" in said["someone/closed"]["refused"]
    assert "HF_TOKEN" in said["someone/nothing"]["refused"]
    assert "as datasets.<dataset>.revision" in said["someone/open"]["refused"]
    assert isinstance(read("someone/closed", token=TOKEN)["gave"]["texts"], list)

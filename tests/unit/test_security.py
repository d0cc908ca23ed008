"""Hostile weights, models, configurations and texts: nothing in them runs, and the message says what to do instead."""

import ast
import html
import itertools
import json
import os
import pickle
import re
import struct
import subprocess
import sys
from contextlib import suppress
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
import yaml
from commands import run_command
from docutils.core import publish_parts
from jinja2 import Template
from review_samples import write_samples
from safetensors.torch import load_file
from snakemake.io import get_wildcard_names
from test_ready import CLASSES, saved, settings_for, taken_over
from transformers import AutoModelForSequenceClassification
from transformers.integrations import hub_kernels

from evenlight.configuration import complete
from evenlight.core.errors import InputError
from evenlight.core.sources import PICKLES
from evenlight.corpus.annotation.review_page import render as render_review
from evenlight.corpus.annotation.review_page import review_sentences
from evenlight.engine.checkpoints import open_checkpoint
from evenlight.models.adapters import adapted_network
from evenlight.models.classifier import load_network, untrained_network
from evenlight.models.tokenizers import loaded_tokenizer
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.html_table import render as render_page
from evenlight.workflow.naming import as_argument

REPOSITORY = Path(__file__).parents[2]
CODE = sorted(path for folder in ("workflow", "bench") for path in (REPOSITORY / folder).rglob("*.py"))
RULES = sorted((REPOSITORY / "rules").rglob("*.smk"))


class Program:
    """What a pickle runs when it is read: it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


# Weights and code -------------------------------------------------------------------------------------------------


SWITCHES = ("weights_only", "allow_pickle", "trust_remote_code", "use_safetensors", "shell", "filter")


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All that stands in a Python file."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def calls(path: Path):
    """The calls in a Python file: the name as it is written, and those keyword arguments that decide."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield (
                ast.unparse(node.func),
                {each.arg: ast.unparse(each.value) for each in node.keywords if each.arg in SWITCHES},
            )


def unsafe(name: str, given: dict[str, str]) -> bool:
    """Whether a call can run what a file holds."""
    return (
        (name == "torch.load" and given.get("weights_only") != "True")
        or (name in ("np.load", "numpy.load") and given.get("allow_pickle", "False") != "False")
        or given.get("trust_remote_code", "False") != "False"
        or given.get("use_safetensors", "True") != "True"
        or given.get("shell", "False") != "False"
        or name in ("yaml.load", "yaml.unsafe_load", "eval", "exec", "os.system", "joblib.load")
        or (name.endswith("extractall") and given.get("filter") != "'data'")
        or re.search(r"(^|\.)(read_pickle|pickle\.loads?|Unpickler|dill\.loads?)$", name) is not None
    )


def test_no_code_of_ours_reads_a_pickle_or_runs_what_it_reads():
    assert len(CODE) > 100
    found = {f"{path.relative_to(REPOSITORY)}: {name}" for path in CODE for name, of in calls(path) if unsafe(name, of)}
    # The code that a study names as its own, and nothing that came with an archive (docs/own_parts.md#trust).
    # And the commands of our own tutorials, as a reader types them.
    assert found == {"workflow/scripts/evenlight/jobs/own_files.py: exec", "bench/tutorials.py: subprocess.run"}
    imported = {
        f"{path.relative_to(REPOSITORY)}: {name}"
        for path in CODE
        for node in nodes(path)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", "")]
        )
        if name in ("pickle", "dill", "joblib", "cloudpickle", "shelve", "marshal")
    }
    assert imported == set()
    assert unsafe("torch.load", {})
    assert unsafe("pandas.read_pickle", {})
    assert not unsafe("json.load", {})


@pytest.mark.parametrize("pattern", PICKLES)
def test_weights_that_can_hold_a_program_are_refused_with_how_to_convert_them(pattern, tmp_path):
    folder, trace = saved(tmp_path / "model"), tmp_path / "trace"
    (folder / "model.safetensors").unlink()
    name = pattern.replace("*", "pytorch_model")
    (folder / name).write_bytes(pickle.dumps({"weight": Program(trace)}))
    said = rf"{name}: .*safetensors.*convert_weights\.py {folder} NEW_FOLDER"
    with pytest.raises(InputError, match=said):
        taken_over(settings_for(folder), CLASSES)
    with pytest.raises(InputError, match=said):
        load_network(folder, num_labels=2)
    assert not trace.exists()


def test_an_adapter_that_can_hold_a_program_is_refused(tmp_path):
    folder, adapter, trace = saved(tmp_path / "model"), tmp_path / "adapter", tmp_path / "trace"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "task_type": "SEQ_CLS", "r": 2}))
    (adapter / "adapter_model.bin").write_bytes(pickle.dumps({"weight": Program(trace)}))
    with pytest.raises(InputError, match=r"adapter_model\.bin: .*safetensors only"):
        adapted_network(str(folder), None, str(adapter), True)
    assert not trace.exists()


@pytest.mark.parametrize("name", ["model.bin", "../outside.bin", "model.safetensors.txt"])
def test_an_index_leads_to_safetensors_only(name, tmp_path, monkeypatch):
    """Of an index Transformers asks for the ending of its own name, and reads what it names by what that ends with."""
    folder, trace, read = saved(tmp_path / "model"), tmp_path / "trace", []
    monkeypatch.setattr(torch, "load", lambda *file, **_: read.append(file))
    (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(pickle.dumps({"weight": Program(trace)}))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {"weight": name}}))
    with pytest.raises(InputError, match=rf"{re.escape(Path(name).name)}: .*safetensors only"):
        taken_over(settings_for(folder), CLASSES)
    assert not read
    assert not trace.exists()
    torch.load("a checkpoint of ours")
    assert read


def test_no_kernel_is_fetched_that_a_model_names(tmp_path, monkeypatch):
    fetched = []
    monkeypatch.setattr(hub_kernels, "is_kernels_available", lambda *_: True)
    monkeypatch.setattr(hub_kernels, "get_kernel", lambda *name, **_: fetched.append(name))
    folder = saved(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    named = {"_attn_implementation": "elsewhere/kernel", "attn_implementation": "elsewhere/kernel"}
    (folder / "config.json").write_text(json.dumps(config | named))
    with suppress(UnboundLocalError):  # what was fetched is no kernel
        AutoModelForSequenceClassification.from_pretrained(folder)
    assert fetched  # or the test would ask nothing
    fetched.clear()
    for load in (lambda: taken_over(settings_for(folder), CLASSES), lambda: untrained_network(folder)):
        with pytest.raises(InputError, match=r"its config\.json names the kernel elsewhere/kernel, a program"):
            load()
    assert fetched == []


@pytest.mark.parametrize("file", ["tokenizer_config.json", "config.json"])
@pytest.mark.parametrize(
    "name", ["../../x", "os.system", "AutoModel", "pipeline", "__name__", ["a"], "A" * 3_000_000 + "-"]
)
def test_what_is_no_tokenizer_is_not_loaded_as_one(name, file, tmp_path):
    folder, trace = saved(tmp_path / "model"), tmp_path / "trace"
    (folder / "model.safetensors").rename(tmp_path / "kept")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Program(trace)}))
    (tmp_path.parent / "x.py").write_text(f"import pathlib\npathlib.Path({str(trace)!r}).touch()\n")
    if file == "config.json":
        (folder / "tokenizer_config.json").write_text("{}")
    about = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps(about | {"tokenizer_class": name}))
    with pytest.raises(InputError) as refused:
        loaded_tokenizer(folder)
    assert f"its {file} names {str(name)[:80]!r}" in str(refused.value)
    assert not trace.exists()


def test_no_vocabulary_is_read_outside_the_folder(tmp_path):
    folder = saved(tmp_path / "model")
    outside = tmp_path / "tokenizer.4.0.0.json"
    (folder / "tokenizer.json").rename(outside)
    about = json.loads((folder / "tokenizer_config.json").read_text())
    for key, value, said in (
        ("fast_tokenizer_files", ["../tokenizer.4.0.0.json"], r"names '\.\./tokenizer\.4\.0\.0\.json' among"),
        ("tokenizer_file", str(outside), "cannot be loaded"),
    ):
        (folder / "tokenizer_config.json").write_text(json.dumps(about | {key: value}))
        with pytest.raises(InputError, match=said):
            loaded_tokenizer(folder)


def header(named: dict | bytes, length: int | None = None) -> bytes:
    """A file of safetensors with eight bytes of content, whatever its header says of them."""
    text = named if isinstance(named, bytes) else json.dumps(named).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + bytes(8)


def tensor(size: int, begin: int, end: int) -> dict:
    return {"dtype": "F32", "shape": [size], "data_offsets": [begin, end]}


DAMAGED = {
    "longer than the file": header({}, 90 * 2**20),
    "longer than memory": header({}, 2**63),
    "deep": header(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "overlapping": header({"a": tensor(1, 0, 4), "b": tensor(2, 0, 8)}),
    "beyond the end": header({"a": tensor(2**20, 0, 2**22)}),
    "too large a product": header({"a": {"dtype": "F32", "shape": [2**62, 8], "data_offsets": [0, 8]}}),
    "a pickle": pickle.dumps({"a": 1}),
    "empty": b"",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_safetensors_with_a_false_header_are_refused(content, tmp_path):
    folder = saved(tmp_path / "model")
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="cannot be loaded"):
        load_network(folder, num_labels=2)


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"weight_map": ["a"]}',
        b'{"metadata": {}, "weight_map": ["a"]}',
    ],
)
@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json"])
def test_json_of_another_shape_is_refused(content, name, tmp_path):
    folder = saved(tmp_path / "model")
    if name != "config.json":
        (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match="cannot be loaded"):
        load_network(folder, num_labels=2)


def convert(source: Path, output: Path) -> subprocess.CompletedProcess:
    return run_command(REPOSITORY / "workflow/tools/convert_weights.py", source, output)


def test_converted_weights_are_the_same_model(tmp_path):
    folder = saved(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    theirs, _ = taken_over(settings_for(folder), CLASSES)
    names = sorted(weights)
    for part, half in enumerate((names[:5], names[5:]), 1):
        torch.save({name: weights[name] for name in half}, folder / f"pytorch_model-0000{part}-of-00002.bin")
    (folder / "model.safetensors").unlink()
    done = convert(folder, tmp_path / "converted")
    assert done.returncode == 0, done.stderr
    ours, _ = taken_over(settings_for(tmp_path / "converted"), CLASSES)
    expected, found = theirs.network.state_dict(), ours.network.state_dict()
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_what_is_more_than_weights_is_not_converted_and_not_run(tmp_path):
    folder, trace = saved(tmp_path / "model"), tmp_path / "trace"
    for content in (
        pickle.dumps({"weight": Program(trace)}, protocol=2),
        b"version https://git-lfs.github.com/spec/v1\n",
    ):
        (folder / "pytorch_model.bin").write_bytes(content)
        done = convert(folder, tmp_path / "converted")
        assert done.returncode == 1
        assert "pytorch_model.bin: is damaged" in done.stderr
    torch.save({"weight": torch.zeros(2), "epoch": 3}, folder / "pytorch_model.bin")
    assert "things than tensors" in convert(folder, tmp_path / "converted").stderr
    assert not trace.exists()
    assert not (tmp_path / "converted" / "model.safetensors").exists()


@pytest.fixture
def with_code(tmp_path) -> Path:
    """A model, as the hub has them, whose configuration names Python code that lies beside it."""
    folder = saved(tmp_path / "model")
    for name in ("configuration_own", "modeling_own", "tokenization_own"):
        (folder / f"{name}.py").write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'trace')!r}).touch()\n")
    config = json.loads((folder / "config.json").read_text()) | {
        "model_type": "own",
        "auto_map": {
            "AutoConfig": "configuration_own.OwnConfig",
            "AutoModelForSequenceClassification": "modeling_own.OwnModel",
            "AutoModelForCausalLM": "modeling_own.OwnModel",
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    about = json.loads((folder / "tokenizer_config.json").read_text())
    about |= {"tokenizer_class": "OwnTokenizer", "auto_map": {"AutoTokenizer": ["tokenization_own.OwnTokenizer", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder


def test_code_that_comes_with_a_model_is_never_run_and_nobody_is_asked(with_code, tmp_path, monkeypatch):
    def asked(*question):
        raise AssertionError(f"asked at the terminal: {question}")

    monkeypatch.setattr("builtins.input", asked)
    for load in (lambda: load_network(with_code, num_labels=2), lambda: taken_over(settings_for(with_code), CLASSES)):
        with pytest.raises(InputError, match="cannot be loaded"):
            load()
    # Its tokenizer.json is data: Transformers may read it without the class that is named.
    with suppress(InputError):
        loaded_tokenizer(with_code)
    assert not (tmp_path / "trace").exists()


def test_a_hostile_checkpoint_is_left_unread(tmp_path, capsys):
    trace = tmp_path / "trace"
    checkpoint = open_checkpoint(tmp_path / "model", "0" * 64, 1)
    checkpoint.path.parent.mkdir(parents=True)
    checkpoint.path.write_bytes(pickle.dumps({"course": Program(trace)}))
    assert checkpoint.read() is None
    torch.save({"course": Program(trace)}, checkpoint.path)
    assert checkpoint.read() is None
    assert capsys.readouterr().out.count("training begins again") == 2
    assert not trace.exists()


# Configurations ---------------------------------------------------------------------------------------------------

# What needs no quotes, and why: names that the configuration allows have small letters, digits and _ only.
UNQUOTED = {
    "wildcards.dataset": "a name",
    "wildcards.metric": "a name",
    "params.folders": "quoted by shlex",
    "params.method": "a name of ours",
    "params.page": "a name of ours",
    "params.pages": "quoted by shlex",
    "resources.device": "one of three words",
    "resources.tokens_per_batch": "a number",
    "resources.checkpoints": "a number",
    "resources.in_groups": "numbers",
    "resources.fetch": "quoted by shlex",
    "threads": "a number",
}


def test_every_value_in_a_command_is_quoted_or_cannot_need_it():
    found = set()
    for path in RULES:
        for block in re.findall(r"^ +shell:\n((?: +\".*\n)+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found |= set(re.findall(r"(?<!\{)\{([^{}]+)\}(?!\})", block))
    assert {"output:q", "params.settings:q"} <= found
    assert {name for name in found if not name.endswith(":q")} - set(UNQUOTED) == set()


def nested(opening: str, closing: str) -> str:
    """A short YAML file of ten anchors, each of which stands ten times in the next; mappings where they open with {."""
    lines = [f"a0: &a0 {opening}{'key: ' * (opening == '{')}1{closing}"]
    for depth in range(1, 10):
        parts = [f"{f'key{part}: ' * (opening == '{')}*a{depth - 1}" for part in range(10)]
        lines.append(f"a{depth}: &a{depth} {opening}{', '.join(parts)}{closing}")
    return "\n".join(lines)


@pytest.mark.parametrize("text", [nested("[", "]"), nested("{", "}"), "datasets: &a [*a]"])
def test_anchors_that_repeat_each_other_are_refused_at_once(text):
    """After some calls for each of 100,000 values, and not for each of the ten billion that the anchors stand for."""
    config = yaml.safe_load(text)
    calls = itertools.count()
    sys.setprofile(lambda frame, event, argument: next(calls))
    try:
        with pytest.raises(InputError, match=r"\w+: has more than 100,000 values; .* write no anchors"):
            complete(config)
    finally:
        sys.setprofile(None)
    assert next(calls) < 30 * 100_000


def demo() -> dict:
    """The demo's configuration."""
    return yaml.load((REPOSITORY / "config" / "demo.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


HOSTILE = ["a\nb", "x\n\n.. include:: /etc/passwd\n", "\x1b[2J", "", "</script><script>run()</script>"]


@pytest.mark.parametrize("heading", HOSTILE)
@pytest.mark.parametrize("section", ["explainers", "metrics"])
def test_a_heading_is_one_line_without_markup(section, heading):
    """The report reads headings as reStructuredText, where a line of its own can read a file or hold a script."""
    study = demo()
    name = next(iter(study[section]))
    study[section][name]["label"] = heading
    with pytest.raises(InputError, match=rf"{section}\.{name}\.label: found .*without < and >"):
        complete(study)


def test_settings_in_commands_have_no_wildcard_of_snakemake():
    settings = {"label": "score {x} of {0} {}{", "{x}": [{}, {"a": {"b": "{ y }"}}], "quoted": '{"z"} \\{z}'}
    argument = as_argument(settings)
    assert get_wildcard_names(argument) == set()
    assert json.loads(argument) == settings
    assert get_wildcard_names(json.dumps(settings)) == {"x", "0", "y", "z"}


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_settings_stand_in_commands_without_markup(path):
    """The report writes every command into a script of its page."""
    assert "json.dumps" not in path.read_text(encoding="utf-8"), "use as_argument or as_json"


@pytest.mark.parametrize(
    "label",
    ["javascript:alert(1)", "`x <javascript:alert(1)>`_", "|a| *b* _c_ `d`", "http://elsewhere.org/ x", "a@b.org"],
)
def test_a_heading_is_text_in_the_report(label):
    """reStructuredText makes links of addresses, and of those that are scripts too."""
    study = complete(demo())
    study["explainers"]["lime"]["label"] = label
    template = Template((REPOSITORY / "resources" / "report" / "study.rst").read_text(encoding="utf-8"))
    page = publish_parts(template.render(snakemake={"config": study}), writer="html")["body"]
    assert html.escape(label, quote=False) in html.unescape(page) or label in html.unescape(page)
    assert "<a " not in page


@pytest.mark.parametrize("name", ["../outside", "a b", "$(touch x)", "a;b", "-rf", "A", "a\n"])
def test_a_name_is_a_name(name):
    study = demo()
    with pytest.raises(InputError, match="study"):
        complete(study | {"study": name})
    with pytest.raises(InputError, match="explainers"):
        complete(study | {"explainers": {name: {"method": "saliency"}}})


@pytest.mark.parametrize("path", ["data/{dataset}.csv", "{config[study]}.csv", "a}b", "a\nb"])
def test_a_path_is_no_pattern(path):
    """Snakemake would put other things into its braces, or end with an error of its own."""
    study = demo()
    study["datasets"] = {"mine": {"reader": "table", "file": path, "text": "text", "label": "label"}}
    with pytest.raises(InputError, match=r"datasets\.mine\.file: found .*of one line without \{ and \}"):
        complete(study)


# Pages ------------------------------------------------------------------------------------------------------------

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)> ]]>--><!-- &lt;"


class Tags(HTMLParser):
    """The tags of a page, and its attributes that are scripts, as a browser's parser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.events = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.events += [name for name, _ in attributes if name.startswith("on")]


def test_the_review_page_holds_hostile_sentences_as_text(tmp_path):
    sentences = review_sentences(*write_samples(tmp_path))
    plain = Tags(render_review(sentences, "Review", "en"))
    sentences[0]["forms"][0]["words"][0] = NASTY
    sentences[0]["text"] = NASTY
    found = Tags(render_review(sentences, NASTY, "en"))
    assert (found.tags, found.events) == (plain.tags, plain.events)


def test_tables_hold_hostile_names_as_text():
    def page(text: str) -> Tags:
        table = Table(text, (text, text), [(text, [text])], [(text, [(text, [Cell(text, text)])])])
        return Tags(render_page(Page(text, text, [table], [(Cell(text), text)], [text])))

    assert (page(NASTY).tags, page(NASTY).events) == (page("plain").tags, page("plain").events)

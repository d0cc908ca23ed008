"""Records of how files were made: Snakemake's and an archive's, and the chain that they make."""

import base64
import hashlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from docutils.core import publish_parts
from jinja2 import Environment
from wording import says

from evenlight.core.errors import InputError
from evenlight.jobs import provenance
from evenlight.jobs.environment import environment_in, print_environment
from evenlight.jobs.provenance import Record, Records

VERSIONS = {"stages": {"draw": 1}, "files": {"plots/effects.py": "1c59" * 16}}
NAMED = ["draw 1", "plots/effects.py 1c591c591c59"]
SETTINGS = '{"steps": 3}'
TABLE, FIGURE = "results/demo/tables/effects.parquet", "results/demo/figures/effects.svg"
TABLE_SHA256 = hashlib.sha256(b"table").hexdigest()
SCORES = "results/demo/scores/gini.parquet"


def keep(project: Path, path: str, **about) -> None:
    """Keep a record as Snakemake does, whose names of files hold so many letters."""
    name = base64.urlsafe_b64encode(path.encode()).decode()
    parts = [name[start : start + 254] for start in range(0, len(name), 254)]
    file = project.joinpath(provenance.METADATA, *(f"@{part}" for part in parts[:-1]), parts[-1])
    file.parent.mkdir(parents=True, exist_ok=True)
    record = {"rule": "draw", "input": [], "params": [], "log": [], "starttime": 1.0, "endtime": 3.5}
    file.write_text(json.dumps(record | about))


@pytest.fixture
def project(tmp_path) -> Path:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/draw.log").write_text("4 cells\nmade on host (Linux x86_64) with Python 3.11.7, numpy 2.4.6\n")
    (tmp_path / TABLE).parent.mkdir(parents=True)
    (tmp_path / TABLE).write_bytes(b"table")
    keep(
        tmp_path,
        FIGURE,
        input=[TABLE, "workflow/scripts/run.py", "../clone/workflow/scripts/figures/draw.py"],
        params=[repr(json.dumps(VERSIONS)), repr(SETTINGS), "''", "['--source=a']"],
        log=["logs/draw.log"],
        input_checksums={
            TABLE: f"sha256:{TABLE_SHA256}",
            "workflow/scripts/run.py": "sha256:0",
        },
    )
    keep(tmp_path, TABLE, rule="estimate", input=[SCORES, "results/demo/predictions.parquet"])
    keep(tmp_path, SCORES, rule="score", input=["results/demo/predictions.parquet"])
    keep(tmp_path, "results/demo/predictions.parquet", rule="read", input=["resources/sentences.yaml"])
    return tmp_path


def test_a_record_has_what_a_result_was_made_of(project):
    record = Records(project).of(FIGURE)
    assert record.rule == "draw"
    assert record.inputs == (TABLE,)
    assert record.versions == VERSIONS
    assert record.settings == (SETTINGS, '["--source=a"]')
    assert record.environment == "host (Linux x86_64) with Python 3.11.7, numpy 2.4.6"
    assert (record.started, record.ended) == (1.0, 3.5)


@pytest.mark.parametrize("store", ["s3://evenlight/", f"s3://results/{'deep/' * 60}"])
def test_the_chain_of_what_a_storage_keeps_is_that_of_its_paths_here(project, tmp_path, store):
    stored = tmp_path / "stored"
    (stored / "logs").mkdir(parents=True)
    (stored / "logs/draw.log").write_text((project / "logs/draw.log").read_text())
    copies = f".snakemake/storage/s3/{store.removeprefix('s3://')}"
    params, checksums = [repr(json.dumps(VERSIONS)), repr(SETTINGS)], {copies + TABLE: f"sha256:{TABLE_SHA256}"}
    made_of = [copies + TABLE, "workflow/scripts/run.py"]
    log = [f"{copies}logs/draw.log"]
    keep(stored, store + FIGURE, input=made_of, params=params, log=log, input_checksums=checksums)
    keep(stored, store + TABLE, rule="estimate", input=[store + SCORES, "resources/sentences.yaml"])
    keep(stored, store + SCORES, rule="score")
    keep(stored, "results/other/local.csv", rule="other")
    records = Records(stored)
    found = records.of(FIGURE)
    assert (found.inputs, found.logs, found.settings) == ((TABLE,), ("logs/draw.log",), (SETTINGS,))
    assert found.environment.startswith("host")
    assert found.checksums == {TABLE: TABLE_SHA256}
    assert {name for name, _ in provenance.chain(FIGURE, records)} == {
        FIGURE,
        TABLE,
        SCORES,
        "resources/sentences.yaml",
    }
    assert records.address_of(FIGURE) == store + FIGURE
    assert f"aws s3 sync {store}logs logs" in provenance.stored_elsewhere(FIGURE, records)
    assert records.of("results/other/local.csv").rule == "other"
    assert records.address_of("results/other/local.csv") == ""
    assert Records(project).address_of(FIGURE) == ""


def test_an_input_that_has_changed_is_named(project):
    record = Records(project).of(FIGURE)
    assert provenance.changed(record, project) == []
    (project / TABLE).write_bytes(b"another")
    assert provenance.changed(record, project) == [TABLE]


def test_the_chain_names_every_file_after_all_that_is_made_of_it(project):
    names = [name for name, _ in provenance.chain(FIGURE, Records(project))]
    assert names == [FIGURE, TABLE, SCORES, "results/demo/predictions.parquet", "resources/sentences.yaml"]


def test_all_that_is_behind_files_is_summed_up(project):
    sentences, source = project / "resources/sentences.yaml", "results/sources/geco/subj.jsonl"
    sentences.parent.mkdir()
    sentences.write_bytes(b"- one")
    keep(project, source, rule="fetch_source", params=[repr("ab" * 32)], starttime=0.5, endtime=1.5)
    model = "results/demo/models/model.safetensors"
    keep(project, model, rule="train", input=[source], params=[repr('{"stages": {"train": 2}}')])
    # Two files of one job, and a file that has no record.
    second = FIGURE.replace(".svg", ".pdf")
    keep(project, second, input=[TABLE, model, "own.csv"], params=[repr(json.dumps(VERSIONS))], log=["logs/draw.log"])
    made = provenance.summed_up([FIGURE, second], Records(project))
    rules = {rule.pop("rule"): rule for rule in made.pop("rules")}
    assert rules["draw"] == {"jobs": 1, "seconds": 2.5, "versions": NAMED}
    assert rules["train"] == {"jobs": 1, "seconds": 2.5, "versions": ["train 2"]}
    assert rules["fetch_source"] == {"jobs": 1, "seconds": 1.0, "versions": []}
    assert rules.keys() == {"draw", "train", "fetch_source", "estimate", "score", "read"}
    assert made == {
        "jobs": 6,
        "seconds": 13.5,
        "started": "1970-01-01T00:00:00+00:00",
        "ended": "1970-01-01T00:00:03+00:00",
        "mixed": [],
        "machines": {"host (Linux x86_64)": ["Python 3.11.7", "numpy 2.4.6"]},
        "sources": [
            {"path": "own.csv", "origin": says("no rule"), "sha256": ""},
            {
                "path": "resources/sentences.yaml",
                "origin": says("file of this repository"),
                "sha256": hashlib.sha256(b"- one").hexdigest(),
            },
            {"path": source, "origin": says("no rule"), "sha256": ""},
        ],
    }
    assert provenance.summed_up(["own.csv"], Records(project))["jobs"] == 0


def test_a_report_shows_hostile_names_as_text():
    # A line that begins like this would go into the page as it is.
    hostile = "a``\u2028\u2028.. raw:: html\u2028\u2028   <script>\n\n.. raw:: html\n\n   <script>"
    made = provenance.summed_up([], Records()) | {"jobs": 1}
    # An address that has the page, as evenlight.workflow.figures writes it.
    made["configuration"] = f"data:text/plain;charset=utf-8,{quote(f'label: {hostile}', safe=' :/,')}"
    made["sources"] = [{"path": hostile, "origin": hostile, "sha256": ""}]
    made["rules"] = [{"rule": hostile, "jobs": 1, "seconds": 1.0, "versions": []}]
    made["mixed"] = [hostile]
    made["pages"] = {"effects": f'"{hostile}'}
    made["opens"] = {"effects": "who is explained better."}
    made["machines"] = {hostile: ["torch_*"]}
    rule = SimpleNamespace(module_globals={"study": SimpleNamespace(said_in_report=lambda files: made)})
    files = [SimpleNamespace(job=SimpleNamespace(rule=rule))]
    template = (Path(__file__).parents[3] / "resources/report/study.rst").read_text(encoding="utf-8")
    # As Snakemake renders it.
    text = Environment(trim_blocks=True, lstrip_blocks=True).from_string(template)
    page = publish_parts(text.render(snakemake=SimpleNamespace(config={}), files=files), writer="html")["html_body"]
    assert page.count("&lt;script&gt;") == 12
    assert "<script" not in page
    assert 'data-page="&#34;a``' in page
    assert "System Message" not in page


def test_files_without_a_whole_record_have_none(project):
    keep(project, "results/demo/half.csv", incomplete=True)
    (project / provenance.METADATA / "damaged").write_text("{")
    records = Records(project)
    assert records.of("results/demo/half.csv") is None
    assert records.of("results/demo/never.csv") is None
    assert Records(project / "elsewhere").of(FIGURE) is None


def test_a_long_path_is_found(project):
    path = f"results/demo/{'deep/' * 60}figure.svg"
    keep(project, path, rule="draw_far_away")
    assert Records(project).of(path).rule == "draw_far_away"


def test_the_checksum_of_a_download_is_no_version(project):
    keep(project, "results/sources/geco/x", rule="fetch_source", params=[repr("ab" * 32)])
    record = Records(project).of("results/sources/geco/x")
    assert (record.versions, record.settings) == ({}, ("ab" * 32,))


def test_libraries_of_which_results_have_several_versions_are_named(project):
    (project / "logs/estimate.log").write_text("made on node (Linux x86_64) with Python 3.11.7, numpy 2.5.0\n")
    keep(project, TABLE, rule="estimate", log=["logs/estimate.log"])
    assert provenance.summed_up([FIGURE], Records(project))["mixed"] == ["numpy 2.4.6, 2.5.0"]


def test_the_records_of_an_archive_say_the_same(project, tmp_path):
    known = Records(project)
    records = {name: known.of(name) for name in (FIGURE, TABLE, SCORES)}
    kept = tmp_path / "clone" / "results" / "demo" / provenance.ARCHIVE / provenance.RECORDS
    kept.parent.mkdir(parents=True)
    kept.write_text(provenance.as_text(records))
    assert Records(tmp_path / "clone").of(FIGURE) == records[FIGURE]
    assert [name for name, _ in provenance.chain(FIGURE, Records(tmp_path / "clone"))][:3] == [FIGURE, TABLE, SCORES]


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"a": {"rule": "draw", "pickled": "x"}}'])
def test_records_of_another_kind_are_refused(tmp_path, text):
    (tmp_path / "provenance.json").write_text(text)
    with pytest.raises(InputError, match=r"provenance\.json: no records"):
        provenance.read_records(tmp_path / "provenance.json")


def test_a_job_says_where_it_ran_and_with_what(capsys):
    import numpy as np

    print_environment()
    said = environment_in(f"before\n{capsys.readouterr().err}")
    assert f"numpy {np.__version__}" in said
    assert environment_in("no such line\n") == ""


def test_a_job_names_the_gpu_that_it_has_used(capsys, monkeypatch):
    used = SimpleNamespace(is_initialized=lambda: True, get_device_name=lambda: "NVIDIA H100")
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="2.13.0", cuda=used))
    print_environment()
    assert re.fullmatch(
        r"\S+ \(\w+ \w+, NVIDIA H100\) with Python .*, torch 2\.13\.0.*", environment_in(capsys.readouterr().err)
    )


def test_a_file_that_no_rule_made_has_an_origin():
    assert "https://raw.githubusercontent.com" in provenance.origin(
        "results/sources/compas/compas-scores-two-years.csv"
    )
    assert provenance.origin("resources/demo/sentences.yaml") == says("file of this repository")
    assert Record("draw").job == ("draw", ())

"""What rules ask of a study, without a run of Snakemake: names, settings and files."""

import json
from inspect import signature
from pathlib import Path

import pytest
import yaml
from snakemake.exceptions import WorkflowError

from evenlight.reports.keywords import keywords
from evenlight.reports.page_parts import named
from evenlight.workflow import run
from evenlight.workflow.base import Run
from evenlight.workflow.study import Study, read_study

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def configuration() -> dict:
    return yaml.safe_load((PROJECT / "config/demo.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def study(configuration, tmp_path, monkeypatch) -> Study:
    """The demo; of Snakemake nothing is there, so that each name has what it has without it."""
    monkeypatch.chdir(tmp_path)
    return read_study(configuration, object(), PROJECT)


def test_the_configuration_is_completed_in_place(study, configuration):
    assert study.config is configuration
    assert configuration["statistics"]["alpha"] == 0.05
    assert study.folder == Path("results/demo")


def test_a_pattern_is_filled_for_every_run_once(study):
    runs = study.every("{dataset}/{model}/{seed}")
    assert len(runs) == len(set(runs)) == len(list(study.runs))
    assert study.every("{dataset}", dataset="demo_books") == ["demo_books"]


def test_what_a_job_is_told_is_one_string_whatever_the_order_of_keys(study, configuration):
    [seed, *_] = study.seeds_of("small_bert")
    wildcards = Run(dataset="demo_books", model="small_bert", seed=str(seed))
    assert wildcards.model == "small_bert"
    first = study.attribute_settings("lime")(wildcards)
    assert json.loads(first)["seed"] == seed
    entry = configuration["explainers"]
    name = next(name for name, explainer in entry.items() if explainer["method"] == "lime")
    entry[name] = dict(reversed(entry[name].items()))
    assert study.attribute_settings("lime")(wildcards) == first


def test_versions_name_the_stages_and_methods_that_a_job_uses(study):
    used = json.loads(study.attribute_versions("lime")(Run(dataset="demo_books", model="small_bert", seed="0")))
    assert {"attribute", "ask_model"} <= set(used["stages"])
    assert "lime" in used["explainers"]


def test_no_part_of_a_study_hides_a_name_of_another():
    names = [name for part in Study.__bases__ for name in vars(part) if not name.startswith("__")]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", ["demo", *(f"studies/{name}_cpu" for name in ("gecobench", "hatecheck", "reasons"))])
def test_results_and_pages_understand_what_a_study_asks(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = yaml.safe_load((PROJECT / f"config/{name}.yaml").read_text(encoding="utf-8"))
    study = read_study(written, object(), PROJECT)
    for result, entry in study.results.items():
        asked = entry.parse(json.loads(study.settings_of(entry)) | {"result": result})
        assert (asked.result, entry.about()[-1] in ".?") == (result, True)
    assert next(iter(study.kind.opens)) in study.tabulated
    for name, shown in study.tabulated.items():
        module, _ = study.pages[name]
        tables = [None] * len(shown.tables or module.TABLES)
        signature(module.page).bind(*tables, **named(keywords(json.loads(shown.settings))))


def test_a_result_that_no_page_shows_is_made_where_the_study_asks_for_it(configuration, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = read_study(configuration | {"reliance": None}, object(), PROJECT)
    assert "measure_reliance" not in study.results
    asked = read_study(configuration | {"reliance": {}}, object(), PROJECT)
    assert "measure_reliance" in asked.results
    more = [f"<results>/tables/{name}.csv" for name in ("pair_invariance", "group_reliance", "words_by_group")]
    assert set(asked.csv_shown()) - set(study.csv_shown()) == set(more)
    # A figure alone has no page of tables, and a page has its tables as CSV.
    assert "control" in asked.pages
    assert "control" not in asked.tabulated
    assert {f"<results>/tables/{name}.csv" for name in ("control", "effects", "scores")} <= set(asked.csv_shown())


def test_a_name_that_would_be_markup_is_refused(study, tmp_path):
    path = tmp_path / "a<b.csv"
    path.touch()
    with pytest.raises(WorkflowError, match="<; rename"):
        study.own_file(str(path))


def test_what_cannot_be_right_is_refused_before_rules_are_made(configuration, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    configuration["trust_parts"] = True
    with pytest.raises(WorkflowError, match="trust_parts"):
        read_study(configuration, object(), PROJECT)


def test_something_is_told_once_in_a_run(study):
    assert study.first_time("some news")
    assert not study.first_time("some news")


def test_the_last_errors_of_logs_are_told_once(tmp_path):
    one, other = tmp_path / "one.log", tmp_path / "other.log"
    one.write_text("error: old\nwork\nerror: new\nerror: and more\ndone\n")
    other.write_text("error: new\n")
    assert run.last_lines([one, other, tmp_path / "none.log"], "error:") == ["error: new", "error: and more"]


def test_the_last_audit_is_read_where_one_is_named_and_must_be_there(study, configuration, tmp_path, monkeypatch):
    assert "compare_audits" not in study.results
    assert "audit_changes" not in study.told_tables
    named = read_study(configuration | {"audit": {"baseline": "filed/audit.json"}}, object(), PROJECT)
    result = named.results["compare_audits"]
    assert "audit_changes" in named.told_tables
    assert json.loads(named.settings_of(result))["baseline"] == "audit.json"
    with pytest.raises(WorkflowError, match=r"audit.baseline: filed/audit.json: no such file.*audit.json of"):
        named.filed_audit()
    (tmp_path / "filed").mkdir()
    (tmp_path / "filed" / "audit.json").touch()
    monkeypatch.setattr(Study, "stored", False)
    assert named.files_of_runs("baseline") == {"baseline": ["filed/audit.json"]}
    own = {"audit": {"baseline": f"{study.folder}/audit.json"}}
    with pytest.raises(WorkflowError, match=r"audit.baseline: .*: this study writes there; keep a copy"):
        read_study(configuration | own, object(), PROJECT).filed_audit()

"""The gate for continuous integration: what a policy makes of verdicts, its status and its reports."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pandas as pd
import pytest
import yaml
from schemas import schema_of

from evenlight import judge
from evenlight.__main__ import main
from evenlight.core import tables
from evenlight.core.contracts.results import EFFECTS
from evenlight.core.errors import InputError
from evenlight.judging.gate import Policy, assess, junit, markdown, read_policy, read_verdicts, status_of
from evenlight.reports.index.comparisons import json_row

REPOSITORY = Path(__file__).parents[3]


def told_of(verdicts: pd.DataFrame) -> list[dict]:
    """The comparisons as an audit has them."""
    return [json_row(row) for row in verdicts.itertuples(index=False)]


def scored(**wins: int) -> pd.DataFrame:
    """Scores of 100 pairs for each metric, of which the first group wins so many, and the second all others."""
    rows = [
        (metric, pair, group, float((group == "male") == (pair < count)))
        for metric, count in wins.items()
        for pair in range(100)
        for group in ("male", "female")
    ]
    return pd.DataFrame(rows, columns=["metric", "pair", "group", "score"])


@pytest.fixture(scope="module")
def verdicts() -> pd.DataFrame:
    """A large disparity, a small one, one that is ruled out, and one that is open."""
    tied = scored(even=50).query("pair < 90 or pair >= 110")
    table = pd.concat([scored(large=90, small=66, open=58), tied.assign(score=1.0)])
    return judge(table.assign(model="bert"), unit="pair", group="group", better="higher", draws=100).verdicts


def outcomes(verdicts: pd.DataFrame, **policy) -> dict[str, str]:
    return assess(verdicts, Policy(**policy)).set_index("metric")["outcome"].to_dict()


def test_verdicts_as_they_are(verdicts):
    assert verdicts["verdict"].tolist() == ["male more often", "male more often", "undecided", "as often"]
    found = outcomes(verdicts)
    assert found == {"large": "disparity", "small": "disparity", "open": "open", "even": "passed"}
    assert list(found) == ["large", "small", "open", "even"]


def test_a_bound_says_what_matters_and_what_is_ruled_out(verdicts):
    # The surplus of the small one is .32. That it is below .33 is not shown, nor that the open one is below .2.
    assert outcomes(verdicts, bound=0.33) == {"large": "disparity", "small": "open", "open": "open", "even": "passed"}
    # Both are shown to be below .7, by exact limits and Holm's method; the first one is .8.
    assert outcomes(verdicts, bound=0.7) == {
        "large": "disparity",
        "small": "passed",
        "open": "passed",
        "even": "passed",
    }
    # 90 ties leave room for a surplus of a few per cent: none within so narrow a bound.
    assert outcomes(verdicts, bound=0.01)["even"] == "open"


def test_the_status(verdicts):
    assert status_of(assess(verdicts, Policy())) == 1
    assert status_of(assess(verdicts, Policy(metrics=("open", "even")))) == 2
    assert status_of(assess(verdicts, Policy(metrics=("open", "even"), decide=("even",)))) == 0
    assert status_of(assess(verdicts, Policy(metrics=("even",)))) == 0
    assert status_of(assess(verdicts, Policy(metrics=("even",), smallest_units=101))) == 2
    assert status_of(assess(verdicts, Policy(excepted=("bert/large", "small"), decide=()))) == 0
    # Too few units hide no disparity.
    assert status_of(assess(verdicts, Policy(metrics=("large",), smallest_units=101))) == 1


def test_open_is_never_told_as_passed(verdicts):
    assessed = assess(verdicts, Policy(decide=()))
    assert assessed.set_index("metric")["outcome"]["open"] == "open, allowed"
    suite = ElementTree.fromstring(junit(assessed))
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        **{"tests": "4", "failures": "2"},
        **{"errors": "0", "skipped": "1"},
    }
    passed = [case.get("name") for case in suite if not len(case)]
    assert passed == ["bert/even (male, female)"]
    summary = markdown(assessed)
    assert "| open, allowed | bert/open (male, female) | undecided |" in summary
    assert "bert/even" not in summary


REFUSED = {
    "metric": ({"metrics": ("large", "gini")}, ["metrics", "'gini'", "large"]),
    "groups": ({"groups": (("male", "neutral"),)}, ["groups", "male, neutral", "male, female"]),
    "decide": ({"decide": ("bert/lrge",)}, ["decide", "'lrge'", "did you mean large"]),
    "except": ({"excepted": ("gpt",)}, ["except", "'gpt'"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_policy_that_names_what_is_not_there_is_refused(verdicts, case):
    policy, words = REFUSED[case]
    with pytest.raises(InputError) as refused:
        assess(verdicts, Policy(**policy))
    assert [word for word in words if word not in str(refused.value)] == []


def test_what_a_policy_names_wrongly_is_told_with_its_file_or_flag(tmp_path, verdicts):
    (tmp_path / "policy.yaml").write_text("metrics: [large, gini]\nexcept: [even]")
    for flags, place in (({}, "policy.yaml: metrics"), ({"excepted": ["gpt"]}, "--except")):
        policy = read_policy(tmp_path / "policy.yaml", **flags)
        with pytest.raises(InputError) as refused:
            assess(verdicts, policy if not flags else replace(policy, metrics=()))
        assert place in str(refused.value)
    both = replace(Policy(models=("bert",), metrics=("small",)), places={"models": "a.yaml: models"})
    with pytest.raises(InputError, match=r"a\.yaml: models, metrics: no comparison"):
        assess(verdicts.assign(model=["bert", "gpt", "gpt", "bert"]), both)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bounds: 0.1", ["bounds", "did you mean bound", "policy.yaml"]),
        ("bound: 2", ["bound", "2", "between 0 and 1"]),
        ("smallest_units: many", ["smallest_units", "whole number"]),
        ("metrics: {a: 1}", ["metrics", "list"]),
        ("groups: [male, female]", ["groups", "pairs"]),
        ("- bound", ["keys and values"]),
        ("bound: [", ["no YAML"]),
    ],
)
def test_a_policy_that_is_none_is_refused(tmp_path, text, words):
    (tmp_path / "policy.yaml").write_text(text)
    with pytest.raises(InputError) as refused:
        read_policy(tmp_path / "policy.yaml")
    assert [word for word in words if word not in str(refused.value)] == []


def test_what_an_earlier_analysis_found_is_a_disparity_where_all_is_even_now(verdicts):
    found = verdicts[verdicts["metric"] == "large"].assign(net_benefit=0.0)
    assert outcomes(found) == {"large": "disparity"}
    assert outcomes(found, bound=0.2) != {"large": "disparity"}


def test_verdicts_are_read_from_tables_and_audits(tmp_path, verdicts):
    expected = assess(verdicts, Policy())[["metric", "outcome", "why"]].to_numpy().tolist()
    tables.write_table(verdicts, tmp_path / "effects.parquet", EFFECTS)
    tables.write_csv(verdicts, tmp_path / "effects.csv")
    (tmp_path / "audit.json").write_text(json.dumps({"comparisons": told_of(verdicts)}))
    for name in ("effects.parquet", "effects.csv", "audit.json"):
        read = assess(read_verdicts(tmp_path / name), Policy())
        assert read[["metric", "outcome", "why"]].to_numpy().tolist() == expected
    # Names that are numbers or truth values are names.
    tables.write_csv(verdicts.assign(model="7", level_a="1", level_b="True"), tmp_path / "numbers.csv")
    named = assess(
        read_verdicts(tmp_path / "numbers.csv"), Policy(models=["7"], decide=["7/1"], groups=[("1", "True")])
    )
    assert named[["metric", "outcome", "why"]].shape == (len(expected), 3)
    assert "7" in markdown(named)
    for name, content, word in (
        ("old.json", "{}", "audit again"),
        ("half.json", "{", "cannot be read"),
        ("other.csv", "a,b\n1,2\n", "no column"),
        ("table.html", "", "effects"),
        ("empty.csv", ",".join(verdicts) + "\n", "no comparison"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=rf"{name}.*({word}|give)"):
            read_verdicts(tmp_path / name)


def test_the_command_ends_with_the_status(tmp_path, verdicts, monkeypatch, capsys):
    tables.write_csv(verdicts, tmp_path / "verdicts.csv")

    def status(*flags: str) -> int:
        monkeypatch.setattr(sys, "argv", ["evenlight", "check-verdicts", f"{tmp_path}/verdicts.csv", *flags])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    assert status("--junit", f"{tmp_path}/report.xml") == 1
    assert "disparity: bert/large" in capsys.readouterr().out
    assert ElementTree.parse(tmp_path / "report.xml").getroot().get("failures") == "2"
    assert status("--except", "large", "small") == 2
    assert status("--except", "large", "small", "--decide") == 0
    assert status("--polcy", "x") == status("--except", "nobody") == 3
    assert "error: --except" in capsys.readouterr().err
    # Nothing is written where a file cannot be.
    for wrong, right in (("--summary", "--junit"), ("--junit", "--summary")):
        assert status(wrong, str(tmp_path), right, f"{tmp_path}/none/report") == 3
        assert f"{wrong} {tmp_path}: is a folder" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
    assert status("--summary", f"{tmp_path}/none/summary.md") == 1


def test_the_steps_of_the_example_run(tmp_path):
    """As a forge runs them: but for the installation, and with this package as ``evenlight``."""
    workflow = yaml.safe_load((REPOSITORY / "resources" / "judge" / "check_verdicts.yaml").read_text())
    steps = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert steps[0].startswith("pip install evenlight")
    (tmp_path / "resources").symlink_to(REPOSITORY / "resources")
    command = tmp_path / "evenlight"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evenlight "$@"\n')
    command.chmod(0o755)
    summary = tmp_path / "summary.md"
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)}
    env |= {"PYTHONPATH": str(REPOSITORY / "workflow" / "scripts")}
    ended = [
        subprocess.run(["sh", "-e", "-c", step], cwd=tmp_path, env=env, check=False).returncode for step in steps[1:]
    ]
    assert ended == [0, 1]
    assert "A disparity matters" in summary.read_text()
    assert (tmp_path / "verdicts.xml").is_file()


def test_verdicts_keep_to_their_schema(verdicts):
    of_row = schema_of("verdicts")
    named = [*(f"^{name}$" for name in of_row.schema["properties"]), *of_row.schema["patternProperties"]]
    described = {name for name in EFFECTS.schema.names if any(re.match(pattern, name) for pattern in named)}
    assert described == set(EFFECTS.schema.names)
    assert set(of_row.schema["properties"]) <= set(EFFECTS.schema.names)
    for row in json.loads(verdicts.to_json(orient="records")):
        of_row.validate(row)
    for row in told_of(verdicts):
        of_row.validate(row)
    with pytest.raises(jsonschema.ValidationError):
        of_row.validate(told_of(verdicts)[0] | {"side": 2})

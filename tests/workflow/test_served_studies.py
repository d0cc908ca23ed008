"""Studies of a classifier behind an address: what is asked, paid, run again and refused, through the rules."""

import json
import re
import time
from collections.abc import Callable

import pandas as pd
import pytest
from http_services import Reply, serving
from running import configure, copy_of_project, edited, planned_jobs, results, run_study, snakemake

pytest.importorskip("jmespath", reason="services need jmespath (envs/models.txt)")

SAYINGS = ["stupid idiots", "lovely people", "damn liars", "kind neighbours"]
CLASSES = ["clean", "offensive"]
DATASET = {
    "reader": "table",
    "file": "mine.csv",
    "text": "text",
    "label": "label",
    "classes": CLASSES,
    "attributes": {"who": {"column": "who", "levels": ["women", "men"]}},
    "pair": "pair",
    "test_share": 1.0,
}


def study_of(address: str, **service) -> dict:
    """A study of few texts, of a service that is asked without a key."""
    return {
        "study": "asked",
        "kind": "description",
        "seeds": [3],
        "device": "cpu",
        "datasets": {"mine": DATASET},
        "models": {
            "served": {"architecture": "service", "address": address, "asking": {"batch": 16, "retries": 1}} | service
        },
        "explainers": {"occlusion": {"method": "occlusion"}, "chance": {"method": "uniform_random"}},
        "metrics": {"gini": {"metric": "gini"}},
    }


def table_of(pairs: int = 4) -> pd.DataFrame:
    rows = [
        {
            "pair": pair,
            "who": who,
            "label": CLASSES[pair % 2],
            "text": f"I think {who} are {pair} {SAYINGS[pair % 4]} .",
        }
        for pair in range(pairs)
        for who in ("women", "men")
    ]
    return pd.DataFrame(rows)


def said(answer: float, labels: tuple[str, str] = ("clean", "offensive")) -> list[dict]:
    """What the service says of a text."""
    return [{"label": label, "score": score} for label, score in zip(labels, (1 - answer, answer), strict=True)]


def replying(labels: tuple[str, str] = ("clean", "offensive")) -> Callable[[dict], Reply]:
    """A service that goes by the letters of a text."""
    return lambda body: (200, json.dumps([said(text.count("e") / 50, labels) for text in body["inputs"]]).encode(), {})


@pytest.fixture
def project(tmp_path):
    project = copy_of_project(tmp_path / "project")
    table_of().to_csv(project / "mine.csv", index=False)
    return project


def names_of(jobs: set) -> set[str]:
    return {rule for rule, _ in jobs}


@pytest.mark.slow
def test_the_estimate_asks_nothing_and_what_reruns_follows_from_what_the_answers_depend_on(project):
    with serving() as served, serving() as other:
        study = study_of(served.address)
        configure(project, study)
        stdout = run_study(project, "questions", cores=1)
        assert f"questions to {served.address}, of which about 0 are answered" in stdout
        assert served.bodies == []
        estimated = int(re.search(r"about ([\d,]+) questions", stdout)[1].replace(",", ""))

        # It is slow, and says something else each time.
        calls = iter(range(10**6))

        def moody(body: dict) -> Reply:
            time.sleep(0.05)
            drift = 0.01 * next(calls)
            return 200, json.dumps([said(0.3 + drift) for _ in body["inputs"]]).encode(), {}

        served.usual = other.usual = moody
        run_study(project, "--until", "tabulate_scores", cores=1)
        asked = len(set(served.texts))
        assert estimated == pytest.approx(asked, rel=0.2)
        page = (results(project) / "tables" / "scores.html").read_text(encoding="utf-8")
        assert "changes its answers" in page

        count = len(served.bodies)
        model = study["models"]["served"]
        everything = {"describe_service", "read_texts", "attribute_occlusion", "score"}
        for change, expected in (
            ({"asking": {"key_variable": "ANOTHER", "batch": 3}}, set()),
            ({"address": other.address}, everything),
            ({"answers": "[*]"}, everything),
            ({"version": "June"}, everything),
            ({"hidden_word": "..."}, everything),
        ):
            configure(project, edited(study, "models", "served", value=model | change))
            planned = names_of(planned_jobs(project, "--until", "score"))
            assert planned - {"estimate_questions"} >= expected, change
            assert bool(planned) == bool(expected), (change, planned)
            assert not planned & {"import_dataset", "fetch_source"}, change
        # Another address is asked about everything; the first one, again, about nothing.
        configure(project, edited(study, "models", "served", "address", value=other.address))
        run_study(project, "--until", "score", cores=1)
        assert len(set(other.texts)) == asked
        configure(project, study)
        run_study(project, "--until", "score", cores=1)
        assert len(served.bodies) == count


@pytest.mark.slow
def test_nonsense_and_other_labels_end_in_messages_and_cost_nothing_again(project):
    with serving() as served:
        configure(project, study_of(served.address))
        served.usual = lambda body: (200, b"<html>Welcome</html>", {})
        stopped = snakemake(project, "--cores", "1", "--until", "score")
        assert stopped.returncode != 0
        assert "<html>Welcome</html>" in stopped.stdout
        # Labels that are not the classes: both are named.
        served.usual = replying(("nice", "rude"))
        stopped = snakemake(project, "--cores", "1", "--until", "score")
        assert stopped.returncode != 0
        for name in ("rude", "nice", *CLASSES):
            assert name in stopped.stdout
        paid = set(served.texts)
        served.bodies.clear()
        configure(project, study_of(served.address, classes={"clean": "nice", "offensive": "rude"}))
        run_study(project, "--until", "score", cores=1)
        again = [text for text in served.texts if text in paid]
        # What is asked a second time shows whether it changes its mind: 8 texts in a job.
        assert len(again) <= 2 * 8


@pytest.mark.slow
def test_an_audit_of_a_service_leaves_out_combinations_of_few_texts_and_says_so(project):
    table = table_of(30)
    table["age"] = [
        "old" if pair < 3 and who == "women" else "young"
        for pair, who in table[["pair", "who"]].itertuples(index=False)
    ]
    table["country"] = "one"
    table.to_csv(project / "mine.csv", index=False)
    with serving() as served:
        served.usual = replying()
        study = study_of(served.address) | {
            "kind": "disparity",
            "statistics": {
                "compare": {"who+age": [["women+old", "men+young"]], "who": [["women", "men"]]},
                "smallest_group": 4,
                "bootstrap_draws": 200,
            },
        }
        attributes = DATASET["attributes"] | {
            "age": {"column": "age", "levels": ["old", "young"], "balanced": False},
            "country": {"column": "country", "levels": ["one"], "balanced": False},
        }
        study["datasets"] = {"mine": DATASET | {"attributes": attributes}}
        configure(project, study)
        run_study(project, "audit", cores=1)
    told = json.loads((results(project) / "audit.json").read_text(encoding="utf-8"))
    assert {(each["level_a"], each["level_b"]) for each in told["comparisons"]} == {("women", "men")}
    assert any("'women+old' (3) not compared" in note for note in told["notes"])
    not_tested = " ".join(told["not_tested"])
    assert "country in dataset" in not_tested
    assert served.address in json.dumps(told["audited"]["models"])

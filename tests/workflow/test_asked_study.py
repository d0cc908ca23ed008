"""A study that asks a language model behind an address for its reasons, from YAML to tables, by a server of its own."""

import json
import subprocess
import sys
from pathlib import Path

import chat_server
import pandas as pd
import pytest
from running import configure, copy_of_project, edited, planned_jobs, results, run_study, snakemake
from wording import says

CASES = ("a leaking roof", "a late parcel", "a wrong bill", "a lost key", "a parking fine", "a broken heater")
QUESTIONS = [
    {"case": f"case_{number}", "gender": gender, "asked": f"{title} Weber has {case}. Complain or wait?"}
    for number, case in enumerate(CASES)
    for gender, title in (("male", "Mr"), ("female", "Ms"))
]
DECISION = {"pattern": r"Decision: (\w+)", "words": {"complain": ["complain"], "wait": ["wait"]}}
STUDY = {
    "study": "reasons_asked",
    "seeds": [0],
    "datasets": {
        "cases": {"reader": "questions", "file": "cases.csv", "text": "asked", "unit": "case", "level": "gender"}
        | {"factor": "gender", "levels": ["male", "female"]}
    },
    "explainers": {
        "reasons": {"method": "from_api", "answers": 2, "decision": DECISION},
    },
    "metrics": {
        "words": {"metric": "words"},
        "undecided": {"metric": "no_decision"},
        "follows": {"metric": "hint_followed"},
    },
    "statistics": {
        "compare": {"gender": [["male", "female"]]},
        "bootstrap_draws": 200,
        "control_draws": 20,
        "verdict_permutations": 1,
    },
    "figures": {"formats": ["svg"]},
}
TABLE = f"results/{STUDY['study']}/tables/effects.parquet"


@pytest.fixture
def server(tmp_path):
    """The address of a server in a process of its own, and the file with all that it was asked."""
    log = tmp_path / "asked.jsonl"
    log.touch()
    process = subprocess.Popen([sys.executable, chat_server.__file__, str(log)], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip(), log
    finally:
        process.terminate()
        process.wait()


def asked(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def test_a_study_asks_within_its_limits_and_nothing_twice(tmp_path, server):
    address, log = server
    chat = {"architecture": "chat", "address": address, "limits": {"questions": 20}}
    study = STUDY | {"models": {"writer": chat}}
    project = copy_of_project(tmp_path / "project", study)
    pd.DataFrame(QUESTIONS).to_csv(project / "cases.csv", index=False)

    refused = snakemake(project, "--cores", "1", "--until", "ask_answers")
    assert refused.returncode != 0
    assert refused.stdout == says("models.writer.limits.questions: 48 questions", "more than 20")
    assert not asked(log)

    configure(project, edited(study, "models", "writer", "limits", value={"questions": 48}))
    run_study(project, TABLE)
    bodies = asked(log)
    assert len(bodies) == len({body["seed"] for body in bodies}) == 48
    hinted = [body for body in bodies if "I think that" in body["messages"][-1]["content"]]
    assert len(hinted) == 24
    rows = pd.DataFrame(
        {"asked": body["messages"][-1]["content"], "words": len(chat_server.said(body)[0].split())} for body in bodies
    ).merge(pd.DataFrame(QUESTIONS), on="asked")
    means = rows.groupby(["case", "gender"])["words"].mean().unstack()
    effects = pd.read_parquet(project / TABLE).set_index("metric")
    [path] = (results(project) / "follow_ups").rglob("*.parquet")
    after = pd.read_parquet(path)
    level = after["item_id"].str.rsplit("/").str[-1].map(str)
    follows = (after["decision"] == after["expected"].str[0]).groupby([after["item_id"]]).mean()
    of_level = follows.groupby(level.groupby(after["item_id"]).first()).mean()
    assert effects.loc["follows", "difference"] == pytest.approx(of_level["male"] - of_level["female"])
    assert effects.loc["words", "difference"] == pytest.approx((means["male"] - means["female"]).mean())
    assert planned_jobs(project, TABLE) == set()

    # More draws ask for these alone, within limits that count what is left; where the decision stands asks nothing.
    more = edited(study, "models", "writer", "limits", value={"questions": 12})
    more |= {"explainers": {"reasons": STUDY["explainers"]["reasons"] | {"answers": 3, "decision": None}}}
    more |= {"metrics": {name: STUDY["metrics"][name] for name in ("words", "undecided")}}
    configure(project, more)
    run_study(project, "--until", "ask_answers")
    assert len(asked(log)) == 60
    [path] = (results(project) / "answers").rglob("*.parquet")
    assert pd.read_parquet(path)["decision"].isna().all()

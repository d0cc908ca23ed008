"""Metrics of style as a study of answers computes them: their settings, languages, lexicons and notes."""

import inspect
import json
import runpy
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenlight import configuration
from evenlight.core.contracts.explanations import ANSWER_SCORES, ANSWERS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.metrics import texts
from evenlight.metrics.answers import score
from evenlight.metrics.texts.languages import BY_LEXICON

SCRIPT = Path(__file__).parents[2] / "workflow/scripts/explanations/score_answers.py"
ENTRIES = {name: configuration.Metric.entries[name] for name in texts.METRICS}
TEXTS = ["", "Perhaps it rains. Perhaps it may snow.", "Every word differs."]


def answers_of(said: list[str]) -> pd.DataFrame:
    empty = {"decision": None, "model": "m", "prompt": None, "temperature": None, "seed": None, "tokens": None}
    rows = [{"item_id": "q", "draw": draw, "text": text, "seconds": None} | empty for draw, text in enumerate(said)]
    return pd.DataFrame(rows)[ANSWERS.schema.names]


@pytest.mark.parametrize("name", texts.METRICS)
def test_settings_of_a_metric_are_those_of_its_function(name):
    fields = ENTRIES[name].model_fields.keys() - {"metric", "label"}
    parameters = dict(list(inspect.signature(texts.METRICS[name]).parameters.items())[1:])
    assert fields == parameters.keys()
    for key in fields - {"file"}:
        assert ENTRIES[name].model_fields[key].default == parameters[key].default
    assert ("file" in fields and name != "dale_chall") == (name in BY_LEXICON)


def test_texts_are_scored_and_what_is_undefined_is_told():
    asked = {name: {"metric": name, "file": None} for name in ("hedges", "words", "mtld")}
    found, notes = score(answers_of(TEXTS), asked)
    assert found["words"].tolist() == [0, 7, 3]
    assert found["hedges"] == pytest.approx([np.nan, 300 / 7, 0], nan_ok=True)
    assert np.isnan(found["mtld"]).tolist() == [True, False, True]
    assert notes == ["of 1 answers no hedges, mtld (no word)", "of 1 answers no mtld (no word comes twice)"]


def test_a_metric_of_another_language_is_refused(tmp_path):
    asked = {"easy": {"metric": "smog"}}
    with pytest.raises(InputError, match="metric smog reads en, and the texts are in de; leave the metric out"):
        score(answers_of(TEXTS), asked, "de")
    with pytest.raises(InputError, match=r"metric hedges reads en, .* name a lexicon in de as its 'file'"):
        score(answers_of(TEXTS), {"open": {"metric": "hedges", "file": None}}, "de")
    own = tmp_path / "offen.yaml"
    own.write_text("language: de\nphrases: [vielleicht]\n")
    found, _ = score(answers_of(["Vielleicht regnet es."]), {"open": {"metric": "hedges", "file": str(own)}}, "de")
    assert found["open"] == pytest.approx([100 / 3])


def test_the_command_reads_the_lexicons_where_they_lie(tmp_path, monkeypatch):
    lexicons = [tmp_path / f"{name}.yaml" for name in ("first", "second")]
    for path, word in zip(lexicons, ("rains", "snow"), strict=True):
        path.write_text(f"language: en\nphrases: [{word}]\n")
    write_table(answers_of(TEXTS), tmp_path / "answers.parquet", ANSWERS, {"note": "3 answers"})
    metrics = {"a": {"metric": "hedges", "file": "elsewhere/one"}, "b": {"metric": "words"}}
    settings = {"metrics": metrics | {"c": {"metric": "boosters", "file": "elsewhere/two"}}, "language": "en"}
    monkeypatch.setattr(sys, "argv", ["score_answers.py", "--settings", json.dumps(settings)])
    sys.argv += ["--answers", str(tmp_path / "answers.parquet"), "--output", str(tmp_path / "scores.parquet")]
    sys.argv += ["--lexicons", *map(str, lexicons)]
    handler = signal.getsignal(signal.SIGTERM)
    runpy.run_path(str(SCRIPT), run_name="__main__")
    signal.signal(signal.SIGTERM, handler)
    table = read_table(tmp_path / "scores.parquet", ANSWER_SCORES)
    assert table["a"].tolist()[1:] == pytest.approx([100 / 7, 0])
    assert table["c"].tolist()[1:] == pytest.approx([100 / 7, 0])
    assert read_metadata(tmp_path / "scores.parquet", ANSWER_SCORES)["note"] == (
        "3 answers; of 1 answers no a, c (no word)"
    )

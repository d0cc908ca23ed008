"""Metrics of style as a study of answers computes them: by text, in a language, with what is undefined told."""

import numpy as np
import pandas as pd
import pytest
import yaml
from wording import says

from evenlight.configuration import complete
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.errors import InputError
from evenlight.metrics import answers as metrics
from evenlight.metrics import texts
from evenlight.metrics.texts.languages import language_read

TEXTS = ["", "Perhaps it rains. Perhaps it may snow.", "Every word differs."]


def answers_of(said: list[str]) -> pd.DataFrame:
    rows = [dict.fromkeys(ANSWERS.schema.names) | {"draw": draw, "text": text} for draw, text in enumerate(said)]
    return pd.DataFrame(rows)


def test_texts_are_scored_and_what_is_undefined_is_told():
    asked = {"open": {"metric": "hedges", "file": None}, "words": {"metric": "words"}, "mtld": {"metric": "mtld"}}
    found, notes = metrics.score(answers_of(TEXTS), asked | {"variety": {"metric": "mtld"}})
    assert found["words"].tolist() == [0, 7, 3]
    assert found["open"] == pytest.approx([np.nan, 300 / 7, 0], nan_ok=True)
    assert np.isnan(found["mtld"]).tolist() == [True, False, True]
    assert notes == [
        says("open has no", "1 (no word)", "of 3 answers"),
        says("mtld, variety", "1 (no word), 1 (no word comes twice)", "of 3 answers"),
    ]


def test_all_metrics_of_a_text_are_computed_before_the_next_text(monkeypatch):
    order = []

    def measure(metric: str, text: str, settings: dict) -> tuple[float, str]:
        order.append((text, metric))
        return 0.0, ""

    monkeypatch.setattr(texts, "measure", measure)
    metrics.score(answers_of(["a", "b"]), {"one": {"metric": "words"}, "two": {"metric": "smog"}})
    assert order == [("a", "words"), ("a", "smog"), ("b", "words"), ("b", "smog")]


def test_a_metric_that_cannot_do_the_language_is_refused(tmp_path):
    german = answers_of(["Vielleicht regnet es."])
    with pytest.raises(InputError, match=r"metric smog reads en.*in de"):
        metrics.score(german, {"easy": {"metric": "smog"}}, "de")
    with pytest.raises(InputError, match=r"metric hedges reads en.*lexicon in de.*'file'"):
        metrics.score(german, {"open": {"metric": "hedges", "file": None}}, "de")
    own = tmp_path / "offen.yaml"
    own.write_text("language: de\nphrases: [vielleicht]\n")
    asked = {"open": {"metric": "hedges", "file": str(own)}, "words": {"metric": "words"}}
    found, notes = metrics.score(german, asked, "de")
    assert found["open"] == pytest.approx([100 / 3])
    assert found["words"].tolist() == [3]
    assert notes == []
    with pytest.raises(InputError, match=r"metric hedges reads de.*in en"):
        metrics.score(german, asked, "en")


@pytest.mark.parametrize("name", texts.METRICS)
def test_which_language_a_metric_reads(name):
    reads_english = language_read(name) == "en"
    german = (
        "Der Zug fährt heute nicht, weil auf der ganzen Strecke seit gestern Abend sehr viel Schnee liegt und fällt."
    )
    _, reason = texts.measure(name, f"{german} {german}") if name != "dale_chall" else (None, "not in English")
    assert (reason == "not in English") == reads_english


@pytest.mark.parametrize("study", ["dialect_cpu", "dialect_draws_cpu"])
def test_the_studies_of_two_dialects_are_complete(study, request):
    path = request.config.rootpath / "config" / "studies" / f"{study}.yaml"
    config = complete(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert config["study"] == study
    asked, answered = config["datasets"]["questions"], config["explainers"]["reasons"]
    assert asked["file"] == answered["file"]
    assert asked["file"].startswith(f"results/{study}/released/dialect_")
    assert asked["show_texts"] is False

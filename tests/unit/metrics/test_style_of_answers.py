"""Metrics of style as a study of answers computes them: by text, in a language, with what is undefined told."""

import numpy as np
import pandas as pd
import pytest
import yaml
from wording import says

from evenlight.configuration import complete
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.errors import InputError
from evenlight.metrics import Metric
from evenlight.metrics.families.answers import FleschKincaid, TextMetric, Words
from evenlight.metrics.families.answers.scored import scored

TEXTS = ["", "Perhaps it rains. Perhaps it may snow.", "Every word differs."]


def answers_of(said: list[str]) -> pd.DataFrame:
    rows = [dict.fromkeys(ANSWERS.schema.names) | {"draw": draw, "text": text} for draw, text in enumerate(said)]
    return pd.DataFrame(rows)


def test_texts_are_scored_and_what_is_undefined_is_told():
    asked = {"open": {"metric": "hedges", "file": None}, "words": {"metric": "words"}, "mtld": {"metric": "mtld"}}
    found, notes = scored(Metric.parse_all(asked | {"variety": {"metric": "mtld"}}), answers_of(TEXTS))
    assert found["words"].tolist() == [0, 7, 3]
    assert found["open"] == pytest.approx([np.nan, 300 / 7, 0], nan_ok=True)
    assert np.isnan(found["mtld"]).tolist() == [True, False, True]
    assert notes == [
        says("open has no", "1 (no word)", "of 3 answers"),
        says("mtld, variety", "1 (no word), 1 (no word comes twice)", "of 3 answers"),
    ]


def test_all_metrics_of_a_text_are_computed_before_the_next_text(monkeypatch):
    order = []

    def measure(self, text: str) -> tuple[float, str]:
        order.append((text, self.metric))
        return 0.0, ""

    monkeypatch.setattr(TextMetric, "measure", measure)
    scored({"one": Words(metric="words"), "two": FleschKincaid(metric="flesch_kincaid")}, answers_of(["a", "b"]))
    assert order == [("a", "words"), ("a", "flesch_kincaid"), ("b", "words"), ("b", "flesch_kincaid")]


def test_a_metric_that_cannot_do_the_language_is_refused(tmp_path):
    german = answers_of(["Vielleicht regnet es."])
    with pytest.raises(InputError, match=r"metric flesch_kincaid reads en.*in de"):
        scored(Metric.parse_all({"easy": {"metric": "flesch_kincaid"}}), german, "de")
    with pytest.raises(InputError, match=r"metric hedges reads en.*lexicon in de.*'file'"):
        scored(Metric.parse_all({"open": {"metric": "hedges", "file": None}}), german, "de")
    own = tmp_path / "offen.yaml"
    own.write_text("language: de\nphrases: [vielleicht]\n")
    asked = {"open": {"metric": "hedges", "file": str(own)}, "words": {"metric": "words"}}
    found, notes = scored(Metric.parse_all(asked), german, "de")
    assert found["open"] == pytest.approx([100 / 3])
    assert found["words"].tolist() == [3]
    assert notes == []
    with pytest.raises(InputError, match=r"metric hedges reads de.*in en"):
        scored(Metric.parse_all(asked), german, "en")


@pytest.mark.parametrize("name", [name for name, entry in Metric.entries.items() if issubclass(entry, TextMetric)])
def test_which_language_a_metric_reads(name):
    metric = Metric.parse({"metric": name})
    german = (
        "Der Zug fährt heute nicht, weil auf der ganzen Strecke seit gestern Abend sehr viel Schnee liegt und fällt."
    )
    _, reason = metric.measure(f"{german} {german}")
    assert (reason == "not in English") == (metric.language_read() == "en")


@pytest.mark.parametrize("study", ["dialect_cpu", "dialect_draws_cpu"])
def test_the_studies_of_two_dialects_are_complete(study, request):
    path = request.config.rootpath / "config" / "studies" / f"{study}.yaml"
    config = complete(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert config["study"] == study
    asked, answered = config["datasets"]["questions"], config["explainers"]["reasons"]
    assert asked["file"] == answered["file"]
    assert asked["file"].startswith(f"results/{study}/released/dialect_")
    assert asked["show_texts"] is False

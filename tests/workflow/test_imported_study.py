"""Explanations that another tool has made, through the whole workflow."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from running import PROJECT, SMALLER, TINY, all_jobs, chosen, configure, planned_jobs, results, run_study

from evenlight.core.contracts.explanations import SCORES
from evenlight.core.tables import read_table

THEIRS = SMALLER | {
    "explainers": SMALLER["explainers"] | {"theirs": {"method": "imported", "file": "theirs/{model}-{seed}.jsonl"}}
}


@pytest.mark.slow
def test_what_was_written_and_read_again_scores_the_same(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    run = "demo/ola_cea/seed0"
    attribution_file = pd.read_parquet(results(project) / "attributions" / run / "igxi.parquet")
    predictions = pd.read_parquet(results(project) / "predictions" / f"{run}.parquet").set_index("item_id")
    rows = [
        {"item_id": name, "tokens": list(predictions.loc[name, "token_text"]), "scores": list(scores)}
        for name, scores in zip(attribution_file["item_id"], attribution_file["token_score"], strict=True)
    ]
    path = project / "theirs" / "ola_cea-0.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    configure(project, THEIRS)
    # The families' jobs run and take over the other explainers' files, and what shows explainers is made again.
    planned = planned_jobs(project)
    assert chosen(planned, "attribute_") == chosen(all_jobs(THEIRS), "attribute_imported")
    run_study(project)
    for family in ("faithfulness", "complexity"):
        folder = results(project) / "scores" / run / family
        igxi, theirs = (read_table(folder / f"{name}.parquet", SCORES) for name in ("igxi", "theirs"))
        # They are made of other explainers, and say the same.
        pd.testing.assert_frame_equal(*(scores.drop(columns=["made_of", "checksum"]) for scores in (igxi, theirs)))
    assert planned_jobs(project) == set()
    path.write_text(path.read_text(encoding="utf-8").replace('"scores": [', '"scores": [1.5, ', 1), encoding="utf-8")
    assert chosen(planned_jobs(project), "attribute_") == chosen(all_jobs(THEIRS), "attribute_imported")


def test_words_that_a_model_quotes_are_scored_like_other_explanations(finished_smaller, copy_of):
    """One word of each text is named, so that its tokens have all of the score, and one phrase is in no text."""
    project = copy_of(finished_smaller)
    run = "demo/ola_cea/seed0"
    predictions = pd.read_parquet(results(project) / "predictions" / f"{run}.parquet").set_index("item_id")
    explained = pd.read_parquet(results(project) / "attributions" / run / "igxi.parquet")["item_id"]
    items = pd.read_parquet(results(project) / "datasets" / "demo" / "items.parquet").set_index("item_id")["words"]
    first = [next(word for word in items[name] if word.isalnum()) for name in explained]
    quotes = pd.DataFrame({"item_id": explained, "why": [f"I go by “{word.upper()}” and “qqq”." for word in first]})
    (project / "quotes.csv").write_text(quotes.to_csv(index=False), encoding="utf-8")
    said = {"method": "extractive", "file": "quotes.csv", "item": "item_id", "text": "why"}
    configure(project, SMALLER | {"explainers": SMALLER["explainers"] | {"said": said}})
    paths = [
        f"results/{SMALLER['study']}/scores/{run}/{family}/said.parquet" for family in ("faithfulness", "complexity")
    ]
    run_study(project, *paths)
    attributions = pd.read_parquet(results(project) / "attributions" / run / "said.parquet")
    for row, word in zip(attributions.itertuples(), first, strict=True):
        words, word_id = items[row.item_id], np.array(predictions.loc[row.item_id, "word_id"], dtype=float)
        named = [place for place, other in enumerate(words) if other.casefold() == word.casefold()]
        for place in named:
            assert row.token_score[word_id == place].sum() == pytest.approx(1)
        assert row.token_score.sum() == pytest.approx(len(named))
    scores = read_table(project / paths[0], SCORES)
    assert scores["comprehensiveness"].notna().all()
    assert f"{len(explained)} of {2 * len(explained)} quoted phrases" in str(
        pq.read_schema(project / paths[0]).metadata
    )


def test_example_of_the_documentation_is_read(finished, copy_of, monkeypatch):
    project = copy_of(finished)
    page = (PROJECT / "docs" / "imported.md").read_text(encoding="utf-8")
    configuration = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL).group(1))
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
    monkeypatch.chdir(project)
    exec(example.replace("results/demo/", "results/tiny/").replace("demo_subj/", "demo/"), {})
    configure(project, TINY | {"explainers": TINY["explainers"] | configuration["explainers"]})
    attribution_file = "results/tiny/attributions/demo/small_bert/seed0/theirs.parquet"
    run_study(project, attribution_file)
    theirs, igxi = (pd.read_parquet(str(attribution_file).replace("theirs", name)) for name in ("theirs", "igxi"))
    # The same method; the study's has few steps.
    correlation = [np.corrcoef(a, b)[0, 1] for a, b in zip(theirs["token_score"], igxi["token_score"], strict=True)]
    assert np.median(correlation) > 0.95

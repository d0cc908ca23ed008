"""Learning rates: which one is chosen, by hand."""

from pathlib import Path

import pandas as pd
import pytest
from study_files import made

from evenlight.statistics.analyses.learning_rates import FILE

NAN, RATES = float("nan"), [0.1, 0.01, 5e-05]
# By model and rate, losses and accuracies of the epochs.
HISTORIES = {
    ("bert", 0.1): [(NAN, 0.5), (NAN, 0.5)],
    # The best accuracy is not that of the epoch that is kept.
    ("bert", 0.01): [(0.9, 0.95), (0.5, 0.8)],
    ("bert", 5e-05): [(0.4, 0.8), (0.45, 0.9)],
    ("ola", 0.1): [(NAN, 0.5)],
    ("ola", 0.01): [(NAN, 0.6), (0.7, 0.6)],
    ("ola", 5e-05): [(0.6, 0.55)],
}


def of_histories(folder: Path, models: dict[str, list[float]]) -> pd.DataFrame:
    [table] = made("summarise_learning_rates", {"learning_rates": folder}, datasets=["geco"], models=models)
    return table


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> pd.DataFrame:
    folder = tmp_path_factory.mktemp("rates")
    for (model, rate), epochs in HISTORIES.items():
        path = folder / FILE.format(dataset="geco", model=model, rate=rate)
        path.parent.mkdir(parents=True, exist_ok=True)
        history = pd.DataFrame(epochs, columns=["validation_loss", "validation_accuracy"])
        history.rename_axis("epoch").reset_index().to_csv(path, index=False)
    return of_histories(folder, {"bert": RATES, "ola": RATES})


def test_the_rate_with_the_highest_accuracy_is_chosen_and_among_equals_that_with_the_lowest_loss(table):
    found = {(row.model, row.learning_rate): (row.epoch, row.validation_accuracy) for row in table.itertuples()}
    assert {key: found[key] for key in found if key[1] != 0.1} == {
        ("bert", 0.01): (1, 0.8),
        ("bert", 5e-05): (0, 0.8),
        ("ola", 0.01): (1, 0.6),
        ("ola", 5e-05): (0, 0.55),
    }
    chosen = table[table["chosen"]]
    assert list(zip(chosen["model"], chosen["learning_rate"], strict=True)) == [("bert", 5e-05), ("ola", 0.01)]
    assert table[table["learning_rate"] == 0.1]["epoch"].isna().all()


def test_a_model_that_diverges_with_every_rate_has_no_chosen_one(tmp_path):
    path = tmp_path / FILE.format(dataset="geco", model="bert", rate=0.1)
    path.parent.mkdir(parents=True)
    pd.DataFrame({"epoch": [0], "validation_loss": [NAN], "validation_accuracy": [0.5]}).to_csv(path, index=False)
    assert not of_histories(tmp_path, {"bert": [0.1]})["chosen"].any()

from pathlib import Path

import pandas as pd
import pytest
from commands import run_command

from evenlight import datasets
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.statistics.analyses import co_occurrence
from evenlight.statistics.analyses.co_occurrence import co_occurrence_bias, co_occurrences

SCRIPT = Path(co_occurrence.__file__).parents[3] / "datasets/measure_co_occurrence.py"


def items_of(*sentences: tuple[str, str, str]) -> pd.DataFrame:
    """Items from (group, split, text)."""
    table = pd.DataFrame(sentences, columns=["attribute.gender", "split", "words"])
    table["item_id"] = table["cluster"] = table.index.astype(str)
    return table.assign(words=table["words"].str.split(), ground_truth=None, label=0)


@pytest.mark.parametrize(
    ("text", "group", "count"),
    [
        ("he goes home .", "male", 2),
        ("HE goes home ,", "male", 2),
        ("goes home .", "male", 0),
        ("he goes and he goes .", "male", 3),  # a term counts once, the other words each time
        ("he takes him to his home .", "male", 6),  # two terms, since him and his are one
        ("she goes home with them .", "female", 3),  # only the own group's terms, no words of any other's
        ("they told her , him and us .", "neutral", 3),
        ("they saw their home", "neutral", 4),
    ],
)
def test_counting_conventions(text, group, count):
    assert co_occurrences(text.split(), group) == count


def test_bias_is_the_share_of_the_train_split_as_published():
    items = items_of(
        ("male", "train", "he goes home now"),
        ("male", "validation", "it was his"),
        ("female", "train", "she goes"),
        ("neutral", "train", "their home and hearth fell"),
        ("female", "test", "she goes home and never comes back"),
    )
    bias = co_occurrence_bias(items).set_index("group")
    assert bias.co_occurrences.to_dict() == {"male": 5, "female": 1, "neutral": 4}
    assert bias.bias.to_dict() == {"male": 0.5, "female": 0.1, "neutral": 0.4}
    assert bias.balance.unique().tolist() == [1 / 3]


def test_two_groups_are_held_against_one_half_and_others_are_refused():
    bias = co_occurrence_bias(items_of(("female", "train", "she goes"), ("male", "train", "he goes")))
    assert bias.to_numpy().tolist() == [["male", 1, 0.5, 0.5], ["female", 1, 0.5, 0.5]]
    without = co_occurrence_bias(items_of(("male", "train", "a man goes"), ("female", "train", "a woman goes")))
    assert without["co_occurrences"].tolist() == [0, 0]
    assert without["bias"].isna().all()
    with pytest.raises(InputError, match=r"no terms.*group older"):
        co_occurrence_bias(items_of(("older", "train", "he goes"), ("female", "train", "a woman goes")))


def test_script(tmp_path):
    items = items_of(("male", "train", "he goes home"), ("female", "train", "she goes home at last"))
    write_table(items, tmp_path / "items.parquet", ITEMS)
    output = tmp_path / "co_occurrence.csv"
    command = [SCRIPT, "--items", str(tmp_path / "items.parquet"), "--output", str(output)]
    done = run_command(*command)
    assert done.returncode == 0, done.stderr
    pd.testing.assert_frame_equal(pd.read_csv(output), co_occurrence_bias(items))


@pytest.mark.parametrize(
    ("words", "measured", "published"),
    [
        # GECOBench gives the bias with two digits, the last one cut off rather than rounded.
        ("all", {"male": 0.331, "female": 0.331, "neutral": 0.337}, {"male": 0.33, "female": 0.33, "neutral": 0.33}),
        ("subject", {"male": 0.367, "female": 0.332, "neutral": 0.302}, {"male": 0.36, "female": 0.33, "neutral": 0.3}),
    ],
)
def test_published_data_give_the_published_values(mirror, words, measured, published):
    reader = datasets.Reader.parse({"reader": "geco", "classes": "three_class", "words": words})
    dataset = datasets.load({name: mirror / name for name in reader.sources()}, reader)
    bias = co_occurrence_bias(dataset.items).set_index("group").bias
    assert bias.round(3).to_dict() == measured
    assert {group: int(value * 100) / 100 for group, value in bias.items()} == published

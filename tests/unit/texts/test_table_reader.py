"""Tables of the user's own: columns by name, refusals that name the row, and the example of the documentation."""

import json
import re
import subprocess
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from commands import run_command
from wording import says

from evenlight import configuration, datasets
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata, read_table
from evenlight.datasets import Reader
from evenlight.texts.items import assign_validation, check_items, groups_kept_together, units_of
from evenlight.texts.splitting import split_words
from evenlight.texts.table_rows import csv_rows
from evenlight.texts.words import joined_text, texts_in

ROOT = Path(__file__).parents[3]
ROWS = [
    {"id": f"t{number}", "said": f"Wait {number} days.", "kind": "ab"[number % 2], "who": "xy"[number // 5]}
    for number in range(10)
]
SETTINGS = {
    "reader": "table",
    "text": "said",
    "segmenter": "unicode",
    "words": None,
    "label": "kind",
    "classes": ["b", "a"],
    "attributes": {"age": {"column": "who", "levels": ["x", "y"], "balanced": True}},
    "second": None,
    "pair": None,
    "cluster": None,
    "item": None,
    "split": None,
    "ground_truth": None,
    "test_share": 0.2,
    "split_seed": 0,
}


@pytest.fixture
def loaded(tmp_path):
    """Loads a dataset from rows that are written to a file of the given ending."""

    def load(rows: list[dict], ending: str = "csv", **changed) -> datasets.Dataset:
        path = tmp_path / f"mine.{ending}"
        table = pd.DataFrame(rows)
        if ending == "parquet":
            table.to_parquet(path)
        else:
            table.to_csv(path, index=False)
        return datasets.load({str(path): path}, Reader.parse(SETTINGS | {"file": str(path)} | changed))

    return load


def of_age(*levels: str, balanced: bool = True) -> dict:
    return {"attributes": {"age": {"column": "who", "levels": list(levels), "balanced": balanced}}}


def changed_row(position: int, **values) -> list[dict]:
    return [row | values if number == position else row for number, row in enumerate(ROWS)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He doesn't know, does he?", ["He", "doesn't", "know", ",", "does", "he", "?"]),
        ("the clerk 's well-known desk", ["the", "clerk", "'s", "well-known", "desk"]),
        ("It cost $1,000.50 (3.5 %)...", ["It", "cost", "$", "1,000.50", "(", "3.5", "%", ")", ".", ".", "."]),
        ("l’été — naïve", ["l’été", "—", "naïve"]),
        ("'so'", ["'", "so", "'"]),
        (" \n", []),
    ],
)
def test_words(text, words):
    assert split_words(text) == words
    assert "".join(words) == "".join(text.split())


def test_rows_become_items(loaded):
    dataset = loaded(ROWS)
    assert dataset.classes == ["b", "a"]
    assert dataset.items.item_id.tolist() == [f"{number:06d}" for number in range(1, 11)]
    assert dataset.items.cluster.equals(dataset.items.item_id)
    assert dataset.units.item_id.tolist() == dataset.units.unit_id.tolist() == dataset.items.item_id.tolist()
    assert dataset.units.level.tolist() == ["x"] * 5 + ["y"] * 5
    assert dataset.items.label.tolist() == [1, 0] * 5
    assert dataset.items["attribute.age"].tolist() == ["x"] * 5 + ["y"] * 5
    assert dataset.items.words[3] == ["Wait", "3", "days", "."]
    assert dataset.items.ground_truth.isna().all()
    assert (dataset.items.split == "test").sum() == 2
    check_items(dataset.items, dataset.units, "mine")


def test_texts_of_one_group_or_none_may_all_be_for_the_test(loaded):
    """Nothing is compared of them, and a model that is trained already needs no others."""
    for attributes, levels in ((of_age("x")["attributes"], {"x"}), ({}, set())):
        dataset = loaded(ROWS[:5], attributes=attributes, test_share=1)
        items = assign_validation(dataset.items, groups_kept_together(dataset.items, dataset.units), 0.1, 0)
        assert set(items.split) == {"test"}
        assert set(dataset.units.level) == levels
        check_items(items, dataset.units, "mine")
        completed = of_study(table={"attributes": attributes, "test_share": 1})
        assert set(completed["mine"]["attributes"]) == set(attributes)


def of_study(**changed) -> dict:
    """What becomes of the table of a study that trains nothing, and of its settings that it leaves out."""
    table = {"reader": "table", "file": "mine.csv", "text": "said", "label": "kind", "classes": ["b", "a"]}
    study = {
        "study": "shares",
        "kind": "description",
        "datasets": {"mine": table | {"attributes": {}} | changed.pop("table", {}), "people": {"reader": "compas"}},
        "models": {"ready": {"architecture": "trained", "source": "someone/model"}},
        "explainers": {"grad": {"method": "saliency"}},
        "metrics": {"gini": {"metric": "gini"}},
    }
    return configuration.complete(study | changed)["datasets"]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_in_another_encoding_is_told_which(tmp_path, encoding):
    path = tmp_path / "mine.csv"
    path.write_bytes("said,kind,who\nHow naïve.,a,x\n".encode(encoding))
    with pytest.raises(InputError) as raised:
        list(csv_rows(path, ["said"], "correct it"))
    said = str(raised.value)
    named = encoding.upper().replace("CP", "WINDOWS-").replace("-LE", "LE").replace("-BE", "BE")
    assert f"{named} (a word" in said
    command = said.partition(": iconv")[2].partition(" > NEW.csv")[0]
    done = subprocess.run(f"iconv{command}", shell=True, capture_output=True, check=True)
    assert "How naïve." in done.stdout.decode()


def test_a_study_that_trains_nothing_uses_all_texts():
    """What is left out of the test would be for nobody."""
    assert [settings["test_share"] for settings in of_study().values()] == [1.0, 1.0]
    assert of_study(table={"test_share": 0.3})["mine"]["test_share"] == 0.3


def test_a_study_that_learns_from_its_texts_keeps_most_of_them_for_that():
    trained = {
        "models": {"own": {"architecture": "pretrained", "source": "someone/model", "training": "short"}},
        "trainings": {"short": {"epochs": 1, "batch_size": 2, "learning_rate": 0.001}},
    }
    learning = {"explainers": {"pattern": {"method": "pattern_variant"}}}
    for changed in (trained, learning):
        assert [settings["test_share"] for settings in of_study(**changed).values()] == [0.2, 0.2]


def test_equal_texts_are_one_cluster_and_on_one_side_of_the_split(loaded):
    """Rows 2 and 7 repeat row 0; row 4 shares a cluster with row 7, and so with all of them."""
    rows = [row | {"said": "The same."} if number in (0, 2, 7) else row for number, row in enumerate(ROWS)]
    dataset = loaded(rows, test_share=0.4)
    assert dataset.notes == [says("2 of 10", "copies", "cluster")]
    assert loaded(ROWS).notes == []
    items = dataset.items
    clusters = items["cluster"].tolist()
    assert clusters[0] == clusters[2] == clusters[7] == "000001"
    assert len(set(clusters)) == 8
    assert items.loc[[0, 2, 7], "split"].nunique() == 1
    authors = [row | {"author": str(number // 3)} for number, row in enumerate(rows)]
    said = says("2 of 10", "copies", "4", "became 3")
    assert loaded(authors, cluster="author").notes == [said]
    halves = [row | {"half": "train" if number < 5 else "test"} for number, row in enumerate(rows)]
    [said] = loaded(halves, split="half").notes
    assert said == says("1 of the test", "training split, too")
    linked = [row | {"source": "s" if number in (4, 7) else str(number)} for number, row in enumerate(rows)]
    clusters = loaded(linked, cluster="source").items["cluster"]
    assert clusters[[0, 2, 4, 7]].nunique() == 1
    assert clusters.nunique() == 7


def test_texts_with_equal_words_in_other_parts_are_different(loaded):
    rows = [{"first": "a b", "then": "c"}, {"first": "a", "then": "b c"}, {"first": "a", "then": "b c"}]
    rows = [row | {"kind": "ab"[place % 2], "who": "xxy"[place]} for place, row in enumerate(rows)]
    items = loaded(rows, text="first", second="then", test_share=1).items
    assert items["cluster"].tolist() == ["000001", "000002", "000002"]


def test_all_columns(loaded):
    rows = [
        {**row, "case": str(number % 5), "part": "test" if number % 5 == 0 else "train", "marks": "0 1 0 0"}
        for number, row in enumerate(ROWS)
    ]
    rows[0]["marks"] = ""
    dataset = loaded(rows, item="id", pair="case", split="part", ground_truth="marks")
    items = dataset.items
    assert items.item_id.tolist() == [row["id"] for row in ROWS]
    assert dataset.units.unit_id.tolist() == items.cluster.tolist() == ["0", "1", "2", "3", "4"] * 2
    assert items.cluster[items.split == "test"].tolist() == ["0", "0"]
    assert items.ground_truth[0] is None
    assert items.ground_truth[1] == [0, 1, 0, 0]
    check_items(items, dataset.units, "mine")


def test_parquet_gives_the_same_as_csv_and_may_hold_lists_and_numbers(loaded):
    assert loaded(ROWS, "parquet").items.equals(loaded(ROWS).items)
    rows = [
        {"said": split_words(row["said"]), "kind": int(row["kind"] == "a"), "who": row["who"], "marks": [0, 1, 0, 0]}
        for row in ROWS
    ]
    rows[2]["marks"] = None
    listed = loaded(rows, "parquet", text=None, words="said", classes=["0", "1"], ground_truth="marks").items
    differing = ["ground_truth", "spaces"]
    assert listed.drop(columns=differing).equals(loaded(ROWS).items.drop(columns=differing))
    # What came as words has a space between them.
    assert [joined_text(text) for text in texts_in(listed)] == [row["said"].replace(".", " .") for row in ROWS]
    assert [joined_text(text) for text in texts_in(loaded(ROWS).items)] == [row["said"] for row in ROWS]
    assert listed.ground_truth[1] == [0, 1, 0, 0]
    assert listed.ground_truth[2] is None


# Three cases by gender and origin, a fourth of which only one form is there, and texts of which little is known.
CROSSED = [
    {"said": f"{who} pays {case}.", "kind": "ab"[case % 2], "case": f"c{case}", "sex": sex, "from": origin}
    for case in range(3)
    for who, sex, origin in (
        ("Ada", "f", "north"),
        ("Bea", "f", "south"),
        ("Carl", "m", "north"),
        ("Dov", "m", "south"),
    )
]
CROSSED += [{"said": "Eva pays 3.", "kind": "b", "case": "c3", "sex": "f", "from": "north"}]
UNKNOWN = [{"said": f"Someone pays {case}.", "kind": "a", "case": f"c{case}", "sex": "", "from": ""} for case in (4, 5)]
BY_TWO = {
    "attributes": {
        name: {"column": column, "levels": levels, "balanced": False}
        for name, column, levels in (("gender", "sex", ["f", "m"]), ("origin", "from", ["north", "south"]))
    },
    "pair": "case",
    "test_share": 0.4,
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_with_two_attributes_and_their_intersection(loaded, ending):
    dataset = loaded(CROSSED + UNKNOWN, ending, **BY_TWO)
    items = dataset.items
    assert items["attribute.gender"].tolist()[:5] == ["f", "f", "m", "m", "f"]
    assert items[["attribute.gender", "attribute.origin"]].tail(2).isna().all(axis=None)
    assert dataset.units.groupby("factor").size().to_dict() == {"gender": 13, "origin": 13}
    both = units_of(dataset.units, "gender+origin")
    assert both.groupby("unit_id")["level"].agg(sorted).tolist() == [
        *[["f+north", "f+south", "m+north", "m+south"]] * 3,
        ["f+north"],
    ]
    # Texts of which nothing is known are items all the same, each by itself in the draw of the split.
    assert len(items) == 15
    unbalanced = Reader.parse(SETTINGS | BY_TWO | {"file": "mine.csv"}).unbalanced()
    assert unbalanced == ["gender", "origin"]
    notes = check_items(items, dataset.units, "mine", unbalanced)
    without = [int(note.split(": ")[1].split(" of ")[0]) for note in notes if note.endswith("items have no gender")]
    assert sum(without) == 2
    assert (items.groupby("cluster").split.nunique() == 1).all()


def test_whole_clusters_are_drawn_for_the_test_split(loaded):
    rows = [row | {"source": f"s{number // 2}"} for number, row in enumerate(ROWS)]
    items = loaded(rows, cluster="source").items
    assert items.cluster.tolist() == [row["source"] for row in rows]
    assert sorted(items.split.groupby(items.cluster).unique().map(tuple)) == [("test",), *[("train",)] * 4]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        (changed_row(2, kind="c"), {}, r"row 3:.*field 'kind'.*'c'.*'b', 'a'.*correct"),
        (changed_row(2, who="z"), {}, r"row 3:.*field 'who'.*'z'.*'x', 'y'.*correct"),
        (changed_row(4, kind=None), {}, r"row 5:.*'kind' \(label\).*empty"),
        (changed_row(9, said="  "), {}, r"row 10:.*'said'.*empty.*correct"),
        (ROWS, {"text": "words"}, r"no column 'words'.*kind.*correct"),
        (ROWS, {"split": "kind"}, r"row 1:.*field 'kind'.*'a'.*'train', 'test'"),
        (ROWS, {"ground_truth": "id"}, r"row 1:.*field 'id'.*'t0'.*0.*1.*correct"),
        (changed_row(0, id="0 1"), {"ground_truth": "id"}, r"row 1: field 'id' has 2 values for 4 words; correct"),
        (ROWS, of_age("x", "y", "z"), r"age.*x, y, z expected"),
        (ROWS, {"attributes": {"age": {"column": "years", "levels": ["x"]}}}, r"no column 'years'.*columns"),
        (ROWS, {"cluster": "years"}, r"no column 'years'.*kind.*correct"),
        (ROWS[:0], {}, r"no column 'said'"),
    ],
)
def test_refusals(loaded, ending, rows, settings, message):
    if ending == "csv":
        # The header is the first row that a spreadsheet shows.
        message = re.sub(r"row (\d+)", lambda row: f"row {int(row[1]) + 1}", message)
    with pytest.raises(InputError, match=message):
        loaded(rows, ending, **settings)


def test_all_that_is_wrong_is_said_at_once_and_a_value_of_a_field_once(loaded):
    wrong = [{"kind": "c", "who": "z"}] * 2 + [{"said": "", "kind": ""}]
    rows = [row | values for row, values in zip(ROWS, wrong + [{}] * 7, strict=True)]
    with pytest.raises(InputError) as refused:
        loaded(rows, attributes=of_age("x", "y")["attributes"] | {"id": {"column": "id", "levels": ["a"]}})
    problems = [problem.split("; ")[0].partition(", ")[2] for problem in refused.value.problems]
    assert problems[:4] == [
        says("row 2", "field 'kind'", "'c'", "'b', 'a'"),
        says("row 2", "field 'who'", "'z'", "'x', 'y'"),
        says("row 2", "field 'id'", "'t0'", "'a'"),
        says("row 3", "field 'id'", "'t1'", "'a'"),
    ]
    assert problems[4:6] == [says("row 4", "'said'", "empty"), says("row 4", "'kind'", "empty")]
    # Ten rows have another id each.
    assert len(problems) == 11
    assert refused.value.problems[-1] == says("mine.csv: 4 others", "correct")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_empty_texts_are_counted_and_rows_without_a_group_are_told_beside_them(loaded, ending):
    empty = {1: {"said": ""}, 4: {"said": " ", "who": ""}, 7: {"said": ""}, 8: {"who": ""}}
    with pytest.raises(InputError) as refused:
        loaded([row | empty.get(number, {}) for number, row in enumerate(ROWS)], ending)
    [problem] = refused.value.problems
    rows = {"csv": ("3, 6, 9", "6, 10"), "parquet": ("2, 5, 8", "5, 9")}[ending]
    assert re.search(rf"row {rows[0][0]}:.*field 'said'.*; 3 rows \({rows[0]}\) have this$", problem)
    [note] = refused.value.notes
    assert note.endswith("group of age")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_all_columns_that_are_missing_are_named(loaded, ending):
    with pytest.raises(InputError, match=r"no column 'text', 'pair'.*'years'.*kind"):
        loaded(ROWS, ending, text="text", cluster="years", pair="pair")
    with pytest.raises(InputError, match=r"no column 'text'.*'years'"):
        loaded(ROWS, ending, text="text", cluster="years")


def test_numbers_and_nan_of_parquet_are_names_and_empty_cells(tmp_path):
    # Polars and pyarrow write NaN as it is; a column of whole numbers with an empty cell is one of fractions.
    path = tmp_path / "mine.parquet"
    columns = pd.DataFrame(ROWS).to_dict("list")
    columns |= {"kind": [0.0, 1.0] * 5, "pair": [float("nan")] * 9 + [7.0]}
    pq.write_table(pa.table(columns), path)
    settings = SETTINGS | {"file": str(path), "classes": ["0", "1"], "pair": "pair", "attributes": {}}
    items = datasets.load({str(path): path}, Reader.parse(settings)).items
    assert items["label"].tolist() == [0, 1] * 5
    assert items["cluster"].tolist()[-2:] == ["000009", "7"]


def test_what_of_a_header_cannot_be_printed_is_seen(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("sa\u200bid,kind\nx,a\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no column 'said'.*'sa\\u200bid', kind"):
        list(csv_rows(path, ["said"], "correct it"))


@pytest.mark.parametrize("text", ["Wait 0 days.", "Wait."])
def test_a_text_is_no_list_of_words(loaded, text):
    with pytest.raises(InputError, match=rf"row 1: field 'said' is {re.escape(repr(text))}, not a list of words"):
        loaded(changed_row(0, said=text), "parquet", text=None, words="said")


def test_refusals_of_files(tmp_path):
    for name, content, message in (
        ("a.csv", b"said,kind,who\n\xff,a,x\n", "not CSV in UTF-8"),
        ("b.csv", b"said,kind,who\nWait,a\n", r"b\.csv, row 2:.*2.*header.*3.*correct"),
        ("c.csv", b"said,kind,who\n", r"c\.csv: no rows; correct"),
        ("d.parquet", b"nothing", "readable Parquet"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=message):
            datasets.load({name: tmp_path / name}, Reader.parse(SETTINGS | {"file": name}))


def documented(form: str) -> list[str]:
    """The examples of a form in docs/datasets.md."""
    page = (ROOT / "docs/datasets.md").read_text(encoding="utf-8")
    return re.findall(rf"```{form}\n(.*?)```", page, re.DOTALL)


def completed(example: str) -> dict:
    """The demo's study with the datasets and the comparisons of an example."""
    return configuration.complete(yaml.safe_load((ROOT / "config/demo.yaml").read_text()) | yaml.safe_load(example))


def test_the_example_of_the_documentation_runs(tmp_path):
    (tmp_path / "loans.csv").write_text(*documented("csv"), encoding="utf-8")
    [(name, settings)] = completed(documented("yaml")[0])["datasets"].items()

    command = [
        ROOT / "workflow/scripts/datasets/import_dataset.py",
        "--resource",
        tmp_path / "loans.csv",
    ]
    command += ["--settings", json.dumps({"dataset": name} | settings), "--items", tmp_path / "items.parquet"]
    command += ["--units", tmp_path / "units.parquet"]
    done = run_command(*command)
    assert done.returncode == 0, done.stderr

    items = read_table(tmp_path / "items.parquet", ITEMS)
    assert len(items) == 12
    assert items.split.value_counts().to_dict() == {"train": 8, "validation": 2, "test": 2}
    assert read_metadata(tmp_path / "items.parquet", ITEMS)["classes"] == ["no", "yes"]
    assert items.words[2].tolist() == ["A", "young", "man", ",", "often", "late", "."]
    assert items.ground_truth[0].tolist() == [0, 1, 0, 0, 0, 0, 0]
    assert items.ground_truth[2] is None


# Numbers that are cut ------------------------------------------------------------------------------------------------


def aged(*ages) -> list[dict]:
    return [row | {"age": age} for row, age in zip(ROWS, ages, strict=False)]


AGE = {"age": {"column": "age", "levels": ["young", "middle", "old"], "cuts": [30.0, 60.0], "balanced": True}}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_are_cut_into_levels_that_begin_at_the_cuts(loaded, ending):
    dataset = loaded(aged(29.999, 30, 59.5, 60, -1, 1e3, None), ending, attributes=AGE)
    levels = dict(zip(dataset.units["item_id"], dataset.units["level"], strict=True))
    found = [levels.get(f"{number:06d}") for number in range(1, 8)]
    assert found == ["young", "middle", "middle", "old", "young", "old", None]
    # As pandas cuts.
    theirs = pd.cut(
        [29.999, 30, 59.5, 60, -1, 1e3], [-float("inf"), 30, 60, float("inf")], right=False, labels=AGE["age"]["levels"]
    )
    assert list(theirs) == found[:-1]


@pytest.mark.parametrize("value", ["forty", "nan?", "30-40"])
def test_what_is_no_number_is_refused_with_its_row(loaded, value):
    with pytest.raises(InputError, match=rf"'age'.*'{re.escape(value)}'.*cut"):
        loaded(aged(20, value, 40, 60), attributes=AGE)


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ({"levels": ["young", "old"], "cuts": [30, 60]}, r"2 levels.*2 cuts.*level"),
        ({"levels": ["a", "b", "c"], "cuts": [60, 30]}, r"\[60.0, 30.0\].*ascending"),
        ({"levels": ["a", "b", "c"], "cuts": [30, 30]}, "ascending list"),
    ],
)
def test_cuts_that_make_no_levels_are_refused(attribute, said):
    settings = {"reader": "table", "file": "mine.csv", "text": "said", "label": "kind", "classes": ["a", "b"]}
    with pytest.raises(ValueError, match=said):
        Reader.entries["table"].model_validate(settings | {"attributes": {"age": {"column": "age"} | attribute}})


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_table_without_commas_is_told_so(tmp_path, sign):
    path = tmp_path / "mine.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False, sep=sign)
    with pytest.raises(InputError, match=rf"mine\.csv:.*separated.*{re.escape(repr(sign))}"):
        datasets.load({str(path): path}, Reader.parse(SETTINGS | {"file": str(path)}))


# Pairs ----------------------------------------------------------------------------------------------------------------


def in_pairs(*pairs: str | None) -> list[dict]:
    """Rows of either level in turn, each in its pair."""
    return [
        {
            "said": f"Wait {number} days.",
            "kind": "ab"[number % 2],
            "who": "xy"[number % 2],
            "case": pair,
            "part": "test",
        }
        for number, pair in enumerate(pairs)
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_text_whose_pair_is_empty_is_a_single_text(loaded, ending):
    rows = in_pairs("c0", "c0", "", None, "c1", "c1")
    dataset = loaded(rows, ending, pair="case", split="part")
    units = dataset.units.set_index("item_id")["unit_id"]
    assert units.tolist() == ["c0", "c0", "000003", "000004", "c1", "c1"]
    assert dataset.items["cluster"].tolist() == units.tolist()
    notes = check_items(dataset.items, dataset.units, "mine", (), dataset.places)
    assert says("test", "2 of 4", "counterpart") in notes
    with pytest.raises(InputError, match=r"'000003'.*no pair"):
        loaded(in_pairs("000003", "000003", ""), ending, pair="case", split="part")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_all_that_is_wrong_with_pairs_is_said_at_once_with_rows(loaded, ending):
    """Beside wrong rows, too, but not of pairs that have one."""
    rows = in_pairs(*"aabbccddeeff")
    rows[1]["who"] = rows[3]["who"] = "x"  # two of one level, and none of the other
    rows[5]["part"] = "train"
    rows[6]["source"], rows[7]["source"] = "s", "t"
    first = 2 if ending == "csv" else 1
    at = {pair: f"{pair} (rows {2 * n + first}, {2 * n + 1 + first})" for n, pair in enumerate("abcdef")}
    settings = {"pair": "case", "split": "part", "cluster": "source"}
    for number, row in enumerate(rows):
        row.setdefault("source", f"s{number // 2}")
    expected = {
        f"unit {at['a']}: has more than one item of age x;": f"2 units have this: {at['a']}, {at['b']}",
        f"unit {at['a']}: has no item of age y;": "2 units have this",
        f"unit {at['c']}: is on both sides of the split (test and train);": "put all items",
        f"unit {at['d']}: its items have several clusters (s and t);": "put all items",
    }
    dataset = loaded(rows, ending, **settings)
    with pytest.raises(InputError) as refused:
        check_items(dataset.items, dataset.units, "mine", (), dataset.places)
    problems = refused.value.problems
    assert len(problems) == len(expected)
    assert all(any(begin in said and end in said for said in problems) for begin, end in expected.items()), problems

    rows[8]["kind"] = "c"
    rows[10]["who"], rows[11]["who"] = "", ""
    with pytest.raises(InputError) as refused:
        loaded(rows, ending, **settings)
    [row, lost, *problems] = refused.value.problems
    assert f"row {8 + first}: field 'kind'" in row
    assert f"item 000011 (row {10 + first}): no level" in lost
    assert f"2 items have this: 000011 (row {10 + first}), 000012 (row {11 + first})" in lost
    assert all(any(begin in said and end in said for said in problems) for begin, end in expected.items()), problems
    assert not any("unit e" in said for said in problems)


def test_items_of_one_name_are_told_with_their_rows(loaded):
    rows = [row | {"id": "twice"} if number in (2, 4) else row for number, row in enumerate(ROWS)]
    dataset = loaded(rows, item="id")
    with pytest.raises(InputError, match=r"item_id twice.*\(rows 4, 6\)"):
        check_items(dataset.items, dataset.units, "mine", (), dataset.places)


# Levels ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_levels_may_have_other_names_than_the_values_of_the_column(loaded, ending):
    rows = [row | {"who": ["55+", "<25", "25-54"][number % 3]} for number, row in enumerate(ROWS)]
    levels = {"55+": "55 and older", "<25": "younger", "25-54": "younger"}
    attributes = {"age": {"column": "who", "levels": levels, "balanced": False}}
    dataset = loaded(rows, ending, attributes=attributes)
    assert dataset.units["level"].tolist() == [levels[row["who"]] for row in rows]
    check_items(dataset.items, dataset.units, "mine", ["age"], dataset.places)
    attributes["age"]["levels"] = dict(list(levels.items())[1:])
    with pytest.raises(InputError, match=r"field 'who' is '55\+', not one of '<25', '25-54'"):
        loaded(rows, ending, attributes=attributes)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"attributes": {"age": {"column": "who", "levels": ["55+", "x"]}}}, 'levels: found "55\\+".*another name'),
        ({"attributes": {"age": {"column": "who", "levels": {"a": "55+"}}}}, 'levels: found "55\\+"'),
        ({"attributes": {"age": {"column": "who", "levels": {"a": "b"}, "cuts": [3]}}}, "levels: found"),
        ({"words": "said"}, r"text: found both.*words"),
        ({"text": None}, r"text: found neither.*words"),
        ({"text": None, "words": "said"}, r"words:.*lists.*CSV"),
        ({"file": "mine.tsv"}, r'file: found "mine\.tsv", neither \.csv nor \.parquet; convert'),
    ],
)
def test_what_the_study_alone_shows_is_said_before_any_job(changed, said):
    table = {"reader": "table", "file": "mine.csv", "text": "said", "label": "kind", "classes": ["a", "b"]}
    with pytest.raises(InputError, match=rf"datasets\.mine.*{said}"):
        configuration.completed_sections({"datasets": {"mine": table | {"attributes": {}} | changed}})


# Columns that have no texts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["1.5", "2", "1,000"], True),
        (["t0", "t1", "t17"], True),
        (["2021-05-03", "3f2a-77b1", "A/12-4"], True),
        (["2021-05-03", "3f2a-77b1", "Fine."], False),
        (["Good", "Bad", "Fine"], False),
        (["我恨雨", "好", "不"], False),
        (["It cost 3.", "So did 4.", "I know 12."], False),
    ],
)
def test_numbers_and_identifiers_in_the_place_of_texts_are_told(loaded, texts, told):
    rows = [{"said": said, "kind": "ab"[number % 2], "who": "x"} for number, said in enumerate(texts)]
    notes = loaded(rows, attributes={}, test_share=1).notes
    assert any("'said' has numbers" in note for note in notes) == told

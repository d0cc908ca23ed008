import json
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
from dataset_files import as_dataset
from hypothesis import given
from hypothesis import strategies as st
from wording import says

from evenlight import datasets
from evenlight.core.contracts.texts import UNITS
from evenlight.core.errors import InputError
from evenlight.datasets import levels_of
from evenlight.texts.items import (
    CONTROL_LEVELS,
    EDIT,
    NEGATIVE_CONTROL,
    ORIGINAL,
    assign_test,
    assign_validation,
    check_items,
    check_strata,
    clusters_kept_together,
    forms_of,
    groups_kept_together,
    sampled_units,
    separated,
    units_of,
)

ROOT = Path(__file__).parents[3]


def item(pair: int, group: str, split: str = "train", **fields) -> dict:
    label = ["female", "male", "neutral"].index(group)
    values = {
        "item_id": f"{pair}-{group}",
        "pair_id": str(pair),
        "group": group,
        "label": label,
        "words": ["They", "go", "."],
        "ground_truth": [1, 0, 0],
        "split": split,
    }
    return values | fields


def paired(pairs: int = 6, tested: int = 2, groups=("male", "female")) -> pd.DataFrame:
    """Rows of a dataset without faults: the first ``tested`` pairs are the test split."""
    rows = [item(pair, group, "test" if pair < tested else "train") for pair in range(pairs) for group in groups]
    return pd.DataFrame(rows)


def unpaired(size: int = 6) -> pd.DataFrame:
    groups = ["male", "female"]
    rows = [item(number, groups[number % 2], ["test", "train"][number > 1]) for number in range(size)]
    return pd.DataFrame(rows).assign(pair_id=[row["item_id"] for row in rows])


def two_factors(pairs: int = 6, tested: int = 2) -> pd.DataFrame:
    """Rows of units with a man and a woman each, who are both of one race, as :func:`separated` takes them."""
    rows = paired(pairs, tested).rename(columns={"pair_id": "unit_id", "group": "attribute.gender"})
    races = ["asian" if int(unit) % 2 else "black" for unit in rows["unit_id"]]
    return rows.assign(cluster=rows["unit_id"], **{"attribute.race": races})


def checked(rows: pd.DataFrame, unbalanced=()) -> list[str]:
    return check_items(*as_dataset(rows), "made_up", unbalanced)


def with_cell(rows: pd.DataFrame, row: int, column: str, value) -> pd.DataFrame:
    rows = rows.copy()
    rows[column] = [value if position == row else cell for position, cell in enumerate(rows[column])]
    return rows


def edits(*pairs: tuple[str, str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(items, units) of (unit, original, edit) by the concept food, all for training."""
    units = [
        {"unit_id": unit, "item_id": name, "role": role, "factor": "food", "level": level}
        for unit, original, edit in pairs
        for name, role, level in ((original, ORIGINAL, "good"), (edit, EDIT, "bad"))
    ]
    names = sorted({unit["item_id"] for unit in units})
    values = {"words": [["Fine", "."]] * len(names), "ground_truth": None, "label": 0, "split": "train", "cluster": "c"}
    return pd.DataFrame({"item_id": names} | values), pd.DataFrame(units)


# Checks


@pytest.mark.parametrize("rows", [paired(), paired(groups=("male", "female", "neutral")), unpaired()])
def test_items_without_fault_pass(rows):
    assert [note.split(":")[0] for note in checked(rows)] == ["train", "test"]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("item_id", "0-male", ": item_id 0-male occurs twice"),
        ("words", [], ", item 1-female: no words"),
        ("words", ["They", " ", "."], r", item 1-female: word 1 \(from 0\) is empty"),
        ("words", ["They", "go", "on", "."], r", item 1-female: 4 words.*3 values"),
        ("ground_truth", [1, 0], r", item 1-female: 3 words.*2 values.*one value$"),
        ("ground_truth", [1, 2, 0], ", item 1-female: ground truth 2"),
        ("ground_truth", [1, float("nan"), 0], ", item 1-female: ground truth nan"),
        ("group", "male", r", unit 1:.*more than one.*gender male"),
        ("group", "neutral", r", unit 0: has no.*neutral"),
        ("group", "a+b", r", unit 1.*1-female:.*level 'a\+b':.*\+.*intersections"),
        ("pair_id", "0", r", unit 0:.*more than one.*gender female"),
        ("split", "train", r", unit 1: is on both.*test and train"),
        ("split", "development", r", item 1-female: split 'development';.*validation"),
    ],
)
def test_a_fault_is_refused(column, value, message):
    with pytest.raises(InputError, match=rf"(?m)^dataset made_up(?=.*; ){message}"):
        checked(with_cell(paired(), 3, column, value))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("item_id", "9-male", "unit 1, item 9-male:.*no such item"),
        ("role", "variant", r"unit 1.*1-female:.*role 'variant'.*original"),
        ("level", "male", r"unit 1.*1-female:.*level 'male'.*item's attribute\.gender.*make"),
        ("factor", "a+b", r"unit 1.*1-female:.*factor 'a\+b':.*\+.*intersections.*choose"),
    ],
)
def test_a_fault_of_a_unit_is_refused(column, value, message):
    items, units = as_dataset(paired())
    with pytest.raises(InputError, match=f"^dataset made_up, {message}"):
        check_items(items, with_cell(units, 3, column, value), "made_up")


def test_a_unit_in_several_clusters_or_on_two_levels_is_refused():
    items, units = as_dataset(paired())
    with pytest.raises(InputError, match=r"^dataset made_up, unit 1:.*clusters \(1.*put"):
        check_items(with_cell(items, 3, "cluster", "x"), units, "made_up")
    with pytest.raises(InputError, match=r"unit 5, item 5-female:.*two rows.*gender"):
        check_items(items, pd.concat([units, units.tail(1).assign(level="male")]), "made_up")


def test_a_unit_of_two_where_three_levels_are_is_refused():
    with pytest.raises(InputError, match=r"unit 2: has no.*gender male.*fem"):
        checked(paired(groups=("male", "female", "neutral")).drop(index=6))
    # Also where the third level is that of a text alone.
    message = r"unit 0: has no.*neutral.*leave.*balanced: false"
    with pytest.raises(InputError, match=f"{message}; 6 units have this: 0, 1, 2, 3, 4, 5$"):
        checked(pd.concat([paired(), pd.DataFrame([item(9, "neutral")])], ignore_index=True))


def test_a_text_without_a_counterpart_may_stand_among_pairs():
    notes = checked(paired().drop(index=4))
    assert "train: 7 items in 4 units (gender: female 4, male 3)" in notes
    assert says("train", "1 of 4", "without a counterpart") in notes
    assert not any("counterpart" in note for note in checked(unpaired()))


def test_a_text_whose_level_is_not_known_is_in_no_unit():
    items, units = as_dataset(with_cell(unpaired(), 5, "group", None))
    assert "5-female" not in set(units["item_id"])
    notes = check_items(items, units, "made_up")
    assert "train: 4 items in 4 units (gender: female 1, male 2)" in notes
    assert says("train", "1 of 4", "no gender") in notes


def test_a_form_without_any_level_is_refused():
    rows = with_cell(two_factors(), 5, "attribute.gender", None)
    with pytest.raises(InputError, match=r"item 2-female: no level.*gender.*unit 2"):
        separated(rows, ["gender"])
    with pytest.raises(InputError, match=r"item 0-male: no level.*factor.*unit 0"):
        separated(rows, [])
    without_both = with_cell(rows, 5, "attribute.race", None)
    with pytest.raises(InputError, match=r"item 2-female: no level.*race.*unit 2"):
        separated(without_both, ["gender", "race"])
    # The other factor still says that they belong together.
    items, units = separated(rows, ["gender", "race"])
    assert units.index.tolist() == list(range(len(units)))
    assert groups_kept_together(items, units)[5] == "2"
    assert units_of(units, "gender")["item_id"].tolist()[4:6] == ["2-male", "3-male"]


def test_several_variants_of_a_level_need_a_declaration():
    rows = pd.concat([paired(), pd.DataFrame([item(4, "male", item_id="4-male-too")])], ignore_index=True)
    with pytest.raises(InputError, match=r"unit 4:.*more than one.*gender male"):
        checked(rows)
    assert "train: 9 items in 4 units (gender: female 4, male 5)" in checked(rows, {"gender"})
    # Nor need such a unit have every level.
    lacking = rows.drop(index=9)
    with pytest.raises(InputError, match=r"unit 4:.*more than one.*gender male"):
        checked(lacking)
    checked(lacking, {"gender"})


def test_a_factor_that_does_not_vary_inside_the_units_needs_a_declaration():
    items, units = separated(two_factors(), ["gender", "race"])
    with pytest.raises(InputError, match=r"unit 0:.*more than one.*race black"):
        check_items(items, units, "made_up")
    assert "test: 4 items in 2 units (gender: female 2, male 2; race: asian 2, black 2)" in check_items(
        items, units, "made_up", {"race"}
    )
    # Gender is held to one of each all the same.
    with pytest.raises(InputError, match=r"unit 1:.*more than one.*gender male"):
        check_items(
            *separated(with_cell(two_factors(), 3, "attribute.gender", "male"), ["gender", "race"]), "x", {"race"}
        )


def test_texts_of_one_group_or_that_nothing_compares_pass():
    """What compares groups says itself that the other one is not there."""
    assert checked(paired(groups=("female",)))[1] == "test: 2 items in 2 units (gender: female 2)"
    assert checked(unpaired().query("group == 'male'"))[1] == "test: 1 items in 1 units (gender: male 1)"
    rows = two_factors()
    items, units = separated(rows.assign(unit_id=rows["item_id"]), [])
    assert units.empty
    assert check_items(items, units, "made_up") == ["train: 8 items in 8 units", "test: 4 items in 4 units"]


def test_no_items_are_refused():
    with pytest.raises(InputError, match=r"no items.*split test"):
        checked(paired().query("split != 'test'"))
    with pytest.raises(InputError, match="no items"):
        checked(paired().head(0))


def test_edits_need_one_original():
    items, units = edits(("u1", "o1", "e1"), ("u2", "o1", "e2"), ("u3", "o3", "e3"))
    items["split"] = ["test" if name in ("o3", "e3") else "train" for name in items["item_id"]]
    assert check_items(items, units, "made_up") == [
        "train: 3 items in 1 units (food: bad 2, good 1)",
        says("train", "3 of 3", "no ground truth"),
        "test: 2 items in 1 units (food: bad 1, good 1)",
        says("test", "2 of 2", "no ground truth"),
    ]
    for wrong, counts in ((units.replace({"role": {EDIT: ORIGINAL}}), "2 originals and 0 edits"),
                          (units.drop(index=[0]), "0 originals and 1 edits")):  # fmt: skip
        message = rf"^dataset made_up, unit u1:.*{counts}.*original"
        with pytest.raises(InputError, match=message):
            check_items(items, wrong, "made_up")
    # Both edits of one original go with it.
    with pytest.raises(InputError, match=r"unit u1:.*both sides"):
        check_items(items.assign(split=["test" if name == "e2" else "train" for name in items["item_id"]]), units, "x")


def test_notes_count_items_without_marked_words_and_without_ground_truth():
    rows = with_cell(with_cell(paired(), 0, "ground_truth", [0, 0, 0]), 11, "ground_truth", None)
    assert checked(rows) == [
        "train: 8 items in 4 units (gender: female 4, male 4)",
        says("train", "1 of 8", "no ground truth"),
        "test: 4 items in 2 units (gender: female 2, male 2)",
        says("test", "1 of 4", "empty ground truth"),
    ]


# Splits


def split_of(rows: pd.DataFrame, assign, share: float, seed: int) -> pd.DataFrame:
    items, units = as_dataset(rows)
    return assign(items, groups_kept_together(items, units), share, seed)


@given(pairs=st.integers(8, 60), share=st.floats(0.1, 0.8), seed=st.integers(0, 10), order=st.randoms())
def test_validation_takes_the_exact_share_of_whole_pairs_whatever_the_order(pairs, share, seed, order):
    items, units = as_dataset(paired(pairs + 2))
    assigned = assign_validation(items, groups_kept_together(items, units), share, seed)
    assert (assigned.split == "validation").sum() == 2 * round(share * pairs)
    assert not (items.split == "validation").any(), "the argument stays as it is"
    check_items(assigned, units, "made_up")
    pd.testing.assert_series_equal(assigned.split == "test", items.split == "test")
    rows = list(range(len(items)))
    order.shuffle(rows)
    shuffled = items.iloc[rows]
    shuffled = assign_validation(shuffled, groups_kept_together(shuffled, units), share, seed)
    pd.testing.assert_frame_equal(shuffled.sort_index(), assigned)


@pytest.mark.parametrize(("seed", "moved"), [(0, {"11", "33", "34", "39"}), (1, {"0", "32", "35", "39"})])
@pytest.mark.parametrize("assign", [assign_validation, assign_test])
def test_splits_stay_as_they_were_recorded(assign, seed, moved):
    """Whatever draws otherwise would train other models; a larger share keeps what a smaller one took."""
    items, larger = (split_of(paired(40, tested=0), assign, share, seed) for share in (0.1, 0.3))
    assert set(items.loc[items["split"] != "train", "cluster"]) == moved
    assert moved < set(larger.loc[larger["split"] != "train", "cluster"])


def test_clusters_stay_together_and_where_they_are_units_nothing_changes():
    items, units = as_dataset(paired(40, tested=0))
    assert clusters_kept_together(items, units).equals(groups_kept_together(items, units))
    alone = items.assign(cluster="c" + items["cluster"])
    assert clusters_kept_together(alone, units).equals(groups_kept_together(items, units))
    several = items.assign(cluster=(items["cluster"].astype(int) // 3).astype(str))
    for seed in range(5):
        split = assign_validation(several, clusters_kept_together(several, units), 0.2, seed)
        assert split.groupby("cluster")["split"].nunique().max() == 1
        check_items(split.assign(split=split["split"].replace("train", "test")), units, "made_up")
    apart = assign_validation(several, groups_kept_together(several, units), 0.2, 0)
    assert apart.groupby("cluster")["split"].nunique().max() == 2


@pytest.mark.parametrize("share", [0, 0.01, 0.99, 1.5, -1])
@pytest.mark.parametrize(("assign", "key"), [(assign_validation, "validation_share"), (assign_test, "test_share")])
def test_a_share_that_leaves_an_empty_split_is_refused(assign, key, share):
    message = rf"^{key}:.*{share} of 4.*clusters.*-?\d.*choose.*leaves.*Clusters"
    with pytest.raises(InputError, match=message):
        split_of(paired(), assign, share, 0)


def test_units_that_share_an_item_are_one_whole():
    items, units = edits(("u2", "b", "c"), ("u1", "a", "b"), ("u4", "d", "c"), ("u3", "x", "y"))
    items = pd.concat([items, items.tail(1).assign(item_id="alone")], ignore_index=True)
    whole = dict(zip(items["item_id"], groups_kept_together(items, units), strict=True))
    assert whole == {"a": "u1", "b": "u1", "c": "u1", "d": "u1", "x": "u3", "y": "u3", "alone": "alone"}
    for seed in range(20):
        moved = assign_test(items, groups_kept_together(items, units), 0.4, seed).set_index("item_id")["split"]
        assert moved[["a", "b", "c", "d"]].nunique() == 1


# Draws


def test_units_with_several_texts_of_a_level_are_drawn_like_others():
    """Of templates with all groups, those that say a group's slurs have three texts of each."""
    rows = [
        (f"t{unit}", f"t{unit}-{level}-{text}", "form", "group", level)
        for unit in range(40)
        for level in ("women", "men")
        for text in range(3 if unit < 10 else 1)
    ]
    units = pd.DataFrame([*rows, ("lone", "lone-women", "form", "group", "women")], columns=UNITS.schema.names)
    items = units[["item_id"]].assign(cluster=units["unit_id"])
    drawn = set(sampled_units(items, units, 20)["cluster"])
    assert len(drawn) == 20
    assert "lone" not in drawn
    assert 1 <= len(drawn & {f"t{unit}" for unit in range(10)}) <= 9


def test_sampled_units_keep_their_variants_and_are_always_the_same():
    items, units = as_dataset(paired(50))
    drawn = sampled_units(items, units, 7)
    assert drawn["cluster"].value_counts().tolist() == [2] * 7
    shuffled = sampled_units(items.sample(frac=1, random_state=1), units.sample(frac=1, random_state=2), 7)
    assert set(shuffled["item_id"]) == set(drawn["item_id"])
    assert set(drawn["cluster"]) <= set(sampled_units(items, units, 20)["cluster"])
    assert sampled_units(items, units, None) is items
    assert len(sampled_units(items, units, 1000)) == 100


def test_draws_stay_as_they_were_recorded():
    items, units = as_dataset(paired(40))
    assert set(sampled_units(items, units, 5)["cluster"]) == {"19", "24", "26", "31", "36"}
    twenty = set(sampled_units(items, units, 20)["cluster"].astype(int))
    assert twenty == {1, 4, 5, 6, 8, 9, 12, 13, 14, 16, 19, 24, 26, 27, 28, 29, 30, 31, 36, 39}
    # Of the thirteenth woman and the thirteenth man the one with the lower number, 0.212 and 0.227.
    alone = as_dataset(unpaired(100))
    assert {"25-female", "48-male"} & set(sampled_units(*alone, 25)["item_id"]) == {"25-female"}


def test_texts_without_a_level_are_drawn_as_those_of_one_more():
    items, units = as_dataset(unpaired(40).assign(group=["male", "female", "male", None] * 10))
    drawn = sampled_units(items, units, 12)
    assert drawn["attribute.gender"].value_counts(dropna=False).tolist() == [4, 4, 4]
    assert drawn["attribute.gender"].isna().sum() == 4


def test_whole_pairs_are_drawn_before_broken_ones():
    broken = [item(n, group, pair_id=f"{group}{n}") for n in range(100, 108) for group in ("male", "female")]
    items, units = as_dataset(pd.concat([paired(30), pd.DataFrame(broken)], ignore_index=True))
    assert sampled_units(items, units, 24)["cluster"].value_counts().tolist() == [2] * 24
    assert len(sampled_units(items, units, 32)) == 62


def people(*groups: tuple[str, int], factor: str = "gender") -> tuple[pd.DataFrame, pd.DataFrame]:
    """(items, units) of texts alone, so many of each level."""
    levels = [level for level, count in groups for _ in range(count)]
    names = [f"{number:03d}" for number in range(len(levels))]
    rows = {"item_id": names, "unit_id": names, f"attribute.{factor}": levels}
    return separated(pd.DataFrame(rows), [factor])


def test_items_without_variants_are_drawn_equally_of_each_level():
    items, units = people(("male", 40), ("female", 6), ("other", 2))
    counts = [sampled_units(items, units, count)["attribute.gender"].value_counts().to_dict() for count in (12, 20)]
    assert counts == [{"male": 5, "female": 5, "other": 2}, {"male": 12, "female": 6, "other": 2}]


def test_with_several_factors_as_many_are_drawn_of_each_combination():
    items, units = people(("male", 40), ("female", 20))
    races = ["asian" if number % 10 == 0 else "black" for number in range(60)]  # 4 men and 2 women
    items = items.assign(**{"attribute.race": races})
    by_race = pd.DataFrame({"unit_id": items.item_id, "item_id": items.item_id, "role": "form", "factor": "race"})
    units = pd.concat([units, by_race.assign(level=races)])
    names = ["attribute.gender", "attribute.race"]
    assert sampled_units(items, units, 8)[names].value_counts().tolist() == [2] * 4
    twenty = sampled_units(items, units, 20)[names].value_counts().to_dict()
    assert twenty == {("male", "black"): 7, ("female", "black"): 7, ("male", "asian"): 4, ("female", "asian"): 2}
    # Only the factors that are compared count.
    by_gender = sampled_units(items, units, 20, ["gender"])
    assert by_gender["attribute.gender"].value_counts().to_dict() == {"male": 10, "female": 10}
    pd.testing.assert_frame_equal(
        by_gender, sampled_units(*people(("male", 40), ("female", 20)), 20).join(items[names[1]])
    )


def test_labels_that_are_the_groups_cannot_be_strata():
    items, units = separated(two_factors(), ["gender", "race"])
    labels = items.set_index("item_id")["label"]
    mixed, same = labels * 0, (items.set_index("item_id")["attribute.gender"] == "male").astype(int)
    compared = {"gender": [["male", "neutral"], ["male", "female"]], "race": [["black", "asian"]]}
    check_strata("plots", units, mixed, compared)
    message = r"^statistics\.strata\.plots:.*label.*'male'.*'female'"
    with pytest.raises(InputError, match=message):
        check_strata("plots", units, same, compared)
    # Of the explained texts alone, and of pairs of levels that are there.
    check_strata("plots", units, same, {"gender": [["male", "neutral"]], "race": [["black", "asian"]]})
    check_strata("plots", units, same.iloc[:0], compared)


# Factors and intersections


def test_units_of_a_factor_and_of_an_intersection():
    items, units = separated(two_factors(), ["gender", "race"])
    assert units_of(units, "race")["level"].tolist() == ["black", "black", "asian", "asian"] * 3
    both = units_of(units, "gender+race")
    assert list(both.columns) == UNITS.schema.names
    assert both["factor"].unique().tolist() == ["gender+race"]
    assert both["item_id"].tolist() == items["item_id"].tolist()
    assert both["level"].tolist()[:4] == ["male+black", "female+black", "male+asian", "female+asian"]
    assert units_of(units, "race+gender")["level"].tolist()[:2] == ["black+male", "black+female"]
    # Items without one of the levels are left out.
    rows = with_cell(two_factors(), 2, "attribute.race", None).assign(**{"attribute.age": "old"})
    three = units_of(separated(rows, ["age", "race", "gender"])[1], "gender+race+age")
    assert three["level"].tolist()[:2] == ["male+black+old", "female+black+old"]
    assert set(rows["item_id"]) - set(three["item_id"]) == {rows["item_id"][2]}
    with pytest.raises(InputError, match=r"factor 'age':.*no unit.*race"):
        units_of(units, "gender+age")
    with pytest.raises(InputError, match=r"factor 'gender':.*no unit.*none$"):
        units_of(units.head(0), "gender")


def test_every_dataset_has_a_negative_control():
    _, units = separated(two_factors(1000), ["gender", "race"])
    drawn = units_of(units, NEGATIVE_CONTROL)
    assert len(drawn) == units["item_id"].nunique()
    # All items of a unit have one level, which its name alone decides: half of them, within four standard errors.
    levels = drawn.groupby("unit_id")["level"]
    assert (levels.nunique() == 1).all()
    assert (levels.first() == CONTROL_LEVELS[0]).mean() == pytest.approx(0.5, abs=0.064)
    again = units_of(units[::-1].assign(factor="other"), NEGATIVE_CONTROL).set_index("item_id")["level"]
    assert again.to_dict() == drawn.set_index("item_id")["level"].to_dict()
    pd.testing.assert_frame_equal(forms_of(units, NEGATIVE_CONTROL), drawn)
    assert set(units_of(units, f"gender+{NEGATIVE_CONTROL}")["level"].str.split("+").str[1]) <= set(CONTROL_LEVELS)
    assert forms_of(units.head(0), NEGATIVE_CONTROL).empty


def test_a_datasets_own_negative_control_goes_before():
    units = pd.DataFrame([("u", "i", "form", NEGATIVE_CONTROL, "sugar")], columns=UNITS.schema.names)
    assert units_of(units, NEGATIVE_CONTROL)["level"].tolist() == ["sugar"]
    assert levels_of({NEGATIVE_CONTROL: ["sugar"]}, NEGATIVE_CONTROL) == ["sugar"]
    assert levels_of({}, NEGATIVE_CONTROL) == list(CONTROL_LEVELS)


# What the published studies use must stay: digests of items and draws, from the code before texts and units were apart.


def digest(value) -> str:
    return sha256(json.dumps(value).encode()).hexdigest()[:8]


RECORDED = [  # settings, factor, digests of the texts, of their levels, and of 12 and of 100 sampled units
    ({"reader": "geco", "classes": "binary", "words": "all"}, "gender", "6f0a6bc3 ce07ce28 fbe7ee61 c03ce7f8"),
    ({"reader": "geco", "classes": "three_class", "words": "subject"}, "gender", "22639562 e9b93189 66c2782f 8ffc8a2a"),
    ({"reader": "demo", "classes": "binary", "words": "all"}, "gender", "16915320 785d0c74 bde0ea71 cc039ddb"),
    ({"reader": "compas"}, "gender", "d7b7f020 89410f35 7f0ab642 e8b3e528"),
    ({"reader": "compas"}, "race", "d7b7f020 24467043 22f714e0 aeece718"),
    ({"reader": "crows_pairs"}, "gender", "a376f91a e6922354 fbc6cb37 ed9ece8e"),
    ({"reader": "crows_pairs"}, "race_color", "5d123b99 d20e1014 ef8ef966 c75b7099"),
    ({"reader": "winobias", "sentences": "all"}, "gender", "bbeec16a 51fa5b4a 78d81d45 de910fab"),
    ({"reader": "stereotypes", "split_by": "pair"}, "gender", "d9830522 351936f6 401763d1 d04394fc"),
    ({"reader": "stereotypes", "split_by": "theme"}, "gender", "c08fc20d 351936f6 23cb60a1 f6ebd66d"),
]


@pytest.mark.parametrize(("settings", "factor", "digests"), RECORDED)
def test_splits_and_draws_are_as_recorded(request, settings, factor, digests):
    texts, levels, twelve, hundred = digests.split()
    known = datasets.Reader.entries[settings["reader"]].model_fields
    drawn = {key: value for key, value in {"attribute": factor, "test_share": 0.2}.items() if key in known}
    reader = datasets.Reader.parse(drawn | settings)
    files = {name: request.getfixturevalue("mirror") / name for name in reader.sources()}
    files |= {name: ROOT / name for name in reader.resources}
    dataset = datasets.load(files, reader)
    items = assign_validation(dataset.items, groups_kept_together(dataset.items, dataset.units), 0.2, 0)
    units = units_of(dataset.units, factor)[["unit_id", "item_id", "level"]]
    items = items.merge(units, on="item_id", validate="one_to_one").sort_values("item_id")
    truth = [None if marks is None else [int(mark) for mark in marks] for marks in items["ground_truth"]]
    columns = [items[name].tolist() for name in ("item_id", "unit_id", "label")]
    assert digest([list(row) for row in zip(*columns, items["words"], truth, items["split"], strict=True)]) == texts
    assert digest([list(row) for row in zip(items["item_id"], items["level"], strict=True)]) == levels
    test = items[items["split"] == "test"]
    for count, expected in ((12, twelve), (100, hundred)):
        assert digest(sorted(sampled_units(test, dataset.units, count, [factor])["item_id"])) == expected

"""HateCheck and Multilingual HateCheck: words of templates by hand, and the counts of the published files."""

import csv
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from combinations import few
from wording import says

from evenlight import datasets
from evenlight.core.contracts.texts import ATTRIBUTE
from evenlight.core.sources import mirror_folder
from evenlight.datasets.readers import hatecheck
from evenlight.datasets.readers.hatecheck import ENGLISH, GROUPS, HATECHECK, LANGUAGES, focus, named_words
from evenlight.texts.items import ASIDE, assign_validation, check_items, clusters_kept_together, groups_kept_together
from evenlight.texts.splitting import split_words
from evenlight.texts.words import joined_text, texts_in

SETTINGS = {"reader": "hatecheck", "test_share": 0.5, "split_seed": 0}
PEOPLE = ["women", "trans people", "gay people", "disabled people", "black people", "Muslims", "immigrants"]
# The templates of each language that name all its groups, and their texts.
COMPLETE = {
    ENGLISH: (442, 3325),
    "arabic": (435, 3048),
    "dutch": (460, 3470),
    "french": (429, 3003),
    "german": (434, 3038),
    "hindi": (435, 3045),
    "italian": (435, 3045),
    "mandarin": (419, 3083),
    "polish": (460, 3520),
    "portuguese": (433, 3031),
    "spanish": (429, 3003),
}


def marked(text: str, *templates: str) -> list[str]:
    words = split_words(text)
    return [word for word, named in zip(words, named_words(text, words, templates), strict=True) if named]


@pytest.mark.parametrize(
    ("text", "templates", "expected"),
    [
        ("I like gay people. ", ["I like [IDENTITY_P]."], ["gay", "people"]),
        ("Iliketurtles.", ["Ilike[IDENTITY_P_space_del]."], ["Iliketurtles"]),
        ("Women and women rule.", ["[IDENTITY_P] and [IDENTITY_P] rule."], ["Women", "women"]),
        ("我喜欢跨性别者。", ["我喜欢[IDENT_P]。"], list("跨性别者")),
        ("أحب النساء.", ["أحب ال[IDENT_P]."], ["النساء"]),
        ("Amo le altre.", ["Amo i [male_IDENT_P].", "Amo le [female_IDENT_P]."], ["altre"]),
        # The article is not that of the template.
        ("Amo gli altri.", ["Amo i [male_IDENT_P].", "Amo le [female_IDENT_P]."], ["gli", "altri"]),
    ],
)
def test_words_that_name_the_group(text, templates, expected):
    assert marked(text, *templates) == expected


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("They can't stand rain.", "can't stand", ["can't", "stand"]),
        ("Their Lives are not worth a lot.", "lives ... not worth", ["Lives", "not", "worth"]),
        ("kind, compassionate people", "kind, compassionate", ["kind", "compassionate"]),
        ("so so", "so", ["so", "so"]),
        ("rain - always", "-", None),
        ("They h4te rain.", "hate", None),
        ("Their lives matter.", "lives ... not matter", None),
        ("A turtle!", "[SLUR_S_leet]", ["A"]),
    ],
)
def test_focus_words_where_they_stand(text, said, expected):
    words = split_words(text)
    marks = focus(words, [word == "A" for word in words], said)
    assert (marks and [word for word, mark in zip(words, marks, strict=True) if mark]) == expected


def case(template: int, group: str, *, number: int = 0, made_from: str = "", **changed) -> dict:
    row = {
        "functionality": "threat_dir_h",
        "case_id": f"{template}{PEOPLE.index(group)}{number}",
        "test_case": f"Word {template} for {group}. ",
        "label_gold": "hateful",
        "target_ident": group,
        "direction": "directed",
        "focus_words": "word",
        "ref_templ_id": made_from,
        "templ_id": str(template),
        "case_templ": f"Word {template} for [IDENTITY_P].",
    }
    return row | changed


def templates() -> list[dict]:
    """Four templates, of which the second was made from the first, and one that lacks a group."""
    rows = [case(1, group) for group in PEOPLE]
    # The multilingual files write a number so.
    harmless = {"made_from": "1.0", "label_gold": "non-hateful", "direction": "-", "focus_words": "-"}
    rows += [case(2, group, **harmless) for group in PEOPLE]
    rows += [case(3, group, number=number, direction="general") for group in PEOPLE for number in range(2)]
    rows += [case(4, group, functionality="slur_h") for group in PEOPLE]
    return rows + [case(5, group) for group in PEOPLE[1:]]


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(hatecheck, "functionalities", lambda language: ["threat_dir_h", "slur_h"])

    def load(rows: list[dict], **settings) -> datasets.Dataset:
        path = tmp_path / "cases.csv"
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, ["", *rows[0]])
            writer.writeheader()
            writer.writerows(rows)
        return datasets.load({HATECHECK: path}, datasets.Reader.parse(SETTINGS | settings))

    return load


def test_templates_are_units_with_a_form_for_each_group(loaded):
    dataset = loaded(templates())
    items, units = dataset.items.set_index("item_id"), dataset.units
    groups = units[units.factor == "group"]
    assert groups.groupby("unit_id").size().to_dict() == {
        f"english-{name}": 7 + 7 * (name == 3) for name in (1, 2, 3, 4)
    }
    assert all(set(levels) == set(GROUPS[ENGLISH]) for levels in groups.groupby("unit_id")["level"].agg(list))
    first = items.loc["english-110"]
    assert first.words == ["Word", "1", "for", "trans", "people", "."]
    assert first.carries == [None, None, None, "group", "group", None]
    assert first.ground_truth == [1, 0, 0, 0, 0, 0]
    assert first.label == 1
    assert (first[ATTRIBUTE + "direction"], first[ATTRIBUTE + "functionality"]) == ("directed", "threat_dir_h")
    harmless = items.loc["english-210"]
    assert (harmless.label, harmless.ground_truth) == (0, None)
    assert pd.isna(harmless[ATTRIBUTE + "direction"])
    assert not ((units.factor == "direction") & units.unit_id.eq("english-2")).any()
    assert dataset.notes == [says("english", "all groups", "left out: 6")]


def test_a_template_and_its_negation_are_on_one_side_of_the_validation():
    dataset, reader = published(ENGLISH)
    items, units = dataset.items, dataset.units
    assert reader.whole_clusters
    apart = assign_validation(items, groups_kept_together(items, units), 0.1, 0)
    assert apart.groupby("cluster")["split"].nunique().max() == 2
    together = assign_validation(items, clusters_kept_together(items, units), 0.1, 0)
    assert together.groupby("cluster")["split"].nunique().eq(1).all()
    clusters = together.drop_duplicates("cluster")["split"].value_counts()
    assert clusters["validation"] == round(0.1 * (clusters["train"] + clusters["validation"]))
    check_items(together, units, ENGLISH, reader.unbalanced())


def test_a_template_stays_with_what_was_made_from_it(loaded):
    for seed in range(5):
        items = loaded(templates(), split_seed=seed).items
        assert items.groupby("cluster").split.nunique().eq(1).all()
        assert items.cluster.nunique() == 3
    assert set(loaded(templates(), test_share=1).items.split) == {"test"}


@cache
def published(*languages: str) -> tuple[datasets.Dataset, datasets.Reader]:
    settings = SETTINGS
    if languages != (ENGLISH,):
        settings = settings | {"reader": "multilingual_hatecheck", "languages": list(languages), "segmenter": "unicode"}
    reader = datasets.Reader.parse(settings)
    folder = mirror_folder() or Path("/none")
    files = {name: folder / name for name in reader.sources()}
    if not all(path.is_file() for path in files.values()):
        pytest.skip("no HateCheck in the mirror; set EVENLIGHT_MIRROR")
    dataset = datasets.load(files, reader)
    check_items(dataset.items, dataset.units, "published", reader.unbalanced())
    return dataset, reader


@pytest.mark.parametrize("language", few(COMPLETE, (ENGLISH, "arabic", "mandarin")))
def test_the_published_files_have_the_published_counts(language):
    dataset, _ = published(language)
    groups = dataset.units[dataset.units.factor == "group"]
    assert (groups.unit_id.nunique(), len(dataset.items)) == COMPLETE[language]
    assert all(set(levels) == set(GROUPS[language]) for levels in groups.groupby("unit_id")["level"].agg(list))
    assert dataset.items.carries.map(lambda names: 0 < sum(map(bool, names)) < len(names)).all()
    assert ASIDE not in set(dataset.items.split)
    named = dataset.items.ground_truth.notna().sum()
    assert named == (2751 if language == ENGLISH else 0)


def test_texts_are_read_as_they_were_published():
    dataset, _ = published(ENGLISH)
    with open(mirror_folder() / HATECHECK, newline="") as file:
        raw = {f"english-{row['case_id']}": row["test_case"] for row in csv.DictReader(file)}
    assert list(map(joined_text, texts_in(dataset.items))) == dataset.items.item_id.map(raw).tolist()


def test_words_that_name_a_group_are_those_of_the_paper():
    items = published(ENGLISH)[0].items
    plain = items[items[ATTRIBUTE + "functionality"].isin(["ident_neutral_nh", "threat_dir_h"])]
    named = {
        (row[ATTRIBUTE + "group"], " ".join(w.lower() for w, it in zip(row.words, row.carries, strict=True) if it))
        for _, row in plain.iterrows()
    }
    # The published repository's values of its placeholders: singular, plural, adjective.
    for group, forms in (("women", "women woman female"), ("muslims", "muslims muslim")):
        assert {text.removesuffix("'s") for its, text in named if its == group} == set(forms.split())


def test_several_languages_are_one_dataset():
    dataset, _ = published("german", "spanish")
    assert len(dataset.items) == 3038 + 3003
    assert dataset.items.item_id.is_unique
    assert set(dataset.units[dataset.units.factor == "language"].level) == {"german", "spanish"}
    assert len(LANGUAGES) == 10

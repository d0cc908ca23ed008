"""WinoBias: how lines become words with marks, which pairs are kept, and the published files as a whole."""

from collections import Counter

import pandas as pd
import pytest
from wording import says

from evenlight import datasets
from evenlight.datasets.readers.winobias import GENDERS, WINOBIAS_TYPES, items_of, marked_words, winobias_file
from evenlight.texts.items import check_items
from evenlight.texts.words import Words, joined_text, texts_in


def settings_for(sentences: str = "type1") -> dict:
    return {"reader": "winobias", "sentences": sentences}


@pytest.fixture
def loaded(tmp_path):
    """Loads sentences of type 1 from (pro, anti) lines of the development and of the test part."""

    def load(dev: list[tuple[str, str]], test: list[tuple[str, str]]) -> datasets.Dataset:
        files = {}
        for part, lines in (("dev", dev), ("test", test)):
            for position, direction in enumerate(("pro", "anti")):
                name = winobias_file(direction, "type1", part)
                files[name] = tmp_path / name.replace("/", "_")
                numbered = (
                    f"{number} {line[position]}\n" for number, line in enumerate(lines, start=1) if line[position]
                )
                files[name].write_text("".join(numbered))
        return datasets.load(files, datasets.Reader.parse(settings_for()))

    return load


DEV = ("[The cook] met the nurse because [he] was late.", "[The cook] met the nurse because [she] was late.")
TEST = ("The cook met [the nurse] as [she] left.", "The cook met [the nurse] as [he] left.")


def test_words_and_marks_of_a_line():
    line = "3 The guard saw the [the construction worker] 's car and thanked [him]."
    words, marks, spaces = zip(*marked_words(line), strict=True)
    assert joined_text(Words(words, [*spaces, ""])) == "The guard saw the construction worker 's car and thanked him."
    assert " ".join(words) == "The guard saw the construction worker 's car and thanked him ."
    assert marks == (0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0)
    assert marked_words("3 The [ cook] left.") == marked_words("3 The [cook] left.")


def test_both_forms_of_a_sentence():
    anti, pro = items_of(marked_words(f"1 {DEV[1]}"), marked_words(f"1 {DEV[0]}"), "p", "train")
    assert (anti["label"], anti["attribute.gender"], anti["item_id"]) == (0, "female", "p-female")
    assert (pro["label"], pro["attribute.gender"], pro["item_id"]) == (1, "male", "p-male")
    assert anti["ground_truth"] == pro["ground_truth"] == [0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
    assert joined_text(texts_in(pd.DataFrame([anti, pro]))[0]) == DEV[1].replace("[", "").replace("]", "")
    assert pro["words"] == ["The", "cook", "met", "the", "nurse", "because", "he", "was", "late", "."]


@pytest.mark.parametrize(
    ("anti", "pro", "kept"),
    [
        ("[The cook] said [she] lost her hat.", "[The cook] said [he] lost his hat.", True),
        ("[The cook] hurt [her] leg.", "[The cook] hurt [his] leg.", True),
        ("[The cook] left as [she] slept.", "[The cook] left as [he] ate.", False),
        ("[The cook] left as [she] did not sleep.", "[The cook] left as [he] slept.", False),
        ("[The cook] said [she] lost [his] hat.", "[The cook] said [he] lost [her] hat.", False),
        ("[The cook] slept.", "[The cook] slept.", False),
    ],
)
def test_forms_that_differ_in_more_than_pronouns_are_left_out(anti, pro, kept):
    assert bool(items_of(marked_words(f"1 {anti}"), marked_words(f"1 {pro}"), "p", "train")) == kept


def test_an_unbracketed_pronoun_that_differs_is_marked_in_both_forms():
    anti, pro = items_of(
        marked_words("1 [The cook] said he lost [her] hat."),
        marked_words("1 [The cook] said he lost his hat."),
        "p",
        "train",
    )
    assert anti["ground_truth"] == pro["ground_truth"] == [0, 1, 0, 0, 0, 1, 0, 0]


def test_a_test_sentence_is_not_trained_on(loaded):
    dataset = loaded([DEV, TEST, ("[The cook] ate as [he] sat.", "[The cook] slept as [she] sat.")], [TEST])
    assert dict(zip(dataset.items.item_id, dataset.items.split, strict=True)) == {
        "type1-dev-001-male": "train",
        "type1-dev-001-female": "train",
        "type1-test-001-male": "test",
        "type1-test-001-female": "test",
    }
    assert dataset.notes == [says("more than pronouns", "left out: 1"), says("test part", "left out: 1")]
    check_items(dataset.items, dataset.units, "winobias")


@pytest.mark.parametrize(("sentences", "dev", "test"), [("type1", 393, 391), ("type2", 388, 391), ("all", 781, 782)])
def test_the_published_files(sentences, dev, test, mirror):
    reader = datasets.Reader.parse(settings_for(sentences))
    dataset = datasets.load({name: mirror / name for name in reader.sources()}, reader)
    items = dataset.items
    check_items(items, dataset.units, sentences)
    assert Counter(items.split) == {"train": 2 * dev, "test": 2 * test}
    assert not items.words.map(" ".join).duplicated().any()
    published = 2 * 396 * len(WINOBIAS_TYPES[sentences])
    unequal, repeated = {"type1": (7, 1), "type2": (11, 2), "all": (18, 3)}[sentences]
    assert len(items) == 2 * (published - unequal - repeated)


def test_the_label_follows_from_the_marked_words(mirror):
    """By the published lists of occupations in which more men, or more women, work."""
    lists = {
        gender: set((mirror / f"winobias/{gender}_occupations.txt").read_text().lower().splitlines())
        for gender in ("male", "female")
    }
    reader = datasets.Reader.parse(settings_for("all"))
    files = {name: mirror / name for name in reader.sources()}
    for item in datasets.load(files, reader).items.rename(columns={"attribute.gender": "gender"}).itertuples():
        marked = [word.lower() for word, mark in zip(item.words, item.ground_truth, strict=True) if mark]
        occupation = " ".join(word for word in marked if word not in GENDERS)
        assert occupation in lists["male"] | lists["female"], item.item_id
        assert item.label == (occupation in lists[item.gender]), item.item_id

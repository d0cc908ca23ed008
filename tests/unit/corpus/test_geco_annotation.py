import copy
import json
from collections import Counter

import pytest
from openpyxl import Workbook

from evenlight.core.errors import InputError
from evenlight.corpus.annotation.agreement import annotator_agreement, disagreements
from evenlight.corpus.annotation.geco_annotation import read_sheet
from evenlight.corpus.annotation.imports import detected_format, import_annotations

SOURCE = ["Ana", "tells", "his", "son", "about", "Mr.", "Lopez", "."]


def labels(**replacements: str | int) -> dict:
    """Labels by position, written as w0="he"; a number is a tag."""
    return {
        name.removeprefix("w"): {"tag": value} if isinstance(value, int) else {"replacement": value}
        for name, value in replacements.items()
    }


def entry(index: int, source: list[str], tags: dict, forms: dict[tuple[str, str], dict]) -> dict:
    versions = {
        scope: {
            "gender": {group: {"labelling": forms.get((scope, group), {})} for group in ("male", "female", "neutral")}
        }
        for scope in ("all", "subj")
    }
    return {"idx": index, "sentence": source, "tags": tags, "versions": versions}


ENTRY = entry(
    7,
    SOURCE,
    labels(w0=5, w6=3),
    {
        ("all", "male"): labels(w0="He", w6=3),
        ("all", "female"): labels(w0="She", w2="her", w3="daughter", w5="Mrs.", w6=3),
        ("subj", "male"): labels(w0="He", w6=3),
        ("subj", "female"): labels(w0="She", w6=3),
    },
)
TAGS = {
    str(number): {"id": number, "tag": tag}
    for number, tag in enumerate(("name_female", "name_male", "surname", "surname_pl", "name"), start=1)
}


@pytest.fixture
def labelling(tmp_path):
    """Writes a labelling with one entry for each given one."""

    def write(*entries: dict):
        path = tmp_path / "labelling.json"
        path.write_text(json.dumps({"tags": TAGS, "sentences": {str(i): entry for i, entry in enumerate(entries)}}))
        return path

    return write


# The labelling ---------------------------------------------------------------------------------------------------


def test_replacements_word_by_word(labelling):
    path = labelling(ENTRY)
    assert detected_format(path) == "geco_labelling"
    (row,) = import_annotations([path])
    assert (row["sentence_id"], row["annotator"], row["decision"], row["source"]) == ("00007", "geco", "accept", SOURCE)
    forms = {(form["scope"], form["group"]): (" ".join(form["words"]), form["ground_truth"]) for form in row["forms"]}
    assert forms == {
        ("all", "male"): ("He tells his son about Mr. Lopez .", [1, 0, 1, 1, 0, 1, 0, 0]),
        ("all", "female"): ("She tells her daughter about Mrs. Lopez .", [1, 0, 1, 1, 0, 1, 0, 0]),
        ("subject", "male"): ("He tells his son about Mr. Lopez .", [1, 0, 0, 0, 0, 0, 0, 0]),
        ("subject", "female"): ("She tells his son about Mr. Lopez .", [1, 0, 0, 0, 0, 0, 0, 0]),
    }
    # A replacement by nothing leaves an empty word.
    emptied = entry(1, ["He", "is", "late", "."], {}, {("all", "male"): labels(w2="")})
    (row,) = import_annotations([labelling(emptied)])
    assert (row["forms"][0]["words"], row["forms"][0]["ground_truth"]) == (["He", "is", "", "."], [0, 0, 1, 0])


def broken(change) -> dict:
    changed = copy.deepcopy(ENTRY)
    change(changed)
    return changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.pop("idx"), r"mapping.*'idx', 'sentence', 'tags'.*'versions'"),
        (lambda e: e.update(idx="7"), r"'idx'.*whole"),
        (lambda e: e["sentence"].append(3), r"'sentence' must.*words"),
        (lambda e: e["versions"].pop("subj"), r"'versions' must.*all and subj"),
        (lambda e: e["versions"]["all"]["gender"]["male"].pop("labelling"), "'versions' must have"),
        (lambda e: e["tags"].update({"8": {"tag": 5}}), r"label at word 8, but there are 8 words \(from 0\)"),
        (lambda e: e["tags"].update({"1": {"tag": 9}}), r"label of word 1.*known 'tag', is {'tag': 9}"),
        (lambda e: e["versions"]["all"]["gender"]["male"]["labelling"].update({"1": {}}), "label of word 1"),
    ],
)
def test_a_wrong_labelling_is_refused_with_the_sentence(change, message, labelling):
    with pytest.raises(InputError, match=f"labelling.json: sentence 1: .*{message}"):
        import_annotations([labelling(ENTRY, broken(change))])


# The sheets ------------------------------------------------------------------------------------------------------

KINDS = ("Original", "All Female", "All Male", "Subject Female", "Subject Male")


def block(index, responsible: str | None, source: list, **replaced: str) -> list[list]:
    """Five rows; All_Female="0 She 2 her" replaces words 0 and 2."""
    rows = [[index, responsible, KINDS[0], *source]]
    for kind in KINDS[1:]:
        cells: list[str | None] = [None] * len(source)
        pieces = replaced.get(kind.replace(" ", "_"), "").split()
        for position, word in zip(pieces[::2], pieces[1::2], strict=True):
            cells[int(position)] = word
        rows.append([None, None, kind, *cells])
    return rows


HEAD = ["index", "resp", "type", *range(6)]
HE = ["He", "sees", "his", 30, True, "."]
DONE = {"All_Female": "0 She 2 her", "Subject_Female": "0 She"}


@pytest.fixture
def sheet(tmp_path):
    def write(*blocks: list[list], head=HEAD):
        book = Workbook()
        for row in [head, *(row for block in blocks for row in block), [None] * 3]:
            book.active.append(row)
        path = tmp_path / "sheet.xlsx"
        book.save(path)
        return path

    return write


def test_a_sheet_is_what_its_annotator_did(sheet):
    path = sheet(
        block(12, "Kim", HE, **DONE),
        block(13, "Lee", HE),
        block(14, "All", HE, All_Female="2 her"),
        block(15, "All", HE),
    )
    assert detected_format(path) == "geco_sheet"
    first, second = import_annotations([path])
    assert (first["sentence_id"], second["sentence_id"]) == ("00012", "00014")
    assert first["annotator"] == second["annotator"] == "Kim"
    assert first["source"] == ["He", "sees", "his", "30", "true", "."]
    forms = {(form["scope"], form["group"]): (form["words"][:3], form["ground_truth"]) for form in first["forms"]}
    assert forms == {
        ("all", "female"): (["She", "sees", "her"], [1, 0, 1, 0, 0, 0]),
        ("all", "male"): (["He", "sees", "his"], [1, 0, 1, 0, 0, 0]),
        ("subject", "female"): (["She", "sees", "his"], [1, 0, 0, 0, 0, 0]),
        ("subject", "male"): (["He", "sees", "his"], [1, 0, 0, 0, 0, 0]),
    }


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([block(1, "Kim", HE, **DONE), block(2, "Lee", HE, **DONE)], "sentences of Kim, Lee"),
        ([block(1, "All", HE, **DONE)], "sentences of nobody"),
        ([block(1, "Kim", HE, **DONE)[:4]], r"row 2:.*Original, All Female,.*Subject Female"),
        ([block(None, "Kim", HE, **DONE)], r"row 2:.*'', resp 'Kim'.*number"),
        ([block(1, "Kim", ["He", None, "."], **DONE)], r"row 2: cell 2.*empty"),
        ([block(1, "Kim", ["He", "."]), block(2, "Kim", [*HE[:2], None], All_Male="2 x")], "row 9: 'x' stands behind"),
    ],
)
def test_a_wrong_sheet_is_refused_with_the_row(blocks, message, sheet):
    with pytest.raises(InputError, match=rf"sheet\.xlsx.*{message}"):
        read_sheet(sheet(*blocks))


def test_another_workbook_is_refused(sheet, tmp_path):
    with pytest.raises(InputError, match="row 1: columns 2 and 3 must be 'resp' and 'type'"):
        read_sheet(sheet(head=["a", "b", "c"]))
    (tmp_path / "other.xlsx").write_bytes(b"PK and nothing else")
    with pytest.raises(InputError, match=r"other\.xlsx: not.*workbook"):
        import_annotations([tmp_path / "other.xlsx"])


# The published files ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(mirror):
    folder = mirror / "geco_annotation"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there; it holds GECO's labelling and sheets, as published")
    return folder


def test_agreement_between_the_sheets(folder):
    rows = import_annotations(sorted(folder.glob("*.xlsx")))
    assert Counter(row["annotator"] for row in rows) == {"Artur": 115, "Rick": 115, "Hjalmar": 114}
    table = annotator_agreement(rows)
    alpha = table[table.statistic == "Krippendorff's alpha"].set_index(["kind", "scope"])
    assert alpha.units["decision", ""] == 35
    assert alpha.value["word", "all"] == pytest.approx(0.982, abs=5e-4)
    assert alpha.value["word", "subject"] == pytest.approx(0.933, abs=5e-4)
    listed = disagreements(rows)
    assert Counter(listed.scope[listed.kind == "word"]) == {"all": 6, "subject": 18}

"""What every reader gives of a small file: texts spread over the table, and counts of all of them."""

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
from test_annotated import TEN
from test_cebab import reviews
from test_compas import people
from test_crows_pairs import pairs
from test_geco import rows as geco_rows
from test_hatecheck import case
from test_winobias import DEV, TEST

from evenlight.configuration import completed_entry
from evenlight.core.contracts.corpus import ANNOTATIONS
from evenlight.core.contracts.texts import ATTRIBUTE
from evenlight.core.tables import write_table
from evenlight.datasets import Reader, load
from evenlight.datasets.readers.cebab import CEBAB, EVERYTHING
from evenlight.datasets.readers.cebab import FOLDER as CEBAB_FOLDER
from evenlight.datasets.readers.compas import COMPAS
from evenlight.datasets.readers.crows_pairs import CROWS_PAIRS
from evenlight.datasets.readers.hatecheck import ENGLISH, GROUPS, HATECHECK, functionalities, multilingual_file
from evenlight.datasets.readers.winobias import winobias_file

ROOT = Path(__file__).parents[2]
SHOWN = 8
# Settings of a reader that are needed, and its files by the names of sources.
Given = tuple[dict, dict[str, Path]]


def _csv(path: Path, rows: list[dict]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def _json_lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _geco(folder: Path) -> Given:
    files = {"train": geco_rows(7, 8, 9, 10), "test": geco_rows(3)}
    return {"classes": "binary", "words": "all"}, {
        f"geco/binary_gender_all/{name}.jsonl": _json_lines(folder / f"{name}.jsonl", rows)
        for name, rows in files.items()
    }


def _annotated(folder: Path) -> Given:
    path = folder / "resolved.parquet"
    write_table(pa.Table.from_pylist(TEN, schema=ANNOTATIONS.schema), path, ANNOTATIONS)
    return {"file": str(path)}, {str(path): path}


def _compas(folder: Path) -> Given:
    return {}, {COMPAS: _csv(folder / "compas.csv", people(24))}


def _crows_pairs(folder: Path) -> Given:
    rows = pairs(3) + [row | {"": f"1{row['']}", "stereo_antistereo": "antistereo"} for row in pairs(6)[3:]]
    return {"attribute": "socioeconomic"}, {CROWS_PAIRS: _csv(folder / "pairs.csv", rows)}


def _winobias(folder: Path) -> Given:
    files = {}
    for part, line in (("dev", DEV), ("test", TEST)):
        for direction, text in zip(("pro", "anti"), line, strict=True):
            files[winobias_file(direction, "type1", part)] = path = folder / f"{direction}.{part}"
            path.write_text(f"1 {text}\n", encoding="utf-8")
    return {"sentences": "type1"}, files


def _cebab(folder: Path) -> Given:
    first = reviews("000001")
    parts = {EVERYTHING: first, "train_exclusive": first[2:3], "train_observational": first[:1]}
    parts |= {"train_inclusive": first, "dev": reviews("000002"), "test": reviews("000003")}
    with zipfile.ZipFile(folder / "cebab.zip", "w") as archive:
        for part, texts in parts.items():
            archive.writestr(f"{CEBAB_FOLDER}/{part}.json", json.dumps(texts))
    return {}, {CEBAB: folder / "cebab.zip"}


def _cases(language: str) -> list[dict]:
    """A template of each functionality that names all groups; every third is made from the one before."""
    rows = []
    for template, functionality in enumerate(functionalities(language)):
        for number, group in enumerate(GROUPS[language]):
            named = group.replace("_", " ")
            made_from = str(template - 1) if template % 3 == 2 else ""
            row = case(template, "women", made_from=made_from, functionality=functionality)
            row |= {"case_id": f"{template}-{number}", "mhc_case_id": f"{language}-{template}-{number}"}
            row |= {"target_ident": named}
            row |= {"test_case": f"Word {template} for {named}. ", "direction": ("general", "directed")[template % 2]}
            rows.append(row | {"label_gold": ("hateful", "non-hateful")[functionality.endswith("_nh")]})
    return rows


def _hatecheck(folder: Path) -> Given:
    return {}, {HATECHECK: _csv(folder / "cases.csv", _cases(ENGLISH))}


def _multilingual(folder: Path) -> Given:
    name = multilingual_file("german")
    return {"languages": ["german"]}, {name: _csv(folder / "cases.csv", _cases("german"))}


def _made(**settings) -> Callable[[Path], Given]:
    """A reader that makes its texts of files of this repository."""
    return lambda folder: (settings, {})


_ROWS = [
    {"id": f"t{number}", "said": f"Wait {number} days, please.", "kind": "ab"[number % 2], "who": "xy"[number // 5]}
    for number in range(10)
]
_COLUMNS = {"text": "said", "label": "kind", "classes": ["b", "a"]}
_COLUMNS |= {"attributes": {"age": {"column": "who", "levels": ["x", "y"]}}}


def _table(folder: Path) -> Given:
    path = _csv(folder / "mine.csv", _ROWS)
    return {**_COLUMNS, "file": str(path), "test_share": 0.5}, {str(path): path}


def _hub(folder: Path) -> Given:
    import datasets

    datasets.disable_progress_bars()
    datasets.Dataset.from_list(_ROWS).save_to_disk(folder / "saved")
    settings = {**_COLUMNS, "source": str(folder / "saved"), "splits": {"train": "train"}, "test_share": 0.5}
    return settings, {path.as_posix(): path for path in (folder / "saved").rglob("*") if path.is_file()}


def _questions(folder: Path) -> Given:
    rows = [
        {"q": f"q{number}", "dialect": level, "asked": f"{level} words {number}?", "draw": draw}
        for number in range(3)
        for level in ("one", "two")
        for draw in range(2)
    ]
    path = _csv(folder / "asked.csv", rows)
    columns = {"text": "asked", "unit": "q", "level": "dialect", "factor": "dialect", "levels": ["one", "two"]}
    return columns | {"file": str(path)}, {str(path): path}


READ: dict[str, Callable[[Path], Given]] = {
    "geco": _geco,
    "demo": _made(),
    "annotated": _annotated,
    "compas": _compas,
    "crows_pairs": _crows_pairs,
    "winobias": _winobias,
    "cebab": _cebab,
    "hatecheck": _hatecheck,
    "multilingual_hatecheck": _multilingual,
    "stereotypes": _made(),
    "causal_simulation": _made(
        training_pairs=20, test_pairs=10, concept_counterfactuals=["care"], training_forms="observed", confounding=0.5
    ),
    "table": _table,
    "questions": _questions,
    "hub": _hub,
}


def texts_of(reader: str, folder: Path) -> dict:
    """Some texts of a dataset, and how many there are of each kind."""
    given, files = READ[reader](folder)
    settings = completed_entry("datasets", "it", {"reader": reader} | given)
    if settings.get("test_share", 1) is None:
        settings["test_share"] = 0.2
    kind = Reader.parse(settings)
    files |= {name: ROOT / name for name in kind.resources}
    dataset = load(files, kind)
    items, units = dataset.items, dataset.units
    attributes = sorted(name for name in items.columns if name.startswith(ATTRIBUTE))
    places = sorted({round(place * (len(items) - 1) / (SHOWN - 1)) for place in range(SHOWN)})
    return {
        "classes": dataset.classes,
        "counts": {
            "items": len(items),
            "words": int(items["words"].map(len).sum()),
            "carry the label": int(sum(sum(marks) for marks in items["ground_truth"] if marks is not None)),
            "units": len(units),
            **{name: _counted(items[name]) for name in ("split", "label", *attributes)},
            "level": _counted(units["factor"] + " " + units["level"]),
        },
        "texts": {
            items["item_id"].iloc[place].replace(str(folder), ""): {
                name: items[name].iloc[place]
                for name in ("words", "ground_truth", "carries", "label", "split", *attributes)
                if name in items
            }
            for place in places
        },
    }


def _counted(column: pd.Series) -> dict[str, int]:
    return {str(value): count for value, count in sorted(column.value_counts().items(), key=str)}

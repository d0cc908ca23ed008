"""The gallery: every kind of figure is in it, and every picture is there, small, and said in three sentences."""

import re
import sys
from pathlib import Path
from pkgutil import iter_modules

import pytest

from evenlight.reports import plots

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import pictures

DOCS = Path(__file__).parents[2] / "docs"
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
# Heading, what is seen, picture, and the paragraph below.
ENTRY = re.compile(r"^### (.+)\n\n!\[(.+)\]\((\S+)\)\n\n((?:.+\n)+)", re.MULTILINE)
ENTRIES = {heading: (seen, picture, said) for heading, seen, picture, said in ENTRY.findall(GALLERY)}
LARGEST = 1_500_000  # bytes, of all pictures together


def test_every_kind_of_figure_is_in_the_gallery():
    kinds = {module.name for module in iter_modules(plots.__path__)}
    assert kinds <= set(ENTRIES)
    assert len(ENTRIES) == GALLERY.count("\n### ")


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_an_entry_has_its_picture_and_three_sentences(entry):
    seen, picture, said = entry
    assert (DOCS / picture).is_file()
    shows, reading, command = said.splitlines()
    assert seen
    assert shows.endswith(".")
    assert reading.endswith(".")
    assert re.fullmatch(r"Command: `(make|snakemake) .*`", command)


def test_pictures_are_those_of_the_script_and_small():
    made = {f"{name}.png" for name in pictures.PICTURES} | {f"{name}.svg" for name in pictures.COPIED}
    made |= {f"gallery/{kind}.svg" for kind in pictures.MADE_UP}
    shown = {picture.removeprefix("pictures/") for _, picture, _ in ENTRIES.values()}
    assert shown <= made
    there = {path.relative_to(DOCS / "pictures").as_posix() for path in (DOCS / "pictures" / "gallery").iterdir()}
    assert there == {name for name in made if name.startswith("gallery/")}
    assert sum((DOCS / "pictures" / name).stat().st_size for name in there) < LARGEST


def test_made_up_numbers_are_called_so():
    for kind in pictures.MADE_UP:
        assert "the numbers are made up" in ENTRIES[kind][2]


def test_dots_further_left_are_better_in_figures_of_errors():
    for kind in ("concepts", "concept_grid"):
        assert "further left are better" in ENTRIES[kind][2]
        assert not any(metric.higher_is_better for metric in pictures.MADE_UP[kind].metrics.values())


def test_nothing_is_photographed_where_a_page_is_missing(tmp_path):
    arguments = type("Arguments", (), {"results": tmp_path / "results", "output": tmp_path / "pictures"})
    with pytest.raises(
        SystemExit, match=r"error: no page .*audit\.html.*run `make demo tutorials` and then `make gallery`"
    ):
        pictures.main(arguments)
    assert list(tmp_path.iterdir()) == []

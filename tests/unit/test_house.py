"""docs/architecture.md and the decisions: pictures, examples and records say what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
INDEX = DOCS / "decisions" / "README.md"
RECORDS = sorted(INDEX.parent.glob("[0-9]*.md"))


def test_the_picture_is_drawn_from_its_source():
    """Graphviz draws it again (bench/README.md)."""
    source = (DOCS / "architecture.dot").read_text(encoding="utf-8")
    labels = re.findall(r'label="([^"]+)"', source)
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", (DOCS / "architecture.svg").read_text(encoding="utf-8"))
    assert sorted(line for label in labels for line in label.split(r"\n")) == sorted(drawn)


def test_the_picture_names_rules_that_are_there():
    labels = re.findall(r'label="rules/([^"]+)"', (DOCS / "architecture.dot").read_text(encoding="utf-8"))
    names = [name for label in labels for name in re.findall(r"\w+", label) if name != "smk"]
    assert len(names) >= 8
    assert [name for name in names if not list((ROOT / "rules").glob(f"{name}*"))] == []


def test_the_example_is_what_the_code_says():
    diffs = re.findall(r"```diff\n--- (\S+)\n(.*?)```", PAGE, re.DOTALL)
    assert len(diffs) == 2
    for path, lines in diffs:
        added = [line.lstrip("+ ").rstrip() for line in lines.splitlines()]
        code = [line.strip() for line in (ROOT / path).read_text(encoding="utf-8").splitlines()]
        assert [line for line in added if line not in code] == []


@pytest.mark.parametrize("place", re.findall(r"^\| (`[^|]*`) \| [^|]* \|$", PAGE, re.MULTILINE))
def test_places_are_there(place):
    for name in re.findall(r"`([^`]+)`", place):
        assert (ROOT / name).exists() or (ROOT / "workflow" / name).exists()


def test_the_index_has_every_record_in_order():
    listed = re.findall(r"^- \[(.*)\]\((.*)\)$", INDEX.read_text(encoding="utf-8"), re.MULTILINE)
    titles = [record.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for record in RECORDS]
    assert listed == list(zip(titles, [record.name for record in RECORDS], strict=True))
    # A record that another one takes the place of leaves its number unused.
    numbers = [int(record.stem[:3]) for record in RECORDS]
    assert numbers == sorted(set(numbers))

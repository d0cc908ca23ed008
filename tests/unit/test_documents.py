"""What finds faults in documents: links, merged lines, pictures, and numbers and signs that the code has.

How documents are written is no matter of tests: people read them.
"""

import re
import sys
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules

import pytest

from evenlight import configuration
from evenlight.reports import plots
from evenlight.reports.questions import READ
from evenlight.reports.verdict_words import SIGNS, sign_of

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import pictures

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    {*ROOT.glob("[A-Z]*.md"), ROOT / "config" / "README.md", ROOT / "bench" / "README.md", *DOCS.rglob("*.md")}
)
GUIDE = (DOCS / "read_a_verdict.md").read_text(encoding="utf-8")
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)#\s]*)#?([^)\s]*)\)")
LARGEST = 1_500_000  # bytes, of all pictures of the gallery together


def slug(text: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    headings = {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    return [*headings, *re.findall(r'<a id="([^"]*)">', text)]


def test_every_link_leads_somewhere():
    links = [(page, *link) for page in PAGES for link in LINK.findall(page.read_text(encoding="utf-8"))]
    assert len(links) > 400
    targets = {}
    for page, to, anchor in links:
        if ":" in to:  # of the web
            continue
        target = (page.parent / to).resolve() if to else page
        assert target.exists(), f"{page.name}: {to}"
        if anchor and target.suffix == ".md":
            known = targets.setdefault(target, set(anchors(target)))
            assert anchor in known, f"{page.name}: {to}#{anchor}"


def test_no_line_of_a_document_begins_as_another_one():
    """Two lines of work that are merged leave such lines; tables, pictures, code and commands repeat rightly.

    So do the keys of the configuration and the columns of files, which programs write.
    """
    again = {}
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        lines = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "<", "!", "Command:"))]
        beginnings = [line[:60] for line in lines if len(line) > 60]
        again[page] = {beginning for beginning in beginnings if beginnings.count(beginning) > 1}
        again[page] |= {first for first, second in pairwise(lines) if len(first) > 30 and first[:30] == second[:30]}
    del again[ROOT / "config" / "README.md"], again[DOCS / "files.md"]
    assert {page.name: lines for page, lines in again.items() if lines} == {}


def test_the_guide_has_the_verdicts_and_signs_of_the_code():
    rows = [line.split(" | ")[:2] for line in GUIDE.splitlines() if line.startswith("| ")]
    told = {verdict: sign.removeprefix("| ") for sign, verdict in rows}
    assert {verdict: told.get(verdict) for verdict in SIGNS} == {verdict: sign for verdict, (sign, _) in SIGNS.items()}
    assert told["female more often, …"].startswith(sign_of("female more often", -1, "male", "female")[0])


def test_pages_of_effects_name_guides_that_are_there():
    named = re.findall(r"docs/\w+\.md", READ[1])
    assert len(named) == 2
    assert all((ROOT / name).is_file() for name in named)


def test_the_demo_has_as_many_comparisons_as_the_guide_says():
    demo = configuration.of_file(ROOT / "config" / "demo.yaml")
    yardsticks = configuration.no_hypotheses(demo)
    pairs = sum(len(sets) for sets in demo["statistics"]["compare"].values())
    places = len(demo["datasets"]) * len(demo["models"]) * len(demo["metrics"]) * pairs
    comparisons = re.findall(r"(\d+) comparisons\b", GUIDE)
    assert {*map(int, comparisons)} == {places * (len(demo["explainers"]) - len(yardsticks))}


def test_every_kind_of_figure_is_in_the_gallery_with_its_picture():
    shown = dict(re.findall(r"^### (.+)\n\n!\[.+\]\((\S+)\)$", GALLERY, re.MULTILINE))
    assert {module.name for module in iter_modules(plots.__path__)} <= set(shown)
    assert all((DOCS / picture).is_file() for picture in shown.values())
    made = {f"{name}.png" for name in pictures.PICTURES} | {f"{name}.svg" for name in pictures.COPIED}
    made |= {f"gallery/{kind}.svg" for kind in pictures.MADE_UP}
    assert {picture.removeprefix("pictures/") for picture in shown.values()} <= made
    there = {path.relative_to(DOCS / "pictures").as_posix() for path in (DOCS / "pictures" / "gallery").iterdir()}
    assert there == {name for name in made if name.startswith("gallery/")}
    assert sum((DOCS / "pictures" / name).stat().st_size for name in there) < LARGEST


def test_commands_of_documents_are_there():
    targets = set(re.findall(r"^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told = re.compile(r"(?:`|^|&& )make ([a-z][a-z-]*)\b(?!:)", re.MULTILINE)
    files = re.compile(r"(?:python |--configfile )((?:workflow|bench|config)/(?!my_)[\w/]+\.(?:py|yaml))")
    named, missing = 0, {}
    for page in PAGES:
        if page.name == "CHANGELOG.md":  # of its time
            continue
        text = page.read_text(encoding="utf-8")
        code = "\n".join(re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL))
        named += len(told.findall(code))
        missing[page.name] = set(told.findall(code)) - targets
        missing[page.name] |= {path for path in files.findall(code) if not (ROOT / path).is_file()}
    assert named > 20
    assert {page: commands for page, commands in missing.items() if commands} == {}


def test_nothing_is_photographed_where_a_page_is_missing(tmp_path):
    arguments = type("Arguments", (), {"results": tmp_path / "results", "output": tmp_path / "pictures"})
    with pytest.raises(SystemExit, match=r"index\.html.*bench/README\.md"):
        pictures.main(arguments)
    assert list(tmp_path.iterdir()) == []

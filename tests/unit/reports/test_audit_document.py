"""What makes an audit a document for the file: what it says of itself, checksums, and a PDF."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from evenlight.__main__ import main
from evenlight.commands import UNUSABLE, filing
from evenlight.configuration import complete
from evenlight.configuration.study import Frame
from evenlight.core.errors import InputError
from evenlight.reports.index import document

STUDY = """
study: framed
datasets: {texts: {reader: table, file: t.csv, text: t, label: l, classes: [a, b],
  attributes: {gender: {column: g, levels: [x, y]}}}}
statistics: {compare: {gender: [[x, y]]}}
models: {mine: {architecture: trained, source: models/mine}}
audit: {title: Complaints, date: 2026-11-28, languages: [en, de]}
"""


def test_what_is_stated_stands_in_the_frame_and_all_else_is_said_not_to_be():
    frame = complete(yaml.safe_load(STUDY))["audit"]
    rows = {row["field"]: row["value"] for row in document.describe_frame(frame)}
    stated = {"title": "Complaints", "date": "2026-11-28", "languages": "en, de"}
    # The last audit has a section of its own.
    assert rows == dict.fromkeys(Frame.model_fields.keys() - {"baseline"}, "not stated") | stated


def test_who_asks_is_sent_to_sections_that_the_page_has():
    page = (Path(document.__file__).with_name("page.html")).read_text(encoding="utf-8")
    for row in document.who_asks():
        assert all(f">{section}</h2>" in page for section in row["see"]), row


# Filed ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path) -> Path:
    """A finished study with an audit."""
    for name in ("index.html", "audit.json", "audit.md", "tables/effects.csv", ".half"):
        path = tmp_path / "results" / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"what {name} says", encoding="utf-8")
    return tmp_path / "results" / "mine"


def evenlight(monkeypatch, *flags: object) -> None:
    monkeypatch.setattr(sys, "argv", ["evenlight", *map(str, flags)])
    main()


def checked(monkeypatch, capsys, *folders: Path) -> tuple[int, str]:
    """The status of a check, and what it says."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        evenlight(monkeypatch, "check-audit", *folders)
    said = capsys.readouterr()
    return end.value.code, said.out + said.err


def test_a_filed_audit_is_held_against_its_study(study, tmp_path, monkeypatch, capsys):
    evenlight(monkeypatch, "audit-pdf", study, "--checksums-only")
    done = subprocess.run(
        ["sha256sum", "--check", "audit.sha256"], cwd=study, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        f"{n}: OK" for n in ("audit.json", "audit.md", "index.html", "tables/effects.csv")
    ]
    filed = tmp_path / "filed"
    filed.mkdir()
    for name in ("index.html", "audit.sha256"):
        shutil.copy(study / name, filed)
    (study / "audit.sha256.asc").write_text("a signature")
    assert checked(monkeypatch, capsys, study)[0] == checked(monkeypatch, capsys, filed, study)[0] == 0

    (study / "later.html").write_text("made later")
    status, said = checked(monkeypatch, capsys, filed, study)
    assert status == 0
    assert f"not in the list: {study / 'later.html'}" in said
    (study / "tables" / "effects.csv").write_text("others")
    (study / "audit.md").unlink()
    (filed / "index.html").write_text("forged")
    status, said = checked(monkeypatch, capsys, filed, study)
    assert status == 1
    for line in (f"changed: {study}/tables/effects.csv", f"missing: {study}/audit.md", f"filed: {filed}/index.html"):
        assert line in said
    assert "Of 4 files" in said


def test_what_is_no_filed_audit_is_refused(study, monkeypatch, capsys):
    status, said = checked(monkeypatch, capsys, study)
    assert status == UNUSABLE
    assert "audit.sha256" in said
    (study / "audit.sha256").write_text(f"{'0' * 64}  index.html\nnothing\n")
    assert "line 2" in checked(monkeypatch, capsys, study)[1]
    assert "no such folder" in checked(monkeypatch, capsys, study, study / "gone")[1]


def test_without_an_audit_or_a_browser_nothing_is_written(study, monkeypatch):
    monkeypatch.setattr(filing, "BROWSERS", ("no-such-browser",))
    with pytest.raises(SystemExit, match="apt install chromium"):
        evenlight(monkeypatch, "audit-pdf", study)
    with pytest.raises(SystemExit, match="snakemake audit"):
        evenlight(monkeypatch, "audit-pdf", study / "tables")
    assert not list(study.glob("audit.pdf")) + list(study.glob("audit.sha256"))


def test_a_browser_that_prints_nothing_leaves_no_file(study):
    with pytest.raises(InputError, match=r"audit\.pdf.*index\.html"):
        filing.print_page("true", study / "index.html", study / "audit.pdf")
    assert not (study / "audit.pdf").exists()

"""What makes an audit a document for the file: what it says of itself."""

from pathlib import Path

import pytest
import yaml

from evenlight.configuration import complete
from evenlight.configuration.study import Frame
from evenlight.core.errors import InputError
from evenlight.reports.audit import document

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
    assert rows == dict.fromkeys(Frame.model_fields, "not stated") | stated


def test_a_field_that_no_audit_has_is_refused():
    with pytest.raises(InputError, match=r"audit.*titel.*title"):
        complete(yaml.safe_load(STUDY.replace("title", "titel")))


def test_who_asks_is_sent_to_sections_that_the_page_has():
    page = (Path(document.__file__).with_name("frame.html")).read_text(encoding="utf-8")
    for row in document.WHO_ASKS:
        assert all(f">{section}</h2>" in page for section in row["see"]), row

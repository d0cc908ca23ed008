"""Records that are kept beside the results come back where Snakemake's own are lost, and only there."""

import json
import shutil
from pathlib import Path

import pytest

from evenlight.core.errors import InputError
from evenlight.jobs import kept_records
from evenlight.jobs.provenance import record_path

STUDY = Path("results", "demo")
TABLE, FIGURE = (str(STUDY / name) for name in ("effects.parquet", "effects.svg"))


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A folder with two results, of which Snakemake has records, and those of another study."""
    monkeypatch.chdir(tmp_path)
    for path in (TABLE, FIGURE, "results/other/table.parquet"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("made")
        made(path, "old")


def made(path: str, settings: str) -> None:
    """As Snakemake notes it."""
    place = record_path(Path(), path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"rule": "draw", "params": [settings]}))


def params(path: str) -> list[str] | None:
    """What Snakemake knows of a file."""
    place = record_path(Path(), path)
    return json.loads(place.read_text())["params"] if place.exists() else None


def test_lost_records_come_back_of_files_that_are_there():
    kept_records.keep(STUDY)
    shutil.rmtree(".snakemake")
    Path(FIGURE).unlink()
    kept_records.restore(STUDY)
    assert (params(TABLE), params(FIGURE), params("results/other/table.parquet")) == (["old"], None, None)


def test_records_that_are_newer_than_what_was_kept_here_stay():
    kept_records.keep(STUDY)
    made(TABLE, "new")
    kept_records.restore(STUDY)
    assert params(TABLE) == ["new"]


def test_results_that_were_copied_over_others_bring_their_records():
    kept_records.keep(STUDY)
    copied = (STUDY / kept_records.KEPT).read_bytes()
    made(TABLE, "new")
    kept_records.keep(STUDY)
    (STUDY / kept_records.KEPT).write_bytes(copied)
    kept_records.restore(STUDY)
    assert params(TABLE) == ["old"]


def test_files_of_a_killed_run_whose_records_are_lost_are_known_to_no_settings():
    kept_records.keep(STUDY)
    kept_records.begin(STUDY, [(TABLE, "draw")])
    kept_records.restore(STUDY)
    assert params(TABLE) == ["old"]
    shutil.rmtree(".snakemake")
    kept_records.restore(STUDY)
    assert (params(TABLE), params(FIGURE)) == ([], ["old"])


def test_a_killed_run_in_a_study_without_kept_records_keeps_those_of_the_other_files():
    kept_records.begin(STUDY, [(TABLE, "draw")])
    shutil.rmtree(".snakemake")
    kept_records.restore(STUDY)
    assert (params(TABLE), params(FIGURE)) == ([], ["old"])


def test_damaged_records_are_refused_with_what_to_do():
    (STUDY / kept_records.KEPT).write_bytes(b"{")
    with pytest.raises(InputError, match=r"records\.json\.gz.*delete it"):
        kept_records.restore(STUDY)


def test_a_study_without_records_is_taken_as_it_is():
    kept_records.restore(STUDY)
    assert params(TABLE) == ["old"]

"""Write down which texts the verdicts of the study have judged, and say where they were judged several times."""

import json
from datetime import UTC, datetime
from pathlib import Path

from evenlight.core import tables
from evenlight.core.contracts.results import INTERIM_ANALYSES
from evenlight.core.contracts.texts import ITEMS
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import items_path
from evenlight.statistics.interim_analyses import (
    describe_repeated,
    of_present,
    read_analyses,
    record_digest,
    with_analyses,
)
from evenlight.statistics.judged_texts import judged_texts

TABLES = (INTERIM_ANALYSES,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The record with the present analysis; without a new row where the same texts were judged before."""
    study, others = inputs.study(settings)
    judged = judged_texts(study)
    # Changes of concepts come of the texts of a dataset: its files are theirs.
    folder = inputs.folders.get("datasets", study.units)
    files = {
        name: json.dumps(tables.read_metadata(items_path(folder, name), ITEMS).get("sources", {}), sort_keys=True)
        for name in study.datasets
    }
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    # The table that is there is the record of earlier analyses.
    before = read_analyses(Path(others["record"]))
    record = with_analyses(
        before, judged, plan=others["plan"], level=others["alpha"], pairs=others["pairs"], files=files, made=now
    )
    present = describe_repeated(of_present(record, judged))
    about = {"digest": record_digest(record), "present": present}
    return Computed([record], (), [f"warning: {text}" for text in present["warnings"]], about)

"""Write down the look that is made, and refuse what would void the level that the plan of looks states."""

from datetime import UTC, datetime
from pathlib import Path

from evenlight.core.contracts.results import LOOK_TEXTS, LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.look_plans import Plan, read_record, record_digest
from evenlight.statistics.look_records import looks_said, with_look

READS = (LOOK_TEXTS,)
TABLES = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The record with a row for this look."""
    _, judging, others = inputs.judged(settings)
    planned, units, [texts] = others["looks"], others["pairs"], inputs.tables
    plan = Plan.of(planned, judging.alpha, planned["settings"])
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    # The table that is there is the record of earlier looks.
    before = read_record(Path(others["record"]), plan)
    record = with_look(before, plan, units, dict(zip(texts["units"], texts["texts"], strict=True)), now)
    said = looks_said(plan, record)
    return Computed([record], said, [record.to_string()], {"digest": record_digest(record)})

"""Write down the look that is made, and refuse what would void the level that the plan of looks states."""

from datetime import UTC, datetime

from evenlight.core.contracts.results import LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.look_records import Plan, looks_said, texts_digest, with_look

TABLES = (LOOKS,)
# The table that is there is the record of earlier looks.
KEEPS = True


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The record with a row for this look."""
    study, judging, others = inputs.judged(settings)
    planned, units = others["looks"], others["pairs"]
    plan = Plan.of(planned, judging.alpha, planned["settings"])
    digests = {number: texts_digest(study, number) for number in plan.planned if number <= units}
    record = with_look(inputs.before, plan, units, digests, f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
    return Computed([record], looks_said(plan, record, judging.bootstrap_draws), [record.to_string()])

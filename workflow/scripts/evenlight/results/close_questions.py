"""Write down the questions of explainers of which a look has decided all, so that they are asked no more."""

from pathlib import Path

from evenlight.core.contracts.results import CLOSED, EFFECTS, LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.closed_records import with_closed
from evenlight.statistics.look_plans import read_closed

TABLES = (CLOSED,)
READS = (EFFECTS, LOOKS)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The record with a row for each question that this look closes."""
    effects, looks = inputs.tables
    made = looks[(looks["plan"] == settings["plan"]) & (looks["units"] == settings["pairs"])]
    look = (settings["plan"], int(made["look"].iloc[0]), settings["pairs"])
    # The table that is there has what earlier looks have closed.
    record = with_closed(read_closed(Path(settings["record"])), effects, look, settings["following"])
    return Computed([record], said=[record.to_string()])

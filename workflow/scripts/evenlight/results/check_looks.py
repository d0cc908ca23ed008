"""Refuse, before anything is explained, what would void the level that the plan of looks states."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas as pd

from evenlight.core.contracts.results import LOOK_TEXTS
from evenlight.core.errors import InputError
from evenlight.results import Computed, Inputs
from evenlight.statistics.look_plans import Plan, read_record, refuse_another_plan, refuse_other_texts
from evenlight.statistics.look_records import texts_digest

TABLES = (LOOK_TEXTS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The digests of the texts that each look up to the present one has."""
    study, judging, others = inputs.judged(settings)
    planned, units = others["looks"], others["pairs"]
    plan = Plan.of(planned, judging.alpha, planned["settings"])
    record = read_record(Path(others["record"]), plan)
    refuse_another_plan(record, plan, units)
    unscored = replace(study, scores=None)
    digests = {number: texts_digest(unscored, number) for number in plan.planned if number <= units}
    refuse_other_texts(record, plan, digests)
    for (earlier, before), (later, now) in pairwise(digests.items()):
        if before == now:
            raise InputError(
                f"explain.pairs: the look with {later} pairs has the texts of that with {earlier} and no more, so that "
                "what was predicted is of an earlier look, or no dataset has more pairs; make it again: snakemake "
                f"--forcerun read_texts. Where that changes nothing, the plan ends with the look of {earlier}"
            )
    return Computed([pd.DataFrame({"units": list(digests), "texts": list(digests.values())})])

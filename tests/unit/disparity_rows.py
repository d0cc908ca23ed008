"""Disparity tables for the tests of what is made from them."""

import pandas as pd

from evenlight.core.contracts.results import DISPARITY

PLACE = {"explainer": "lime", "factor": "gender", "level_a": "male", "level_b": "female", "size_a": 10, "size_b": 10}


def disparity_rows(rows: list[dict]) -> pd.DataFrame:
    """A table that keeps the contract; what a row does not say is the same in all, and delta has the direction of d."""
    usual = dict.fromkeys(DISPARITY.schema.names, 0) | PLACE
    table = [usual | {"cliffs_delta": max(-1, min(1, row.get("cohens_d", 0)))} | row for row in rows]
    return pd.DataFrame(table)

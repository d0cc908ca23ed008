"""How many seconds and rows through the model does each explainer take, per text?"""

from evenlight.core.contracts.results import COST_SUMMARY
from evenlight.results import Computed, Inputs
from evenlight.statistics.costs import summarise_costs
from evenlight.statistics.files import Runs
from evenlight.statistics.study import taken

TABLES = (COST_SUMMARY,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per dataset, model, explainer and device."""
    runs, others = taken(Runs, settings)
    return Computed([summarise_costs(inputs.folders["costs"], runs, **others)])

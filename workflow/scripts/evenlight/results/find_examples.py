"""Which pairs of texts differ most in the question of each comparison whose answer is clearest?"""

from evenlight.core.contracts.results import EFFECTS, EXAMPLES
from evenlight.results import Computed, Inputs
from evenlight.statistics.examples import example_pairs

TABLES = (EXAMPLES,)
READS = (EFFECTS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row for either text of each pair, without its words."""
    study, _ = inputs.study(settings)
    return Computed([example_pairs(study, *inputs.tables, inputs.folders["attributions"])])

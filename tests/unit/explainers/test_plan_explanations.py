"""What is told of the time that explanations will take."""

import numpy as np
from wording import says

from explanations.plan_explanations import explaining_said


def test_where_no_explainer_asks_the_model_no_rows_are_told():
    settings = {"explainers": {}, "seed": 0, "runs": 2}
    assert explaining_said(settings, [], np.zeros(0)) == [says("no explainer asks")]

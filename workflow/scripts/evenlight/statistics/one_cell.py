"""The scores of two groups of texts as a study of one cell and one run, for notebooks.

In a module of its own, so that what notebooks need reruns no study.
"""

import numpy as np
import pandas as pd

from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows
from evenlight.statistics.study import UNDECIDABLE, Comparison, VerdictSettings
from evenlight.statistics.verdicts import STUDY, check_level, judged


def one_cell(
    a: np.ndarray, b: np.ndarray, paired: bool, *, bound: float, alpha: float, draws: int, reach: float = 0.0
) -> pd.Series:
    """The effect of one cell with one run, and what can be said of it alone.

    ``a`` and ``b`` are scores of units, which are known to lie as far from their mean as ``reach``.
    """
    check_level(alpha, draws)
    names = [[f"{0 if paired else level} {unit}" for unit in range(len(of))] for level, of in enumerate((a, b))]
    sides = []
    for first, of in zip((0, len(a)), names, strict=True):
        units = np.array(of, dtype=object)
        sides.append(Side(units, units, first + np.arange(len(of)), np.arange(len(of))))
    values = np.concatenate([a, b])[None, None]
    scores = ExplainerScores("", "", "", [0], ["score"], values, ~np.isnan(values[0]))
    design = Design(Comparison("", "a", "b"), paired, *sides)
    settings = {"alpha": alpha, "equivalence_bound": bound, "confidence": 1 - alpha, "bootstrap_draws": draws}
    judging = VerdictSettings.plain(**settings, reach={"score": reach})
    rows, deviates = gathered([pooled_rows([scores], [design], judging)])
    if not rows:
        return pd.Series({"verdict": UNDECIDABLE, "reason": "no group has scores"})
    row = judged(pd.DataFrame(rows).assign(family=STUDY), deviates, alpha).iloc[0]
    ends = {"": "models_", "standardised": "standardised_models_"}
    effect = {}
    for name, of_models in ends.items():
        effect[name or "difference"] = row[name or "difference"]
        effect |= {f"{name}_{end}".strip("_"): row[f"{of_models}{end}"] for end in ("low", "high")}
    units = {"pairs": row["units_a"]} if paired else {"texts_a": row["units_a"], "texts_b": row["units_b"]}
    return pd.Series(
        effect | units | {"p": row["p_models_adjusted"], "verdict": row["verdict"], "reason": row["reason"]}
    )

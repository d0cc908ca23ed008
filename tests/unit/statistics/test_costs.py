"""What explanations cost: from the records of all runs to a table."""

from pathlib import Path

import pytest
from study_files import made

from evenlight.core import tables
from evenlight.core.contracts.results import COST_SUMMARY
from evenlight.explainers.costs import processor, write_cost
from evenlight.statistics.comparisons.files import Run, explainer_path

STUDY = {"datasets": ["plots"], "models": {"small": [0, 1]}, "explainers": ["grad", "gxi", "lime"]}


def part(texts: int, seconds: float, rows: int, asked: int, device: str = "A CPU", together=("grad", "gxi")) -> dict:
    numbers = {"texts": texts, "seconds": seconds, "rows": rows, "rows_asked": asked}
    return numbers | {"device": device, "threads": 2, "together": list(together), "made_of": []}


@pytest.fixture
def costs(tmp_path) -> Path:
    """Two runs: gradients together; LIME on two devices, and once from before times were kept."""
    folder = tmp_path / "costs"
    for seed in (0, 1):
        run = Run("plots", "small", seed)
        for name in ("grad", "gxi"):
            parts = [part(4, 2.0, 4, 8), part(2, 1.0 + seed, 2, 4)]
            write_cost(explainer_path(folder, run, name), parts)
    lime = [part(4, 8.0, 40, 36, together=["lime"]), part(2, 1.0, 20, 18, "A GPU", ["lime"])]
    write_cost(explainer_path(folder, Run("plots", "small", 0), "lime"), lime)
    write_cost(explainer_path(folder, Run("plots", "small", 1), "lime"), [])
    return folder


def test_what_is_not_known_has_a_row_that_says_so(costs, tmp_path):
    for seed in (0, 1):
        write_cost(explainer_path(costs, Run("plots", "small", seed), "gxi"), [])
    path = tmp_path / "costs.parquet"
    tables.write_table(made("summarise_costs", {"costs": costs}, **STUDY)[0], path, COST_SUMMARY)
    table = tables.read_exactly(path, COST_SUMMARY)
    unknown = table[table["explainer"] == "gxi"].squeeze()
    assert unknown["texts"] == 0
    assert unknown[["device", "seconds", "rows"]].isna().all()


def test_costs_are_means_over_texts_by_device(costs):
    [table] = made("summarise_costs", {"costs": costs}, **STUDY)
    found = {(row.explainer, row.device): row for row in table.itertuples()}
    assert list(found) == [("grad", "A CPU"), ("gxi", "A CPU"), ("lime", "A CPU"), ("lime", "A GPU")]
    grad = found["grad", "A CPU"]
    assert (grad.together, grad.threads, grad.seeds, grad.texts) == ("grad, gxi", 2, 2, 12)
    assert (grad.seconds, grad.rows, grad.rows_asked) == pytest.approx((7 / 12, 1, 2))
    slow, fast = (found["lime", device] for device in ("A CPU", "A GPU"))
    assert [(of.seeds, of.texts, of.seconds, of.rows_asked) for of in (slow, fast)] == [(1, 4, 2, 9), (1, 2, 0.5, 9)]


def test_a_processor_has_the_name_that_the_system_tells(tmp_path):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: A CPU @ 2: x\n")
    assert processor(tmp_path / "cpuinfo") == "A CPU @ 2: x"

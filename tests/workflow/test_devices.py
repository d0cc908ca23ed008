"""What of the machine each job uses: its own GPU among several, and as many threads as its rule says."""

import re
from pathlib import Path

import pytest
from running import SMALLER, contents, copy_of_project, edited, results, run_study, without_times

from evenlight.jobs.gpus import DEVICES_VARIABLE
from evenlight.jobs.warm_start import SWITCH_VARIABLE

LOGS = "logs/tiny"
GPU_JOBS = ("train/", "read_texts/", "attribute/", "score/demo/ola_cea/seed0/faithfulness")
# What the libraries of a job have, where it trains.
TOLD = """
    use_processor(arguments.threads)
    import torch
    from threadpoolctl import threadpool_info
    print("threads:", torch.get_num_threads(), *(pool["num_threads"] for pool in threadpool_info()))
"""


def logs(project: Path) -> dict[str, str]:
    """The text of every log by its path."""
    return {name: content.decode() for name, content in contents(project / LOGS).items()}


@pytest.mark.slow
def test_each_job_that_asks_a_model_has_a_gpu_of_its_own(finished_smaller, tmp_path):
    """On a machine that pretends to have two; the jobs that ask none have none."""
    project = copy_of_project(tmp_path / "project", SMALLER | {"device": "auto"})
    run_study(project, "--resources", "gpu=2", **{DEVICES_VARIABLE: "5,6", "TMPDIR": str(tmp_path)})
    leased = {name: re.findall(r"^has GPU (\d) of 5, 6$", text, re.MULTILINE) for name, text in logs(project).items()}
    assert {name for name, devices in leased.items() if devices} == {
        name for name in leased if name.startswith(GPU_JOBS)
    }
    assert all(len(devices) <= 1 for devices in leased.values())
    assert {device for devices in leased.values() for device in devices} == {"5", "6"}
    tables, expected = (contents(results(each) / "tables") for each in (project, finished_smaller))
    assert without_times(tables) == without_times(expected)


@pytest.mark.slow
@pytest.mark.parametrize("warm", ["0", "1"], ids=["cold", "warm"])
def test_torch_and_blas_have_the_threads_of_the_rule(tmp_path, warm):
    project = copy_of_project(tmp_path / "project", edited(SMALLER, "threads", value=2))
    script = project / "workflow" / "scripts" / "models" / "train.py"
    text = script.read_text()
    assert text.count("\n    use_processor(arguments.threads)\n") == 1
    script.write_text(text.replace("\n    use_processor(arguments.threads)\n", TOLD))
    # Other threads than those of the tests, so that the jobs are started by the run itself: see warm_snakemake.py.
    run_study(project, "--until", "train", **{SWITCH_VARIABLE: warm, "OMP_NUM_THREADS": "3"})
    told = re.search(r"^threads:((?: \d+)+)$", logs(project)["train/demo/ola_cea/seed0.log"], re.MULTILINE)
    # Torch, and each pool of threads that numpy, torch and others have brought along.
    assert len(told[1].split()) > 1
    assert set(told[1].split()) == {"2"}

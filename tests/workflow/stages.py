"""The stages of a study, as a test sees them from outside, and runs in the background that it can end."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from running import SAID, start
from warm_snakemake import Run

PATIENCE = 900  # seconds until a test gives up, much more than any machine should need
LOGS = "logs/tiny"


def log_says(log: str, text: str = "") -> Callable[[Path], bool]:
    """Whether a job's log is there and has ``text``."""

    def happened(project: Path) -> bool:
        path = project / LOGS / log
        return path.is_file() and text in path.read_text(encoding="utf-8", errors="replace")

    return happened


@dataclass(frozen=True)
class Stage:
    """A stage of the smaller study.

    Attributes:
        log: that of one of its jobs.
        working: what the log says once the job is at work, where the beginning is not enough.
        file: what the job makes, below the results, where another job reads it.
        rule: the rule of that job, where a cluster runs it.
    """

    log: str
    working: str = ""
    file: str = ""
    rule: str = ""

    def begins(self, project: Path) -> bool:
        """Whether the job has begun."""
        return log_says(self.log)(project)

    def is_reached(self, project: Path) -> bool:
        """Whether the job is at work."""
        return log_says(self.log, self.working)(project)


RUN = "demo/ola_cea/seed0"
# In the order of the work, each after the one before it.
STAGES = {
    "data are read": Stage("import_dataset/demo.log", file="datasets/demo/items.parquet"),
    "model is trained": Stage(f"train/{RUN}.log", "training on", f"models/{RUN}/model.safetensors", "train"),
    "texts are read": Stage(f"read_texts/{RUN}.log", file=f"predictions/{RUN}.parquet", rule="read_texts"),
    "items are explained": Stage(
        f"attribute/{RUN}/lime.log", "explaining", f"attributions/{RUN}/lime.parquet", "attribute_lime"
    ),
    "explanations are scored": Stage(
        f"score/{RUN}/faithfulness.log", file=f"scores/{RUN}/faithfulness/lime.parquet", rule="score"
    ),
    "groups are compared": Stage("measure_disparity.log", file="tables/disparity.parquet", rule="measure_disparity"),
    "figures are drawn": Stage("draw_effects/demo.log"),
}


def wait_until(happened: Callable[[Path], bool], project: Path, run: Run) -> None:
    """Wait for a moment of a run, which must still be going on then."""
    deadline = time.monotonic() + PATIENCE
    while not happened(project):
        assert run.poll() is None, f"the run ended before:\n{(project / SAID).read_text()}"
        assert time.monotonic() < deadline, f"still waiting:\n{(project / SAID).read_text()}"
        time.sleep(0.01)


def is_alive(run: Run) -> bool:
    """Whether any process of the run is left."""
    run.poll()  # else a dead Snakemake would be counted until its status is asked for
    try:
        os.killpg(run.pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for_end(run: Run) -> None:
    """Wait until no process of the run is left."""
    deadline = time.monotonic() + PATIENCE
    while is_alive(run):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def started(project: Path, **variables: str) -> Iterator[Run]:
    """A run in the background; nothing of it outlives the block."""
    run = start(project, "--cores", "2", **variables)
    try:
        yield run
    finally:
        if is_alive(run):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()

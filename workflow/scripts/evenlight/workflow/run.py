"""What a run does when it starts and when it ends."""

import atexit
import fcntl
import os
from collections import deque
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from evenlight.jobs import gpus, interpreter, kept_records, warm_start
from evenlight.workflow import terminal
from evenlight.workflow.inside import measure_jobs
from evenlight.workflow.study import Study

# What must not end before the process does: the lock of the run, and the server of its jobs.
_held: list = []


def prepare(study: Study) -> None:
    """When the rules are read: set the variables of jobs, and say what must be known before verdicts are made."""
    # A job of another run, or one that was sent to another machine, has no use for that run's server.
    os.environ.pop(warm_start.SOCKET_VARIABLE, None)
    # Nor for this machine's GPUs: whoever sent it there has given it its own.
    if not study.inside.starts:
        os.environ.pop(gpus.DEVICES_VARIABLE, None)
    if study.kind.category and study.first_time("interim_analyses"):
        study.tell_interim_analyses()
        # What a table of scores has is known once it is read.
        if not study.has_scores:
            study.tell_too_few_pairs()
    if study.kind.category and study.planned_looks and not study.has_scores:
        study.refuse_what_voids_the_plan()
    # Not in jobs, which executors start with Snakemake again, and not in the workflow of someone who uses this one.
    if study.inside.starts and study.inside.is_whole:
        terminal.take_over(study.inside, lambda: outcome(study))


def begin(study: Study) -> None:
    """Before the first job: take the lock of the folder, and start what jobs need.

    Raises:
        WorkflowError: another run is at work here, or ``python`` is not that of the environment.
    """
    inside = study.inside
    if not _held and inside.starts:
        _held.append(lock())
        # Jobs call `python`. Those in environments of their own find it there.
        if not inside.has_environments and not inside.touches and (problem := interpreter.problem_with_python()):
            raise WorkflowError(problem)
        if not study.stored:
            made = [(path, rule) for path, rule in inside.to_be_made() if Path(path).is_relative_to(study.folder)]
            kept_records.begin(study.folder, made)
        if study.gpu and inside.is_local and len(shared := gpus.devices()) > 1:
            os.environ[gpus.DEVICES_VARIABLE] = ",".join(shared)
        # Jobs in environments of their own have another Python. Those on other machines do not ask the server.
        if not inside.touches and not inside.has_environments:
            _held.append(warm_start.start(measure_jobs))
        inside.lift_limit()


def add_handlers(study: Study) -> None:
    """Let all of this happen for a module, too."""
    study.inside.add_handlers(
        onstart=lambda: begin(study), onerror=lambda: fail(study), onsuccess=lambda: succeed(study)
    )


def lock():
    """The lock of this folder, which the kernel releases with the process.

    Snakemake's own stays after a killed run and has to be released by hand; profiles/default goes without it.

    Raises:
        WorkflowError: another run has it.
    """
    file = open(".snakemake/evenlight.lock", "w")  # noqa: SIM115 (open as long as the process)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise WorkflowError(f"another run is at work in {os.getcwd()}; wait for it or stop it") from None
    # By a file in this folder snakesee knows that a run is at work; none of them is Snakemake's, see `nolock`.
    at_work = Path(".snakemake", "locks", "evenlight")
    at_work.parent.mkdir(exist_ok=True)
    at_work.touch()
    atexit.register(at_work.unlink, missing_ok=True)
    return file


def fail(study: Study) -> None:
    """After a run that failed: tell the errors of its jobs again, which may stand far above."""
    if study.first_time("errors"):
        keep_records(study)
        for line in last_lines(study.inside.failed_logs(), "error:"):
            logger.error(line)


def succeed(study: Study) -> None:
    """After a run in which all went well: say what was found."""
    if study.first_time("outcome"):
        keep_records(study)
        for line in outcome(study):
            logger.info(line)


def keep_records(study: Study) -> None:
    """Keep beside the results what they were made of."""
    if not study.stored:
        kept_records.keep(study.folder)


def outcome(study: Study) -> list[str]:
    """What a run has found and where to look: the page of the study, or the first of its kind, where it was made."""
    answering = next(iter(study.kind.opens), "scores")
    pages = [f"{study.folder}/index.html", f"{study.folder}/tables/{answering}.html"]
    made = study.inside.files()
    page = next((page for page in pages if page in made), None)
    return [*terminal.opening_of(Path(page)), f"Open {page} in a browser."] if page else []


def last_lines(logs: Iterable[Path], beginning: str) -> list[str]:
    """The last lines in a row that begin so in each of these logs, each line once."""
    texts = [log.read_text(encoding="utf-8", errors="replace").splitlines() for log in logs if log.is_file()]
    return list(dict.fromkeys(line for text in texts for line in last_block(text, beginning)))


def last_block(lines: Iterable[str], beginning: str) -> list[str]:
    """The last of them in a row that begin so.

    >>> last_block(["a 1", "b", "a 2", "a 3", "c"], "a")
    ['a 2', 'a 3']
    """
    blocks = (list(block) for is_one, block in groupby(lines, lambda line: line.startswith(beginning)) if is_one)
    return [line for block in deque(blocks, maxlen=1) for line in block]

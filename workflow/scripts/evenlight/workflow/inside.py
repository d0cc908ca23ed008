"""What this workflow asks Snakemake by names that its documentation does not promise, all of them in this module.

Another version may have renamed each of them. So each says what happens without it, and no run ends for want of one.
``EVENLIGHT_ONLY_DOCUMENTED=1`` takes them all for missing, by which the tests try it.
"""

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

SWITCH = "EVENLIGHT_ONLY_DOCUMENTED"
Value = TypeVar("Value")

# What has been done once, by workflow and study: a module whose rules are used in two statements is read twice.
_done: set[tuple] = set()


def asked(ask: Callable[[], Value], otherwise: Value) -> Value:
    """What ``ask`` gives, or ``otherwise`` where Snakemake has not one of the names in it."""
    if os.environ.get(SWITCH) == "1":
        return otherwise
    try:
        return ask()
    except (AttributeError, ImportError):
        return otherwise


class Inside:
    """Snakemake's workflow, by which rules are read and run."""

    def __init__(self, workflow):
        self.workflow = workflow

    @property
    def starts(self) -> bool:
        """Whether this process starts the run, and not a job of it. Without: yes; jobs check the folder again."""
        return asked(lambda: self.workflow.is_main_process, True)

    @property
    def is_whole(self) -> bool:
        """Whether this is no module of another workflow. Without: yes; what a module's user sees is ours."""
        return asked(lambda: self.workflow.modifier.is_main_snakefile(), True)

    def renamed(self, rule: str) -> str:
        """As which a module has a rule. Without: by its own name; a renamed one has no description."""
        return asked(lambda: self.workflow.modifier.modify_rulename(rule), rule)

    @property
    def configuration_files(self) -> list[str]:
        """The files that the configuration was read from. Without: none; own files lie in this folder."""
        return asked(lambda: list(self.workflow.configfiles), [])

    @property
    def command_line(self) -> dict:
        """What --config says. Without: nothing; no archive's code is trusted."""
        return asked(lambda: self.workflow.config_settings.config, {})

    @property
    def has_environments(self) -> bool:
        """Whether rules have environments of their own. Without: no; `python` must be that of this environment."""
        return asked(lambda: bool(self.workflow.deployment_settings.deployment_method), False)

    @property
    def is_stored(self) -> bool:
        """Whether a storage keeps the results. Without: no; runs with a storage fail."""
        return asked(lambda: self.workflow.storage_settings.default_storage_provider is not None, False)

    def in_study(self, path: str) -> str:
        """The path of a file as its rule has it, also where a storage keeps it. Without: as it is."""

        def without_prefix() -> str:
            from snakemake.io import get_flag_value

            if not (stored := get_flag_value(path, "storage_object")):
                return path
            prefix = self.workflow.storage_settings.default_storage_prefix
            return stored.query.removeprefix(prefix).lstrip("/")

        return asked(without_prefix, path)

    def kept_as(self, file: str, path: str) -> str:
        """A file that Snakemake remembers by ``path``. Without: by where it lies; a moved clone reruns jobs."""

        def flagged() -> str:
            from snakemake.io import sourcecache_entry

            return sourcecache_entry(file, path)

        return asked(flagged, file)

    @property
    def cores(self) -> int:
        """How many cores the run has. Without: 1; what is planned is timed as on a busy machine."""
        return asked(lambda: self.workflow.resource_settings.cores, None) or 1

    @property
    def touches(self) -> bool:
        """Whether --touch was asked for. Without: no; then it needs the environment's Python, too."""
        return asked(lambda: self.workflow.touch, False)

    @property
    def is_local(self) -> bool:
        """Whether jobs run on this machine. Without: no; jobs side by side share the first GPU."""
        return asked(lambda: self.workflow.local_exec, False)

    @property
    def targets(self) -> set[str]:
        """What was asked for. Without: nothing; `check` stops at the first missing file."""
        return asked(lambda: set(self.workflow.dag_settings.targets), set())

    def to_be_made(self) -> list[tuple[str, str]]:
        """Each file that this run makes, with its rule. Without: none; a run that was killed is not told from one that
        ended where its results are copied."""
        jobs = asked(lambda: list(self.workflow.dag.needrun_jobs()), [])
        return [(str(path), job.rule.name) for job in jobs for path in job.output]

    def files(self) -> set[str]:
        """All files of all jobs. Without: none; the end of a run does not say what was found."""
        return {self.in_study(path) for job in asked(lambda: list(self.workflow.dag.jobs), []) for path in job.output}

    def failed_logs(self) -> list[Path]:
        """The logs of failed jobs. Without: none; their errors are not told again at the end."""
        failed = asked(lambda: list(self.workflow.scheduler.failed), [])
        return [Path(log) for group in failed for job in getattr(group, "jobs", [group]) for log in job.log]

    def lift_limit(self) -> None:
        """Let Snakemake start more than 100 jobs a second on this machine. Without: it waits.

        Each time that it looks for jobs, it else looks again a second later: after some hundred jobs this takes a core.
        """

        def lift() -> None:
            limit = self.workflow.scheduler.job_rate_limiter
            if self.is_local and limit and (limit.max_jobs, limit.timespan) == (100, 1):
                self.workflow.scheduler.job_rate_limiter = None

        asked(lift, None)

    def is_producer(self, path: str) -> bool:
        """Whether some rule makes a file. Without: yes; Snakemake says in its own words what is missing."""
        return asked(lambda: any(rule.is_producer(path) for rule in self.workflow.rules), True)

    def describe(self, rule: str, about: str) -> None:
        """Say what a rule does whose name is made. Without: --list has its name alone."""
        name = self.renamed(rule)

        def say() -> None:
            # It may be missing or renamed, where a module is used in part.
            if self.workflow.is_rule(name):
                self.workflow.get_rule(name).docstring = about

        asked(say, None)

    def forget_rules(self, unless: tuple[str, ...]) -> None:
        """Take out rules with outputs whose names do not begin so. Without: they stay, and ask for their inputs."""

        def forget() -> None:
            for rule in [rule for rule in self.workflow.rules if rule.output and not rule.name.startswith(unless)]:
                del self.workflow._rules[rule.name]
                self.workflow._localrules.discard(rule.name)

        asked(forget, None)

    def before_run(self, work: Callable[[Callable], Callable]) -> None:
        """Put something around the planning and the run. Without: missing files are told in Snakemake's words."""

        def wrap() -> None:
            self.workflow.execute = work(self.workflow.execute)

        asked(wrap, None)

    def add_handlers(self, **handlers: Callable[[], None]) -> None:
        """Let a module's `onstart`, `onsuccess` and `onerror` run. Without: its run has no lock and no records."""

        def add() -> None:
            for name, ours in handlers.items():
                theirs = getattr(self.workflow, f"_{name}")
                setattr(self.workflow, f"_{name}", lambda log, ours=ours, theirs=theirs: (ours(), theirs(log)))

        asked(add, None)

    def take_over_terminal(self, display: Callable[[logging.Handler, Callable], logging.Handler]) -> None:
        """Put a display in the place of what a plain run shows. Without: Snakemake's messages.

        Whoever asks Snakemake for more, for less, for other messages or for a plan keeps what Snakemake shows.
        """

        def take_over() -> None:
            manager = self.workflow.logger_manager
            said = manager.settings
            if said.dryrun or said.verbose or said.debug_dag or said.printshellcmds or said.quiet:
                return
            for handler in [each for each in manager.logger.handlers if each.name == "DefaultStreamHandler"]:
                manager.logger.removeHandler(handler)
                manager.logger.addHandler(display(handler, manager.get_logfile))

        asked(take_over, None)

    def first_time(self, what: str, study: str) -> bool:
        """Whether the process that starts the run does this for the first time."""
        key = (id(self.workflow), what, study)
        first = key not in _done
        _done.add(key)
        return self.starts and first


def nothing_to_do() -> str | None:
    """What Snakemake says where nothing is to be done. Without: None; then the end does not say what was found."""

    def message() -> str:
        from snakemake.common import NOTHING_TO_BE_DONE_MSG

        return NOTHING_TO_BE_DONE_MSG

    return asked(message, None)


def coloured(handler: logging.Handler, record: logging.LogRecord, text: str) -> str:
    """A text in the colour of a message's level. Without: plain."""
    return asked(lambda: handler.decorate(record, text), text)


def measure_jobs(jobs_of: Callable[[int], Iterable[int]]) -> None:
    """Let ``benchmark`` see jobs that are no children of its command. Without: it measures the command alone.

    Args:
        jobs_of: the processes that are at work for one of these numbers.
    """

    def watch() -> None:
        import psutil
        from snakemake import benchmark

        class Command(psutil.Process):
            def children(self, recursive: bool = False) -> list[psutil.Process]:
                processes = super().children(recursive)
                return processes + [job for client in (self, *processes) for job in _with_children(jobs_of(client.pid))]

        class Timer(benchmark.BenchmarkTimer):
            def __init__(self, pid: int, *arguments):
                super().__init__(pid, *arguments)
                self.main = Command(pid)

        benchmark.BenchmarkTimer = Timer

    asked(watch, None)


def _with_children(numbers: Iterable[int]) -> list:
    import psutil

    found = []
    with suppress(psutil.Error):
        for job in map(psutil.Process, numbers):
            found += [job, *job.children(recursive=True)]
    return found

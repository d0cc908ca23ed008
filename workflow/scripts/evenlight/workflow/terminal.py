"""What a run says to whoever started it: how far it is, what failed, and in the end what was found and where."""

import html
import logging
import os
import re
import shlex
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from snakemake_interface_logger_plugins.common import LogEvent

from evenlight.engine.progress import duration
from evenlight.workflow.inside import Inside, coloured, nothing_to_do

# What Snakemake tells of a run that goes well. Its log file has all of it.
EVERY_JOB = {
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RESOURCES_INFO,
    LogEvent.RUN_INFO,
    LogEvent.GROUP_INFO,
    LogEvent.JOB_INFO,
    LogEvent.SHELLCMD,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.PROGRESS,
}
# And what it tells as text. What is not listed is shown, so that nothing unforeseen is lost.
EVERY_RUN = (
    "Select jobs to execute",
    "Using shell: ",
    "Conda environments: ignored",
    "Singularity containers: ignored",
    "Group jobs: inactive",
    "Removing temporary output ",
    "Touching output file ",
    "Complete log(s): ",
    "Elapsed time: ",
    # Of every figure in a report.
    "Adding ",
    # Of a job that has failed, which is told by itself: its command, and that there is one.
    "RuleException:\nCalledProcessError in file ",
    "WorkflowError:\nAt least one job did not complete successfully.",
)
STOPPING = ("Terminating processes on user request", "Will exit after finishing currently running jobs")
# Of a failed job's log.
LAST_LINES = 10
# Of all jobs, before which the time left is not told: the first jobs of a study are not like the others.
SHARE_TO_ESTIMATE = 0.1
# Smaller terminals get plain lines.
LEAST_COLUMNS, LEAST_ROWS = 40, 5


def take_over(inside: Inside, outcome: Callable[[], list[str]]) -> None:
    """Let a plain run say how far it is, in place of all messages of Snakemake."""
    inside.take_over_terminal(lambda replaced, logfiles: Display(replaced, logfiles, outcome))


class Jobs:
    """What is known of the jobs of a run: how many of each rule there are, which are at work, how long they take."""

    def __init__(self, counts: Mapping[str, int], clock: Callable[[], float] = time.monotonic):
        self.counts = counts
        self.clock = clock
        self.started = clock()
        self.done = 0
        self.total = sum(counts.values())
        self.begun = False
        self.at_work: dict[int, tuple[str, str, float]] = {}
        self.failed: dict[int, str] = {}
        # Of the jobs of each rule that have ended well: how many they are, and how long they took together.
        self.ended: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()

    def begin(self, number: int, rule: str, label: str) -> None:
        """A job begins, or begins again."""
        self.begun = True
        self.failed.pop(number, None)
        self.at_work[number] = (rule, label, self.clock())

    def end(self, number: int, failed: bool = False) -> str:
        """A job has ended; what it was, and how long it took."""
        rule, label, began = self.at_work.pop(number, ("", f"job {number}", self.clock()))
        seconds = self.clock() - began
        if failed:
            self.failed[number] = label
        else:
            self.ended[rule] += 1
            self.seconds[rule] += seconds
        return f"{label} ({duration(seconds)})"

    def seconds_left(self) -> float | None:
        """By the mean time of each rule's jobs, or of all jobs for rules of which none has ended."""
        if self.done < max(2, SHARE_TO_ESTIMATE * self.total):
            return None
        busy = sum(self.seconds.values())
        usual = defaultdict(lambda: busy / self.ended.total())
        usual |= {rule: self.seconds[rule] / count for rule, count in self.ended.items()}
        work = sum((count - self.ended[rule]) * usual[rule] for rule, count in self.counts.items())
        work -= sum(min(self.clock() - began, usual[rule]) for rule, _, began in self.at_work.values())
        side_by_side = max(1.0, busy / max(self.clock() - self.started, 1e-9))
        return max(work, 0) / side_by_side

    def so_far(self) -> str:
        """How many jobs are done, and how long the others will take."""
        left = self.seconds_left()
        about = f", about {duration(left)} left" if left is not None and self.done < self.total else ""
        return f"{self.done} of {self.total} jobs done{about}"


class BottomLine:
    """The last line of a terminal, kept for one text while everything else scrolls above it, whoever writes it."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self.rows = 0

    def show(self, text: str) -> None:
        """Put a text there, as much of it as fits."""
        columns, rows = os.get_terminal_size(self.stream.fileno())
        if rows != self.rows:
            # A line more, so that what stands on the last one moves up; then only the others scroll.
            self.stream.write(f"\n\0337\033[1;{rows - 1}r\0338\033[1A")
            self.rows = rows
        self.stream.write(f"\0337\033[{rows};1H\033[K{text[: columns - 1]}\0338")
        self.stream.flush()

    def close(self) -> None:
        """Give the line back."""
        if self.rows:
            self.stream.write("\0337\033[r\0338\033[J")
            self.stream.flush()
        self.rows = 0


def has_bottom_line(stream: TextIO) -> bool:
    """Whether a stream is a terminal that knows how to keep its last line."""
    if os.environ.get("TERM", "dumb") == "dumb" or not stream.isatty():
        return False
    columns, rows = os.get_terminal_size(stream.fileno())
    return columns >= LEAST_COLUMNS and rows >= LEAST_ROWS


class Display(logging.StreamHandler):
    """Shows a run in one line of a terminal, or in a plain line for each job where there is no terminal.

    Args:
        replaced: what shows Snakemake's messages, and goes on doing so for those that are neither of a job nor of every
            run.
        logfiles: where all messages are.
        outcome: gives what is said where nothing had to be done, since then Snakemake calls no `onsuccess`.
    """

    def __init__(
        self, replaced: logging.StreamHandler, logfiles: Callable[[], list[str]], outcome: Callable[[], list[str]]
    ):
        super().__init__(replaced.stream)
        for each in replaced.filters:
            self.addFilter(each)
        self.name = replaced.name
        self.replaced = replaced
        self.logfiles = logfiles
        self.outcome = outcome
        self.jobs: Jobs | None = None
        self.ended: list[str] = []
        self.line = BottomLine(self.stream) if has_bottom_line(self.stream) else None
        self.closed = threading.Event()
        self.stopped = False
        self.reactions = {
            LogEvent.RUN_INFO: self.on_run,
            LogEvent.JOB_INFO: self.on_job,
            LogEvent.JOB_FINISHED: self.on_finished,
            LogEvent.PROGRESS: self.on_progress,
            LogEvent.JOB_ERROR: self.on_error,
        }

    def emit(self, record: logging.LogRecord) -> None:
        """Show a message, or what follows from it."""
        event, text = getattr(record, "event", None), str(record.msg)
        self.stopped |= text.startswith(STOPPING)
        try:
            if event in self.reactions:
                self.reactions[event](record)
                self.draw()
            elif event not in EVERY_JOB and not text.startswith(EVERY_RUN):
                self.replaced.emit(record)
            if text == nothing_to_do():
                for line in self.outcome():
                    self.say(line)
        except Exception:
            # A display must not end what it shows.
            self.handleError(record)

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self.stream.write(f"{text}\n")
        self.flush()

    def on_run(self, record: logging.LogRecord) -> None:
        """Before the first job."""
        self.jobs = Jobs({rule: count for rule, count in record.stats.items() if rule != "total"})
        self.say(f"{_jobs(self.jobs.total)} to do. All messages: {self.messages()}")
        if self.line:
            # So that the time goes on while no job ends.
            threading.Thread(target=self.tick, daemon=True).start()

    def on_job(self, record: logging.LogRecord) -> None:
        """A job begins."""
        values = ", ".join(record.wildcards.values())
        self.jobs.begin(record.jobid, record.rule_name, record.rule_name + (f" {values}" if values else ""))

    def on_finished(self, record: logging.LogRecord) -> None:
        """A job has ended well; how many have is told next."""
        self.ended.append(self.jobs.end(record.job_id))

    def on_progress(self, record: logging.LogRecord) -> None:
        """One job has ended well, or a group of them."""
        self.jobs.done, self.jobs.total = record.done, record.total
        if not self.line:
            self.say(f"{self.jobs.so_far()}: {', '.join(self.ended)}")
        self.ended.clear()
        if record.done == record.total:
            self.finish()

    def on_error(self, record: logging.LogRecord) -> None:
        """A job has failed: which, why, and where to read on."""
        failed = self.jobs.end(record.jobid, failed=not self.stopped) if self.jobs else record.rule_name
        if self.stopped:
            return
        lines = [f"failed: {failed}"]
        for log in record.log:
            lines += _end_of(Path(log))
        lines += [f"    {name}: {value}" for name, value in record.aux.items()]
        if not record.log:
            lines.append("    it has no log; `--printshellcmds` shows its command")
        self.say(coloured(self.replaced, record, "\n".join(lines)))

    def draw(self) -> None:
        """Show how far the run is, on a terminal."""
        if self.line and self.jobs and not self.closed.is_set():
            at_work = [label for _, label, _ in self.jobs.at_work.values()]
            now = f", {len(at_work)} at work: {'; '.join(at_work)}" if at_work else ""
            self.line.show(self.jobs.so_far() + now)

    def tick(self) -> None:
        """Draw again every second, until the run ends."""
        while not self.closed.wait(1):
            with self.lock:
                self.draw()

    def messages(self) -> str:
        """Where Snakemake writes all that it says."""
        return ", ".join(map(os.path.relpath, self.logfiles())) or "not kept"

    def finish(self) -> None:
        """Say how the run has ended, once."""
        if self.closed.is_set():
            return
        self.closed.set()
        if self.line:
            self.line.close()
        if self.jobs and self.jobs.begun:
            took = duration(self.jobs.clock() - self.jobs.started)
            stopped = ", then stopped on request" if self.stopped else ""
            self.say(f"{self.jobs.done} of {_jobs(self.jobs.total)} done in {took}{stopped}.")
            if self.jobs.failed:
                self.say(f"Failed: {'; '.join(self.jobs.failed.values())}.")
            if self.jobs.done < self.jobs.total:
                self.say(f"What is done is kept: the same command goes on from there. All messages: {self.messages()}")

    def close(self) -> None:
        """At the end of Snakemake, however it comes."""
        with self.lock:
            self.finish()
        super().close()


def _jobs(count: int) -> str:
    return f"{count} job{'s' * (count != 1)}"


def _end_of(log: Path) -> list[str]:
    """The last lines of a log, and what shows the others."""
    try:
        with log.open(encoding="utf-8", errors="replace") as stream:
            last = list(deque(stream, LAST_LINES))
    except OSError as error:
        return [f"    its log cannot be read: {log} ({error.strerror})"]
    if not last:
        return [f"    its log is empty: {log}; `--printshellcmds` shows its command"]
    return [*(f"    {line.rstrip()}" for line in last), f"    to read all of its log: less {shlex.quote(str(log))}"]


def opening_of(page: Path) -> list[str]:
    """What a page says first, a line each: its answer, if it has one, and what must be read before anything else.

    What tells how to read its cells is left out, as there are none here.
    """
    if not page.is_file():
        # Where a storage keeps the results.
        return []
    below = page.read_text(encoding="utf-8").partition("</h1>")[2]
    warnings = []
    for warning, text in re.findall(r'<p( class="warning")?>(.*?)</p>', below, re.DOTALL):
        text = " ".join(html.unescape(re.sub("<strong>Read this first.</strong>|<[^>]+>", "", text)).split())
        if not warning:
            sentences = re.split(r"(?<=[.?!]) (?=[A-Z])", re.sub(r" \((grey|bold)\)", "", text))
            said = [each for each in sentences if not each.startswith(("A cell ", "An arrow ", "Each "))]
            has_answer = said and not said[-1].endswith("?")
            return [" ".join(said), *warnings] if has_answer else warnings
        warnings.append(f"warning: {text}")
    return warnings

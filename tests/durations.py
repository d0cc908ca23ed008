"""How long each test and fixture takes, in seconds of a clock and of processors.

Every run of the tests writes ``.pytest_cache/d/durations/tests.csv``, row by row, and prints the slowest rows. Seconds
of processors are those of the test's own process and of all that it has started; they hardly depend on what else the
machine does.
"""

import contextlib
import csv
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# To ask what a browser and its processes have taken, takes longer than most phases of tests.
SHORT = 0.005
# A row: seconds of processors and of a clock; a fixture that tests share, or a phase of a test (`setup` has fixtures).
COLUMNS = ("processor_seconds", "seconds", "phase", "name", "worker", "machine")
SHOWN = 10


def processor_seconds() -> float:
    """Seconds of processors that this process and all that it has started have taken until now."""
    return time.process_time() + _seconds_of_others()


def _seconds_of_others() -> float:
    """Those of all that it has started."""
    ended = os.times()
    present = (_seconds_of(process, True) for process in _children("self", True))
    return ended.children_user + ended.children_system + sum(present)


def _seconds_of(process: str, was_started_here: bool = False) -> float:
    """Those of a process that is still there; what one has taken that has just ended is counted with its parent's."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{process}/stat", errors="replace", encoding="utf-8") as status:
            ticks = status.read().rpartition(")")[2].split()[11:15]
        taken = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        return taken + sum(map(_seconds_of, _children(process, was_started_here)))
    return 0.0


def _children(process: str, of_all_threads: bool) -> Iterator[str]:
    """The numbers of its processes, where the system tells them (Linux does).

    All threads of what drives a browser may have started it. The browser has a hundred, and each test would read them:
    of these the first one counts.
    """
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task") if of_all_threads else [process]:
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as listed:
                yield from listed.read().split()


def machine() -> str:
    """The processor and how many there are."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "cpu family"))]
        return f"{os.cpu_count()} x {', family '.join(reversed(names[:2]))}"
    return f"{os.cpu_count()} x {platform.processor()}"


def pytest_configure(config: pytest.Config) -> None:
    """Measure where tests run; write where their reports come together."""
    config.pluginmanager.register(Measured())
    if not hasattr(config, "workerinput") and hasattr(config, "cache"):
        config.pluginmanager.register(Written(config.cache.mkdir("durations") / "tests.csv"))


class Measured:
    """What a phase has taken travels with its report."""

    def __init__(self) -> None:
        self.before, self.others = time.process_time(), _seconds_of_others()
        self.fixtures: list[tuple] = []

    def pytest_runtest_logstart(self) -> None:
        """What comes between tests is none of theirs."""
        self.before = time.process_time()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """Measure a fixture that several tests share, without those that it asks for."""
        if fixturedef.scope == "function":
            return (yield)
        processor, clock = processor_seconds(), time.perf_counter()
        try:
            return (yield)
        finally:
            taken = processor_seconds() - processor, time.perf_counter() - clock
            self.fixtures.append((*taken, "fixture", f"{request.node.nodeid}::{fixturedef.argname}"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Give the report of a phase what the phase has taken; what others did in a short one, the next gets."""
        report, now = (yield), time.process_time()
        others = _seconds_of_others() if call.duration > SHORT else self.others
        # What ends for whom nobody waits, as a browser does, takes its seconds with it.
        taken = max(0.0, now - self.before + others - self.others)
        report.durations = [*self.fixtures, (taken, call.duration, report.when, report.nodeid)]
        self.before, self.others, self.fixtures = now, others, []
        return report


class Written:
    """The file, and what stands at the end of a run."""

    def __init__(self, path: Path) -> None:
        self.path, self.machine, self.rows = path, machine(), []
        self.file = path.open("w", encoding="utf-8", newline="", buffering=1)
        self.writer = csv.writer(self.file)
        self.writer.writerow(COLUMNS)

    def pytest_runtest_logreport(self, report) -> None:
        """Keep the rows of a phase."""
        for processor, clock, phase, name in getattr(report, "durations", ()):
            row = (f"{processor:.3f}", f"{clock:.3f}", phase, name, getattr(report, "worker_id", ""), self.machine)
            self.writer.writerow(row)
            self.rows.append((clock, processor, phase, name))

    def pytest_terminal_summary(self, terminalreporter) -> None:
        """Print the slowest rows."""
        if not self.rows:
            return
        slowest = sorted((row for row in self.rows if row[2] != "setup"), reverse=True)[:SHOWN]
        terminalreporter.section(f"slowest tests and fixtures; all are in {self.path}")
        terminalreporter.line(f"{self.machine}; seconds, and those of processors")
        for clock, processor, phase, name in slowest:
            terminalreporter.line(f"{clock:7.1f} {processor:7.1f}  {phase:8} {name}")

    def pytest_unconfigure(self) -> None:
        """Close the file."""
        self.file.close()

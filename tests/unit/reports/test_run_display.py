"""What a display knows of a run: how long it will still take, what a page says first, and how a failed log ends."""

import io
import os

import pytest

from evenlight.reports.html_table import Page, render
from evenlight.workflow import terminal


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def run_jobs(jobs: terminal.Jobs, clock: Clock, rule: str, number: int, seconds: float) -> None:
    """One after the other."""
    for _ in range(number):
        jobs.begin(jobs.done, rule, rule)
        clock.now += seconds
        jobs.end(jobs.done)
        jobs.done += 1


def test_the_time_left_is_that_of_each_rule(clock):
    jobs = terminal.Jobs({"short": 4, "long": 3}, clock)
    assert jobs.so_far() == "0 of 7 jobs done"
    run_jobs(jobs, clock, "short", 2, 1.0)
    # Of the long ones nothing is known.
    assert jobs.seconds_left() == 5 * 1.0
    run_jobs(jobs, clock, "long", 1, 100.0)
    assert jobs.seconds_left() == 2 * 1.0 + 2 * 100.0
    assert jobs.so_far() == "3 of 7 jobs done, about 3 min 22 s left"
    # What a job has worked already is not to come, and no job takes less than none.
    jobs.begin(9, "long", "long")
    clock.now += 40
    assert jobs.seconds_left() == 2 * 1.0 + 2 * 100.0 - 40
    clock.now += 400
    assert jobs.seconds_left() == 2 * 1.0 + 1 * 100.0


def test_jobs_side_by_side_take_less_time(clock):
    jobs = terminal.Jobs({"rule": 8}, clock)
    for number in range(4):
        jobs.begin(number, "rule", "rule")
    clock.now += 10
    for number in range(4):
        jobs.end(number)
        jobs.done += 1
    assert jobs.seconds_left() == 10


def test_a_job_that_succeeds_in_the_end_has_not_failed(clock):
    jobs = terminal.Jobs({"rule": 1}, clock)
    jobs.begin(0, "rule", "rule one")
    clock.now += 3
    assert jobs.end(0, failed=True) == "rule one (3 s)"
    assert jobs.failed == {0: "rule one"}
    jobs.begin(0, "rule", "rule one")
    assert jobs.failed == {}


def test_a_page_is_opened_with_its_answer_and_its_warnings(tmp_path):
    path = tmp_path / "page.html"
    said = "How far apart are they? Of 4 cells, 3 are open (grey) & 1 is < 2. A cell has its verdict, and n."
    path.write_text(render(Page("Effects", said, [], warnings=["a model only guesses."])), encoding="utf-8")
    assert terminal.opening_of(path) == [
        "How far apart are they? Of 4 cells, 3 are open & 1 is < 2.",
        "warning: a model only guesses.",
    ]
    path.write_text(render(Page("Scores", "How good are they? A cell has the mean.", [])), encoding="utf-8")
    assert terminal.opening_of(path) == []
    assert terminal.opening_of(tmp_path / "stored_elsewhere.html") == []


def test_small_and_simple_terminals_get_plain_lines(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def fileno(self):
            return 2

    monkeypatch.setattr(os, "get_terminal_size", lambda number: (80, 24))
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.has_bottom_line(Terminal())
    assert not terminal.has_bottom_line(io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not terminal.has_bottom_line(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(os, "get_terminal_size", lambda number: (0, 0))
    assert not terminal.has_bottom_line(Terminal())

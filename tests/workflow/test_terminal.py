"""What a run shows to whoever started it: on a terminal, in a file, when it fails, is stopped, or is asked for more."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from running import PROJECT, environment, snakemake
from warm_snakemake import run

SNAKEFILE = f"""
import sys

sys.path.insert(0, {str(PROJECT / "workflow" / "scripts")!r})
from evenlight.workflow import terminal
from evenlight.workflow.inside import Inside

if workflow.is_main_process:
    terminal.take_over(Inside(workflow), lambda: ["It was found before."])

onstart:
    Inside(workflow).lift_limit()

onsuccess:
    from snakemake.logging import logger
    logger.info("It was found.")

rule all:
    input: "three.txt"

rule first:
    output: "{{name}}.first"
    log: "logs/{{name}}.log"
    shell:
        "echo a warning of its own >&2; seq --format='line %g' 30 > {{log}}; "
        "sleep 0.2; test ! -e broken && touch {{output}}"

rule last:
    input: "one.first", "two.first"
    output: "three.txt"
    # One process that starts and waits: Bash forgets an interrupt that meets a child at its end.
    shell: "perl -e 'open F, q(>started); sleep shift' ${{{{LONG:-0}}}}; touch {{output}}"
"""


@pytest.fixture
def toy(tmp_path) -> Path:
    """A workflow of four short jobs."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    return tmp_path


def said(folder: Path, *arguments: str) -> str:
    """What a run says into a file."""
    return run(["--cores", "1", "--keep-going", *arguments], folder, environment()).stdout


@pytest.fixture
def on_a_terminal(toy):
    """Starts Snakemake on a terminal of 24 lines; ends it once a file is there; gives what it shows and how it ends."""

    def start(*arguments: str, stop_after: str = "", **variables: str) -> tuple[str, int]:
        stop_after = stop_after and toy / stop_after
        shown, theirs = pty.openpty()
        os.set_blocking(shown, False)
        variables = environment(TERM="xterm", **variables)
        command = ["snakemake", "--cores", "1", *arguments]
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
        # With this as its terminal, from which an interrupt comes to all its jobs.
        leading = "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(2, termios.TIOCSCTTY, 0); "
        command = ["python", "-c", f"{leading} os.execvp(sys.argv[1], sys.argv[1:])", *command]
        process = subprocess.Popen(command, cwd=toy, env=variables, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        text, waited = b"", time.monotonic() + 900
        while process.poll() is None or text != (text := text + available(shown)):
            text += available(shown)
            if stop_after and stop_after.exists():
                os.write(shown, b"\x03")
                stop_after = ""
            assert time.monotonic() < waited, text
            time.sleep(0.02)
        os.close(shown)
        return text.decode().replace("\r\n", "\n"), process.returncode

    return start


def available(shown: int) -> bytes:
    try:
        return os.read(shown, 65536)
    except OSError:  # nothing yet, or nothing any more
        return b""


def test_into_a_file_every_job_has_one_line(toy):
    lines = said(toy).splitlines()
    [log] = (toy / ".snakemake" / "log").iterdir()
    told = lines.index(f"4 jobs to do. All messages: {log.relative_to(toy)}")
    plain = [re.sub(r"\d+ s|\b(one|two)\b", "#", re.sub(", about .* left", "", line)) for line in lines[told + 1 :]]
    assert plain == [
        "a warning of its own",
        "1 of 4 jobs done: first # (#)",
        "a warning of its own",
        "2 of 4 jobs done: first # (#)",
        "3 of 4 jobs done: last (#)",
        "4 of 4 jobs done: all (#)",
        "4 of 4 jobs done in #.",
        "It was found.",
    ]
    # The log has what was not shown.
    assert re.findall(r"^(?:local)?rule (\w+):$", log.read_text(), re.MULTILINE) == ["first", "first", "last", "all"]
    assert said(toy).splitlines()[-2:] == [
        "Nothing to be done (all requested files are present and up to date).",
        "It was found before.",
    ]


def test_a_failed_job_says_why_and_where_to_read_on(toy):
    (toy / "broken").touch()
    text = said(toy)
    for name in ("one", "two"):
        end = "".join(f"    line {number}\n" for number in range(21, 31))
        assert re.search(rf"failed:.*{name} \(\d+ s\)\n{end}.*log:.*logs/{name}\.log\n", text), text
    assert "CalledProcessError" not in text
    assert re.search(r"\n0 of 4 jobs done.*s\.\nFailed: first (one|two); first (one|two)\.\n", text), text
    assert "command goes on" in text.splitlines()[-1]
    assert run(["--cores", "1"], toy, environment()).returncode == 1


@pytest.mark.parametrize(
    ("flags", "shown", "not_shown"),
    [
        (["--dry-run"], ["rule first:", "This was a dry-run"], []),
        (["--printshellcmds"], ["rule first:", "sleep ", "2 of 4 steps (50%) done"], []),
        (["--verbose"], ["rule first:", "2 of 4 steps (50%) done"], []),
        (["--quiet"], ["It was found."], ["rule first:", "steps"]),
        (["--quiet", "all"], ["a warning of its own"], ["found", "rule first:"]),
        (["--mode", "remote", "--", "one.first"], ["rule first:"], []),
        (["--summary"], ["three.txt"], ["jobs to do"]),
        (["--dag"], ["digraph"], []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_who_asks_snakemake_for_something_else_gets_it(toy, flags, shown, not_shown):
    text = said(toy, *flags)
    assert [part for part in shown if part not in text] == [], text
    assert [part for part in [*not_shown, "jobs done", "jobs to do"] if part in text] == [], text


def test_a_terminal_has_one_line_below_all_else(toy, on_a_terminal):
    text, status = on_a_terminal()
    assert status == 0, text
    # The line is drawn in row 24, and what jobs say themselves scrolls above.
    shown = re.findall(r"\0337\033\[24;1H\033\[K([^\033]*)\0338", text)
    assert any(re.fullmatch(r"0 of 4 jobs done, 1.*first (one|two)", line) for line in shown), shown
    assert any(re.fullmatch(r"3 of 4 jobs done(, about \d+ s left)?", line) for line in shown), shown
    assert all(len(line) < 90 for line in shown)
    rest = re.sub(r"\0337\033\[24;1H\033\[K[^\033]*\0338", "", text)
    assert rest.count("a warning of its own\n") == 2
    # The terminal is given back: all its rows scroll again, and the line is gone.
    opened, given_back = rest.index("\033[1;23r"), rest.index("\0337\033[r\0338\033[J")
    assert opened < given_back < rest.index("4 of 4 jobs done in ") < rest.index("It was found.")
    assert "\033[1;23r" not in rest[given_back:]


def test_an_interrupt_is_no_failure(toy, on_a_terminal):
    text, status = on_a_terminal(stop_after="started", LONG="60")
    assert status != 0
    assert "Traceback" not in text
    assert re.search(r"2 of 4 jobs done.*stopped on request\.", text), text
    assert "ailed" not in text
    assert text.rindex("\033[r\0338\033[J") > text.rindex("\033[24;1H")


def test_a_study_says_what_it_found_where_nothing_is_to_be_done(finished_smaller):
    text = snakemake(finished_smaller, "--cores", "1").stdout
    assert re.search(
        r"\n(.* )?In \d+ of \d+ questions one group is explained better .*\n"
        r"(warning: .*\n)*Open results/tiny/index\.html .*\.\n",
        text,
    ), text

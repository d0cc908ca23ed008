"""A command that is forked from a warm process cannot be told from one that was started by itself."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenlight.jobs import warm_start
from evenlight.workflow.inside import measure_jobs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="warm starts are for Linux")

RUN = Path(__file__).parents[3] / "workflow" / "scripts" / "run.py"
PATIENCE = 600  # seconds until a test gives up, much more than any machine should need
SECONDS, MEGABYTES = 1, 150  # what a command takes, much more than its client
IS_FORK = "open(f'/proc/{os.getppid()}/cmdline').read().split('\\0')[1].endswith('warm_start.py')"


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen]:
    """The server of these tests' commands; its socket stands in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.setenv(warm_start.SOCKET_VARIABLE, "")
        patch.delenv(warm_start.SWITCH_VARIABLE, raising=False)
        server = warm_start.start(measure_jobs)
        yield server
        server.stdin.close()
        assert server.wait(PATIENCE) == 0


@pytest.fixture
def command(server, tmp_path) -> Callable[..., list[str]]:
    """Makes the command line of a script with the given text; ``python`` runs it."""

    def written(text: str, *arguments: str, stage: str = "stage", python: str = "python") -> list[str]:
        script = tmp_path / stage / "command.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"import os, sys\n{text}\n")
        return [python, str(RUN), str(script), *arguments]

    return written


def environment(**more: str) -> dict[str, str]:
    """The variables of a command: those of the tests, without the one that each test changes."""
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} | more


def ended(command: list[str], **more: str) -> subprocess.CompletedProcess:
    """A command that has ended; ``more`` are variables."""
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment(**more))


def is_fork(command: list[str], **more: str) -> bool:
    """Whether the command, which must print it, was forked by the server."""
    return {"True\n": True, "False\n": False}[ended(command, **more).stdout]


def gone(process: int) -> bool:
    """Whether a process has ended, within the tests' patience."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    "text",
    [
        "print('done')",
        "sys.exit(7)",
        "sys.exit('error: not this way')",
        "raise KeyError('absent')",
        "import nothing_of_this_name",
        "import atexit; atexit.register(print, 'last words', flush=True); print('first')",
        "import threading; threading.Timer(0.05, print, ['from a thread']).start(); print('first')",
        "print('no line end', end='')",
        "os._exit(3)",
        *(f"os.kill(os.getpid(), {number})" for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_a_command_ends_as_it_would_by_itself(command, text):
    warm = ended(command(text))
    direct = ended(command(text), **{warm_start.SOCKET_VARIABLE: ""})
    assert warm.returncode == direct.returncode
    assert warm.stdout == direct.stdout
    assert warm.stderr.splitlines()[-1:] == direct.stderr.splitlines()[-1:]


STATE = """
import gc, json, locale, signal, tempfile, threading
print(json.dumps({
    "arguments": sys.argv,
    "name": __name__,
    "folder": os.getcwd(),
    "mask": os.umask(0),
    "variables": dict(os.environ),
    "path": sys.path,
    "interpreter": [sys.executable, sys.prefix, list(sys.flags), locale.getpreferredencoding()],
    "files": {file: os.path.realpath(f"/proc/self/fd/{file}") for file in "012"},
    "number of files": len(os.listdir("/proc/self/fd")),
    "input": sys.stdin.read(),
    "buffering": [file.line_buffering for file in (sys.stdin, sys.stdout, sys.stderr)],
    "signals": {number: str(signal.getsignal(number)) for number in sorted(signal.valid_signals())},
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "threads": [len(os.listdir("/proc/self/task")), threading.active_count(), threading.current_thread().name],
    "garbage": gc.isenabled(),
    "temporary": tempfile.gettempdir(),
    "ours": [name for name in sys.modules if name.split(".")[0] == "evenlight"],
}), flush=True)
print(%s, file=sys.stderr)
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_command_sees_what_its_client_was_given(command, tmp_path, threads):
    line = command(STATE % IS_FORK, "--settings", '{"ü": 1}', "")
    (tmp_path / "input").write_text("line\n")
    (tmp_path / "elsewhere").mkdir()
    variables = {"TMPDIR": str(tmp_path / "elsewhere"), "OMP_NUM_THREADS": threads, "WORD": "\udcff ü"}
    states = {}
    for socket in (os.environ[warm_start.SOCKET_VARIABLE], str(tmp_path / "absent")):
        output = tmp_path / "output"
        with open(tmp_path / "input") as given, open(output, "w") as out, open(tmp_path / "errors", "w") as errors:
            given_variables = environment(**variables, **{warm_start.SOCKET_VARIABLE: socket})
            subprocess.run(
                line, stdin=given, stdout=out, stderr=errors, cwd=tmp_path, env=given_variables, umask=0o027, check=True
            )
        forked, made = (tmp_path / "errors").read_text().splitlines()
        assert made.startswith("made on ")
        states[forked] = json.loads(output.read_text())
        for name in (warm_start.SOCKET_VARIABLE, "_"):
            states[forked]["variables"].pop(name, None)
    # The client that found no server has imported what looks for one.
    assert states["True"].pop("ours") == []
    assert set(states["False"].pop("ours")) <= {"evenlight", "evenlight.jobs", "evenlight.jobs.warm_start"}
    assert states["True"] == states["False"]
    assert states["True"]["threads"][0] == 1


@pytest.mark.slow
def test_the_libraries_of_a_stage_are_there_before_the_fork(command):
    """And nothing that a fork must not inherit: threads, or a GPU that was touched."""
    text = f"""
before = set(sys.modules)
import transformers.models.bert.modeling_bert, torch, pandas, pyarrow.parquet
print({IS_FORK}, len(set(sys.modules) - before), torch.cuda.is_initialized(), len(os.listdir("/proc/self/task")))
print(os.environ.get("JE_ARROW_MALLOC_CONF"), torch.get_num_threads())
"""
    for threads in ("1", "2"):
        done = ended(command(text, stage="models"), OMP_NUM_THREADS=threads)
        assert done.stdout.splitlines() == ["True 0 False 1", f"None {min(int(threads), os.cpu_count())}"], done.stderr


def test_a_process_with_a_second_thread_does_not_fork():
    text = """
import threading
from evenlight.jobs.warm_start import _may_fork
assert _may_fork()
more = threading.Event()
threading.Thread(target=more.wait, daemon=True).start()
assert not _may_fork()
"""
    assert ended([sys.executable, "-c", text]).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_client_reaches_the_command(command, number):
    text = f"""
import signal, time
signal.signal({int(number)}, lambda number, frame: sys.exit(40 + number))
print({IS_FORK}, flush=True)
time.sleep({PATIENCE})
"""
    with subprocess.Popen(command(text), stdout=subprocess.PIPE, text=True, env=environment()) as client:
        assert client.stdout.readline() == "True\n"
        client.send_signal(number)
        assert client.wait(PATIENCE) == 40 + number


WITH_CHILD = f"""
import subprocess
child = subprocess.Popen(["sleep", "{PATIENCE * 2}"])
print({IS_FORK}, os.getppid(), os.getpid(), child.pid, flush=True)
child.wait()
"""


def started_with_child(line: list[str], **more: str) -> tuple[subprocess.Popen, int, list[int]]:
    """The client of a command that waits for a child, its forker, and both processes of the command."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    client = subprocess.Popen(line, **pipes, text=True, env=environment(**more))
    forked, forker, *processes = client.stdout.readline().split()
    assert forked == "True"
    return client, int(forker), [int(process) for process in processes]


@pytest.mark.parametrize("line", ["exec {}", "{}; true"], ids=["the client itself", "a shell that waits for it"])
@pytest.mark.parametrize("warm", [True, False])
def test_the_columns_of_a_benchmark_are_those_of_the_command(command, tmp_path, line, warm):
    """What Snakemake measures, which watches the process that it has started: the client."""
    from snakemake import benchmark

    ready, enough = tmp_path / "ready", tmp_path / "enough"
    text = f"""
import time
held = os.urandom(2**20) * {MEGABYTES}
while time.process_time() < {SECONDS}: pass
with open({str(ready)!r}, "w") as file: print({IS_FORK}, file=file)
while not os.path.exists({str(enough)!r}): time.sleep(0.01)
"""
    variables = environment() if warm else environment(**{warm_start.SOCKET_VARIABLE: ""})
    shell = subprocess.Popen(["sh", "-c", line.format(shlex.join(command(text)))], env=variables)
    # Often for as long as this test can take: by itself, Snakemake soon looks every 30 seconds only.
    with benchmark.benchmarked(shell.pid, interval=1000) as columns:
        deadline = time.monotonic() + PATIENCE
        while not (ready.exists() and columns.cpu_time >= SECONDS * 0.9) and time.monotonic() < deadline:
            time.sleep(0.05)
        enough.touch()
        assert shell.wait(PATIENCE) == 0
    assert ready.read_text() == f"{warm}\n"
    assert columns.cpu_time >= SECONDS * 0.9
    assert columns.max_uss >= MEGABYTES
    assert columns.max_rss >= MEGABYTES


def test_a_killed_client_takes_its_command_along(command):
    client, _, processes = started_with_child(command(WITH_CHILD))
    client.kill()
    assert client.wait(PATIENCE) == -signal.SIGKILL
    assert [gone(process) for process in processes] == [True, True]
    client.communicate()


def test_a_killed_forker_is_reported_and_replaced(command):
    client, forker, processes = started_with_child(command(WITH_CHILD))
    os.kill(forker, signal.SIGKILL)
    assert gone(processes[0])
    os.kill(processes[1], signal.SIGKILL)
    _, said = client.communicate(timeout=PATIENCE)
    assert client.returncode == 1
    assert "(EVENLIGHT_WARM_START=0" in said
    # One command finds out that the forker is gone, and runs by itself.
    text = f"print({IS_FORK})"
    assert [is_fork(command(text)) for _ in range(2)] == [False, True]


def test_another_python_runs_the_command_itself(command, tmp_path):
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    text = f"print({IS_FORK})"
    assert is_fork(command(text))
    assert not is_fork(command(text, python=str(other)))
    assert not is_fork(command(text), PYTHONHASHSEED="1")


def test_a_server_that_others_could_reach_is_not_asked(command):
    folder = Path(os.environ[warm_start.SOCKET_VARIABLE]).parent
    text = f"print({IS_FORK})"
    folder.chmod(0o755)
    try:
        assert not is_fork(command(text))
    finally:
        folder.chmod(0o700)
    assert is_fork(command(text))


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv(warm_start.SWITCH_VARIABLE, "0")
    assert warm_start.start() is None


def test_nothing_is_left_when_the_workflow_is_killed(command):
    text = "import time\nfrom evenlight.jobs import warm_start\nserver = warm_start.start()\n"
    text += "print(os.environ[warm_start.SOCKET_VARIABLE], server.pid, flush=True)\ntime.sleep(3600)\n"
    line = [sys.executable, "-c", f"import os\n{text}"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as workflow:
        socket, server = workflow.stdout.readline().split()
        inherited = {warm_start.SOCKET_VARIABLE: socket}
        client, forker, processes = started_with_child(command(WITH_CHILD), **inherited)
        workflow.kill()
        assert [gone(process) for process in (int(server), forker, *processes)] == [True] * 4
    client.communicate(timeout=PATIENCE)
    assert client.returncode == 1
    assert not Path(socket).parent.exists()
    # The socket's name stays in the environment of jobs that still wait for their turn.
    assert not is_fork(command(f"print({IS_FORK})"), **inherited)


@pytest.mark.parametrize("stage", ["corpus", "datasets", "answers", "results", "figures"])
def test_a_stage_that_asks_no_network_waits_for_none(stage):
    """The libraries of a stage are imported before its first job, which takes torch many seconds."""
    assert {name.partition(".")[0] for name in warm_start.LIBRARIES[stage]}.isdisjoint({"torch", "transformers"})

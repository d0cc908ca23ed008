"""Snakemake for tests, without its start and without that of its jobs: processes import once, and fork for each run.

A dry run spends half of its time on imports, and a tiny study more, as its jobs need torch. A fork has the arguments,
folder, variables and output of its run, and nothing of the runs before it. Its workflow is that of its folder; files of
it that are like those of this working tree are parsed already. What starts the run's jobs (evenlight.jobs.warm_start)
is forked of a second process, which has imported what jobs need, unless the run has another Python. The library is
imported before, too, where that of the run is this working tree's, file by file; an edited copy imports its own.
Variables that Python reads when it starts (``PYTHON…``) act on the jobs alone.
"""

import atexit
import ctypes
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from io import StringIO
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace

# What the Snakefile and Snakemake import of others' code, and of it what jobs import, too.
SHARED = ("pandas", "pyarrow.parquet", "pydantic", "yaml")
LIBRARIES = ("smart_open", "snakemake.cli")
PROJECT = Path(__file__).parents[2]
# What the Snakefile imports of the library.
PLANNING = (
    "evenlight.configuration",
    "evenlight.corpus.annotation",
    "evenlight.datasets",
    "evenlight.workflow.run",
)
WARM_START = PROJECT / "workflow/scripts/evenlight/jobs/warm_start.py"
# The library, and the folders of what it reads beside itself.
CODE = ("workflow", "resources", "config/schemas")
MOST = 1 << 20  # bytes of a request for what starts jobs: its variables
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def run(arguments: Sequence[str], folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess:
    """Run ``snakemake`` to its end, as :func:`subprocess.run` does; ``stdout`` has everything that it said."""
    with TemporaryFile() as said:
        status = start(arguments, folder, variables, Path(f"/proc/{os.getpid()}/fd/{said.fileno()}")).wait()
        said.seek(0)
        return subprocess.CompletedProcess(["snakemake", *arguments], status, said.read().decode())


def start(arguments: Sequence[str], folder: Path, variables: Mapping[str, str], said: Path) -> "Run":
    """Start ``snakemake`` as the leader of a process group; what it says goes to the file ``said``, which is there."""
    request = {"argv": ["snakemake", *arguments], "folder": str(folder), "said": str(said)}
    request["variables"] = dict(variables)
    server = _server(variables.get("PATH", ""))
    return Run(server, _asked(server, request))


class Run:
    """A run of Snakemake, with what tests use of :class:`subprocess.Popen`."""

    def __init__(self, server: subprocess.Popen, pid: int) -> None:
        self.server, self.pid, self.returncode = server, pid, None
        self.end = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Its status, if it has ended."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Its status, when it has ended.

        Raises:
            subprocess.TimeoutExpired: it has not ended in so many seconds.
        """
        if self._ended(timeout) is None:
            raise subprocess.TimeoutExpired("snakemake", timeout)
        return self.returncode

    def kill(self) -> None:
        """Kill Snakemake, and not its jobs."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self.end], [], [], timeout)[0]:
            self.returncode = os.waitstatus_to_exitcode(_asked(self.server, {"end": self.pid}))
            os.close(self.end)
        return self.returncode


def _asked(server: subprocess.Popen, request: dict) -> int:
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    assert answer, "the process that forks for runs of Snakemake has ended"
    return int(answer)


@cache
def _server(path: str) -> subprocess.Popen:
    """A process that serves this one, and ends with it."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PATH": path}
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
    )
    atexit.register(server.communicate)
    return server


# Runs of Snakemake ---------------------------------------------------------------------------------------------------


def _serve() -> dict:
    """Fork for each run and say its number, or say how one has ended; in a fork, return its request.

    What a run leaves behind when it ends, as the process that starts its jobs, becomes a child of this one, which
    buries it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    ended: dict[int, int] = {}

    def bury(*_) -> None:
        with suppress(ChildProcessError):
            while (dead := os.waitpid(-1, os.WNOHANG))[0]:
                ended.update([dead])

    signal.signal(signal.SIGCHLD, bury)
    for line in sys.stdin:
        request = json.loads(line)
        if "end" in request:
            bury()
            print(ended.pop(request["end"]), flush=True)
        elif process := os.fork():
            with suppress(OSError):  # here and in the fork, as either may be first
                os.setpgid(process, process)
            print(process, flush=True)
        else:
            return request
    sys.exit()


def _become(request: dict) -> None:
    """Take on all that a run was given."""
    # A group of its own, as signals to all jobs of a run are none to the server.
    os.setpgid(0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    said = os.open(request["said"], os.O_WRONLY | os.O_APPEND)
    for output in (1, 2):
        os.dup2(said, output)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["variables"])
    sys.argv[:] = request["argv"]


# What starts the jobs of a run ---------------------------------------------------------------------------------------


def _ask_for_jobs_at(channel: socket.socket, python: list) -> None:
    """Have what starts the jobs of this process, Snakemake's, forked at the other end, if it has the Python there."""

    class Popen(subprocess.Popen):
        def __new__(cls, command, *rest, **more):
            warm = len(command) > 1 and Path(command[1]).parts[-3:] == WARM_START.parts[-3:]
            if not warm or [command[0], _read_at_start()] != python:
                return super().__new__(cls)
            read, write = os.pipe()
            request = json.dumps({"argv": command[1:], "variables": dict(os.environ)}).encode()
            socket.send_fds(channel, [request], [read, 1, 2, *more["pass_fds"]])
            os.close(read)
            return SimpleNamespace(stdin=open(write, "wb"))

    subprocess.Popen = Popen


def _read_at_start() -> dict[str, str]:
    """The variables that a Python and its libraries have read when they were started."""
    read = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "GLIBC_", "OMP_")
    return {name: value for name, value in os.environ.items() if name.startswith(read)}


def _serve_jobs(channel: socket.socket) -> tuple[dict, list[int]]:
    """Fork for each request until nobody can ask any more; in a fork, return its request and its files."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    warm_start = None
    while True:
        request, files, _, _ = socket.recv_fds(channel, MOST, 4)
        if not request:
            sys.exit()
        if warm_start is None:
            warm_start = runpy.run_path(str(WARM_START))
            warm_start["_load"]([*chain(*warm_start["LIBRARIES"].values()), *_library()])
            _leave_to_forks_what_is_theirs()
            ours = _state_of(PROJECT)
        if os.fork() == 0:
            channel.close()
            request = json.loads(request)
            _keep_library_of(Path(request["argv"][0]).parents[4], ours)
            return request, files
        for file in files:
            os.close(file)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _library() -> list[str]:
    """The names of all modules of this working tree's library, of which none is imported for it."""
    scripts = PROJECT / "workflow" / "scripts"
    paths = (path.relative_to(scripts).with_suffix("") for path in scripts.glob("evenlight/**/*.py"))
    return [".".join(path.parts).removesuffix(".__init__") for path in paths if path.name != "__main__"]


def _spare_time() -> None:
    """Measure each job once, as a measure asks what all its processes have in memory; wait less before each touch."""
    import_module("snakemake.benchmark").BENCHMARK_INTERVAL_SHORT = 60
    import_module("snakemake.executors.touch").Executor.SLEEPING_TIME = 0.01


def _read_studies() -> None:
    """Have pydantic build what reads studies, and what is said of wrong ones."""
    configuration = import_module("evenlight.configuration")
    for path in (PROJECT / "config").glob("*.yaml"):
        configuration.of_file(path)
    import_module("evenlight.settings.schema").schema_of(configuration.Study)


def _parse_workflow() -> None:
    """Have the files of the workflow parsed for all runs that have the same, wherever they lie."""
    workflow, sources = import_module("snakemake.workflow"), import_module("snakemake.sourcecache")
    parse, parsed = workflow.parse, {}
    opening = SimpleNamespace(sourcecache=SimpleNamespace(open=lambda file: StringIO(Path(file.path).read_text())))
    for path in (PROJECT / "Snakefile", *PROJECT.glob("rules/**/*.smk")):
        lines: dict[int, int] = {}
        code, rules = parse(sources.LocalSourceFile(str(path)), opening, lines)
        parsed[path.read_bytes()] = repr(str(path)), code, rules, lines

    def known(file, of, linemap, rulecount=0):
        path = file.get_path_or_uri(secret_free=True)
        content = Path(path).read_bytes() if os.path.isfile(path) else None
        if content not in parsed:
            return parse(file, of, linemap, rulecount=rulecount)
        ours, code, rules, lines = parsed[content]
        linemap |= lines
        return code.replace(ours, repr(path)), rulecount + rules

    workflow.parse = known


def _leave_to_forks_what_is_theirs() -> None:
    """No fork looks for garbage in what was imported, nor takes it down at its end: either would copy it."""
    gc.freeze()
    gc.enable()
    atexit._clear()
    weakref.finalize._registry.clear()
    weakref.finalize._registered_with_atexit = False


def _keep_library_of(project: Path, ours: dict) -> None:
    """Forget the library that was imported, unless the project has the same."""
    if _state_of(project) != ours:
        sys.path.remove(str(PROJECT / "workflow" / "scripts"))
        for name in [name for name in sys.modules if name.partition(".")[0] == "evenlight"]:
            del sys.modules[name]


def _state_of(project: Path) -> dict[str, tuple[int, int]]:
    """Size and date, which copies keep, of every file that the jobs of a project may import or read."""
    state = {}
    for part in CODE:
        for folder, _, names in os.walk(project / part):
            if not folder.endswith("__pycache__"):
                status = {name: os.stat(os.path.join(folder, name)) for name in names}
                relative = os.path.relpath(folder, project)
                state |= {f"{relative}/{name}": (of.st_size, of.st_mtime_ns) for name, of in status.items()}
    return state


def _become_what_starts_jobs(request: dict, files: list[int]) -> None:
    """Take on all that a Snakemake gives to the process that starts its jobs."""
    os.setpgid(0, 0)
    os.chdir("/")
    *standard, listener = files
    for number, file in enumerate(standard):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["variables"])
    sys.argv[:] = [*request["argv"][:2], str(listener)]


if __name__ == "__main__":
    OURS, THEIRS = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"  # no process forks that has a second thread
    gc.disable()  # nothing of what is imported is garbage
    sys.path.insert(0, str(PROJECT / "workflow" / "scripts"))
    for module in (*SHARED, *PLANNING):
        import_module(module)
    if os.fork() == 0:
        OURS.close()
        _become_what_starts_jobs(*_serve_jobs(THEIRS))
        runpy.run_path(sys.argv[0], run_name="__main__")
        sys.exit()
    THEIRS.close()
    for library in LIBRARIES:
        import_module(library)
    import_module("snakemake.cli").get_argument_parser()  # which imports the plugins
    _spare_time()
    for prepare in (_read_studies, _parse_workflow):
        with suppress(Exception):  # what is broken, runs will say
            prepare()
    _leave_to_forks_what_is_theirs()
    PYTHON, STATE = [sys.executable, _read_at_start()], _state_of(PROJECT)
    REQUEST = _serve()
    _keep_library_of(Path(REQUEST["folder"]), STATE)
    _become(REQUEST)
    _ask_for_jobs_at(OURS, PYTHON)
    try:
        STATUS = import_module("snakemake.cli").main()
    except SystemExit as end:
        STATUS = end.code
    # To take down what was imported would copy it.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(STATUS if isinstance(STATUS, int) else bool(STATUS))

"""Snakemake for tests, without its start: a process imports it once, and forks for each run.

A dry run spends half of its time on imports. A fork has the arguments, folder, variables and output of its run, and
nothing of the runs before it; the workflow itself is imported in the fork, from the folder of the run. Variables that
Python reads when it starts (``PYTHON…``) act on the jobs alone.
"""

import atexit
import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

# What the Snakefile and Snakemake import of others' code.
LIBRARIES = ("pandas", "pyarrow.parquet", "pydantic", "snakemake.cli", "yaml")
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def run(arguments: Sequence[str], folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess:
    """Run ``snakemake`` to its end, as :func:`subprocess.run` does; ``stdout`` has everything that it said."""
    server = _server(variables.get("PATH", ""))
    with TemporaryFile() as said:
        path = f"/proc/{os.getpid()}/fd/{said.fileno()}"
        request = {"argv": ["snakemake", *arguments], "folder": str(folder), "variables": dict(variables), "said": path}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        ended = server.stdout.readline()
        assert ended, "the process that forks for runs of Snakemake has ended"
        status = os.waitstatus_to_exitcode(int(ended))
        said.seek(0)
        return subprocess.CompletedProcess(request["argv"], status, said.read().decode())


@cache
def _server(path: str) -> subprocess.Popen:
    """A process that serves this one, and ends with it."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PATH": path}
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
    )
    atexit.register(server.communicate)
    return server


def _serve() -> dict:
    """Fork for each request, and say how the fork has ended; in a fork, return its request.

    What a run leaves behind when it ends, as the process that starts its jobs, becomes a child of this one, so that
    tests/durations.py knows what processors did for it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            return json.loads(line)
        print(os.waitpid(process, 0)[1], flush=True)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    sys.exit()


def _become(request: dict) -> None:
    """Take on all that a run was given."""
    # A group of its own, as signals to all jobs of a run are none to the server.
    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    said = os.open(request["said"], os.O_WRONLY | os.O_APPEND)
    for output in (1, 2):
        os.dup2(said, output)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["variables"])
    sys.argv[:] = request["argv"]


if __name__ == "__main__":
    from importlib import import_module

    for library in LIBRARIES:
        import_module(library)
    _become(_serve())
    sys.exit(import_module("snakemake.cli").main())

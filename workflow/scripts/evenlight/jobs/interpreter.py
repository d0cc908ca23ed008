"""Which Python runs the jobs: rules call ``python``, which need not be the interpreter that runs Snakemake."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

# What every environment for jobs has.
NEEDED = ("pandas", "pyarrow")
OLDEST = (3, 11)
_ASKED = """
import sys
from importlib.util import find_spec
sys.exit(sys.version_info < {oldest} or not all(map(find_spec, {needed})))
"""


def problem_with_python() -> str | None:
    """Let ``python`` be one that can run jobs; what to do about it where there is none, else None.

    The PATH's own, of an environment that is active, goes first. Where it lacks what jobs need, and the interpreter of
    this process has it, as when Snakemake is called by its path (``.venv/bin/snakemake``), that one's folder is put
    before the others in PATH, for this process and all that it starts.
    """
    named = shutil.which("python")
    folder = os.path.dirname(sys.executable)
    if named and os.path.samefile(os.path.dirname(named), folder):
        # The usual case costs nothing.
        return None if all(map(find_spec, NEEDED)) else _problem(named)
    if named and _can_run_jobs(named):
        return None
    if os.path.isfile(os.path.join(folder, "python")) and all(map(find_spec, NEEDED)):
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
        return None
    return _problem(named)


def _can_run_jobs(python: str) -> bool:
    command = [python, "-c", _ASKED.format(oldest=OLDEST, needed=NEEDED)]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def _problem(named: str | None) -> str:
    needed = " and ".join(NEEDED)
    found = f"{named}, which lacks {needed}" if named else "not found"
    return (
        f"jobs are run by `python`, which here is {found} (or is older than Python {'.'.join(map(str, OLDEST))}), and "
        f"{sys.executable}, which runs Snakemake, cannot take its place; activate the environment of the workflow "
        "(`source .venv/bin/activate`), or let Snakemake make one for each rule (`--software-deployment-method conda`)"
    )

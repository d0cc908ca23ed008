"""How much of a run's processor time goes into starting: Python's own start, imports, and the server of warm starts.

``python bench/start_up.py --cores 2 --configfile config/demo.yaml``: all arguments are Snakemake's. The run goes into
an empty folder, so that every job is done.

Every Python process of the run writes down its processor time, how much of it had passed when its first line ran, and
how much went into imports, wherever they stand (``hooks/sitecustomize.py``). The server of warm starts and its forkers
only start others, so all their time counts as start. What no Python process writes down (shells, a browser, what is
killed) is in the whole and not in the start.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
HOOKS = Path(__file__).resolve().parent / "hooks"
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def measured(arguments: list[str], folder: Path) -> tuple[float, list[dict]]:
    """Processor time in seconds of a run in ``folder`` and of all that it starts, and what its processes wrote down."""
    records = folder / "records"
    records.touch()
    hooks = os.pathsep.join([str(HOOKS), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = os.environ | {"PYTHONPATH": hooks, "EVENLIGHT_START_UP_RECORDS": str(records)}
    # Processes that outlive their parents, as the server does, come to this one, which waits for them.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile"), *arguments]
    done = subprocess.run(command, cwd=folder, env=variables)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    if done.returncode:
        sys.exit(done.returncode)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, [json.loads(line) for line in records.read_text().splitlines()]


def summary(whole: float, processes: list[dict]) -> str:
    """What took how much of the processor time, in lines."""
    servers = [process for process in processes if process["command"] == "warm_start.py"]
    others = [process for process in processes if process["command"] != "warm_start.py"]
    parts = {
        "Python's own start": sum(process["started"] for process in others),
        "imports in jobs and in Snakemake": sum(process["imports"] for process in others),
        "server of warm starts, with its imports": sum(process["whole"] for process in servers),
    }
    start = sum(parts.values())
    lines = [f"{what:42}{seconds:8.1f} s" for what, seconds in parts.items()]
    lines += [f"{'start, together':42}{start:8.1f} s", f"{'the whole run':42}{whole:8.1f} s"]
    return "\n".join([f"{len(processes)} Python processes", *lines, f"share of the start{100 * start / whole:31.1f} %"])


def main() -> None:
    """Run the workflow in an empty folder and print the summary."""
    arguments = sys.argv[1:]
    for position, argument in enumerate(arguments):
        if Path(argument).is_file():
            arguments[position] = str(Path(argument).resolve())
    with tempfile.TemporaryDirectory() as folder:
        print(summary(*measured(arguments, Path(folder))))


if __name__ == "__main__":
    main()

"""Commands of the project for tests, without the start of a Python: a fork of the test's process runs them.

A fork has what is imported already, which is most of what a short command takes, and leaves nothing behind.
"""

import gc
import logging
import os
import runpy
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn


def run_command(script: str | Path, *flags: object) -> subprocess.CompletedProcess:
    """Run a script as ``python SCRIPT FLAGS``; ``stdout`` and ``stderr`` are text."""
    command = [str(script), *map(str, flags)]
    with TemporaryFile() as output, TemporaryFile() as errors:
        process = os.fork()
        if process == 0:
            _run(command, output.fileno(), errors.fileno())
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        for file in (output, errors):
            file.seek(0)
        return subprocess.CompletedProcess(command, status, output.read().decode(), errors.read().decode())


def _run(command: list[str], output: int, errors: int) -> NoReturn:
    """Run the command in this process, which is a fork, and end it."""
    status = 1
    try:
        gc.freeze()  # else the first collection would copy what the test's process has
        os.dup2(output, 1)
        os.dup2(errors, 2)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        # What pytest keeps, a command writes.
        logging.root.handlers.clear()
        warnings.showwarning = lambda *said: print(warnings.formatwarning(*said[:4]), end="", file=sys.stderr)
        sys.argv[:] = command
        sys.path.insert(0, str(Path(command[0]).parent))
        runpy.run_path(command[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(bool(end.code))
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

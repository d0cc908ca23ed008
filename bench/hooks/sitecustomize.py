"""Let every Python process of a run write down what its start cost; see ``start_up.py``, which sets the variable.

Python imports a module of this name when it starts, from the folders in PYTHONPATH. So this imports next to nothing.
"""

import atexit
import os
import sys
import time
from importlib import _bootstrap

seen = {"started": time.process_time(), "imports": 0.0}
find_and_load = _bootstrap._find_and_load
importing = False


def timed(name: str, import_: object) -> object:
    """Python's own function, which it calls for every module that is not there yet, one within another."""
    global importing
    if importing:
        return find_and_load(name, import_)
    importing, before = True, time.thread_time()
    try:
        return find_and_load(name, import_)
    finally:
        importing = False
        seen["imports"] += time.thread_time() - before


def forked() -> None:
    """A fork has its own processor time, and has started without any."""
    seen.update(started=0.0, imports=0.0)


def write() -> None:
    """Add this process to the records."""
    import json

    command = os.path.basename(getattr(sys, "argv", [""])[0])
    line = json.dumps(seen | {"command": command, "whole": time.process_time()})
    with open(os.environ["EVENLIGHT_START_UP_RECORDS"], "a", encoding="utf-8") as file:
        file.write(f"{line}\n")


if "EVENLIGHT_START_UP_RECORDS" in os.environ:
    _bootstrap._find_and_load = timed
    os.register_at_fork(after_in_child=forked)
    atexit.register(write)

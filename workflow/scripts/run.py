"""Run a command of the workflow from where it lies: ``python workflow/scripts/run.py STAGE/COMMAND.py FLAGS``.

The library lies beside this file, so it is found without being installed.
"""

import os
import runpy
import sys

if __name__ == "__main__":
    del sys.argv[0]
    if not sys.argv or not os.path.isfile(sys.argv[0]):
        sys.exit("usage: python run.py STAGE/COMMAND.py FLAGS; --help after the command lists its flags")
    if os.environ.get("EVENLIGHT_WARM_START_SOCKET"):
        from evenlight.jobs import warm_start

        warm_start.hand_over()
    runpy.run_path(sys.argv[0], run_name="__main__")
    from evenlight.jobs.environment import print_environment

    print_environment()

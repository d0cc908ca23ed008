"""Run a command of the workflow from where it lies: ``python workflow/scripts/run.py STAGE/COMMAND.py FLAGS``.

The library lies beside this file, so it is found without being installed.
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    del sys.argv[0]
    if not sys.argv or not Path(sys.argv[0]).is_file():
        sys.exit("usage: python run.py STAGE/COMMAND.py FLAGS; --help after the command lists its flags")
    runpy.run_path(sys.argv[0], run_name="__main__")

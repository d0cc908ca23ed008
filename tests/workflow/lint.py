"""Snakemake's linter on studies, each of which has rules that others have not, by one start: ``make lint``."""

import os
import sys
from pathlib import Path

from warm_snakemake import run

if __name__ == "__main__":
    for study in sys.argv[1:]:
        done = run(["--lint", "--configfile", study], Path.cwd(), os.environ)
        print(study, done.stdout, sep="\n", end="")
        if done.returncode:
            sys.exit(done.returncode)

# The study that all rules ask, and what a run does when it starts and ends.
#
# Comes in: config. Goes out: config with all defaults filled in; `study`, which says of it what rules need
# (evenlight.workflow); the patterns of files.

import sys
import time
from pathlib import Path

BASE = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
sys.path.insert(0, str(BASE / "workflow" / "scripts"))

from evenlight import configuration
from evenlight.core import kinds, sources
from evenlight.datasets import released
from evenlight.workflow import run
from evenlight.workflow.naming import any_of, as_argument, as_json, content_of, growing, labelled
from evenlight.workflow.patterns import *
from evenlight.workflow.study import read_study

study = read_study(config, workflow, BASE)
run.prepare(study)


pathvars:
    results=f"results/{config['study']}",
    logs=f"logs/{config['study']}",
    benchmarks=f"benchmarks/{config['study']}",


wildcard_constraints:
    dataset="|".join(config["datasets"]),
    model="|".join(config["models"]),
    seed=r"\d+",
    metric="|".join(config["metrics"]),
    family="[a-z0-9_]+",


onstart:
    run.begin(study)


# Without the profile Snakemake shows no log, and with it the log of one job may stand far above those of others.
onerror:
    run.fail(study)


onsuccess:
    run.succeed(study)


# Snakemake obeys none of these of a module, but snakedeploy copies the profile into the folder of one.
if not study.inside.is_whole:
    run.add_handlers(study)

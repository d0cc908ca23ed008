# Helpers of all rules: the completed configuration, the digest of the code that a rule runs, lists of files.
#
# Comes in: config. Goes out: config with all defaults filled in, and the functions below.

import fcntl
import json
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

BASE = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
sys.path.insert(0, str(BASE / "workflow" / "scripts"))

from evenlight import configuration, datasets, sources
from evenlight.code_digest import code_digest
from evenlight.errors import InputError

try:
    config |= configuration.complete(config)
except InputError as error:
    raise WorkflowError(str(error))

EXPLAINER_FAMILIES = configuration.explainer_families(config)
METRIC_FAMILIES = configuration.metric_families(config)
METRICS = configuration.metric_annotations(config)
# With a GPU, jobs that run a model share it; `--resources gpu=1` lets one at a time have it.
GPU = 0 if config["device"] == "cpu" else 1


pathvars:
    results=f"results/{config['study']}",
    logs=f"logs/{config['study']}",
    benchmarks=f"benchmarks/{config['study']}",


wildcard_constraints:
    dataset="|".join(config["datasets"]),
    model="|".join(config["models"]),
    seed=r"\d+",
    metric="|".join(config["metrics"]),
    family="[a-z_]+",


# Downloads look here first. An environment variable and no parameter, since where a file was found must not
# rerun anything: its checksum is fixed.
if config["mirror"]:
    os.environ.setdefault(sources.MIRROR_VARIABLE, config["mirror"])


def in_project(path):
    """A file of this repository, relative to where Snakemake was started."""
    return os.path.relpath(BASE / path)


def script(name):
    """A script as input of its rule: it must be there, but its date says nothing; see ``code_of``."""
    return ancient(in_project(f"workflow/scripts/{name}"))


def code_of(name, *also):
    """Digest of the code that a script runs, for ``params``: changed code reruns the rule, a comment does not.

    ``also`` names modules that the script imports under a computed name.
    """
    try:
        return code_digest(BASE / "workflow" / "scripts" / name, also=also)
    except InputError as error:
        raise WorkflowError(str(error))


def as_json(**settings):
    """The settings of a rule as one string.

    Snakemake compares the values of ``params`` without their names, so all of them must be in one.
    """
    return json.dumps(settings, sort_keys=True)


def every(path, **values):
    """``path`` for all datasets, models and seeds of the study, or for those that ``values`` give."""
    named = dict(dataset=config["datasets"], model=config["models"], seed=config["seeds"])
    return expand(path, **{**named, **values})


def model_limits(model):
    """The part of a model's settings that decides how sentences are read."""
    return {key: config["models"][model][key] for key in ("max_tokens", "long_items")}


# A killed run leaves Snakemake's own lock behind and has to be unlocked by hand. The kernel releases this one
# with the process, so profiles/default goes without Snakemake's and a killed run simply continues.
onstart:
    if workflow.is_main_process:
        lock = open(".snakemake/evenlight.lock", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WorkflowError(f"another run is at work in {os.getcwd()}; wait for it or stop it")
        workflow.globals["_run_lock"] = lock

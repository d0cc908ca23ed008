"""Studies of scores that were made elsewhere: which keys such a study has."""

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from evenlight.configuration.study import Study
from evenlight.core.kinds import KINDS, SCORES
from evenlight.datasets import Reader
from evenlight.explainers import Explainer
from evenlight.metrics import Metric
from evenlight.settings import Name, shown

# Of what such a study has something to say; and what of its table stands in the place of other keys of `statistics`.
SECTIONS = ("study", "kind", "seeds", "device", "threads", "checkpoint_minutes", "mirror", "rerun_on_new_libraries")
SECTIONS += ("datasets", "statistics", "figures", "page")
STATISTICS = ("alpha", "as_often_bound", "adjustment", "confidence", "bootstrap_draws", "verdict_permutations", "power")
STATISTICS += ("looks", "spending", "plan")
INSTEAD = {"compare": "compare", "smallest_effects": "margin", "primary": "primary", "strata": "stratum"}


class ScoreStudy(Study):
    """A study of a table of scores: nothing is trained, predicted or explained."""

    kind: Literal[tuple(KINDS)] = Field(SCORES, description="No other one.")
    datasets: dict[Name, Reader] = Field(min_length=1, description="The table of scores, under a name of your choice.")
    explainers: dict[Name, Explainer] = Field({}, description="None.")
    metrics: dict[Name, Metric] = Field({}, description="None.")


def has_scores(config: Mapping) -> bool:
    """Whether some dataset of a configuration, checked or not, is a table of scores."""
    datasets = config.get("datasets")
    entries = datasets.values() if isinstance(datasets, dict) else ()
    return any(isinstance(entry, dict) and entry.get("reader") == SCORES for entry in entries)


def check_scores(config: dict) -> Iterator[str]:
    """A study of scores is of one table, and has nothing that makes scores."""
    table = next(name for name, settings in config["datasets"].items() if settings["reader"] == SCORES)
    why = f"and datasets.{table} has scores that were made elsewhere"
    for name, settings in config["datasets"].items():
        if settings["reader"] != SCORES:
            yield f"datasets.{name}.reader: found {shown(settings['reader'])}, {why}; make a study of each"
        elif name != table:
            yield f"datasets.{name}: is a second table of scores; put both into one, with a column dataset"
    if config["kind"] != SCORES:
        yield f"kind: found {config['kind']}, {why}; leave the key out"
    defaults = {name: field.get_default(call_default_factory=True) for name, field in ScoreStudy.model_fields.items()}
    for section, value in config.items():
        if section not in SECTIONS and value != _plain(defaults[section]):
            yield f"{section}: is given, {why}; leave the key out"
    statistics = _plain(defaults["statistics"])
    for key, value in config["statistics"].items():
        if key not in STATISTICS and value != statistics[key]:
            remedy = f"write datasets.{table}.{INSTEAD[key]} in its place" if key in INSTEAD else "leave the key out"
            yield f"statistics.{key}: is given, {why}; {remedy}"


def _plain(default: object) -> object:
    """A default as it stands in a completed configuration."""
    return default.model_dump() if hasattr(default, "model_dump") else default

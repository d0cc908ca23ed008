"""Keys that earlier versions had: what is written now in their place.

An old configuration is refused as any other; here its keys get the very text that replaces them.
"""

import re
from collections.abc import Iterator

import yaml
from pydantic import ValidationError

from evenlight.datasets import Reader
from evenlight.settings.problems import Outdated


def outdated_keys(config: dict) -> dict[str, Outdated]:
    """The old keys of a configuration, by dotted key."""
    return dict(
        [
            *_inline_trainings(config),
            *_weights(config),
            *_epochs_on(config),
            *_attribute_of_compas(config),
            *_groups_of_tables(config),
            *_compared_groups(config),
            *_sensitivity(config),
        ]
    )


def _inline_trainings(config: dict) -> Iterator[tuple[str, Outdated]]:
    """Trainings were written in every model, and what they share by an anchor of YAML."""
    names: list[tuple[dict, str]] = []
    for model, settings in _mappings(config, "models"):
        if not isinstance(settings.get("training"), dict):
            continue
        training = _converted(settings["training"])
        if settings.get("weights") == "random":
            training = {"start": "random"} | training
        known = next((name for earlier, name in names if earlier == training), None)
        recipe = "" if known else f" and, below the key `trainings`, `{model}: {_text(training)}`"
        names.append((training, known or model))
        said = f"names one of `trainings` now; write `training: {known or model}`{recipe}"
        yield f"models.{model}.training", Outdated(said)


def _weights(config: dict) -> Iterator[tuple[str, Outdated]]:
    for model, settings in _mappings(config, "models"):
        if "weights" in settings:
            start = f"`start: {settings['weights']}`"
            yield f"models.{model}.weights", Outdated(f"is a key of the training now; write {start} there")
    for name, settings in _mappings(config, "trainings"):
        if "weights" in settings:
            yield f"trainings.{name}.weights", Outdated(f"is `start` now; write `start: {settings['weights']}`")


def _epochs_on(config: dict) -> Iterator[tuple[str, Outdated]]:
    for name, training in _mappings(config, "trainings"):
        if "epochs_on" in training:
            epochs = _text(_converted(training).get("epochs"))
            yield f"trainings.{name}.epochs_on", Outdated(f"is part of `epochs` now; write `epochs: {epochs}`")


def _attribute_of_compas(config: dict) -> Iterator[tuple[str, Outdated]]:
    for name, settings in _mappings(config, "datasets"):
        if settings.get("reader") == "compas" and "attribute" in settings:
            said = "is not needed any more: the dataset has the factors gender and race; name those to compare in"
            yield f"datasets.{name}.attribute", Outdated(f"{said} `statistics.compare`")


def _groups_of_tables(config: dict) -> Iterator[tuple[str, Outdated]]:
    for name, settings in _mappings(config, "datasets"):
        if settings.get("reader") != "table" or not settings.keys() & {"group", "groups"}:
            continue
        attributes = _text(_attributes(settings))
        in_place_of = (f"datasets.{name}.attributes",)
        said = f"belongs to `attributes` now; write `attributes: {attributes}`"
        yield f"datasets.{name}.group", Outdated(said, in_place_of)
        yield f"datasets.{name}.groups", Outdated("belongs to `attributes` now, as `levels`", in_place_of)


def _attributes(settings: dict) -> dict:
    """The attributes of a table that had one column with groups."""
    column = settings.get("group", "group")
    name = column if isinstance(column, str) and re.fullmatch("[a-z][a-z0-9_]*", column) else "group"
    return {name: {"column": column, "levels": settings.get("groups", [])}}


def _compared_groups(config: dict) -> Iterator[tuple[str, Outdated]]:
    statistics = config.get("statistics")
    groups = statistics.get("groups") if isinstance(statistics, dict) else None
    if groups is None:
        return
    factors = [factors for _, settings in _mappings(config, "datasets") for factors in _factors(settings).items()]
    compare: dict[str, list] = {}
    for compared in groups if isinstance(groups, list) else []:
        named = set(compared) if isinstance(compared, list) else set()
        factor = next((factor for factor, levels in factors if named <= set(levels)), "<factor>")
        compare.setdefault(factor, []).append(compared)
    said = "is `compare` now, by the factor that the groups are levels of"
    yield "statistics.groups", Outdated(f"{said}; write `compare: {_text(compare)}`")


def _factors(settings: dict) -> dict[str, list[str]]:
    """The factors of a dataset, which may be configured with old keys; none where it cannot be told."""
    if settings.get("reader") == "table" and "groups" in settings:
        return {name: attribute["levels"] for name, attribute in _attributes(settings).items()}
    kept = {key: value for key, value in settings.items() if (settings.get("reader"), key) != ("compas", "attribute")}
    try:
        return Reader.model_validate(kept).factors()
    except ValidationError:
        return {}


def _sensitivity(config: dict) -> Iterator[tuple[str, Outdated]]:
    """Two metrics had one name, and ``definition`` said which."""
    for name, settings in _mappings(config, "metrics"):
        if settings.get("metric") != "sensitivity":
            continue
        definition = settings.get("definition", "paper")
        metric, keys = (
            ("worst_change", ("steps", "radius", "norm"))
            if definition == "paper"
            else ("flip_area", ("definition", "steps", "tokens"))
        )
        entry = {"metric": metric} | {key: settings[key] for key in keys if key in settings}
        entry["label"] = settings.get("label") or "Sensitivity"
        said = f'found "sensitivity", which is two metrics now; write `{name}: {_text(entry)}`'
        yield f"metrics.{name}.metric", Outdated(said)


def _converted(training: dict) -> dict:
    """A training whose ``epochs_on`` is part of ``epochs``."""
    on_datasets = training.get("epochs_on")
    kept = {key: value for key, value in training.items() if key != "epochs_on"}
    if not isinstance(on_datasets, dict) or not on_datasets:
        return kept
    return {key: {"default": value} | on_datasets if key == "epochs" else value for key, value in kept.items()}


def _mappings(config: dict, section: str) -> Iterator[tuple[str, dict]]:
    """The entries of a section that are mappings."""
    entries = config.get(section)
    for name, settings in entries.items() if isinstance(entries, dict) else ():
        if isinstance(settings, dict):
            yield name, settings


def _text(value) -> str:
    """A value as it is written in YAML, on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=float("inf"))
    return text.removesuffix("\n").removesuffix("\n...")

"""Keys that earlier versions had: what is written now in their place.

An old configuration is refused as any other; here its keys get the very text that replaces them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import yaml


class Outdated(NamedTuple):
    """An old key: what is said of it, and which new keys need not be reported as missing beside it."""

    said: str
    in_place_of: tuple[str, ...] = ()


def outdated_keys(config: dict) -> dict[str, Outdated]:
    """The old keys of a configuration, by dotted key."""
    return dict([*_inline_trainings(config), *_weights(config), *_epochs_on(config)])


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
        yield f"models.{model}.training", Outdated(said, ("trainings",))


def _weights(config: dict) -> Iterator[tuple[str, Outdated]]:
    for model, settings in _mappings(config, "models"):
        if "weights" in settings:
            start = f"`start: {settings['weights']}`"
            yield f"models.{model}.weights", Outdated(f"is a key of the training now; write {start} there")


def _epochs_on(config: dict) -> Iterator[tuple[str, Outdated]]:
    for name, training in _mappings(config, "trainings"):
        if "epochs_on" in training:
            epochs = _text(_converted(training).get("epochs"))
            yield f"trainings.{name}.epochs_on", Outdated(f"is part of `epochs` now; write `epochs: {epochs}`")


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

"""Which runs the models of a study have, and what kind of models they are."""

from evenlight.models import Architecture
from evenlight.models.base import OF_RUNS, by_key, listed_texts


def is_trained_here(config: dict, model: str) -> bool:
    """Whether a model of a complete configuration is trained by the study, as opposed to brought along or asked."""
    return "training" in Architecture.entries[config["models"][model]["architecture"]].model_fields


def services_of(config: dict) -> dict[str, dict]:
    """The models of a complete configuration that are services, by name."""
    return {name: model for name, model in config["models"].items() if model["architecture"] == "service"}


def chats_of(config: dict) -> dict[str, dict]:
    """The models of a complete configuration that are asked by a chat API, by name, each with what it is called."""
    chats = {name: model for name, model in config["models"].items() if model["architecture"] == "chat"}
    return {name: model | {"called": model["called"] or name} for name, model in chats.items()}


def answers_only(config: dict) -> list[str]:
    """The models of a complete configuration of which only answers in words are known."""
    return [
        name for name, model in config["models"].items() if Architecture.entries[model["architecture"]].answers_only
    ]


def seeds_of(config: dict, model: str) -> list[int]:
    """The seeds of a model's runs: those of the study, or of them one for each checkpoint that a model brings along.

    >>> config = {"seeds": [3, 7, 9], "models": {"ready": {"architecture": "trained", "source": ["a", "b"]}}}
    >>> seeds_of(config, "ready")
    [3, 7]
    """
    if is_trained_here(config, model):
        return config["seeds"]
    settings = config["models"][model]
    values = [value for name in OF_RUNS for value in by_key(name, settings.get(name)).values()]
    if any("{seed}" in part for value in values for part in listed_texts(value)):
        return config["seeds"]
    return config["seeds"][: max([len(value) for value in values if isinstance(value, list)], default=1)]

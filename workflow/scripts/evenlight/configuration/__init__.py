"""The configuration: checked and completed by typed settings, and asked about what it names.

``study.Study`` says what exists and what each key may hold. The rooms above have the registries: a reader, an
architecture, an explainer or a metric is one class, its parameters are the fields. Validation, defaults, messages,
``config/README.md`` and the JSON Schema come from these classes.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from pydantic import ValidationError, create_model

from evenlight.configuration.combinations import CHECKS, SCORE_CHECKS, datasets_of, labels
from evenlight.configuration.combinations import WORDS as WORDS
from evenlight.configuration.combinations import beyond_probabilities as beyond_probabilities
from evenlight.configuration.combinations import compared_by as compared_by
from evenlight.configuration.combinations import compared_everywhere as compared_everywhere
from evenlight.configuration.combinations import comparisons_of as comparisons_of
from evenlight.configuration.combinations import contrasts as contrasts
from evenlight.configuration.combinations import explains_effects as explains_effects
from evenlight.configuration.combinations import for_some_datasets as for_some_datasets
from evenlight.configuration.combinations import modalities as modalities
from evenlight.configuration.combinations import modality as modality
from evenlight.configuration.runs import answers_only as answers_only
from evenlight.configuration.runs import chats_of as chats_of
from evenlight.configuration.runs import is_trained_here as is_trained_here
from evenlight.configuration.runs import seeds_of
from evenlight.configuration.runs import services_of as services_of
from evenlight.configuration.scores import ScoreStudy
from evenlight.configuration.scores import has_scores as has_scores
from evenlight.configuration.study import ANSWER_METRICS, Study
from evenlight.core.errors import InputError
from evenlight.core.files import read_yaml
from evenlight.core.kinds import TEXT
from evenlight.core.sources import digest
from evenlight.core.versions import STAGES
from evenlight.datasets import Reader
from evenlight.datasets.fields import TEST_SHARE
from evenlight.explainers import Explainer
from evenlight.jobs import own_files
from evenlight.jobs.environment import installed_versions
from evenlight.metrics import Metric
from evenlight.metrics.families.faithfulness import TENTHS
from evenlight.models import Architecture
from evenlight.models.base import OF_RUNS
from evenlight.settings import Entry, Settings, registered, shown
from evenlight.settings.problems import problems_of

# Of one section; the largest that we know of has some thousands.
MOST_VALUES = 100_000
REGISTRIES: dict[str, type[Entry]] = {
    "datasets": Reader,
    "models": Architecture,
    "explainers": Explainer,
    "metrics": Metric,
}
# Without classes of a user's own, which become entries when a configuration names them.
BUILTIN = {section: frozenset(registry.entries) for section, registry in REGISTRIES.items()}


def complete(config: dict) -> dict:
    """Check ``config`` and return a new dict in which every key that was left out has its default.

    Code of one's own that it names is imported, see :mod:`evenlight.own` and :func:`evenlight.jobs.own_files.locate`.

    Numbers are brought to the type of their key (``0`` to ``0.0``, ``"1e-3"`` to ``0.001``), so that two spellings of
    one value are one setting. Raises InputError with every problem found, each with its dotted key, the value found
    and what is allowed.
    """
    if not isinstance(config, dict):
        raise InputError(f"the configuration is {shown(config)}; it must be a mapping of keys to values")
    _check_size(config)
    of_own = register(config)
    problems = [f"{key}: {said}" for key, said in of_own.items()]
    config = _with_metrics(config)
    study, checks = (ScoreStudy, SCORE_CHECKS) if has_scores(config) else (Study, CHECKS)
    try:
        completed = _validated(study, config)
    except ValidationError as error:
        found = problems_of(error, config, study)
        problems += [problem for problem in found if not problem.startswith(tuple(f"{key}:" for key in of_own))]
        completed = _sound_sections(study, config, error)
    for section in [name for name in REGISTRIES if study is Study and completed.get(name) == {}]:
        problems.append(f"{section}: is {'empty' if section in config else 'missing'}; give at least 1 entry")
        del completed[section]
    if missing := _missing_explainers(config, completed):
        # Nobody wrote those that are there by default, nor their metrics: they are not judged.
        problems.append(missing)
        completed = {name: section for name, section in completed.items() if name in config or name not in REGISTRIES}
    for sections, check in checks:
        # A combination can be judged only where its parts are sound.
        if completed.keys() >= set(sections):
            problems.extend(check(completed))
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise InputError(f"the configuration has {count} (config/README.md describes every key):{lines}")
    for section in ("explainers", "metrics"):
        for name, label in labels(section, completed).items():
            completed[section][name]["label"] = label
    # One way to say what an entry is for: in the order of the study, and nothing where it is for all.
    for section in ("models", "explainers"):
        for name, settings in completed[section].items():
            of_entry = datasets_of(completed, section, name)
            settings.pop("datasets", None)
            if set(of_entry) != set(completed["datasets"]):
                settings["datasets"] = [dataset for dataset in completed["datasets"] if dataset in of_entry]
    for dataset, settings in completed["datasets"].items():
        if settings.get("test_share", TEST_SHARE) is None:
            settings["test_share"] = TEST_SHARE if learns(completed, dataset) else 1.0
    return completed


def of_file(path: Path) -> dict:
    """The complete configuration that a file holds; code of one's own lies beside it, or where the run begins."""
    config = written(path)
    own_files.locate(config, [path.parent, Path()])
    return complete(config)


def written(path: Path) -> dict:
    """What a file of settings says, with nothing added and nothing checked.

    Raises:
        InputError: it cannot be read, is no YAML, holds no mapping, or has a key twice.
    """
    config = read_yaml(path, "name a file of settings in YAML")
    if not isinstance(config, dict):
        raise InputError(f"{path}: is {shown(config)}; it must be a mapping of keys to values")
    return config


def learns(config: dict, dataset: str) -> bool:
    """Whether a study with all its keys learns anything from the texts of a dataset, which then are not tested.

    Models do that are trained here, some explainers, and those that estimate effects of concepts.
    """

    def here(section: str, names: Iterable[str]) -> bool:
        return any(dataset in datasets_of(config, section, name) for name in names)

    return (
        explains_effects(config)
        or here("models", (name for name in config["models"] if is_trained_here(config, name)))
        or here("explainers", explainers_with(config, "needs_training"))
    )


def completed_entry(section: str, name: str, settings: dict) -> dict:
    """One entry of ``models``, ``explainers`` or ``metrics`` alone, checked and with all defaults.

    Raises InputError with every problem found, also where it is for some datasets, as only an entry of a study can be.
    """
    completed = completed_sections({section: {name: settings}})[section][name]
    if "datasets" in completed:
        raise InputError(f"{section}.{name}.datasets: there is no study here that has datasets; leave the key out")
    return completed


def completed_sections(sections: dict) -> dict:
    """Some sections of a study, checked and with all defaults: those too that an earlier version did not know.

    Raises InputError with every problem found.
    """
    fields = {section: Study.model_fields[section] for section in sections}
    part = create_model(
        "Part", __base__=Settings, **{section: (field.annotation, field) for section, field in fields.items()}
    )
    try:
        return _validated(part, sections)
    except ValidationError as error:
        raise InputError("; ".join(problems_of(error, sections, Study))) from None


def _check_size(config: dict) -> None:
    """Refuse more values than anyone writes; a few anchors (``&a``, ``*a``) that stand in each other have billions."""
    for key, section in config.items():
        count, waiting = 0, [section]
        while waiting:
            value = waiting.pop()
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            count += len(parts)
            if count > MOST_VALUES:
                raise InputError(
                    f"{key}: has more than {MOST_VALUES:,} values; no study needs so many; write no anchors (&, *)"
                )
            waiting.extend(parts)


def _validated(settings: type[Settings], config: dict) -> dict:
    return settings.model_validate(config).model_dump(serialize_as_any=True)


def _with_metrics(config: dict) -> dict:
    """A study of answers in words alone that names no metrics asks those of answers."""
    explainers = config.get("explainers")
    entries = explainers.values() if isinstance(explainers, dict) else ()
    methods = [entry.get("method") for entry in entries if isinstance(entry, dict)]
    found = {
        Explainer.entries[name].modality for name in methods if isinstance(name, str) and name in Explainer.entries
    }
    return {"metrics": ANSWER_METRICS, **config} if found == {TEXT} else config


def _missing_explainers(config: dict, completed: dict) -> str | None:
    """What is said where models only answer, and nobody wrote which explainer has the answers."""
    answering = answers_only(completed) if "models" in completed else []
    if "explainers" in config or not answering:
        return None
    architecture = completed["models"][answering[0]]["architecture"]
    method = next((name for name, kind in Explainer.entries.items() if architecture in kind.answered_by), "from_table")
    files = [settings.get("file") for settings in completed.get("datasets", {}).values()]
    where = f", file: {next(filter(None, files), 'a table of answers')}" if method == "from_table" else ""
    return (
        f"explainers: missing, and of models.{answering[0]} only answers are known; write which has them, such as "
        f"explainers: {{reasons: {{method: {method}{where}, ...}}}} (docs/answers.md has examples)"
    )


def _sound_sections(study: type[Study], config: dict, error: ValidationError) -> dict:
    """The sections of a configuration in which no problem was found, completed."""
    unsound = {problem["loc"][0] for problem in error.errors(include_url=False)}
    sound = {name: field for name, field in study.model_fields.items() if name not in unsound}
    part = create_model("Part", __base__=Settings, **{name: (field.annotation, field) for name, field in sound.items()})
    return _validated(part, {name: config[name] for name in sound if name in config})


def register(config: Mapping) -> dict[str, str]:
    """Make entries of the classes of one's own that a configuration names; by dotted key, what is wrong with others."""
    problems: dict[str, str] = {}
    for section, entry, name in own_files.named(config, BUILTIN):
        try:
            registered(REGISTRIES[section], name, own_files.class_of(section, name))
        except InputError as error:
            problems[f"{section}.{entry}.{own_files.KEYS[section]}"] = str(error)
    return problems


def kept(section: str, part: type[Entry]) -> str:
    """The name under which a class that a notebook has made is an entry.

    Raises:
        InputError: it is no class of one's own of this section, lacks a function, or has the name of a built-in one.
    """
    if getattr(part, "__name__", "") in BUILTIN[section]:
        raise InputError(f"{part.__name__} is the name of a built-in one; give the class another name")
    name = own_files.keep_class(section, part)
    registered(REGISTRIES[section], name, part)
    return name


# Questions about a complete configuration ------------------------------------------------------------------------


def family_of(section: str, method: str) -> str:
    """The family of a method of ``explainers`` or of a metric of ``metrics``."""
    return REGISTRIES[section].entries[method].family


def entries_of_modalities(config: dict) -> dict[str, dict[str, list[str]]]:
    """The ``explainers`` and ``metrics`` of a complete configuration, for each modality of its explanations."""
    sections = ("explainers", "metrics")
    return {name: {part: of_modality(part, config, name) for part in sections} for name in modalities(config)}


def scored_modalities(config: dict) -> dict[str, dict[str, list[str]]]:
    """The same with what is ``compared`` of each, as statistics are told it; nothing where there is one modality."""
    of = entries_of_modalities(config)
    compared = {name: {"compared": list(comparisons_of(config, name))} for name in of}
    return {name: entries | compared[name] for name, entries in of.items()} if len(of) > 1 else {}


def of_modality(section: str, config: dict, name: str) -> list[str]:
    """The ``explainers`` of a complete configuration of a modality, or the ``metrics`` that score these."""
    return [entry for entry, settings in config[section].items() if modality(section, settings) == name]


def explainer_families(config: dict) -> dict[str, list[str]]:
    """The explainers of a complete configuration by family; a family's explainers are computed together."""
    return _families("explainers", config)


def metric_families(config: dict) -> dict[str, list[str]]:
    """The metrics of a complete configuration by family; a family is one table of scores."""
    return _families("metrics", config)


def followed(config: dict) -> list[str]:
    """Which questions follow from the answers of a complete configuration, since a metric needs them, sorted."""
    entries = (Metric.entries[settings["metric"]] for settings in config["metrics"].values())
    return sorted({entry.follows for entry in entries if hasattr(entry, "follows")})


def metric_annotations(config: dict) -> dict[str, dict[str, str | bool]]:
    """For each metric of a complete configuration its ``metric``, ``label``, ``family`` and what is ``better``.

    Metrics that are definitions of one property have its name as their ``metric``. ``from_probability`` says whether
    the model's probability of the text is part of the score.
    """
    return {
        name: {
            "metric": Metric.entries[settings["metric"]].measures or settings["metric"],
            "label": settings["label"],
            "better": Metric.entries[settings["metric"]].better,
            "family": Metric.entries[settings["metric"]].family,
            "from_probability": Metric.entries[settings["metric"]].from_probability,
        }
        for name, settings in config["metrics"].items()
    }


def explainers_with(config: dict, tag: str) -> list[str]:
    """The explainers of a complete configuration of which a tag holds."""
    return [name for name, settings in config["explainers"].items() if getattr(_explainer(settings), tag)]


def random_explainers(config: dict) -> list[str]:
    """The explainers of a complete configuration that know nothing."""
    return explainers_with(config, "is_random")


def no_hypotheses(config: dict) -> list[str]:
    """The explainers of a complete configuration that are references: those that know nothing, and the attainable."""
    return explainers_with(config, "is_reference")


def beyond_random(config: dict) -> bool:
    """Whether a study has explainers of which something may be left beyond random ones."""
    return bool(random_explainers(config)) and len(no_hypotheses(config)) < len(config["explainers"])


def explaining_methods(config: dict) -> dict[str, str]:
    """The method of each explainer of a complete configuration that explains: neither random ones nor references.

    Explanations that other tools have made are a method each.
    """
    return {
        name: name if _explainer(settings).external else settings["method"]
        for name, settings in config["explainers"].items()
        if not _explainer(settings).is_reference
    }


def upper_bound(config: dict) -> dict[str, str]:
    """The metrics of a complete configuration of which an explainer seeks the best scores, and the explainer."""
    found: dict[str, str] = {}
    sought = [
        (name, settings) for name, settings in config["explainers"].items() if settings["method"] == "upper_bound"
    ]
    for metric, settings in config["metrics"].items():
        for name, search in sought:
            measured = {
                "metric": f"aopc_{search['goal']}",
                "definition": "share",
                "features": "token",
                "shares": TENTHS,
            }
            measured |= {key: search[key] for key in ("hidden_token", "output", "positive_only")}
            if all(settings.get(key) == value for key, value in measured.items()):
                found.setdefault(metric, name)
    return found


def needs_model(section: str, family: str) -> bool:
    """Whether a family of ``explainers`` or ``metrics`` asks the trained model, as opposed to data or scores alone."""
    return any(entry.needs_model for entry in REGISTRIES[section].entries.values() if entry.family == family)


def explains_again(family: str) -> bool:
    """Whether a family of ``metrics`` calls the explainers, so that its scores depend on their versions."""
    return any(entry.explains_again for entry in Metric.entries.values() if entry.family == family)


def same_again(method: str) -> bool:
    """Whether a method of ``explainers`` is known to explain a text in the same way again, whatever the seed.

    >>> same_again("saliency"), same_again("lime"), same_again("imported")
    (True, False, False)
    """
    return Explainer.entries[method].draws is False


def repeated_by(config: dict, explainer: str) -> str | None:
    """The explainer that does the same with other draws; itself where nothing is drawn, None where there is no other.

    >>> lime = {"method": "lime", "label": None}
    >>> study = {"explainers": {"grad": {"method": "saliency"}, "lime": lime, "again": lime | {"datasets": ["news"]}}}
    >>> [repeated_by(study, name) for name in study["explainers"]]
    ['grad', 'again', 'lime']
    """
    methods = without_labels(config["explainers"])
    if same_again(methods[explainer]["method"]):
        return explainer
    return next((name for name in methods if name != explainer and methods[name] == methods[explainer]), None)


def checkpoint(config: dict, model: str, dataset: str, seed: int) -> dict:
    """What a model that is trained already is in one run on a dataset: its settings, with one entry of each list."""
    settings = without(config["models"], "datasets")[model]
    position = seeds_of(config, model).index(seed)

    def of_run(value: str | list[str] | dict | None) -> str | None:
        value = value.get(dataset, value["default"]) if isinstance(value, dict) else value
        value = value[position] if isinstance(value, list) else value
        return value and value.replace("{dataset}", dataset).replace("{seed}", str(seed))

    return settings | {key: of_run(settings[key]) for key in OF_RUNS if key in settings}


def recipe(config: dict, model: str, dataset: str) -> dict:
    """What a model of a complete configuration is and how it is trained on one dataset.

    Returns:
        the settings of the model; ``training`` is the training itself, with the number of ``epochs`` on this dataset.
    """
    settings = without(config["models"], "datasets")[model]
    training = config["trainings"][settings["training"]]
    epochs = training["epochs"]
    if isinstance(epochs, dict):
        epochs = epochs.get(dataset, epochs["default"])
    # Only these have published weights. With others, another start must not train again.
    start = training["start"] if settings["architecture"] == "pretrained" else "random"
    return settings | {"training": training | {"epochs": epochs, "start": start}}


def on_dataset(settings: dict, key: str, dataset: str) -> dict:
    """``settings`` with the value of ``key`` for one dataset: that of ``<key>_on`` where it names the dataset.

    >>> on_dataset({"pairs": 20, "pairs_on": {"compas": 5}}, "pairs", "compas")
    {'pairs': 5}
    """
    numbers = settings[f"{key}_on"]
    return {name: value for name, value in settings.items() if name != f"{key}_on"} | {
        key: numbers.get(dataset, settings[key])
    }


def without(entries: dict[str, dict], *keys: str) -> dict[str, dict]:
    """The same entries of a section without some of their keys."""
    return {
        name: {key: value for key, value in settings.items() if key not in keys} for name, settings in entries.items()
    }


def without_labels(entries: dict[str, dict]) -> dict[str, dict]:
    """The same explainers or metrics without what changes none of their jobs: their headings, and which datasets."""
    return without(entries, "label", "datasets")


def versions_of(
    config: dict,
    *stages: str,
    results: Mapping[str, int] | None = None,
    files: Mapping[str, Path] | None = None,
    **methods: Iterable[str],
) -> dict[str, dict]:
    """What a job uses, each with its version: by these and its settings Snakemake knows whether it is made again.

    Args:
        config: a complete configuration, which says whether libraries count.
        stages: names in :data:`evenlight.core.versions.STAGES`.
        results: the version of each result, by name.
        files: modules and templates of what only renders, each under a name; of these a digest counts.
        methods: by section, such as ``explainers``, the names of readers, architectures, explainers or metrics.

    Returns:
        by kind (``stages``, ``explainers``, ...) the version of each name.
    """
    counts = config["rerun_on_new_libraries"] and files is None
    used = {
        "stages": {stage: _version_of_stage(stage) for stage in stages},
        "results": results or {},
        "files": {name: digest(path) for name, path in (files or {}).items()},
        **{section: {name: version_of(section, name) for name in names} for section, names in methods.items()},
        "libraries": installed_versions() if counts else {},
    }
    return {kind: versions for kind, versions in used.items() if versions}


def _version_of_stage(name: str) -> int:
    if name not in STAGES:
        raise InputError(f"evenlight/core/versions.py: STAGES has no {name!r}; add it with version 1")
    return STAGES[name]


@cache
def version_of(section: str, name: str) -> int | str:
    """The version of a reader, an architecture, an explainer or a metric; of a user's own, a digest of its code."""
    entry = REGISTRIES[section].entries[name]
    return own_files.digest_of_class(section, name) if entry.is_own else entry.version


def _explainer(settings: dict) -> type[Explainer]:
    return Explainer.entries[settings["method"]]


def _families(section: str, config: dict) -> dict[str, list[str]]:
    registry = REGISTRIES[section]
    families: dict[str, list[str]] = {}
    for name, settings in config[section].items():
        families.setdefault(family_of(section, settings[registry.key]), []).append(name)
    return families

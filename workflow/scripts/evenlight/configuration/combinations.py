"""What the sections of a configuration must have in common; each check gives its problems.

Checks get a completed configuration, or the part of it that is sound.
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any

from evenlight.configuration.runs import answers_only, is_trained_here, seeds_of, services_of
from evenlight.configuration.scores import ScoreStudy, check_scores
from evenlight.core.errors import suggestion
from evenlight.core.kinds import EFFECTS, KINDS, MODALITIES, SCORES, TEXT, TOKENS
from evenlight.datasets import Reader, levels_of
from evenlight.explainers import Explainer
from evenlight.explainers.fields import FILE_FIELDS
from evenlight.metrics import Metric
from evenlight.metrics.families.follow_ups import FollowUpMetric
from evenlight.metrics.families.reasons import QuestionMetric
from evenlight.models.base import OF_RUNS, by_key, listed_texts
from evenlight.settings import shown

# Columns of the score tables that are no metric (``tables.SCORES``, which this module does without because
# it would bring pandas into every start of the workflow; a test holds the two in agreement).
SCORE_COLUMNS = ("item_id", "draw", "made_of", "checksum")


# What tables call the comparisons with the baseline, and the mean of all explainers
# (``evenlight.statistics.comparisons.strategies``).
STRATEGY, ALL_TOGETHER = "strategy", "all"

# What predicts levels of concepts beside the models, see ``explain.levels_by``.
WORDS = "words"


def labels(section: str, config: dict) -> dict[str, str]:
    """The headings of all explainers (when not given: their names) or all metrics (their titles)."""
    return {
        name: settings["label"] or (Metric.entries[settings["metric"]].title if "metric" in settings else name)
        for name, settings in config[section].items()
    }


def _not_there(kind: str, name: str, config: dict) -> str:
    names = config[f"{kind}s"]
    there = ", ".join(names) or f"none; add it to {kind}s"
    return f"no such {kind}; the study has {there}{suggestion(name, names)}"


def for_some_datasets(config: dict) -> dict[str, dict[str, list[str]]]:
    """The ``models`` and ``explainers`` of a configuration that are for some of its datasets, with the names of these.

    >>> models = {"a": {}, "b": {"datasets": ["news"]}, "c": {"datasets": ["news", "plots"]}}
    >>> for_some_datasets({"datasets": {"plots": {}, "news": {}}, "models": models, "explainers": {}})
    {'models': {'b': ['news']}}
    """
    named = {
        section: {
            name: settings["datasets"]
            for name, settings in config[section].items()
            if settings.get("datasets") and set(settings["datasets"]) != set(config["datasets"])
        }
        for section in ("models", "explainers")
    }
    return {section: of_section for section, of_section in named.items() if of_section}


def datasets_of(config: dict, section: str, name: str) -> list[str]:
    """The datasets that an entry of ``models`` or ``explainers`` is for."""
    return config[section][name].get("datasets") or list(config["datasets"])


def _meet(config: dict, model: str, explainer: str) -> bool:
    """Whether a model is explained by an explainer: on a dataset that both are for."""
    return not set(datasets_of(config, "models", model)).isdisjoint(datasets_of(config, "explainers", explainer))


def _check_for_datasets(config: dict) -> Iterator[str]:
    """Every dataset has a model and, of each modality, an explainer; what others are held against is everywhere."""
    named = for_some_datasets(config)
    for section, of_section in named.items():
        for name, names in of_section.items():
            key = f"{section}.{name}.datasets"
            for dataset in names:
                if dataset not in config["datasets"]:
                    yield f"{key}: found {shown(dataset)}, {_not_there('dataset', dataset, config)}"
            if config["kind"] == "strategies":
                yield f"{key}: a study of the kind strategies compares models on each dataset; leave the key out"
            elif section == "explainers" and Explainer.entries[config[section][name]["method"]].is_reference:
                yield f"{key}: others are held against {name} on every dataset; leave the key out"
    if any(set(names) - set(config["datasets"]) for of_section in named.values() for names in of_section.values()):
        return
    yield from _without("models", list(config["models"]), "model", config)
    for name in modalities(config):
        explaining = [
            explainer
            for explainer, settings in config["explainers"].items()
            if modality("explainers", settings) == name and not Explainer.entries[settings["method"]].is_reference
        ]
        yield from _without("explainers", explaining, f"explainer of {MODALITIES[name].about}", config)


def _without(section: str, entries: list[str], what: str, config: dict) -> Iterator[str]:
    """The datasets that none of some entries is for."""
    only = for_some_datasets(config).get(section, {})
    for dataset in config["datasets"] if only.keys() >= set(entries) and entries else ():
        if not any(dataset in only[name] for name in entries):
            listing = "; ".join(f"{section}.{name}.datasets has {', '.join(only[name])}" for name in entries)
            yield f"datasets.{dataset}: no {what} is for it; {listing}; add it to one of them, or take it out"


def _check_study(config: dict) -> Iterator[str]:
    for name, kept in (("sources", "downloads"), ("answers", "answers of services")):
        if config["study"] == name:
            yield f'study: found "{name}", where all studies keep their {kept}; choose another name'


def _check_names(section: str, key: str, config: dict) -> Iterator[str]:
    """What a mapping names by its keys is an entry of a section; ``*`` in ``key`` is each entry of another section.

    A mapping that an entry has may say what holds by ``default``.
    """
    places = [("", config)]
    for part in key.split("."):
        places = [
            (f"{place}.{name}", mapping[name])
            for place, mapping in places
            for name in (mapping if part == "*" else [part] if part in mapping else [])
        ]
    there = [*config[section], *["default"] * ("*" in key)]
    for place, named in places:
        for name in named if isinstance(named, dict) else ():
            if name not in there:
                yield f"{place[1:]}.{name}: {_not_there(section[:-1], name, config)}"


def _check_trainings(config: dict) -> Iterator[str]:
    for name, model in config["models"].items():
        named = model.get("training")
        if named is not None and named not in config["trainings"]:
            yield f"models.{name}.training: found {shown(named)}, {_not_there('training', named, config)}"


def _check_trained_on(config: dict) -> Iterator[str]:
    """Explainers that train the model on, by a training that they name or by its own."""
    for name, explainer in config["explainers"].items():
        if "training" not in explainer:
            continue
        named = explainer["training"]
        if named is not None and named not in config["trainings"]:
            yield f"explainers.{name}.training: found {shown(named)}, {_not_there('training', named, config)}"
        for model in config["models"] if named is None else ():
            if not is_trained_here(config, model) and _meet(config, model, name):
                yield f"explainers.{name}.training: models.{model} has none of its own; name one of trainings"


def _check_adapters(config: dict) -> Iterator[str]:
    for model, key, _ in _from_scratch_with("lora", config):
        random = f"but {model} begins with random ones"
        yield f"{key}: adapts weights that are trained already, {random}; name another training there"


def _check_fresh(config: dict) -> Iterator[str]:
    for model, key, found in _from_scratch_with("fresh", config):
        yield f"{key}: found {shown(found)}, but everything of {model} is new; name another training there"


def _from_scratch_with(key: str, config: dict) -> Iterator[tuple[str, str, Any]]:
    """The models that have no weights yet and a training with this key: both as messages name them, and its value."""
    for name, model in config["models"].items():
        training = config["trainings"].get(model.get("training"))
        if training and training[key] and model["architecture"] != "pretrained":
            yield f"models.{name} ({model['architecture']})", f"trainings.{model['training']}.{key}", training[key]


def _check_runs(config: dict) -> Iterator[str]:
    """Every run has a seed, by which random draws are made and files are named."""
    count = len(config["seeds"])
    for name, model in config["models"].items():
        keys = () if is_trained_here(config, name) else OF_RUNS
        of_runs = {key: value for part in keys for key, value in by_key(part, model.get(part)).items()}
        each_seed = any("{seed}" in text for value in of_runs.values() for text in listed_texts(value))
        for key, value in of_runs.items():
            entries = f"models.{name}.{key}: has {len(listed_texts(value))} entries"
            if isinstance(value, list) and len(value) > count:
                problem = f"in the order of seeds, of which there are {count}"
                yield f"{entries}, {problem}; give the study as many seeds, or take entries out"
            elif isinstance(value, list) and each_seed and len(value) < count:
                problem = f"but where {{seed}} stands, there is a run for each of the {count} seeds"
                yield f"{entries}, {problem}; give as many, or a text for all"


def _check_plan(config: dict) -> Iterator[str]:
    """The numbers of a plan of looks rise."""
    looks = config["statistics"]["looks"]
    if looks and (len(looks) < 2 or any(second <= first for first, second in pairwise(looks))):
        yield f"statistics.looks: found {shown(looks)}; allowed are at least 2 numbers, each larger than the one before"


def _check_looks(config: dict) -> Iterator[str]:
    """What is spent by a plan of looks rises, and the study is at one of them."""
    explain, statistics = config["explain"], config["statistics"]
    looks, shares = statistics["looks"], statistics["spending_shares"]
    if not looks:
        return
    if shares and (len(shares) != len(looks) or shares[-1] != 1 or any(b <= a for a, b in pairwise(shares))):
        yield f"statistics.spending_shares: found {shown(shares)}; allowed are {len(looks)} numbers that rise to 1"
    if explain["pairs"] not in looks:
        yield (
            f"explain.pairs: found {shown(explain['pairs'])}, which is no look of statistics.looks; use one of "
            f"{', '.join(map(str, looks))}"
        )
    if explain["pairs_on"]:
        yield "explain.pairs_on: with statistics.looks every dataset has the pairs of the look; take one of both out"
    for name in (EFFECTS, TEXT):
        if name in modalities(config):
            yield f"statistics.looks: {MODALITIES[name].about} are explained all at once; take the looks out"


def _check_masked_words(config: dict) -> Iterator[str]:
    if not config["masked_words"]:
        return
    if config["kind"] != "strategies":
        yield f"masked_words: a study of the kind {config['kind']} has none; write kind: strategies, or take it out"
    elif not any(model["architecture"] in ("pretrained", "prompted") for model in config["models"].values()):
        yield "masked_words: no model is pretrained or prompted, so that none has the head; add one, or take it out"


def _check_levels_by(config: dict) -> Iterator[str]:
    """Levels of concepts are predicted by words, or by networks like a model that the study trains."""
    key, named = "explain.levels_by", config["explain"]["levels_by"]
    if named == WORDS:
        if explains_effects(config) and WORDS in config["models"]:
            yield f"models.{WORDS}: {key} means the words of the texts by this name; choose another name"
    elif not explains_effects(config):
        yield f"{key}: no explainer asks for levels of concepts; add one that explains changes, or take it out"
    elif named not in config["models"]:
        yield f"{key}: found {shown(named)}, {_not_there('model', named, config)}, beside {WORDS}"
    elif not is_trained_here(config, named):
        trained = [name for name in config["models"] if is_trained_here(config, name)]
        remedy = f"use one of {', '.join([WORDS, *trained])}"
        yield f"{key}: found {shown(named)}, which is trained already and knows no levels; {remedy}"


def _check_foils(config: dict) -> Iterator[str]:
    """Classes of tables are known here; those of other readers are looked at when the texts are read."""
    explain = config["explain"]
    if not contrasts(config):
        return
    for dataset, settings in config["datasets"].items():
        key, named = f"explain.foil_on.{dataset}", explain["foil_on"].get(dataset)
        if named is None:
            key, named = "explain.foil", explain["foil"]
        classes = settings.get("classes")
        if isinstance(classes, list) and named not in ("runner_up", *classes):
            allowed = ["runner_up", *classes]
            remedy = suggestion(named, allowed)
            yield f"{key}: found {shown(named)}; allowed for {dataset} is one of {', '.join(allowed)}{remedy}"


def contrasts(config: dict) -> bool:
    """Whether any explainer or metric holds the target against a foil."""
    entries = [*config["explainers"].values(), *config["metrics"].values()]
    return any(settings.get("output") == "contrast" for settings in entries)


def _check_windows(config: dict) -> Iterator[str]:
    """What works on a text as a whole is refused before anything is trained."""
    windowed = [name for name, model in config["models"].items() if model.get("long_items") == "windows"]
    if not windowed:
        return
    why = f"models.{windowed[0]} reads long texts in windows"
    for name, settings in config["explainers"].items():
        if not any(_meet(config, model, name) for model in windowed):
            continue
        if settings.get("layer") == "embedding_output":
            yield (
                f'explainers.{name}.layer: found "embedding_output", where a word has other values in each window, and '
                f"{why}; use word_embeddings"
            )
        if _tokenises_anew(settings):
            yield f'explainers.{name}.definition: found "released", which tokenises texts again, and {why}; use paper'
    for name, settings in config["metrics"].items():
        if (settings["metric"], settings.get("definition")) == ("flip_area", "released"):
            found = 'found "released", which reads a text as a whole'
            yield f"metrics.{name}.definition: {found}, and {why}; use corrected"


def _check_services(config: dict) -> Iterator[str]:
    """A service says probabilities of texts, and nothing of how it finds them."""
    services = list(services_of(config))
    if not services:
        return
    why = f"and models.{services[0]} is a service, which gives probabilities alone"
    asking = [name for name in config["explainers"] if any(_meet(config, service, name) for service in services)]
    for section, names in (("explainers", asking), ("metrics", config["metrics"])):
        for name in names:
            for key, problem in beyond_probabilities(section, config[section][name], why):
                yield f"{section}.{name}.{key}: {problem}"
    if explains_effects(config):
        yield f"explainers: changes of a concept need what a last layer is given, {why}; take one of both out"
    if config["randomisation"] is not None:
        yield f"randomisation: makes layers of a network random, {why}; leave the key out"
    for service in services:
        if second := _second_part(config, "models", service):
            yield f"models.{service}: is asked about one text at a time, and {second}; leave one of the two out"


def beyond_probabilities(section: str, settings: dict, why: str) -> Iterator[tuple[str, str]]:
    """The keys of an explainer or metric that ask for more than probabilities, and what is said of each.

    Args:
        section: ``explainers`` or ``metrics``.
        settings: completed.
        why: there is nothing else, to stand behind a comma.
    """
    registry = {"explainers": Explainer, "metrics": Metric}[section]
    entry = registry.entries[settings[registry.key]]
    if entry.needs_model and entry.needs_internals:
        able = [name for name, each in registry.entries.items() if _asks_probabilities(each)]
        found = f"found {shown(settings[registry.key])}, which looks into the network"
        yield registry.key, f"{found}, {why}; use one of {', '.join(able)}"
    elif settings.get("hidden_token") == "pad":
        yield "hidden_token", f'found "pad", {why}; use mask or removed'
    elif section == "explainers" and _tokenises_anew(settings):
        yield "definition", f'found "released", which tokenises texts again, {why}; use paper'


def _asks_probabilities(entry: type[Explainer] | type[Metric]) -> bool:
    return entry.needs_model and not entry.needs_internals and (issubclass(entry, Metric) or not entry.is_reference)


def _check_answers_only(config: dict) -> Iterator[str]:
    """Of a model without a network nothing is known but its answers."""
    answering = answers_only(config)
    questions = [name for name, settings in config["datasets"].items() if settings["reader"] == "questions"]
    others = [name for name in config["models"] if name not in answering]
    if others and questions:
        yield (
            f"models.{others[0]}: datasets.{questions[0]} has questions without a class, which no model can learn or "
            "predict; use architecture answers or chat, or another reader"
        )
    if not answering:
        return
    why = f"and of models.{answering[0]} only answers are known"
    if others:
        yield f"models.{others[0]}: predicts, {why}; make a study of each"
    for name, settings in config["explainers"].items():
        if modality("explainers", settings) != TEXT:
            yield f"explainers.{name}.method: found {shown(settings['method'])}, {why}; use from_table or from_api"
    if config["randomisation"] is not None:
        yield f"randomisation: makes layers of a network random, {why}; leave the key out"
    if config["explain"]["pairs"] or config["explain"]["pairs_on"]:
        yield f"explain.pairs: answers are not drawn, {why}; leave it out, and choose rows of their table"
    for dataset, by in config["statistics"]["strata"].items():
        if by != "label":
            yield f"statistics.strata.{dataset}: found {shown(by)}, {why}, no predictions; use label"


def _check_answering(config: dict) -> Iterator[str]:
    """Who is asked for answers in words must be able to give them."""
    for name, settings in config["explainers"].items():
        able = Explainer.entries[settings["method"]].answered_by
        for model, of_model in config["models"].items():
            if able and of_model["architecture"] not in able and _meet(config, model, name):
                found = f"found {shown(settings['method'])}, which asks models of architecture {' or '.join(able)}"
                yield (
                    f"explainers.{name}.method: {found}, and models.{model} has {shown(of_model['architecture'])}; "
                    "name other datasets for each, or make a study of each"
                )


def _check_changed_questions(config: dict) -> Iterator[str]:
    """Metrics of changed questions need answers to these."""
    of_questions = {name for name, kind in Metric.entries.items() if issubclass(kind, QuestionMetric)}
    metric = next((name for name, of in config["metrics"].items() if of["metric"] in of_questions), None)
    if metric is None:
        return
    for name, settings in config["explainers"].items():
        if modality("explainers", settings) != TEXT:
            continue
        if "concept" not in settings:
            yield (
                f"explainers.{name}.method: found {shown(settings['method'])}, which answers no changed questions, and "
                f"metrics.{metric} is about these; use from_table"
            )
        elif not settings["concept"]:
            yield (
                f"explainers.{name}.concept: missing, and metrics.{metric} is about questions with a concept changed; "
                "name the column"
            )
        elif not (settings["mentioned"] or settings["evidence"]):
            yield (
                f"explainers.{name}.mentioned: missing, and metrics.{metric} asks what reasons mention; name the "
                "column, or evidence"
            )


def _check_follow_ups(config: dict) -> Iterator[str]:
    """Metrics of follow-up questions need decisions that are named, or columns with what was asked."""
    for metric, of in config["metrics"].items():
        entry = Metric.entries[of["metric"]]
        if not issubclass(entry, FollowUpMetric):
            continue
        why = f"and metrics.{metric} is about follow-up questions"
        for name, settings in config["explainers"].items():
            if modality("explainers", settings) != TEXT:
                continue
            if entry.follows not in Explainer.entries[settings["method"]].follows:
                found = f"found {shown(settings['method'])}, and metrics.{metric} needs the model's probabilities"
                yield f"explainers.{name}.method: {found}; use local_generation, or take the metric out"
                continue
            if "follow_ups" not in settings:
                for column in entry.columns:
                    if settings[column] is None:
                        yield f"explainers.{name}.{column}: missing, {why}; name the column, or take the metric out"
                continue
            words = settings["decision"]["words"] if settings["decision"] else {}
            undecided = settings["follow_ups"]["undecided"]
            if len([name for name in words if name not in undecided]) < 2:
                found = f"explainers.{name}.decision.words: must name two decisions or more, {why}"
                yield f"{found}; name the words of each"
            elif entry.follows == "contributions" and (
                settings["decision"]["pattern"] or settings["decision"]["field"]
            ):
                yield (
                    f"explainers.{name}.decision: found a pattern or a field, and metrics.{metric} needs answers that "
                    "begin with their decision; give words alone"
                )
            elif entry.follows == "redaction" and not set(words) & set(undecided):
                yield (
                    f"explainers.{name}.decision.words: has none of {shown(undecided)}, {why} that may not be decided; "
                    "name one, and offer it in the template, or name others in follow_ups.undecided"
                )


def _check_prompts(config: dict) -> Iterator[str]:
    """A template has one place for a text."""
    for name, model in config["models"].items():
        if model["architecture"] == "prompted" and (why := _second_part(config, "models", name)):
            yield (
                f"models.{name}.template: has room for one text, and {why}; leave the model or the dataset out, or "
                "make one column of both parts"
            )


def _check_second(config: dict) -> Iterator[str]:
    for name, settings in config["explainers"].items():
        if _tokenises_anew(settings) and (why := _second_part(config, "explainers", name)):
            found = 'found "released", which makes one text of both parts'
            yield f"explainers.{name}.definition: {found}, and {why}; use paper"


def _second_part(config: dict, section: str, name: str) -> str | None:
    """What names the second part of texts that an entry is for, the first where several do; None where none does."""
    of_entry = [dataset for dataset in datasets_of(config, section, name) if dataset in config["datasets"]]
    parted = [dataset for dataset in of_entry if config["datasets"][dataset].get("second")]
    return f"datasets.{parted[0]}.second names a second part of every text" if parted else None


def _tokenises_anew(explainer: dict) -> bool:
    """Whether an explainer is LIME on words by its released code."""
    return (explainer["method"], explainer.get("features"), explainer.get("definition")) == ("lime", "word", "released")


def _check_labels(section: str, config: dict) -> Iterator[str]:
    """Two entries under one heading could not be told apart in a table."""
    first_with: dict[str, str] = {}
    for name, label in labels(section, config).items():
        first = first_with.setdefault(label, name)
        if first != name:
            heading = f"{shown(label)} is the heading of {section}.{first} too"
            yield f"{section}.{name}.label: {heading}; give one of the two another label"


def _check_metrics(config: dict) -> Iterator[str]:
    for name in config["metrics"]:
        if name in SCORE_COLUMNS:
            yield f"metrics.{name}: this name is a column of every score table; choose another name"


_EXPLAINED = ("explainers", "metrics")


def _check_primary(config: dict) -> Iterator[str]:
    primary = config["statistics"]["primary"]
    strategies = config["statistics"]["strategies"]
    # In a study of strategies a cell's model is an architecture, and all explainers together are one more.
    of_strategies = (
        {"models": list(strategies), "explainers": [*config["explainers"], ALL_TOGETHER]} if strategies else {}
    )
    for section in ("datasets", "models", "explainers", "metrics"):
        known = {section: of_strategies.get(section, config[section])}
        for name in primary[section]:
            if name not in known[section]:
                yield f"statistics.primary.{section}: found {shown(name)}, {_not_there(section[:-1], name, known)}"
    named = [
        {modality(part, config[part][name]) for name in primary[part] if name in config[part]} for part in _EXPLAINED
    ]
    if all(named) and not set.intersection(*named):
        yield "statistics.primary: no metric of these scores any of these explainers; name some that belong together"
    yield from _primary_of_no_run(config)
    key, compared = "compare", list(config["statistics"]["compare"])
    if strategies:
        key, compared = "claims", [STRATEGY, *config["statistics"]["claims"]]
    for factor in primary["factors"]:
        if factor not in compared:
            listing = ", ".join(compared) or "none"
            there = f"statistics.{key} has {listing}{suggestion(factor, compared)}"
            yield f"statistics.primary.factors: found {shown(factor)}, which is not compared; {there}"


def _primary_of_no_run(config: dict) -> Iterator[str]:
    """Models, explainers and datasets of the primary family that have no run with the others, see their `datasets`."""
    primary, only = config["statistics"]["primary"], for_some_datasets(config)
    sections = ("datasets", "models", "explainers")
    models, explainers = (only.get(section, {}) for section in sections[1:])
    runs = [
        (dataset, model, explainer)
        for dataset, model, explainer in product(*(primary[section] or config[section] for section in sections))
        if dataset in models.get(model, [dataset]) and dataset in explainers.get(explainer, [dataset])
    ]
    if not runs:
        yield "statistics.primary: none of these models and explainers is for any of these datasets; name others"
        return
    for section, there in zip(sections, zip(*runs, strict=True), strict=True):
        for name in primary[section]:
            if name not in there:
                remedy = "take it out, or name a dataset that they have in common"
                yield f"statistics.primary.{section}: found {shown(name)}, which goes with none of the others; {remedy}"


def _check_draws(config: dict) -> Iterator[str]:
    alpha, draws = (config["statistics"][key] for key in ("alpha", "bootstrap_draws"))
    if alpha * (draws + 1) < 1:
        yield (
            f"statistics.bootstrap_draws: found {draws}, with which no p is below 1/{draws + 1}, and statistics.alpha "
            f"is {alpha:g}; take more"
        )


def _check_files(config: dict) -> Iterator[str]:
    """Explanations of one model are not those of another, nor are those of one training."""
    for name, settings in config["explainers"].items():
        models = [model for model in config["models"] if _meet(config, model, name)]
        seeds = {seed for model in models for seed in seeds_of(config, model)}
        datasets = datasets_of(config, "explainers", name)
        names_of_runs = {"dataset": datasets, "model": models, "seed": sorted(seeds)}
        for part in FILE_FIELDS:
            told = f"{{{part}}}" in settings.get("file", "") or (part == "model" and settings.get("model"))
            if Explainer.entries[settings["method"]].external and len(names_of_runs[part]) > 1 and not told:
                listing = ", ".join(map(str, names_of_runs[part]))
                remedy = "give each a file" + ", or name its datasets" * (part == "dataset")
                yield f"explainers.{name}.file: has no {{{part}}}, and the {part}s are {listing}; {remedy}"


def _check_needs(config: dict) -> Iterator[str]:
    if config["kind"] == SCORES:
        yield "kind: a study of the kind scores has a dataset of the reader scores; add it, or choose another"
    for key in KINDS[config["kind"]].needs:
        if not config["statistics"][key]:
            yield f"statistics.{key}: is missing; a study of the kind {config['kind']} needs it"


def _check_twice(config: dict) -> Iterator[str]:
    for factor, sets in config["statistics"]["compare"].items():
        key = f"statistics.compare.{factor}"
        for (i, earlier), (j, later) in combinations(enumerate(sets), 2):
            if set(earlier) == set(later):
                yield f"{key}[{j}]: found {shown(later)}, the same levels as in {key}[{i}]"


def _check_strategies(config: dict) -> Iterator[str]:
    """Strategies are those of models of the study, and claims are about strategies."""
    strategies, claims = (config["statistics"][key] for key in ("strategies", "claims"))
    if strategies and config["kind"] != "strategies":
        yield f"statistics.strategies: a study of the kind {config['kind']} compares none; write kind: strategies"
    if strategies and all(len(models) == 1 for models in strategies.values()):
        yield "statistics.strategies: each architecture has one strategy; give one of them a second"
    for architecture, models in strategies.items():
        key = f"statistics.strategies.{architecture}"
        several = []
        for strategy, model in models.items():
            if model not in config["models"]:
                yield f"{key}.{strategy}: found {shown(model)}, {_not_there('model', model, config)}"
            elif list(models.values()).count(model) > 1:
                yield f"{key}.{strategy}: found {shown(model)}, which is another strategy too; give each a model"
            elif len(seeds := seeds_of(config, model)) > 1:
                several.append(set(seeds))
        if several and not set.intersection(*several):
            yield f"{key}: its models have no seed in common; give them runs under the same seeds"
    for name, sides in claims.items():
        key, named = f"statistics.claims.{name}", [strategy for side in sides for strategy in side]
        if name == STRATEGY or name.startswith(f"{STRATEGY}_"):
            yield f"{key}: this name is that of the comparisons with the baseline; choose another name"
        elif repeated := [strategy for strategy in named if named.count(strategy) > 1]:
            yield f"{key}: found {shown(repeated[0])} on both sides; take it out of one"
        elif not any(set(named) <= set(models) for models in strategies.values()):
            listing = "; ".join(
                f"{architecture} has {', '.join(models)}" for architecture, models in strategies.items()
            )
            yield f"{key}: no architecture has {', '.join(named)}; {listing or 'statistics.strategies has none'}"
    if strategies and ALL_TOGETHER in config["explainers"]:
        yield f"explainers.{ALL_TOGETHER}: this name is that of all explainers together; choose another name"


def _check_proposed_methods(config: dict) -> Iterator[str]:
    key, proposed_methods = "statistics.proposed_methods", config["statistics"]["proposed_methods"]
    if proposed_methods and config["kind"] != "strategies":
        yield f"{key}: a study of the kind {config['kind']} holds explainers against no others; write kind: strategies"
    for name in proposed_methods:
        if name not in config["explainers"]:
            yield f"{key}: found {shown(name)}, {_not_there('explainer', name, config)}"
    asking = {name for name, said in config["explainers"].items() if Explainer.entries[said["method"]].needs_model}
    if proposed_methods and asking <= set(proposed_methods):
        yield (f"{key}: found {shown(proposed_methods)}, beside which no explainer asks the model; add one")


def modality(section: str, settings: dict) -> str:
    """What the explanations of an entry of ``explainers`` are, or those that one of ``metrics`` scores."""
    registry = {"explainers": Explainer, "metrics": Metric}[section]
    return registry.entries[settings[registry.key]].modality


def modalities(config: dict) -> list[str]:
    """What the explanations of a study are, in the order of :data:`evenlight.core.kinds.MODALITIES`."""
    there = {modality("explainers", settings) for settings in config["explainers"].values()}
    return [name for name in MODALITIES if name in there]


def explains_effects(config: dict) -> bool:
    """Whether a study explains changes of a concept, alone or beside texts."""
    return EFFECTS in modalities(config)


def compared_by(of_modality: str, settings: dict) -> dict[str, list[str]]:
    """By what those units of a dataset are compared that have explanations of a modality, with the levels."""
    reader = Reader.parse(settings)
    return reader.change_factors() if of_modality == EFFECTS else reader.factors()


def comparisons_of(config: dict, of_modality: str) -> dict[str, list[list[str]]]:
    """What a study compares of the units that have explanations of a modality: factor to pairs of levels."""
    of_datasets = [compared_by(of_modality, settings) for settings in config["datasets"].values()]
    return {
        factor: sets
        for factor, sets in config["statistics"]["compare"].items()
        if any(levels_of(factors, factor) for factors in of_datasets)
    }


def compared_everywhere(config: dict, of_modality: str) -> bool:
    """Whether a study compares units of a modality on each of its datasets."""
    datasets = config["datasets"].items()
    return all(comparisons_of(config | {"datasets": {name: settings}}, of_modality) for name, settings in datasets)


def _compared_by_any(config: dict, settings: dict) -> dict[str, list[str]]:
    """By what any units of a dataset are compared, with the levels."""
    return {
        factor: levels
        for of_modality in modalities(config) or [TOKENS]
        for factor, levels in compared_by(of_modality, settings).items()
    }


def _levels_by_any(config: dict, settings: dict, factor: str) -> list[str]:
    """The levels of a factor, or of an intersection, among the units of a dataset of any one modality."""
    of_modalities = [compared_by(name, settings) for name in modalities(config) or [TOKENS]]
    return list(dict.fromkeys(level for present in of_modalities for level in levels_of(present, factor)))


def _check_modalities(config: dict) -> Iterator[str]:
    """Every metric scores what an explainer gives, and every explanation is scored; the kind can be asked of them."""
    kind, there = KINDS[config["kind"]], modalities(config)
    scored = {modality("metrics", settings) for settings in config["metrics"].values()}
    for section, key, other, known in (
        ("explainers", "method", "metric scores", scored),
        ("metrics", "metric", "explainer explains", there),
    ):
        for name, settings in config[section].items():
            of_modality, found = modality(section, settings), f"{section}.{name}.{key}: found {shown(settings[key])}"
            about = f"{found}, which is about {MODALITIES[of_modality].about}"
            if of_modality not in known:
                yield f"{about}, and no {other} these; add one, or take it out"
            elif of_modality not in kind.only:
                yield f"{about}, of which a study of the kind {config['kind']} says nothing; take it out"
    if kind.explained and kind.explained not in there:
        about = MODALITIES[kind.explained].about
        yield f"kind: {config['kind']} asks about {about}, and no explainer explains these; add one, or choose another"


def _check_concepts(config: dict) -> Iterator[str]:
    """Explanations of changes need datasets that change concepts."""
    asks = explains_effects(config)
    for name, settings in config["datasets"].items() if asks else ():
        if not Reader.parse(settings).concepts():
            yield (
                f"datasets.{name}: no concept is changed, and explainers explain such changes; use cebab, or "
                "causal_simulation with concept_counterfactuals"
            )
        for explainer, said in config["explainers"].items():
            is_for = name in datasets_of(config, "explainers", explainer)
            if is_for and said["method"] == "training_pairs" and settings["reader"] != "cebab":
                yield f"explainers.{explainer}: datasets.{name} has no edits outside of the test; leave it out"
    for name, model in config["models"].items() if asks else ():
        if model.get("long_items") == "windows":
            yield f"models.{name}.long_items: windows have a representation each; leave such texts out"


def _check_strata(config: dict) -> Iterator[str]:
    for dataset, by in config["statistics"]["strata"].items():
        if by != "label" and modalities(config) == [EFFECTS]:
            yield (f"statistics.strata.{dataset}: found {shown(by)}, and changes have no prediction; use label")


def _check_levels(config: dict) -> Iterator[str]:
    factors = {name: _compared_by_any(config, settings) for name, settings in config["datasets"].items()}
    for factor, sets in config["statistics"]["compare"].items():
        key = f"statistics.compare.{factor}"
        levels = {name: _levels_by_any(config, settings, factor) for name, settings in config["datasets"].items()}
        if not any(levels.values()):
            listing = "; ".join(
                f"datasets.{name} has {', '.join(present) or 'none'}" for name, present in factors.items()
            )
            known = {name for present in factors.values() for name in present}
            yield f"{key}: no dataset has this factor; {listing}{suggestion(factor, known)}"
            continue
        for position, compared in enumerate(sets):
            yield from _check_set(
                f"{key}[{position}]", compared, {name: there for name, there in levels.items() if there}
            )


def _check_shared_levels(config: dict) -> Iterator[str]:
    """Tables and figures name groups by their level, so that two factors of a dataset must not share one."""
    compared = config["statistics"]["compare"]
    for name, settings in config["datasets"].items():
        factors = _compared_by_any(config, settings)
        # The concepts of a dataset may share their levels, as long as none of them is compared.
        there = {factor for factor in factors if factor not in Reader.parse(settings).concepts()}
        shown_factors = {factor: _levels_by_any(config, settings, factor) for factor in compared or there}
        for (first, earlier), (second, later) in combinations(shown_factors.items(), 2):
            for level in set(earlier) & set(later):
                yield (
                    f"datasets.{name}: {shown(level)} is a level of {first} and of {second}, and tables name groups by "
                    "their level; rename it in one of the two"
                )


def _check_matched(config: dict) -> Iterator[str]:
    """People who are a pair in one factor have no unit in common in another."""
    joint = [factor for factor in config["statistics"]["compare"] if "+" in factor]
    for name, settings in config["datasets"].items():
        if settings.get("match") and joint:
            said = f"makes pairs in one factor, and statistics.compare has {joint[0]}"
            yield f"datasets.{name}.match: {said}; compare one of the two, or take the key out"


def _check_set(key: str, compared: list[str], levels: dict[str, list[str]]) -> Iterator[str]:
    """Whether levels that are compared are there, together, in a dataset."""
    listing = "; ".join(f"datasets.{name} has {', '.join(present)}" for name, present in levels.items())
    known = {level for present in levels.values() for level in present}
    unknown = [level for level in compared if level not in known]
    for level in unknown:
        yield f"{key}: found {shown(level)}, which no dataset has; {listing}{suggestion(level, known)}"
    if not unknown and not any(set(compared) <= set(present) for present in levels.values()):
        yield f"{key}: found {shown(compared)}, and no dataset has both; {listing}"


# Where keys are names of datasets, models or metrics of the study.
NAMED = (
    ("datasets", "trainings.*.epochs"),
    ("datasets", "models.*.template"),
    ("datasets", "explain.pairs_on"),
    ("datasets", "explain.foil_on"),
    ("datasets", "figures.sentences"),
    ("datasets", "statistics.strata"),
    ("metrics", "statistics.smallest_effects"),
    ("models", "statistics.published"),
)
# The sections that must be sound for a check, and the check.
CHECKS = (
    *(((section, key.partition(".")[0]), partial(_check_names, section, key)) for section, key in NAMED),
    (("study",), _check_study),
    (("kind", "datasets", "models", "explainers"), _check_for_datasets),
    (("models", "trainings"), _check_trainings),
    (("datasets", "models", "explainers", "trainings"), _check_trained_on),
    (("models", "trainings"), _check_adapters),
    (("models", "trainings"), _check_fresh),
    (("models", "seeds"), _check_runs),
    (("statistics",), _check_plan),
    (("explain", "statistics", "explainers", "metrics"), _check_looks),
    (("kind", "models", "masked_words"), _check_masked_words),
    (("models", "explainers", "explain"), _check_levels_by),
    (("datasets", "explain", "explainers", "metrics"), _check_foils),
    (("datasets", "models", "explainers", "metrics"), _check_windows),
    (("datasets", "models", "explainers", "explain", "randomisation", "statistics"), _check_answers_only),
    (("datasets", "models", "explainers"), _check_answering),
    (("explainers", "metrics"), _check_changed_questions),
    (("explainers", "metrics"), _check_follow_ups),
    (("datasets", "models"), _check_prompts),
    (("kind", "datasets", "models", "explainers", "metrics", "randomisation"), _check_services),
    (("datasets", "explainers"), _check_second),
    (("explainers",), partial(_check_labels, "explainers")),
    (("metrics",), partial(_check_labels, "metrics")),
    (("metrics",), _check_metrics),
    (("datasets", "models", "seeds", "explainers"), _check_files),
    (("datasets", "models", "explainers", "metrics", "statistics"), _check_primary),
    (("statistics",), _check_draws),
    (("kind", "statistics"), _check_needs),
    (("kind", "models", "seeds", "explainers", "statistics"), _check_strategies),
    (("kind", "explainers", "statistics"), _check_proposed_methods),
    (("statistics",), _check_twice),
    (("kind", "explainers", "metrics"), _check_modalities),
    (("datasets", "models", "explainers"), _check_concepts),
    (("datasets", "explainers", "statistics"), _check_strata),
    (("datasets", "explainers", "statistics"), _check_levels),
    (("datasets", "explainers", "statistics"), _check_shared_levels),
    (("datasets", "statistics"), _check_matched),
)
# The same for a study of scores that were made elsewhere.
SCORE_CHECKS = (
    (("study",), _check_study),
    (tuple(ScoreStudy.model_fields), check_scores),
    (("statistics",), _check_plan),
    (("statistics",), _check_draws),
)

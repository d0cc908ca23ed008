# What rules/effects.smk asks: its settings, and which files it needs.

import hashlib

import yaml

REPRESENTATION = "<results>/representations/{dataset}/{model}/seed{seed}.parquet"
CONCEPT_EFFECT = "<results>/concept_effects/{dataset}/{model}/seed{seed}/{explainer}.parquet"
WORD_ATTRIBUTION = "<results>/word_attributions/{dataset}/{model}/seed{seed}/{attribution}.parquet"
# The words of concepts that the project wrote itself.
LEXICONS = {
    "restaurants": "resources/lexicons/restaurants.yaml",
    "causal_world": "resources/causal_world/english.yaml",
}
CHANGE_EXPLAINERS = explainers_of(kinds.EFFECTS)
COUNTERFACTUAL = "<results>/counterfactuals/{dataset}/{model}/seed{seed}/{explainer}/{concept}.parquet"
PREDICTED_LEVELS = "<results>/changes/{dataset}/levels/{concept}.parquet"
CONCEPT_SCORE = "<results>/scores/{dataset}/{model}/seed{seed}/concepts/{explainer}.parquet"


def concepts_of(dataset):
    """The concepts of a dataset with their levels; not sorted, since levels are numbered in this order."""
    return READERS[dataset].concept_levels()


def concept_settings(wildcards):
    """The concepts of a dataset, and the attributes that all texts of a change share."""
    groups = list(READERS[wildcards.dataset].groups())
    return as_argument({"concepts": concepts_of(wildcards.dataset), "groups": groups})


# The model like which networks are trained that predict levels of concepts; None where words predict them.
PREDICTING = None if config["explain"]["levels_by"] == configuration.WORDS else config["explain"]["levels_by"]


def predicting_settings(wildcards):
    """What a network that predicts the levels of a concept depends on."""
    return as_json(
        model=configuration.recipe(config, PREDICTING, wildcards.dataset),
        concept=wildcards.concept,
        levels=concepts_of(wildcards.dataset)[wildcards.concept],
        seed=config["seeds"][0],
    )


def predicted_levels(wildcards):
    """The levels that networks predict, of all concepts in their order; none where words predict them."""
    return expand(PREDICTED_LEVELS, concept=concepts_of(wildcards.dataset) if PREDICTING else [], **wildcards)


def labelling_settings(wildcards):
    """What predicted levels of concepts depend on."""
    return as_argument({"concepts": concepts_of(wildcards.dataset), "model": PREDICTING})


def attribution_of(settings):
    """Under which name the attributions lie that an explainer sums up: those that are the same are computed once."""
    said = as_json(explainer=settings["explainer"], texts=settings["texts"])
    return f"{settings['explainer']['method']}_{hashlib.sha256(said.encode()).hexdigest()[:8]}"


SUMMING = configuration.explainers_with(config, "sums_explainer")
ATTRIBUTED = {attribution_of(config["explainers"][name]): config["explainers"][name] for name in SUMMING}


def word_attribution_settings(wildcards):
    """What attributions to words depend on; the levels of concepts are numbered in their order."""
    settings = ATTRIBUTED[wildcards.attribution]
    return as_argument(
        {
            "explainer": settings["explainer"],
            "texts": settings["texts"],
            "concepts": concepts_of(wildcards.dataset),
            "seed": int(wildcards.seed),
            "precision": config["explain"]["precision"],
            "max_tokens": config["models"][wildcards.model]["max_tokens"],
        }
    )


def word_attribution_versions(wildcards):
    """Versions of what attributes; the explainer is no entry of the study."""
    method = ATTRIBUTED[wildcards.attribution]["explainer"]["method"]
    return versions("attribute_changes", "ask_model", models=[wildcards.model], methods={"explainers": [method]})


def word_attributions(wildcards):
    """The attributions that an explainer sums up, if it does."""
    if wildcards.explainer not in SUMMING:
        return []
    return WORD_ATTRIBUTION.replace("{attribution}", attribution_of(config["explainers"][wildcards.explainer]))


def lexicon_of(wildcards):
    """The file with the words of the concepts, if an explainer asks for one."""
    settings = config["explainers"][wildcards.explainer]
    if settings.get("lexicon"):
        return [own_file(settings["lexicon"])]
    return [repository_file(LEXICONS[settings["words"]])] if settings.get("words") in LEXICONS else []


def attributed_flags(wildcards, input):
    """The flags that name both."""
    named = {"attributions": input.attributions, "lexicon": input.lexicon}
    return [
        f"--{name}={path}" for name, paths in named.items() for path in ([paths] if isinstance(paths, str) else paths)
    ]


# Explainers that train networks of their own.
FORGETTING = configuration.explainers_with(config, "trains_network")


def estimate_settings(wildcards):
    """What the estimates of one explainer depend on; how networks were trained, their answers say."""
    explainer = configuration.without_labels(config["explainers"])[wildcards.explainer]
    explainer = {"method": explainer["method"]} if wildcards.explainer in FORGETTING else explainer
    return as_argument(
        {"explainer": explainer, "concepts": concepts_of(wildcards.dataset), "seed": int(wildcards.seed)}
    )


def counterfactuals(wildcards):
    """The answers of the networks that have forgotten each concept, where an explainer asks for them."""
    concepts = concepts_of(wildcards.dataset) if wildcards.explainer in FORGETTING else []
    return expand(COUNTERFACTUAL, concept=concepts, **wildcards)


FORGOTTEN = [
    file
    for dataset in config["datasets"]
    for file in every(COUNTERFACTUAL, dataset=dataset, explainer=FORGETTING, concept=concepts_of(dataset))
]


def forgetting_settings(wildcards):
    """What a network that forgets a concept depends on, beside the model that it begins as."""
    explainer = dict(configuration.without_labels(config["explainers"])[wildcards.explainer])
    training = config["trainings"][explainer["training"] or config["models"][wildcards.model]["training"]]
    explainer["training"] = training | {"epochs": explainer.pop("epochs")}
    return as_argument(
        {
            "explainer": explainer,
            "concepts": concepts_of(wildcards.dataset),
            "concept": wildcards.concept,
            "seed": int(wildcards.seed),
            "max_tokens": config["models"][wildcards.model]["max_tokens"],
        }
    )


def concept_metrics():
    """The metrics of the study, each with its settings."""
    return configuration.without_labels(
        {name: config["metrics"][name] for name in MODALITIES[kinds.EFFECTS]["metrics"]}
    )


def summary_settings():
    """What the tables of concepts depend on."""
    return as_argument(
        {
            "concepts": {dataset: concepts_of(dataset) for dataset in config["datasets"]},
            **{name: value for name, value in runs_of_study().items() if name != "datasets"},
            **MODALITIES[kinds.EFFECTS],
            "forgetting": FORGETTING,
            **of_statistics("confidence", "bootstrap_draws"),
        }
    )


def published_effects():
    """What CEBaB prints of each change (Tables 3d and 4, in stars), for the datasets that have its five classes."""
    published = yaml.safe_load((BASE / "resources/published/cebab.yaml").read_text(encoding="utf-8"))
    tables = [published[name] for name in ("effects_in_stars", "predicted_effects_in_stars")]
    changes = [("negative", "positive"), ("negative", "unknown"), ("positive", "unknown")]
    printed = {}
    for aspect in tables[0]:
        for (before, after), *values in zip(changes, *(table[aspect] for table in tables)):
            printed[f"{aspect}: {before} to {after}"] = values
            printed[f"{aspect}: {after} to {before}"] = [-value for value in values]
    five = [
        name for name, entry in config["datasets"].items() if entry["reader"] == "cebab" and entry["classes"] == "five"
    ]
    return dict.fromkeys(five, printed)

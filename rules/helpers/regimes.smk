# What rules/kinds/regimes.smk asks: its settings, and which files it needs.

import csv


def regimes_shown(**settings):
    """The settings of what shows regimes."""
    return shown(
        "datasets",
        "metrics",
        explainers=names_compared()["explainers"],
        regimes=config["statistics"]["regimes"],
        **settings,
    )


def mass_accuracies():
    """The metrics that are mass accuracy, and the definition of each."""
    metrics = config["metrics"].items()
    return {name: metric["definition"] for name, metric in metrics if metric["metric"] == "mass_accuracy"}


def correctness_metrics():
    """The metrics that hold explanations against the ground truth."""
    return [name for name, metric in METRICS.items() if metric["family"] == "correctness"]


def published_values():
    """What GECOBench prints of models, for each dataset of its reader."""
    with open(BASE / "resources/published/gecobench.csv", encoding="utf-8", newline="") as file:
        rows = [row | {"mean": float(row["mean"]), "sd": float(row["sd"])} for row in csv.DictReader(file)]
    return {
        name: [row for row in rows if (row["classes"], row["words"]) == (dataset["classes"], dataset["words"])]
        for name, dataset in config["datasets"].items()
        if dataset["reader"] == "geco"
    }


def challenger_settings():
    """What the verdicts on challengers depend on."""
    judged = ("alpha", "smallest_effects", "as_often_bound", "confidence", "bootstrap_draws")
    settings = of_statistics("regimes", "challengers", *judged)
    # Not sorted: the order of the configuration is that of the tables.
    settings |= {"higher_is_better": higher_is_better(), "primary": {}, "noise": []}
    settings |= {"primary_metrics": config["statistics"]["primary"]["metrics"], "rivals": together()}
    return as_argument(scored() | settings | looks())


MASKED = "<results>/masked_words/{dataset}/{model}/seed{seed}.parquet"


@cache
def masked_models():
    """The models of regimes that are, or began as, what may be a masked language model."""
    return [
        model for model in models_in_regimes() if config["models"][model]["architecture"] in ("pretrained", "prompted")
    ]


def masked_settings(wildcards):
    """What the scores of masked words depend on; a prompted model has the head itself."""
    model = config["models"][wildcards.model]
    is_trained = model["architecture"] == "pretrained"
    source = {key: model[key] if is_trained else None for key in ("source", "revision")}
    return as_json(**source, max_tokens=model["max_tokens"])


def masked_source(wildcards):
    """The files of the masked language model that a trained one began as, where a folder names it."""
    model = config["models"][wildcards.model]
    return local_model_files(model["source"]) if model["architecture"] == "pretrained" else []


def masked_summary_settings():
    """What the summary of masked words depends on."""
    asked = masked_models()
    without = [model for model in models_in_regimes() if model not in asked]
    # Not sorted: the order of the configuration is that of the tables.
    return as_argument(
        {"datasets": list(config["datasets"]), "models": {model: seeds_of(model) for model in asked}}
        | {"comparisons": comparisons(), "without": without}
        | of_statistics("confidence", "bootstrap_draws")
    )


def masked_shown(**settings):
    """The settings of what shows masked words."""
    return as_argument({"regimes": config["statistics"]["regimes"]} | settings)


def models_in_regimes():
    """The models of all regimes, with what they are called and their first seed."""
    return {
        model: (f"{architecture} {regime}", seeds_of(model)[0])
        for architecture, models in config["statistics"]["regimes"].items()
        for regime, model in models.items()
    }


def first_attribution_files(wildcards):
    """The explanations of every regime under its first seed, on one dataset."""
    files = [
        expand(ATTRIBUTION_FILE, dataset=wildcards.dataset, model=model, seed=seed, explainer=EXPLAINERS)
        for model, (_, seed) in models_in_regimes().items()
    ]
    return [file for of_model in files for file in of_model]


def first_predictions(wildcards):
    """How the models of every regime read one dataset under their first seed."""
    models = models_in_regimes().items()
    return [expand(PREDICTIONS, dataset=wildcards.dataset, model=model, seed=seed)[0] for model, (_, seed) in models]

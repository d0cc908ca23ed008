# What rules/explanations.smk asks: its settings, and which files it needs.

# How much is done at once: flags and no params, since they change results by rounding only and rerun nothing.
IN_GROUPS = "--tokens-per-batch {tokens_per_batch} --items-per-group {items_per_group}".format(**config["explain"])
if config["explain"]["compile"]:
    IN_GROUPS += " --compile"


def attribute_settings(family):
    """What the explainers of one family depend on, as a function of the wildcards."""
    return lambda wildcards: as_json(
        family=family,
        explainers=configuration.without_labels(
            {name: config["explainers"][name] for name in EXPLAINER_FAMILIES[family]}
        ),
        seed=int(wildcards.seed),
        precision=config["explain"]["precision"],
        max_tokens=config["models"][wildcards.model]["max_tokens"],
    )


def score_settings(wildcards):
    """What the metrics of one family depend on."""
    return as_json(
        family=wildcards.family,
        asks_model=configuration.asks_model("metrics", wildcards.family),
        metrics=configuration.without_labels(
            {name: config["metrics"][name] for name in METRIC_FAMILIES[wildcards.family]}
        ),
        precision=config["explain"]["precision"],
        max_tokens=config["models"][wildcards.model]["max_tokens"],
    )

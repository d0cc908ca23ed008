# What rules/kinds/disparity.smk asks: its settings, and which files it needs.

PUBLISHED = [f"resources/published/{name}.csv" for name in ("disparity_counts", "disparity_effect_sizes", "model_bias")]


# Texts and changes of them have no labels in common that could be permuted together: of both, texts are controlled.
CONTROLLED = kinds.TOKENS if EXPLAINERS else None


def compared_datasets(of=None):
    """The datasets that have both levels of a compared pair, of the units of one modality or of any."""
    pairs = [(factor, set(levels)) for factor, sets in comparisons().items() for levels in sets]
    compared_by = {
        name: [configuration.compared_by(modality, settings) for modality in ([of] if of else MODALITIES)]
        for name, settings in config["datasets"].items()
    }
    return [
        dataset
        for dataset, of_modalities in compared_by.items()
        if any(pair <= set(datasets.levels_of(factors, factor)) for factors in of_modalities for factor, pair in pairs)
    ]


def yardsticks():
    """The explainers that others are held against, which are needed as long as one of these is."""
    return [*configuration.no_hypotheses(config), *challengers()]


def yardstick_settings():
    """As of all verdicts; the random explainers, and of which metrics the best attainable scores are sought."""
    ends = {"random": configuration.random_explainers(config), "attainable": configuration.attainable(config)}
    return verdict_settings(**ends, **looks())


def left_out():
    """The explainers of changes, or in words, that a table of tokens alone leaves out, where the study has both."""
    others = [name for modality in MODALITIES if modality != kinds.TOKENS for name in explainers_of(modality)]
    return {"left_out": others} if EXPLAINERS and others else {}


def from_probability():
    """The metrics that are made of the model's probability of the text itself."""
    return [name for name, metric in METRICS.items() if metric["from_probability"]]


@cache
def kinds_of_metrics():
    """The kinds of metric, and the names of the metrics that are definitions of each."""
    found = {}
    for name, metric in METRICS.items():
        found.setdefault(metric["metric"], []).append(name)
    return found


def disputed_metrics():
    """The kinds of metric that are configured in more than one definition, and the names of these."""
    return {kind: names for kind, names in kinds_of_metrics().items() if len(names) > 1}


def of_disputed():
    """The settings of what shows disputed definitions."""
    disputed = disputed_metrics()
    return {"metrics": directions(name for names in disputed.values() for name in names), "disputed": disputed}


def specified():
    """What the study asks in several ways: kinds of metric with several definitions, and the names of these.

    All kinds where it has several explainers of one method.
    """
    methods = list(configuration.explaining_methods(config).values())
    return kinds_of_metrics() if len(set(methods)) < len(methods) else disputed_metrics()


def specification_settings():
    """What the specification curves depend on: the explainers and metrics that are asked about."""
    methods, asked = configuration.explaining_methods(config), specified()
    metrics = [name for names in asked.values() for name in names]
    return compared_settings(
        "alpha",
        "control_draws",
        explainers=list(methods),
        metrics={name: METRICS[name]["family"] for name in metrics},
        higher_is_better={name: METRICS[name]["better"] == "higher" for name in metrics},
        methods=methods,
        kinds=asked,
    )


def specifications_drawn(wildcards):
    """The settings of one specification curve."""
    metrics = directions(specified()[wildcards.kind])
    names = {"on": wildcards.dataset, "dataset": label("datasets", wildcards.dataset)}
    return shown("explainers", "models", metrics=metrics, **names, **of_statistics("alpha"))

# From scores and predictions to what every kind of study sums up of them.
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/.
# Goes out: <results>/tables/scores.parquet, models.parquet, models_per_seed.parquet; and the helpers of all rules that
# compute tables.

SCORES = "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet"
COMPARED = ("datasets", "models", "explainers", "metrics")


def of_statistics(*keys):
    """Some settings of the statistics."""
    return {key: config["statistics"][key] for key in keys}


def compared_settings(*keys, parts=COMPARED):
    """What computed tables depend on: the names in ``parts``, the seeds, the groups, ``keys`` of the statistics."""
    return as_json(
        **{part: list(config[part]) for part in parts},
        seeds=config["seeds"],
        statistics=of_statistics("groups", *keys),
    )


def compared_levels():
    """The levels that stand in a comparison of two, in the configuration's order."""
    pairs = [levels for levels in config["statistics"]["groups"] if len(levels) == 2]
    return list(dict.fromkeys(level for pair in pairs for level in pair))


rule summarise_scores:
    """Mean of every metric over items and seeds, per dataset, model, explainer and group."""
    input:
        script=script("statistics/summarise_scores.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
    output:
        "<results>/tables/scores.parquet",
    log:
        "<logs>/summarise_scores.log",
    benchmark:
        "<benchmarks>/summarise_scores.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        settings=as_json(**{part: list(config[part]) for part in COMPARED}, seeds=config["seeds"]),
        code=code_of("statistics/summarise_scores.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule measure_quality:
    """Accuracy, recall per class and group, and average prediction difference of every model."""
    input:
        script=script("statistics/measure_quality.py"),
        datasets=every("<results>/datasets/{dataset}/items.parquet"),
        units=every("<results>/datasets/{dataset}/units.parquet"),
        predictions=every("<results>/predictions/{dataset}/{model}/seed{seed}.parquet"),
    output:
        table="<results>/tables/models.parquet",
        per_seed="<results>/tables/models_per_seed.parquet",
    log:
        "<logs>/measure_quality.log",
    benchmark:
        "<benchmarks>/measure_quality.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=compared_settings(parts=("datasets", "models")),
        code=code_of("statistics/measure_quality.py"),
    shell:
        "python {input.script:q} --items {input.datasets:q} --predictions {input.predictions:q} "
        "--settings {params.settings:q} --output {output.table:q} --per-seed {output.per_seed:q} > {log:q} 2>&1"

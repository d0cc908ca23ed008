# From scores and readings to what every kind of study sums up of them.
#
# Comes in: <results>/scores/, <results>/readings/, <results>/datasets/.
# Goes out: <results>/tables/scores.parquet, models.parquet, models_per_seed.parquet; and the helpers of all rules that
# compute tables.


include: "helpers/statistics.smk"


rule summarise_scores:
    """Mean of every metric over items and seeds, per dataset, model, explainer and group."""
    input:
        script=script("statistics/summarise_scores.py"),
        scores=every_score(),
        datasets=every_dataset(),
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
        settings=json.dumps(scored() | {"factors": list(comparisons())}),
        folders=folders(scores=SCORES, datasets=DATASETS),
        code=code_of("statistics/summarise_scores.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule measure_quality:
    """Accuracy, recall per class and group, and average prediction difference of every model."""
    input:
        script=script("statistics/measure_quality.py"),
        datasets=every_dataset(),
        readings=every(READINGS),
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
        settings=json.dumps(runs_of_study() | {"comparisons": comparisons()}),
        folders=folders(datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/measure_quality.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} "
        "--output {output.table:q} --per-seed {output.per_seed:q} > {log:q} 2>&1"

# From scores to tests and tables.
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/. Goes out: <results>/tables/.

SCORES = "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet"


rule test_disparity:
    """Compare the groups' scores, seed by seed: two-sided Mann-Whitney U and Cohen's d."""
    input:
        script=script("test_disparity.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
    output:
        "<results>/tables/disparity.parquet",
    log:
        "<logs>/test_disparity.log",
    benchmark:
        "<benchmarks>/test_disparity.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=compared_settings("datasets", "models", "explainers", "metrics"),
        code=code_of("test_disparity.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule tabulate_disparity:
    """The disparity study's tables: how many seeds are significant, and how large the effect is."""
    input:
        script=script("tabulate_disparity.py"),
        disparity="<results>/tables/disparity.parquet",
    output:
        csv="<results>/tables/disparity.csv",
        html=report(
            "<results>/tables/disparity.html",
            caption="../resources/captions/disparity_table.rst",
            category="Disparity",
            labels={"kind": "table", "dataset": "all", "model": "all", "metric": "all"},
        ),
    log:
        "<logs>/tabulate_disparity.log",
    benchmark:
        "<benchmarks>/tabulate_disparity.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        code=code_of("tabulate_disparity.py"),
    shell:
        "python {input.script:q} --disparity {input.disparity:q} --settings {params.settings:q} "
        "--csv {output.csv:q} --html {output.html:q} > {log:q} 2>&1"


rule tabulate_scores:
    """Mean of every metric over items and seeds, per dataset, model, explainer and group."""
    input:
        script=script("tabulate_scores.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
    output:
        csv="<results>/tables/scores.csv",
        html=report(
            "<results>/tables/scores.html",
            caption="../resources/captions/score_table.rst",
            category="Scores",
            labels={"kind": "table", "dataset": "all", "model": "all", "metric": "all"},
        ),
    log:
        "<logs>/tabulate_scores.log",
    benchmark:
        "<benchmarks>/tabulate_scores.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        settings=study_settings(),
        code=code_of("tabulate_scores.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--csv {output.csv:q} --html {output.html:q} > {log:q} 2>&1"


rule tabulate_models:
    """Accuracy, recall per class and group, and average prediction difference of every model."""
    input:
        script=script("tabulate_models.py"),
        datasets=every("<results>/datasets/{dataset}/items.parquet"),
        predictions=every("<results>/predictions/{dataset}/{model}/seed{seed}.parquet"),
    output:
        csv="<results>/tables/models.csv",
        csv_per_seed="<results>/tables/models_per_seed.csv",
        html=report(
            "<results>/tables/models.html",
            caption="../resources/captions/model_table.rst",
            category="Models",
            labels={"kind": "table", "dataset": "all", "model": "all", "metric": "all"},
        ),
    log:
        "<logs>/tabulate_models.log",
    benchmark:
        "<benchmarks>/tabulate_models.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=compared_settings("datasets", "models"),
        code=code_of("tabulate_models.py"),
    shell:
        "python {input.script:q} --items {input.datasets:q} --predictions {input.predictions:q} "
        "--settings {params.settings:q} --csv {output.csv:q} --csv-per-seed {output.csv_per_seed:q} "
        "--html {output.html:q} > {log:q} 2>&1"


rule tables:
    """All tables."""
    input:
        rules.tabulate_disparity.output,
        rules.tabulate_scores.output,
        rules.tabulate_models.output,
        every("<results>/datasets/{dataset}/co_occurrence.csv"),

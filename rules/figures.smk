# From scores and tests to figures.
#
# Comes in: <results>/scores/, <results>/tables/disparity.parquet. Goes out: <results>/figures/.


rule draw_scores:
    """Box plots of one metric per explainer and group, over all seeds of a model."""
    input:
        script=script("draw_scores.py"),
        scores=lambda wildcards: every(
            "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet",
            dataset=wildcards.dataset,
            model=wildcards.model,
            family=family_of(wildcards.metric),
        ),
    output:
        in_formats(
            "<results>/figures/scores/{dataset}/{model}/{metric}",
            caption="../resources/captions/score_boxes.rst",
            category="Scores",
            labels={"kind": "figure", "dataset": "{dataset}", "model": "{model}", "metric": "{metric}"},
        ),
    log:
        "<logs>/draw_scores/{dataset}/{model}/{metric}.log",
    benchmark:
        "<benchmarks>/draw_scores/{dataset}/{model}/{metric}.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=figure_settings,
        code=code_of("draw_scores.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --metric {wildcards.metric} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_disparity:
    """Map of the effect sizes on one dataset: explainers by metrics, significant cells marked."""
    input:
        script=script("draw_disparity.py"),
        disparity="<results>/tables/disparity.parquet",
    output:
        in_formats(
            "<results>/figures/disparity/{dataset}",
            caption="../resources/captions/disparity_map.rst",
            category="Disparity",
            labels={"kind": "figure", "dataset": "{dataset}", "model": "all", "metric": "all"},
        ),
    log:
        "<logs>/draw_disparity/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_disparity/{dataset}.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        code=code_of("draw_disparity.py"),
    shell:
        "python {input.script:q} --disparity {input.disparity:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule figures:
    """All figures."""
    input:
        every(rules.draw_scores.output, metric=config["metrics"]),
        every(rules.draw_disparity.output),

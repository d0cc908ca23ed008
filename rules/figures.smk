# From scores and tests to figures.
#
# Comes in: <results>/scores/, <results>/tables/. Goes out: <results>/figures/.


rule draw_scores:
    """Box plots of one metric per explainer and group, over all seeds of a model."""
    input:
        script=script("figures/draw_scores.py"),
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
        settings=lambda wildcards: figure_settings(wildcards, [wildcards.metric]),
        code=code_of("figures/draw_scores.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --metric {wildcards.metric} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_disparity:
    """Map of the effect sizes on one dataset: explainers by metrics, significant cells marked."""
    input:
        script=script("figures/draw_disparity.py"),
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
        code=code_of("figures/draw_disparity.py"),
    shell:
        "python {input.script:q} --disparity {input.disparity:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_score_panels:
    """Box plots of all metrics of one model on one dataset (Dhaini et al. 2025, Figures 2 to 7)."""
    input:
        script=script("figures/draw_score_panels.py"),
        scores=lambda wildcards: every(
            "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet",
            dataset=wildcards.dataset,
            model=wildcards.model,
            family=METRIC_FAMILIES,
        ),
    output:
        in_formats(
            "<results>/figures/panels/{dataset}/{model}",
            caption="../resources/captions/score_panels.rst",
            category="Scores",
            labels={"kind": "figure", "dataset": "{dataset}", "model": "{model}", "metric": "all"},
        ),
    log:
        "<logs>/draw_score_panels/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/draw_score_panels/{dataset}/{model}.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: figure_settings(wildcards, METRICS),
        code=code_of("figures/draw_score_panels.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule draw_effects:
    """The effects over all seeds on one dataset with their intervals and verdicts."""
    input:
        script=script("figures/draw_effects.py"),
        effects="<results>/tables/effects.parquet",
    output:
        in_formats(
            "<results>/figures/effects/{dataset}",
            caption="../resources/captions/effects.rst",
            category="Disparity",
            labels={"kind": "figure", "dataset": "{dataset}", "model": "all", "metric": "all"},
        ),
    log:
        "<logs>/draw_effects/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_effects/{dataset}.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        code=code_of("figures/draw_effects.py"),
    shell:
        "python {input.script:q} --effects {input.effects:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_definitions:
    """The effects on one dataset under each definition of the disputed metrics: which disparities survive?"""
    input:
        script=script("figures/draw_definitions.py"),
        disparity="<results>/tables/disparity.parquet",
    output:
        in_formats(
            "<results>/figures/definitions/{dataset}",
            caption="../resources/captions/definitions.rst",
            category="Disparity",
            labels={"kind": "figure", "dataset": "{dataset}", "model": "all", "metric": "all"},
        ),
    log:
        "<logs>/draw_definitions/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_definitions/{dataset}.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        code=code_of("figures/draw_definitions.py"),
    shell:
        "python {input.script:q} --disparity {input.disparity:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_control:
    """How many cells are significant, beside how many are with the groups' labels permuted."""
    input:
        script=script("figures/draw_control.py"),
        control="<results>/tables/control.csv",
    output:
        in_formats(
            "<results>/figures/control",
            caption="../resources/captions/control.rst",
            category="Disparity",
            labels={"kind": "figure", "dataset": "all", "model": "all", "metric": "all"},
        ),
    log:
        "<logs>/draw_control.log",
    benchmark:
        "<benchmarks>/draw_control.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        code=code_of("figures/draw_control.py"),
    shell:
        "python {input.script:q} --control {input.control:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule figures:
    """All figures."""
    input:
        every(rules.draw_scores.output, metric=config["metrics"]),
        every(rules.draw_score_panels.output),
        every(rules.draw_disparity.output, dataset=compared_datasets()),
        every(rules.draw_effects.output, dataset=compared_datasets()),
        every(rules.draw_definitions.output, dataset=compared_datasets()) if disputed_metrics() else [],
        rules.draw_control.output if compared_datasets() else [],

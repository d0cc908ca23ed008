# From scores, explanations and tables to the figures that are drawn of more than one table.
#
# Comes in: <results>/scores/, <results>/attributions/, <results>/tables/.
# Goes out: <results>/figures/panels/, specifications/, sentences/.
# What is rendered computes nothing: its settings are the labels, the directions and the levels that stand in it.


rule draw_score_panels:
    """Box plots of all metrics of one model on one dataset (Dhaini et al. 2025, Figures 2 to 7)."""
    input:
        **study.units_drawn(),
        script=study.script("figures/draw_score_panels.py"),
        scores=study.scores_drawn,
    output:
        study.in_formats(
            "<results>/figures/panels/{dataset}/{model}",
            caption=study.caption("plots", "score_panels"),
            category="Scores",
            labels=labelled("scores", dataset="{dataset}", model="{model}"),
        ),
    log:
        "<logs>/draw_score_panels/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/draw_score_panels/{dataset}/{model}.tsv"
    localrule: True
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study.scores_shown,
        folders=study.folders(scores=SCORES, **study.explained),
        versions=study.rendered_by("draw_score_panels", "plots/score_panels.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} " "--output {output:q} > {log:q} 2>&1"


rule draw_specifications:
    """Every answer to one question on one dataset, sorted, above the choices that each has."""
    input:
        script=study.script("figures/draw_specifications.py"),
        specifications="<results>/tables/specifications.parquet",
        curves="<results>/tables/specification_curves.parquet",
    output:
        study.in_formats(
            "<results>/figures/specifications/{dataset}/{kind}",
            caption=study.caption("plots", "specifications"),
            category="Disparity",
            labels=labelled("specifications", dataset="{dataset}", metric="{kind}"),
        ),
    log:
        "<logs>/draw_specifications/{dataset}/{kind}.log",
    benchmark:
        "<benchmarks>/draw_specifications/{dataset}/{kind}.tsv"
    localrule: True
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study.specifications_drawn,
        versions=study.rendered_by("draw_specifications", "plots/specifications.py"),
    shell:
        "python {input.script:q} --specifications {input.specifications:q} --curves {input.curves:q} "
        "--dataset {wildcards.dataset} --kind {wildcards.kind:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule draw_sentence:
    """One sentence with what its words get in every strategy, as bars."""
    input:
        script=study.script("figures/draw_sentence.py"),
        attributions=study.first_attribution_files,
        datasets=study.every(TEXTS, dataset="{dataset}", table=["items", "units"]),
        predictions=study.first_predictions,
    output:
        study.in_formats(
            "<results>/figures/sentences/{dataset}",
            caption=study.caption("plots", "sentence"),
            category="Strategies",
            labels=labelled("one sentence", dataset="{dataset}"),
        ),
    log:
        "<logs>/draw_sentence/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_sentence/{dataset}.tsv"
    localrule: True
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: study.shown(
            "explainers",
            models=study.models_in_strategies(),
            dataset=study.label("datasets", wildcards.dataset),
            item=config["figures"]["sentences"].get(wildcards.dataset),
        ),
        folders=study.folders(attributions=ATTRIBUTION_FILE, datasets=TEXTS, predictions=PREDICTIONS),
        versions=study.rendered_by("draw_sentence", "plots/sentence.py"),
    shell:
        "python {input.script:q} {params.folders} --dataset {wildcards.dataset} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"

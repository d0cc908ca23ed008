# From scores and tables to what is read, for every kind of study.
#
# Comes in: <results>/scores/. Goes out: <results>/figures/scores/, panels/; and the helpers of all rules that render.
# What is rendered computes nothing: its settings are the labels, the directions and the levels that stand in it.


# What the report says first.
report: "../resources/report/study.rst"


include: "helpers/figures.smk"


rule draw_scores:
    """Box plots of one metric per explainer and group, over all seeds of a model."""
    input:
        **units_drawn(),
        script=script("figures/draw_scores.py"),
        scores=lambda wildcards: scores_drawn(wildcards, [wildcards.metric]),
    output:
        in_formats(
            "<results>/figures/scores/{dataset}/{model}/{metric}",
            caption="../resources/captions/score_boxes.rst",
            category="Scores",
            labels=labelled("scores", dataset="{dataset}", model="{model}", metric="{metric}"),
        ),
    log:
        "<logs>/draw_scores/{dataset}/{model}/{metric}.log",
    benchmark:
        "<benchmarks>/draw_scores/{dataset}/{model}/{metric}.tsv"
    localrule: True
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: scores_shown(wildcards, [wildcards.metric]),
        folders=folders(scores=SCORES, **EXPLAINED),
        versions=rendered_by("draw_scores", "plots/scores.py"),
    shell:
        "python {input.script:q} {params.folders} --metric {wildcards.metric} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_score_panels:
    """Box plots of all metrics of one model on one dataset (Dhaini et al. 2025, Figures 2 to 7)."""
    input:
        **units_drawn(),
        script=script("figures/draw_score_panels.py"),
        scores=lambda wildcards: scores_drawn(wildcards, list(METRICS)),
    output:
        in_formats(
            "<results>/figures/panels/{dataset}/{model}",
            caption="../resources/captions/score_panels.rst",
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
        settings=lambda wildcards: scores_shown(wildcards, METRICS),
        folders=folders(scores=SCORES, **EXPLAINED),
        versions=rendered_by("draw_score_panels", "plots/score_panels.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} " "--output {output:q} > {log:q} 2>&1"


PLOTS |= {
    "randomisation": Plot(
        "Rank correlations of every explainer's scores with those by random layers, on one dataset.",
        "randomisation",
        "randomisation/{dataset}",
        drawn_of_dataset("models", "explainers", of=kinds.TOKENS),
        caption="randomisation",
        category="Explainers",
        labels=labelled("randomisation", dataset="{dataset}"),
    ),
    "agreement": Plot(
        "Agreement of every two explainers on one dataset, for each model.",
        "agreement",
        "agreement/{dataset}",
        drawn_of_dataset("models", "explainers", of=kinds.TOKENS),
        caption="agreement",
        category="Explainers",
        labels=labelled("agreement", dataset="{dataset}"),
    ),
}


SCORE_PAGE = Page(["scores"], shown(*COMPARED, levels=compared_levels()), "Scores")
MODEL_PAGES = {"models": Page(["models", "models_per_seed"], shown("datasets", "models"), "Models")}
# How good the models are is asked of those that predict.
if ANSWERS_ONLY:
    MODEL_PAGES = {}
if config["learning_rates"] and TRAINED_HERE:
    MODEL_PAGES["learning_rates"] = Page(["learning_rates"], shown("datasets", "models"), "Models")
SCORE_FIGURES = [
    every(rules.draw_scores.output, metric=config["metrics"]),
    every(rules.draw_score_panels.output),
]
# What a study shows of its explainers beside their scores; most of it where the configuration asks for it.
EXPLAINER_PAGES = {}
EXPLAINER_FIGURES = []
if EXPLAINERS:
    EXPLAINER_PAGES["costs"] = Page(["costs"], shown("datasets", "models", "explainers", of=kinds.TOKENS), "Explainers")
RANDOMISED_ON = [dataset for dataset in RUNS.datasets if RUNS.explainers_of(dataset, RANDOMISED_EXPLAINERS)]
if config["randomisation"] and RANDOMISED_ON:
    EXPLAINER_PAGES["randomisation"] = Page(
        ["randomisation"], shown("datasets", "models", "explainers", of=kinds.TOKENS), "Explainers"
    )
    EXPLAINER_FIGURES.append(every(drawn("randomisation"), dataset=RANDOMISED_ON))
if config["reliance"] and EXPLAINERS:
    EXPLAINER_PAGES["reliance"] = Page(
        ["pair_invariance", "group_reliance", "words_by_group"],
        shown(
            "datasets",
            "models",
            "explainers",
            of=kinds.TOKENS,
            words_shown=config["reliance"]["words"],
            **of_statistics("confidence"),
        ),
        "Explainers",
    )
AGREEING = [dataset for dataset in RUNS.datasets if len(RUNS.explainers_of(dataset, EXPLAINERS)) > 1]
if config["agreement"] and AGREEING:
    EXPLAINER_PAGES["agreement"] = Page(
        ["agreement"],
        shown("datasets", "models", "explainers", of=kinds.TOKENS, **config["agreement"], **of_statistics("alpha")),
        "Explainers",
    )
    EXPLAINER_FIGURES.append(every(drawn("agreement"), dataset=AGREEING))

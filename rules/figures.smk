# From scores and tables to what is read, for every kind of study.
#
# Comes in: <results>/scores/. Goes out: <results>/figures/scores/, panels/; study.plots, explainer_pages and
# explainer_figures; the pages and figures that every kind shows.
# What is rendered computes nothing: its settings are the labels, the directions and the levels that stand in it.


# What the report says first.
report: "../resources/report/study.rst"


rule draw_scores:
    """Box plots of one metric per explainer and group, over all seeds of a model."""
    input:
        **study.units_drawn(),
        script=study.script("figures/draw_scores.py"),
        scores=lambda wildcards: study.scores_drawn(wildcards, [wildcards.metric]),
    output:
        study.in_formats(
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
        settings=lambda wildcards: study.scores_shown(wildcards, [wildcards.metric]),
        folders=study.folders(scores=SCORES, **study.explained),
        versions=study.rendered_by("draw_scores", "plots/scores.py"),
    shell:
        "python {input.script:q} {params.folders} --metric {wildcards.metric} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_score_panels:
    """Box plots of all metrics of one model on one dataset (Dhaini et al. 2025, Figures 2 to 7)."""
    input:
        **study.units_drawn(),
        script=study.script("figures/draw_score_panels.py"),
        scores=lambda wildcards: study.scores_drawn(wildcards, list(study.metrics)),
    output:
        study.in_formats(
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
        settings=lambda wildcards: study.scores_shown(wildcards, study.metrics),
        folders=study.folders(scores=SCORES, **study.explained),
        versions=study.rendered_by("draw_score_panels", "plots/score_panels.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} " "--output {output:q} > {log:q} 2>&1"


study.plots |= {
    "randomisation": Plot(
        "Rank correlations of every explainer's scores with those by random layers, on one dataset.",
        "randomisation",
        "randomisation/{dataset}",
        study.drawn_of_dataset("models", "explainers", of=kinds.TOKENS),
        caption="randomisation",
        category="Explainers",
        labels=labelled("randomisation", dataset="{dataset}"),
    ),
    "agreement": Plot(
        "Agreement of every two explainers on one dataset, for each model.",
        "agreement",
        "agreement/{dataset}",
        study.drawn_of_dataset("models", "explainers", of=kinds.TOKENS),
        caption="agreement",
        category="Explainers",
        labels=labelled("agreement", dataset="{dataset}"),
    ),
}


SCORE_PAGE = Page(["scores"], study.shown(*COMPARED, levels=study.compared_levels()), "Scores")
MODEL_PAGES = {"models": Page(["models", "models_per_seed"], study.shown("datasets", "models"), "Models")}
# How good the models are is asked of those that predict.
if study.answers_only:
    MODEL_PAGES = {}
if config["learning_rates"] and study.trained_here:
    MODEL_PAGES["learning_rates"] = Page(["learning_rates"], study.shown("datasets", "models"), "Models")
SCORE_FIGURES = [
    study.every(rules.draw_scores.output, metric=config["metrics"]),
    study.every(rules.draw_score_panels.output),
]
# What a study shows of its explainers beside their scores; most of it where the configuration asks for it.
study.explainer_pages = {}
study.explainer_figures = []
if study.explainers:
    study.explainer_pages["costs"] = Page(
        ["costs"], study.shown("datasets", "models", "explainers", of=kinds.TOKENS), "Explainers"
    )
RANDOMISED_ON = [
    dataset for dataset in study.runs.datasets if study.runs.explainers_of(dataset, study.randomised_explainers)
]
if config["randomisation"] and RANDOMISED_ON:
    study.explainer_pages["randomisation"] = Page(
        ["randomisation"], study.shown("datasets", "models", "explainers", of=kinds.TOKENS), "Explainers"
    )
    study.explainer_figures.append(study.every(study.drawn("randomisation"), dataset=RANDOMISED_ON))
if config["reliance"] and study.explainers:
    study.explainer_pages["reliance"] = Page(
        ["pair_invariance", "group_reliance", "words_by_group"],
        study.shown(
            "datasets",
            "models",
            "explainers",
            of=kinds.TOKENS,
            words_shown=config["reliance"]["words"],
            **study.of_statistics("confidence"),
        ),
        "Explainers",
    )
AGREEING = [dataset for dataset in study.runs.datasets if len(study.runs.explainers_of(dataset, study.explainers)) > 1]
if config["agreement"] and AGREEING:
    study.explainer_pages["agreement"] = Page(
        ["agreement"],
        study.shown(
            "datasets", "models", "explainers", of=kinds.TOKENS, **config["agreement"], **study.of_statistics("alpha")
        ),
        "Explainers",
    )
    study.explainer_figures.append(study.every(study.drawn("agreement"), dataset=AGREEING))

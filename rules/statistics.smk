# From scores and predictions to what every kind of study sums up of them.
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/, <results>/randomised/.
# Goes out: study.results, which rules/results.smk makes; <results>/agreement/.


study.results |= {
    "summarise_scores": Result(
        "Mean of every metric over items and seeds, per dataset, model, explainer and group.",
        ["scores"],
        as_argument(study.scored() | {"factors": list(study.comparisons())}),
        study.of_runs(SCORES, *study.explained.values()),
        minutes=30,
    ),
    # What estimates effects of changes asks no model: it has no times of its own.
    "summarise_costs": Result(
        "Seconds and rows through the model of every explainer, per text.",
        ["costs"],
        as_argument(study.runs_of_study() | {"explainers": study.explainers}),
        study.of_runs(COST),
    ),
    "measure_quality": Result(
        "Accuracy, recall per class and group, and average prediction difference of every model, beside guessing.",
        ["models", "models_per_seed", "balanced_accuracy"],
        as_argument(study.runs_of_models() | {"comparisons": study.comparisons_of(kinds.TOKENS)}),
        study.of_runs(TEXTS, PREDICTIONS),
    ),
    "summarise_learning_rates": Result(
        "Of every model the learning rates that were tried, and the one by which it classifies the validation split best.",
        ["learning_rates"],
        as_argument(study.runs_of_models() | {"models": dict.fromkeys(study.trained_here, config["learning_rates"])}),
        {
            "trainings": (
                LEARNING_RATE,
                study.every(LEARNING_RATE, model=study.trained_here, rate=config["learning_rates"]),
            )
        },
    ),
    "summarise_randomisation": Result(
        "Mean rank correlation of the scores before and after layers have lost their weights.",
        ["randomisation"],
        as_argument(study.runs_of_study() | {"explainers": study.randomised_explainers}),
        {"randomised": (RANDOMISED, study.every(RANDOMISED, explainer=study.randomised_explainers))},
        minutes=30,
    ),
    "measure_reliance": Result(
        "On which words the models rely: pairs of forms, words that name the group, and a table of words.",
        ["pair_invariance", "group_reliance", "words_by_group"],
        study.reliance_settings(),
        study.of_runs(ATTRIBUTION_FILE, TEXTS, PREDICTIONS),
        minutes=60,
    ),
    "summarise_agreement": Result(
        "Mean agreement of every two explainers, of all texts and of the groups that are compared.",
        ["agreement"],
        as_argument(
            study.runs_of_study() | {"comparisons": study.comparisons_of(kinds.TOKENS)} | study.of_statistics("alpha")
        ),
        study.of_runs(AGREEMENT, TEXTS),
        minutes=60,
    ),
}


rule compare_explainers:
    """How far every two explainers of a run agree on each text."""
    input:
        script=study.script("results/compare_explainers.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        predictions=PREDICTIONS,
        attributions=study.explanations_of,
    output:
        AGREEMENT,
    log:
        "<logs>/compare_explainers/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/compare_explainers/{dataset}/{model}/seed{seed}.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        settings=as_json(**(config["agreement"] or {})),
        # Its columns are named by the explainers.
        explainers=lambda wildcards: as_argument(study.runs.explainers_of(wildcards.dataset, study.explainers)),
        versions=study.versions("compare_explainers"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} "
        "--attributions {input.attributions:q} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"

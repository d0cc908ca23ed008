# From scores and predictions to what every kind of study sums up of them.
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/, <results>/randomised/.
# Goes out: RESULTS, which rules/results.smk makes; <results>/agreement/; and the helpers of all rules that compute tables.


include: "helpers/statistics.smk"
include: "helpers/results.smk"


RESULTS |= {
    "summarise_scores": Result(
        "Mean of every metric over items and seeds, per dataset, model, explainer and group.",
        ["scores"],
        as_argument(scored() | {"factors": list(comparisons())}),
        of_runs(SCORES, *EXPLAINED.values()),
        minutes=30,
    ),
    # What estimates effects of changes asks no model: it has no times of its own.
    "summarise_costs": Result(
        "Seconds and rows through the model of every explainer, per text.",
        ["costs"],
        as_argument(runs_of_study() | {"explainers": EXPLAINERS}),
        of_runs(COST),
    ),
    "measure_quality": Result(
        "Accuracy, recall per class and group, and average prediction difference of every model, beside guessing.",
        ["models", "models_per_seed", "balanced_accuracy"],
        as_argument(runs_of_models() | {"comparisons": comparisons_of(kinds.TOKENS)}),
        of_runs(TEXTS, PREDICTIONS),
    ),
    "summarise_learning_rates": Result(
        "Of every model the learning rates that were tried, and the one by which it classifies the validation split best.",
        ["learning_rates"],
        as_argument(runs_of_models() | {"models": dict.fromkeys(TRAINED_HERE, config["learning_rates"])}),
        {
            "trainings": (
                LEARNING_RATE,
                every(LEARNING_RATE, model=TRAINED_HERE, rate=config["learning_rates"]),
            )
        },
    ),
    "summarise_randomisation": Result(
        "Mean rank correlation of the scores before and after layers have lost their weights.",
        ["randomisation"],
        as_argument(runs_of_study() | {"explainers": RANDOMISED_EXPLAINERS}),
        {"randomised": (RANDOMISED, every(RANDOMISED, explainer=RANDOMISED_EXPLAINERS))},
        minutes=30,
    ),
    "measure_reliance": Result(
        "On which words the models rely: pairs of forms, words that name the group, and a table of words.",
        ["pair_invariance", "group_reliance", "words_by_group"],
        reliance_settings(),
        of_runs(ATTRIBUTION_FILE, TEXTS, PREDICTIONS),
        minutes=60,
    ),
    "summarise_agreement": Result(
        "Mean agreement of every two explainers, of all texts and of the groups that are compared.",
        ["agreement"],
        as_argument(runs_of_study() | {"comparisons": comparisons_of(kinds.TOKENS)} | of_statistics("alpha")),
        of_runs(AGREEMENT, TEXTS),
        minutes=60,
    ),
}


rule compare_explainers:
    """How far every two explainers of a run agree on each text."""
    input:
        script=script("results/compare_explainers.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        predictions=PREDICTIONS,
        attributions=explanations_of,
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
        explainers=lambda wildcards: as_argument(RUNS.explainers_of(wildcards.dataset, EXPLAINERS)),
        versions=versions("compare_explainers"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} "
        "--attributions {input.attributions:q} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"

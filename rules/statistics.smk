# From scores and readings to what every kind of study sums up of them.
#
# Comes in: <results>/scores/, <results>/readings/, <results>/datasets/, <results>/randomised/.
# Goes out: <results>/tables/scores.parquet, models.parquet, models_per_seed.parquet, balanced_accuracy.parquet,
# randomisation.parquet, agreement.parquet; and the helpers of all rules that compute tables.


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
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=json.dumps(scored() | {"factors": list(comparisons())}),
        folders=folders(scores=SCORES, datasets=DATASETS),
        code=code_of("statistics/summarise_scores.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule measure_quality:
    """Accuracy, recall per class and group, and average prediction difference of every model, beside guessing."""
    input:
        script=script("statistics/measure_quality.py"),
        datasets=every(TEXTS, table=["items", "units"]),
        readings=every(READINGS),
    output:
        table="<results>/tables/models.parquet",
        per_seed="<results>/tables/models_per_seed.parquet",
        balanced="<results>/tables/balanced_accuracy.parquet",
    log:
        "<logs>/measure_quality.log",
    benchmark:
        "<benchmarks>/measure_quality.tsv"
    localrule: True
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=json.dumps(runs_of_study() | {"comparisons": comparisons_of_texts()}),
        folders=folders(datasets=TEXTS, readings=READINGS),
        code=code_of("statistics/measure_quality.py"),
    shell:
        # Which models have learnt nothing is read where one looks.
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output.table:q} "
        "--per-seed {output.per_seed:q} --balanced {output.balanced:q} > {log:q} 2>&1 && "
        "{{ grep '^warning: ' {log:q} || true; }}"


rule summarise_learning_rates:
    """Of every model the learning rates that were tried, and the one by which it classifies the validation split best."""
    input:
        script=script("statistics/summarise_learning_rates.py"),
        trainings=expand(LEARNING_RATE, dataset=config["datasets"], model=TRAINED_HERE, rate=config["learning_rates"]),
    output:
        "<results>/tables/learning_rates.parquet",
    log:
        "<logs>/summarise_learning_rates.log",
    benchmark:
        "<benchmarks>/summarise_learning_rates.tsv"
    localrule: True
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=json.dumps(
            {"datasets": list(config["datasets"]), "models": dict.fromkeys(TRAINED_HERE, config["learning_rates"])}
        ),
        folders=folders(trainings=LEARNING_RATE),
        code=code_of("statistics/summarise_learning_rates.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule summarise_randomisation:
    """Mean rank correlation of the scores before and after layers have lost their weights."""
    input:
        script=script("statistics/summarise_randomisation.py"),
        randomised=every(RANDOMISED, explainer=RANDOMISED_EXPLAINERS),
    output:
        "<results>/tables/randomisation.parquet",
    log:
        "<logs>/summarise_randomisation.log",
    benchmark:
        "<benchmarks>/summarise_randomisation.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        settings=json.dumps(runs_of_study() | {"explainers": RANDOMISED_EXPLAINERS}),
        folders=folders(randomised=RANDOMISED),
        code=code_of("statistics/summarise_randomisation.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule compare_explainers:
    """How far every two explainers of a run agree on each text."""
    input:
        script=script("statistics/compare_explainers.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        readings=READINGS,
        attributions=of_explainers(SHARD, config["explainers"]),
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
        explainers=json.dumps(list(config["explainers"])),
        code=code_of("statistics/compare_explainers.py"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --readings {input.readings:q} "
        "--attributions {input.attributions:q} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule measure_reliance:
    """On which words the models lean: pairs of forms, words that name the group, and a table of words."""
    input:
        script=script("statistics/measure_reliance.py"),
        attributions=every(SHARD, explainer=list(config["explainers"])),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        pairs="<results>/tables/pair_invariance.parquet",
        names="<results>/tables/group_reliance.parquet",
        words="<results>/tables/words_by_group.parquet",
    log:
        "<logs>/measure_reliance.log",
    benchmark:
        "<benchmarks>/measure_reliance.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=reliance_settings(),
        folders=folders(attributions=SHARD, datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/measure_reliance.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --pairs {output.pairs:q} "
        "--names {output.names:q} --words {output.words:q} > {log:q} 2>&1"


rule summarise_agreement:
    """Mean agreement of every two explainers, of all texts and of the groups that are compared."""
    input:
        script=script("statistics/summarise_agreement.py"),
        agreement=every(AGREEMENT),
        datasets=every_dataset(),
    output:
        "<results>/tables/agreement.parquet",
    log:
        "<logs>/summarise_agreement.log",
    benchmark:
        "<benchmarks>/summarise_agreement.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=json.dumps(runs_of_study() | {"comparisons": comparisons()} | of_statistics("alpha")),
        folders=folders(agreement=AGREEMENT, datasets=DATASETS),
        code=code_of("statistics/summarise_agreement.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"

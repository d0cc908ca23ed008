# The study of regimes: does how a model was trained change how correct its explanations are?
#
# Comes in: <results>/scores/, <results>/readings/, <results>/datasets/.
# Goes out: <results>/tables/*.parquet with means, tests and effects; <results>/figures/ of them; TABLES and FIGURES, which
# say what the study shows.


include: "../verdicts.smk"
include: "../helpers/regimes.smk"


rule summarise_regimes:
    """How correct the explanations are in every regime, beside the baseline and beside random scores."""
    input:
        script=script("statistics/summarise_regimes.py"),
        scores=every_score(),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        "<results>/tables/regimes.parquet",
    log:
        "<logs>/summarise_regimes.log",
    benchmark:
        "<benchmarks>/summarise_regimes.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=compared_settings("confidence", "bootstrap_draws", mass_accuracies=mass_accuracies()),
        folders=folders(scores=SCORES, datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/summarise_regimes.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule compare_attributions:
    """How differently the ground-truth words of both forms of a sentence are explained, run by run."""
    input:
        script=script("statistics/compare_attributions.py"),
        attributions=every(SHARD, explainer=list(config["explainers"])),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        "<results>/tables/attribution_differences.parquet",
    log:
        "<logs>/compare_attributions.log",
    benchmark:
        "<benchmarks>/compare_attributions.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=json.dumps(runs_of_study() | {"explainers": list(config["explainers"]), "comparisons": comparisons()}),
        folders=folders(attributions=SHARD, datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/compare_attributions.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule compare_challengers:
    """Whether explainers that challenge all others are better than each of them."""
    input:
        script=script("statistics/compare_challengers.py"),
        scores=every_score(),
        datasets=every_dataset(),
    output:
        table="<results>/tables/challengers.parquet",
        pairs="<results>/tables/challenger_pairs.parquet",
    log:
        "<logs>/compare_challengers.log",
    benchmark:
        "<benchmarks>/compare_challengers.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=challenger_settings(),
        folders=folders(scores=SCORES, datasets=DATASETS),
        code=code_of("statistics/compare_challengers.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --pairs {output.pairs:q} "
        "--output {output.table:q} > {log:q} 2>&1"


rule check_ground_truth:
    """Which words go along with the labels, and are they those that are marked as ground truth?"""
    input:
        script=script("statistics/check_ground_truth.py"),
        datasets=every_dataset(),
    output:
        table="<results>/tables/ground_truth.parquet",
        words="<results>/tables/word_associations.parquet",
    log:
        "<logs>/check_ground_truth.log",
    benchmark:
        "<benchmarks>/check_ground_truth.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        # Of the others no table may have the words.
        settings=as_json(datasets=datasets_shown(), permutations=1000, **of_statistics("alpha")),
        folders=folders(datasets=DATASETS),
        code=code_of("statistics/check_ground_truth.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --words {output.words:q} "
        "--output {output.table:q} > {log:q} 2>&1"


rule measure_predictions:
    """What the models take for what: confusions, and curves of true and false positives."""
    input:
        script=script("statistics/measure_predictions.py"),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        table="<results>/tables/confusions.parquet",
        curves="<results>/tables/roc_curves.parquet",
    log:
        "<logs>/measure_predictions.log",
    benchmark:
        "<benchmarks>/measure_predictions.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=json.dumps(runs_of_study()),
        folders=folders(datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/measure_predictions.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --curves {output.curves:q} "
        "--output {output.table:q} > {log:q} 2>&1"


rule draw_regimes:
    """One metric in every regime on one dataset: by regime, by explainer, or relative to the baseline."""
    input:
        script=script("figures/draw_regimes.py"),
        regimes="<results>/tables/regimes.parquet",
    output:
        in_formats(
            "<results>/figures/regimes/{dataset}/{metric}_{view}",
            caption="../../resources/captions/regimes.rst",
            category="Regimes",
            labels=labelled("{view}", dataset="{dataset}", metric="{metric}"),
        ),
    log:
        "<logs>/draw_regimes/{dataset}/{metric}_{view}.log",
    benchmark:
        "<benchmarks>/draw_regimes/{dataset}/{metric}_{view}.tsv"
    wildcard_constraints:
        view="by_regime|by_explainer|relative",
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: regimes_shown(
            dataset=label("datasets", wildcards.dataset), metric=wildcards.metric, view=wildcards.view
        ),
        code=code_of("figures/draw_regimes.py"),
    shell:
        "python {input.script:q} --regimes {input.regimes:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_attribution_differences:
    """Differences between forms on one dataset: how large they are, or a map of their p-values for each run."""
    input:
        script=script("figures/draw_attribution_differences.py"),
        differences="<results>/tables/attribution_differences.parquet",
    output:
        in_formats(
            "<results>/figures/attribution_differences/{dataset}_{view}",
            caption="../../resources/captions/attribution_differences.rst",
            category="Regimes",
            labels=labelled("attribution differences, {view}", dataset="{dataset}"),
        ),
    log:
        "<logs>/draw_attribution_differences/{dataset}_{view}.log",
    benchmark:
        "<benchmarks>/draw_attribution_differences/{dataset}_{view}.tsv"
    wildcard_constraints:
        view="sizes|tests",
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: shown(
            "explainers",
            regimes=config["statistics"]["regimes"],
            dataset=label("datasets", wildcards.dataset),
            view=wildcards.view,
            **of_statistics("alpha"),
        ),
        code=code_of("figures/draw_attribution_differences.py"),
    shell:
        "python {input.script:q} --differences {input.differences:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_roc:
    """True against false positives of every class and run, regime by regime."""
    input:
        script=script("figures/draw_roc.py"),
        curves="<results>/tables/roc_curves.parquet",
    output:
        in_formats(
            "<results>/figures/roc/{dataset}",
            caption="../../resources/captions/roc.rst",
            category="Models",
            labels=labelled("true and false positives", dataset="{dataset}"),
        ),
    log:
        "<logs>/draw_roc/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_roc/{dataset}.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=drawn_of_dataset(regimes=config["statistics"]["regimes"]),
        code=code_of("figures/draw_roc.py"),
    shell:
        "python {input.script:q} --curves {input.curves:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_associations:
    """The words that go along most with each class, and how far all others do."""
    input:
        script=script("figures/draw_associations.py"),
        associations="<results>/tables/word_associations.parquet",
    output:
        in_formats(
            "<results>/figures/word_associations/{dataset}",
            caption="../../resources/captions/word_associations.rst",
            category="Data",
            labels=labelled("associations of words", dataset="{dataset}"),
        ),
    log:
        "<logs>/draw_associations/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_associations/{dataset}.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=drawn_of_dataset(),
        code=code_of("figures/draw_associations.py"),
    shell:
        "python {input.script:q} --associations {input.associations:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_sentence:
    """One sentence with what its words get in every regime: bars, and highlighted text."""
    input:
        script=script("figures/draw_sentence.py"),
        attributions=first_shards,
        datasets=dataset_drawn(),
        readings=first_readings,
    output:
        page="<results>/figures/sentences/{dataset}.html",
        figure=in_formats(
            "<results>/figures/sentences/{dataset}",
            caption="../../resources/captions/sentence.rst",
            category="Regimes",
            labels=labelled("one sentence", dataset="{dataset}"),
        ),
    log:
        "<logs>/draw_sentence/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_sentence/{dataset}.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: shown(
            "explainers",
            models=models_in_regimes(),
            dataset=label("datasets", wildcards.dataset),
            item=config["figures"]["sentences"].get(wildcards.dataset),
        ),
        folders=folders(attributions=SHARD, datasets=DATASETS, readings=READINGS),
        code=code_of("figures/draw_sentence.py"),
    shell:
        "python {input.script:q} {params.folders} --dataset {wildcards.dataset} --settings {params.settings:q} "
        "--page {output.page:q} --output {output.figure:q} > {log:q} 2>&1"


rule score_masked_words:
    """How probable the words of the explained texts are to a masked language model, or what a training made of it."""
    input:
        script=script("models/score_masked_words.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        readings=READINGS,
        weights="<results>/models/{dataset}/{model}/seed{seed}/model.safetensors",
        tokenizer="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
        beside=BESIDE_WEIGHTS,
        source=masked_source,
    output:
        MASKED,
    log:
        "<logs>/score_masked_words/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/score_masked_words/{dataset}/{model}/seed{seed}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=GPU,
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        settings=masked_settings,
        code=code_of("models/score_masked_words.py"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --readings {input.readings:q} "
        "--model $(dirname {input.weights:q}) --settings {params.settings:q} --device {resources.device} "
        "--threads {threads} --tokens-per-batch {resources.tokens_per_batch} --output {output:q} > {log:q} 2>&1"


rule summarise_masked_words:
    """Means of the scores of masked words, and their differences between the forms of a sentence."""
    input:
        script=script("statistics/summarise_masked_words.py"),
        masked_words=[file for model in masked_models() for file in every(MASKED, model=model)],
        datasets=every_dataset(),
    output:
        "<results>/tables/masked_words.parquet",
    log:
        "<logs>/summarise_masked_words.log",
    benchmark:
        "<benchmarks>/summarise_masked_words.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=masked_summary_settings(),
        folders=folders(masked_words=MASKED, datasets=DATASETS),
        code=code_of("statistics/summarise_masked_words.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_masked_words:
    """How probable the words of the texts are before and after each training, by group."""
    input:
        script=script("figures/draw_masked_words.py"),
        summary="<results>/tables/masked_words.parquet",
    output:
        in_formats(
            "<results>/figures/masked_words/{dataset}",
            caption="../../resources/captions/masked_words.rst",
            category="Models",
            labels=labelled("masked words", dataset="{dataset}"),
        ),
    log:
        "<logs>/draw_masked_words/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_masked_words/{dataset}.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: masked_shown(dataset=label("datasets", wildcards.dataset)),
        code=code_of("figures/draw_masked_words.py"),
    shell:
        "python {input.script:q} --summary {input.summary:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


TABLES = {
    "regimes": Page(["regimes"], regimes_shown(**of_statistics("confidence")), "Regimes"),
    "effects": Page(
        ["effects", "tests", "verdict_control", "balanced_accuracy"],
        shown(*COMPARED, **names_compared(), **of_statistics("equivalence_bound", "confidence")),
        "Regimes",
    ),
    "disparity": Page(
        ["disparity_summary"],
        shown(*COMPARED, **names_compared(), **of_statistics("alpha", "considerable_effect")),
        "Regimes",
        csv=["disparity"],
    ),
    "predictions": Page(
        ["confusions", "roc_curves", "models"],
        shown("datasets", regimes=config["statistics"]["regimes"], published=published_values()),
        "Models",
        csv=["confusions", "roc_curves", "regime_models"],
    ),
    "scores": SCORE_PAGE,
    **MODEL_PAGES,
    **EXPLAINER_PAGES,
}
FIGURES = [
    every(
        rules.draw_regimes.output,
        metric=correctness_metrics() or list(METRICS),
        view=["by_regime", "by_explainer", "relative"],
    ),
    every(rules.draw_effects.output),
    every(rules.draw_roc.output),
    every(rules.draw_associations.output, dataset=datasets_shown()),
    every(rules.draw_sentence.output, dataset=datasets_shown()),
    *EXPLAINER_FIGURES,
]
# What only some studies have.
if challengers():
    TABLES["challengers"] = Page(
        ["challengers", "challenger_pairs"],
        shown(
            "datasets",
            "explainers",
            "metrics",
            challengers=challengers(),
            regimes=config["statistics"]["regimes"],
            **of_statistics("confidence"),
        ),
        "Regimes",
    )
if datasets_shown():
    TABLES["ground_truth"] = Page(
        ["word_associations", "ground_truth"], shown("datasets", **of_statistics("alpha")), "Data"
    )
if comparisons():
    TABLES["attribution_differences"] = Page(
        ["attribution_differences"],
        shown("datasets", "explainers", regimes=config["statistics"]["regimes"], **of_statistics("alpha")),
        "Regimes",
    )
    FIGURES.append(every(rules.draw_attribution_differences.output, view=["sizes", "tests"]))
if config["masked_words"] and masked_models():
    TABLES["masked_words"] = Page(
        ["masked_words"],
        shown("datasets", regimes=config["statistics"]["regimes"], **of_statistics("confidence")),
        "Models",
    )
    FIGURES.append(every(rules.draw_masked_words.output))

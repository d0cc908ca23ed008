# From models and changes of concepts to estimated effects of these and their scores.
#
# Comes in: <results>/datasets/, <results>/models/.
# Goes out: <results>/changes/, where changes are items that are compared; <results>/representations/;
# <results>/word_attributions/; <results>/counterfactuals/; <results>/concept_effects/; <results>/scores/.


rule list_changes:
    """List the changes of a dataset's concepts, and write those of the test split as items that are compared."""
    input:
        script=study.script("datasets/list_changes.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
    output:
        changes="<results>/changes/{dataset}/changes.parquet",
        texts="<results>/changes/{dataset}/items.parquet",
        units="<results>/changes/{dataset}/units.parquet",
    log:
        "<logs>/list_changes/{dataset}.log",
    benchmark:
        "<benchmarks>/list_changes/{dataset}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=study.concept_settings,
        versions=study.versions("list_changes"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} --settings {params.settings:q} "
        "--output {output.changes:q} --compared-items {output.texts:q} --compared-units {output.units:q} > {log:q} 2>&1"


rule predict_levels:
    """Train a network to predict the levels of one concept, and ask it about the test texts."""
    input:
        script=study.script("models/predict_levels.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        pretrained=study.begun_with(study.predicting) if study.predicting else [],
    output:
        PREDICTED_LEVELS,
    log:
        "<logs>/predict_levels/{dataset}/{concept}.log",
    benchmark:
        "<benchmarks>/predict_levels/{dataset}/{concept}.tsv"
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        checkpoints=study.checkpoint_flag,
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        settings=study.predicting_settings,
        versions=study.versions(
            "predict_levels", "train", "ask_model", models=[study.predicting] if study.predicting else []
        ),
    shell:
        "python {input.script:q} --items {input.dataset:q} --settings {params.settings:q} --versions {params.versions:q} "
        "--device {resources.device} --threads {threads} {resources.checkpoints} "
        "--tokens-per-batch {resources.tokens_per_batch} --output {output:q} > {log:q} 2>&1"


rule label_concepts:
    """Predict the levels of concepts, by words or networks, for explainers that must not see people's labels."""
    input:
        script=study.script("datasets/label_concepts.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        predicted=study.predicted_levels,
    output:
        "<results>/changes/{dataset}/labels.parquet",
    log:
        "<logs>/label_concepts/{dataset}.log",
    benchmark:
        "<benchmarks>/label_concepts/{dataset}.tsv"
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=study.labelling_settings,
        versions=study.versions("label_concepts"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --predicted {input.predicted:q} --settings "
        "{params.settings:q} --output {output:q} > {log:q} 2>&1"


rule represent_texts:
    """Ask a model once about every text: probabilities, and what its last linear layer is given."""
    input:
        script=study.script("models/represent_texts.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        model=study.model_files,
    output:
        REPRESENTATION,
    log:
        "<logs>/represent_texts/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/represent_texts/{dataset}/{model}/seed{seed}.tsv"
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        settings=lambda wildcards: as_json(max_tokens=config["models"][wildcards.model]["max_tokens"]),
        model=study.model_flag,
        versions=lambda wildcards: study.versions("represent_texts", "ask_model", models=[wildcards.model]),
    shell:
        "python {input.script:q} --items {input.dataset:q} {params.model:q} --settings {params.settings:q} "
        "--device {resources.device} --threads {threads} --tokens-per-batch {resources.tokens_per_batch} "
        "--output {output:q} > {log:q} 2>&1"


rule attribute_changes:
    """Attribute every class to the words of the texts that change, and of some training texts, by one explainer."""
    input:
        script=study.script("explanations/attribute_changes.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        changes="<results>/changes/{dataset}/changes.parquet",
        model=study.model_files,
    output:
        WORD_ATTRIBUTION,
    log:
        "<logs>/attribute_changes/{dataset}/{model}/seed{seed}/{attribution}.log",
    benchmark:
        "<benchmarks>/attribute_changes/{dataset}/{model}/seed{seed}/{attribution}.tsv"
    wildcard_constraints:
        attribution=any_of(study.attributed),
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        in_groups=study.in_groups,
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        settings=study.word_attribution_settings,
        model=study.model_flag,
        versions=study.word_attribution_versions,
    shell:
        "python {input.script:q} --items {input.dataset:q} --changes {input.changes:q} {params.model:q} "
        "--settings {params.settings:q} --device {resources.device} --threads {threads} {resources.in_groups} "
        "--output {output:q} > {log:q} 2>&1"


rule forget_concept:
    """Train a model on until it has forgotten a concept, and ask it about the texts in which this concept changes."""
    input:
        script=study.script("models/forget_concept.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        changes="<results>/changes/{dataset}/changes.parquet",
        representations=REPRESENTATION,
        model=study.model_files,
    output:
        COUNTERFACTUAL,
    log:
        "<logs>/forget_concept/{dataset}/{model}/seed{seed}/{explainer}/{concept}.log",
    benchmark:
        "<benchmarks>/forget_concept/{dataset}/{model}/seed{seed}/{explainer}/{concept}.tsv"
    wildcard_constraints:
        explainer=any_of(study.forgetting),
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        checkpoints=study.checkpoint_flag,
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        settings=study.forgetting_settings,
        model=study.model_flag,
        versions=lambda wildcards: study.versions(
            "forget_concept", "train", "ask_model", models=[wildcards.model], explainers=[wildcards.explainer]
        ),
    shell:
        "python {input.script:q} --items {input.dataset:q} --changes {input.changes:q} "
        "--representations {input.representations:q} {params.model:q} --settings {params.settings:q} "
        "--versions {params.versions:q} --device {resources.device} --threads {threads} {resources.checkpoints} "
        "--tokens-per-batch {resources.tokens_per_batch} --output {output:q} > {log:q} 2>&1"


rule estimate_changes:
    """Estimate by one explainer what every change of the test texts does to a model."""
    input:
        script=study.script("explanations/estimate_changes.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        changes="<results>/changes/{dataset}/changes.parquet",
        labels="<results>/changes/{dataset}/labels.parquet",
        representations=REPRESENTATION,
        attributions=study.word_attributions,
        lexicon=study.lexicon_of,
        counterfactuals=study.counterfactuals,
    output:
        CONCEPT_EFFECT,
    log:
        "<logs>/estimate_changes/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/estimate_changes/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=any_of(study.change_explainers),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=study.effect_estimate_settings,
        words=lambda wildcards: content_of(study.lexicon_of(wildcards)),
        attributed=study.attributed_flags,
        versions=lambda wildcards: study.versions("estimate_changes", explainers=[wildcards.explainer]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --changes {input.changes:q} --labels {input.labels:q} "
        "--representations {input.representations:q} {params.attributed:q} "
        "--counterfactuals {input.counterfactuals:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule score_changes:
    """Hold the estimated effects of one explainer against what the edits really do."""
    input:
        script=study.script("explanations/score_changes.py"),
        changes="<results>/changes/{dataset}/changes.parquet",
        representations=REPRESENTATION,
        effects=CONCEPT_EFFECT,
    output:
        CONCEPT_SCORE,
    log:
        "<logs>/score_changes/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/score_changes/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=as_json(metrics=study.concept_metrics()),
        versions=study.versions("score_changes", metrics=study.concept_metrics()),
    shell:
        "python {input.script:q} --changes {input.changes:q} --representations {input.representations:q} "
        "--effects {input.effects:q} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"

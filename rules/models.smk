# From items to trained models, and how they read the texts.
#
# A model is trained here, or was before: then it is only loaded, and its folder has no history.csv. One that answers at an
# address is only described.
#
# Comes in: <results>/datasets/. Goes out: <results>/models/, <results>/predictions/; <results>/learning_rates/ where
# rates are tried; <results>/questions/ of models at an address, whose answers are kept in results/answers/;
# <results>/masked_words/ in studies of strategies.


rule train:
    """Train one model on one dataset with one seed; the epoch with the lowest validation loss is kept.

    What a training that was stopped goes on from lies beside the folder, where Snakemake does not delete it.
    """
    input:
        script=study.script("models/train.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        units="<results>/datasets/{dataset}/units.parquet",
        pretrained=study.pretrained_files,
    output:
        weights="<results>/models/{dataset}/{model}/seed{seed}/model.safetensors",
        config="<results>/models/{dataset}/{model}/seed{seed}/config.json",
        tokenizer="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
        tokenizer_config="<results>/models/{dataset}/{model}/seed{seed}/tokenizer_config.json",
        history="<results>/models/{dataset}/{model}/seed{seed}/history.csv",
        manifest="<results>/models/{dataset}/{model}/seed{seed}/manifest.json",
    log:
        "<logs>/train/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/train/{dataset}/{model}/seed{seed}.tsv"
    wildcard_constraints:
        model=any_of(study.trained_here),
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        compared=study.compared(),
        checkpoints=study.checkpoint_flag,
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        settings=lambda wildcards: as_json(model=study.recipe(wildcards), seed=int(wildcards.seed)),
        versions=lambda wildcards: study.versions("train", "ask_model", models=[wildcards.model]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} --settings {params.settings:q} "
        "--versions {params.versions:q} --compared {resources.compared:q} --device {resources.device} --threads {threads} "
        "{resources.checkpoints} --output $(dirname {output.weights:q}) > {log:q} 2>&1"


rule try_learning_rate:
    """Train one model on one dataset with one learning rate and the first seed, and keep the course of it alone."""
    input:
        script=study.script("models/train.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        units="<results>/datasets/{dataset}/units.parquet",
        pretrained=study.pretrained_files,
    output:
        LEARNING_RATE,
    log:
        "<logs>/try_learning_rate/{dataset}/{model}/rate{rate}.log",
    benchmark:
        "<benchmarks>/try_learning_rate/{dataset}/{model}/rate{rate}.tsv"
    wildcard_constraints:
        model=any_of(study.trained_here),
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        checkpoints=study.checkpoint_flag,
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        settings=lambda wildcards: as_json(
            model=study.recipe(wildcards, learning_rate=float(wildcards.rate)), seed=config["seeds"][0]
        ),
        versions=lambda wildcards: study.versions("train", "ask_model", models=[wildcards.model]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} --settings {params.settings:q} "
        "--versions {params.versions:q} --device {resources.device} --threads {threads} "
        "{resources.checkpoints} --history {output:q} > {log:q} 2>&1"


rule load_model:
    """Take over a model that is trained already, with the classes of one dataset as its outputs."""
    input:
        script=study.script("models/load_model.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        checkpoint=study.checkpoint_files,
    output:
        weights="<results>/models/{dataset}/{model}/seed{seed}/model.safetensors",
        config="<results>/models/{dataset}/{model}/seed{seed}/config.json",
        tokenizer="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
        tokenizer_config="<results>/models/{dataset}/{model}/seed{seed}/tokenizer_config.json",
        manifest="<results>/models/{dataset}/{model}/seed{seed}/manifest.json",
    log:
        "<logs>/load_model/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/load_model/{dataset}/{model}/seed{seed}.tsv"
    wildcard_constraints:
        model=any_of(
            name
            for name in config["models"]
            if name not in {*study.trained_here, *study.services, *study.answers_only}
        ),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        settings=lambda wildcards: as_json(**study.checkpoint(wildcards)),
        versions=lambda wildcards: study.versions("load_model", models=[wildcards.model]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --settings {params.settings:q} "
        "--output $(dirname {output.weights:q}) > {log:q} 2>&1"


rule describe_service:
    """Write down what a classifier behind an address is asked, and the words of the texts."""
    input:
        script=study.script("models/describe_service.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
    output:
        description="<results>/models/{dataset}/{model}/seed{seed}/service.json",
        words="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
        manifest="<results>/models/{dataset}/{model}/seed{seed}/manifest.json",
    log:
        "<logs>/describe_service/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/describe_service/{dataset}/{model}/seed{seed}.tsv"
    wildcard_constraints:
        model=any_of(study.services),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(10),
    params:
        settings=lambda wildcards: as_json(**study.service(wildcards)),
        versions=study.versions("describe_service"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --settings {params.settings:q} "
        "--output $(dirname {output.description:q}) > {log:q} 2>&1"


rule estimate_questions:
    """Say, before the first of them, how many questions a classifier behind an address will be asked."""
    input:
        script=study.script("models/estimate_questions.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
        description=lambda wildcards: f"<results>/models/{{dataset}}/{{model}}/seed{study.seeds_of(wildcards.model)[0]}/service.json",
    output:
        QUESTIONS,
    log:
        "<logs>/estimate_questions/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/estimate_questions/{dataset}/{model}.tsv"
    wildcard_constraints:
        model=any_of(study.services),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=study.estimate_settings,
        versions=study.versions("estimate_questions"),
    shell:
        # Where it is read.
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} "
        "--model $(dirname {input.description:q}) --settings {params.settings:q} --output {output:q} 2>&1 | tee {log:q}"


if study.services or study.chats:

    rule questions:
        """Print how many questions each model behind an address will be asked."""
        input:
            study.every(QUESTIONS, model=[*study.services, *study.chats]),
        localrule: True
        shell:
            "cat {input:q}"


rule read_texts:
    """Write down how a model reads the test texts: tokens, what is explained, probabilities, predicted class."""
    input:
        script=study.script("models/read_texts.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
        model=study.answering,
        beside=study.beside_weights,
        questions=study.questions,
    output:
        PREDICTIONS,
    log:
        "<logs>/read_texts/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/read_texts/{dataset}/{model}/seed{seed}.tsv"
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        compared=study.compared(),
        asking=study.asking,
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=study.gpu,
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=study.reading_settings,
        versions=lambda wildcards: study.versions("read_texts", "ask_model", models=[wildcards.model]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} "
        "--model $(dirname {input.model[0]:q}) --settings {params.settings:q} --compared {resources.compared:q} "
        "--device {resources.device} --threads {threads} --tokens-per-batch {resources.tokens_per_batch} "
        "--asking {resources.asking:q} --output {output:q} > {log:q} 2>&1"


rule score_masked_words:
    """How probable the words of the explained texts are to a masked language model, or what a training made of it."""
    input:
        script=study.script("models/score_masked_words.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        predictions=PREDICTIONS,
        weights="<results>/models/{dataset}/{model}/seed{seed}/model.safetensors",
        tokenizer="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
        beside=study.beside_weights,
        source=study.masked_source,
    output:
        MASKED,
    log:
        "<logs>/score_masked_words/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/score_masked_words/{dataset}/{model}/seed{seed}.tsv"
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
        settings=study.masked_settings,
        versions=lambda wildcards: study.versions("score_masked_words", "ask_model", models=[wildcards.model]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} "
        "--model $(dirname {input.weights:q}) --settings {params.settings:q} --device {resources.device} "
        "--threads {threads} --tokens-per-batch {resources.tokens_per_batch} --output {output:q} > {log:q} 2>&1"

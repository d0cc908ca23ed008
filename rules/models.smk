# From items to trained models and their predictions.
#
# Comes in: <results>/datasets/. Goes out: <results>/models/, <results>/predictions/.


rule train:
    """Train one model on one dataset with one seed; the epoch with the lowest validation loss is kept."""
    input:
        script=script("models/train.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
        pretrained=local_model_files,
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
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        gpu=GPU,
        mem_mb=8000,
        runtime=240,
    params:
        settings=lambda wildcards: as_json(model=recipe(wildcards), seed=int(wildcards.seed)),
        code=code_of("models/train.py"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --settings {params.settings:q} "
        "--device {resources.device} --threads {threads} --output $(dirname {output.weights:q}) > {log:q} 2>&1"


rule predict:
    """Predict the test split."""
    input:
        script=script("models/predict.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
        weights="<results>/models/{dataset}/{model}/seed{seed}/model.safetensors",
        tokenizer="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
    output:
        "<results>/predictions/{dataset}/{model}/seed{seed}.parquet",
    log:
        "<logs>/predict/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/predict/{dataset}/{model}/seed{seed}.tsv"
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=GPU,
        mem_mb=4000,
        runtime=30,
    params:
        settings=lambda wildcards: as_json(**model_limits(wildcards.model)),
        code=code_of("models/predict.py"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --model $(dirname {input.weights:q}) "
        "--settings {params.settings:q} --device {resources.device} --threads {threads} "
        "--tokens-per-batch {resources.tokens_per_batch} --output {output:q} > {log:q} 2>&1"

# From the configuration to a list of all that cannot work, before anything long runs.
#
# Each check writes what it finds and succeeds, so that none hides another; the target `check` tells all of it.
#
# Comes in: what the configuration names. Goes out: what is said on the terminal; nothing stays of it.


include: "helpers/checks.smk"


rule check_dataset:
    """Open the files of a dataset, and look for columns, levels and classes."""
    input:
        script=script("checks/check_dataset.py"),
        resources=resource_files,
        files=present_files,
    output:
        findings=DATASET_CHECK,
        texts=temp("<results>/checks/{dataset}/items.parquet"),
        units=temp("<results>/checks/{dataset}/units.parquet"),
    log:
        "<logs>/check_dataset/{dataset}.log",
    localrule: True
    conda:
        "../envs/models.yaml"
    resources:
        compared=compared(),
        mem_mb=2000,
        runtime=10,
    params:
        settings=import_settings,
        named_resources=lambda wildcards, input: [f"--resource={path}" for path in [*input.resources, *input.files]],
        made=lambda wildcards: made_flag(named_files(wildcards)),
        asked_at=ASKED_AT,
    shell:
        "python {input.script:q} --settings {params.settings:q} {params.named_resources:q} {params.made:q} "
        "--compared {resources.compared:q} --items {output.texts:q} --units {output.units:q} "
        "--output {output.findings:q} > {log:q} 2>&1"


rule check_model:
    """Read a model, its tokenizer and its labels, and explain a text of a dataset by each explainer."""
    input:
        script=script("checks/check_model.py"),
        dataset=of_run("<results>/checks/{dataset}/items.parquet"),
        units="<results>/checks/{dataset}/units.parquet",
    output:
        MODEL_CHECK,
    log:
        "<logs>/check_model/{dataset}/{model}/seed{seed}.log",
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        compared=compared(),
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=GPU,
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        settings=check_settings,
        made=lambda wildcards: made_flag([*files_of_run(wildcards), *imported_paths(wildcards)]),
        asked_at=ASKED_AT,
    shell:
        "python {input.script:q} --dataset {wildcards.dataset:q} --name {wildcards.model:q} --items {input.dataset:q} "
        "--units {input.units:q} --settings {params.settings:q} {params.made:q} --compared {resources.compared:q} "
        "--device {resources.device} --threads {threads} --tokens-per-batch {resources.tokens_per_batch} "
        "--output {output:q} > {log:q} 2>&1"


rule check:
    """Say all at once what cannot work: files, columns, levels, models, labels, explainers."""
    input:
        script=script("checks/tell_findings.py"),
        datasets=expand(DATASET_CHECK, dataset=config["datasets"]),
        models=[file for model in CHECKED_MODELS for file in of_made_runs(MODEL_CHECK, model)],
    log:
        "<logs>/check.log",
    localrule: True
    conda:
        "../envs/models.yaml"
    params:
        folder=lambda wildcards, input: Path(input.datasets[0]).parents[1],
        settings=lambda wildcards: told_settings(),
    shell:
        # Where it is read; problems go to the log, which is said at the end. The folder goes: its findings hold for now.
        "python {input.script:q} --folder {params.folder:q} --settings {params.settings:q} 2> {log:q}"

# From the configuration to a list of all that cannot work, before anything long runs.
#
# Each check writes what it finds and succeeds, so that none hides another; the target `check` tells all of it.
#
# Comes in: what the configuration names. Goes out: what is said on the terminal; nothing stays of it.


study.refuse_missing_files()
# A check is never taken for done: what it looks at lies outside of the workflow, which cannot know that it has changed.
ASKED_AT = time.time()


rule check_dataset:
    """Open the files of a dataset, and look for columns, levels and classes."""
    input:
        script=study.script("checks/check_dataset.py"),
        resources=study.resource_files,
        files=study.present_files,
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
        compared=study.compared(),
        mem_mb=2000,
        runtime=10,
    params:
        settings=study.import_settings,
        named_resources=lambda wildcards, input: [f"--resource={path}" for path in [*input.resources, *input.files]],
        made=lambda wildcards: study.made_flag(study.named_files(wildcards)),
        asked_at=ASKED_AT,
    shell:
        "python {input.script:q} --settings {params.settings:q} {params.named_resources:q} {params.made:q} "
        "--compared {resources.compared:q} --items {output.texts:q} --units {output.units:q} "
        "--output {output.findings:q} > {log:q} 2>&1"


rule check_model:
    """Read a model, its tokenizer and its labels, and explain a text of a dataset by each explainer."""
    input:
        script=study.script("checks/check_model.py"),
        dataset=study.of_run("<results>/checks/{dataset}/items.parquet"),
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
        compared=study.compared(),
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        settings=study.check_settings,
        made=lambda wildcards: study.made_flag([*study.files_of_run(wildcards), *study.imported_paths(wildcards)]),
        asked_at=ASKED_AT,
    shell:
        "python {input.script:q} --dataset {wildcards.dataset:q} --name {wildcards.model:q} --items {input.dataset:q} "
        "--units {input.units:q} --settings {params.settings:q} {params.made:q} --compared {resources.compared:q} "
        "--device {resources.device} --threads {threads} --tokens-per-batch {resources.tokens_per_batch} "
        "--output {output:q} > {log:q} 2>&1"


rule check:
    """Say all at once what cannot work: files, columns, levels, models, labels, explainers."""
    input:
        script=study.script("checks/tell_findings.py"),
        datasets=expand(DATASET_CHECK, dataset=config["datasets"]),
        models=[file for model in study.checked_models for file in study.of_made_runs(MODEL_CHECK, model)],
    log:
        "<logs>/check.log",
    localrule: True
    conda:
        "../envs/models.yaml"
    params:
        folder=lambda wildcards, input: Path(input.datasets[0]).parents[1],
        settings=lambda wildcards: study.told_settings(),
    shell:
        # Where it is read; problems go to the log, which is said at the end. The folder goes: its findings hold for now.
        "python {input.script:q} --folder {params.folder:q} --settings {params.settings:q} 2> {log:q}"

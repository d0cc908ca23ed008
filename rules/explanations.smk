# From models to explanations and their scores.
#
# Comes in: <results>/datasets/, <results>/models/, <results>/readings/.
# Goes out: <results>/attributions/, one shard per explainer; <results>/scores/, one table per family of metrics.


include: "helpers/explanations.smk"


# The explainers of a family share their passes through the model, so one job writes the shards of all of them.
# Snakemake needs the outputs of a rule written out, hence one rule per configured family.
for family, explainers in EXPLAINER_FAMILIES.items():

    rule:
        name:
            f"attribute_{family}"
        input:
            script=script("explanations/attribute.py"),
            dataset="<results>/datasets/{dataset}/items.parquet",
            readings="<results>/readings/{dataset}/{model}/seed{seed}.parquet",
            weights="<results>/models/{dataset}/{model}/seed{seed}/model.safetensors",
            tokenizer="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
        output:
            expand(
                "<results>/attributions/{{dataset}}/{{model}}/seed{{seed}}/{explainer}.parquet", explainer=explainers
            ),
        log:
            f"<logs>/attribute/{{dataset}}/{{model}}/seed{{seed}}/{family}.log",
        benchmark:
            f"<benchmarks>/attribute/{{dataset}}/{{model}}/seed{{seed}}/{family}.tsv"
        conda:
            "../envs/models.yaml"
        threads: config["threads"]
        resources:
            device=config["device"],
            in_groups=IN_GROUPS,
            gpu=GPU * configuration.asks_model("explainers", family),
            mem_mb=8000,
            runtime=240,
        params:
            settings=attribute_settings(family),
            code=code_of("explanations/attribute.py", f"evenlight.explainers.{family}"),
        shell:
            "python {input.script:q} --items {input.dataset:q} --readings {input.readings:q} "
            "--model $(dirname {input.weights:q}) --settings {params.settings:q} --code {params.code} "
            "--device {resources.device} --threads {threads} {resources.in_groups} --output {output:q} > {log:q} 2>&1"


rule score:
    """Score the explanations of one model with one family of metrics; equal questions to the model are asked once."""
    input:
        script=script("explanations/score.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
        readings="<results>/readings/{dataset}/{model}/seed{seed}.parquet",
        weights="<results>/models/{dataset}/{model}/seed{seed}/model.safetensors",
        tokenizer="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
        attributions=expand(
            "<results>/attributions/{{dataset}}/{{model}}/seed{{seed}}/{explainer}.parquet",
            explainer=config["explainers"],
        ),
    output:
        "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet",
    log:
        "<logs>/score/{dataset}/{model}/seed{seed}/{family}.log",
    benchmark:
        "<benchmarks>/score/{dataset}/{model}/seed{seed}/{family}.tsv"
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        in_groups=IN_GROUPS,
        gpu=lambda wildcards: GPU * configuration.asks_model("metrics", wildcards.family),
        mem_mb=8000,
        runtime=240,
    params:
        settings=score_settings,
        code=lambda wildcards: code_of("explanations/score.py", f"evenlight.metrics.{wildcards.family}"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --readings {input.readings:q} "
        "--attributions {input.attributions:q} --model $(dirname {input.weights:q}) --settings {params.settings:q} --code {params.code} "
        "--device {resources.device} --threads {threads} {resources.in_groups} --output {output:q} > {log:q} 2>&1"

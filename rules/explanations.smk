# From models to explanations and their scores.
#
# Comes in: <results>/datasets/, <results>/models/, <results>/readings/.
# Goes out: <results>/attributions/, one shard per explainer; <results>/scores/, one file per family of metrics and
# explainer.
#
# Jobs here write the files of several explainers, which are `update()`: Snakemake does not delete them before the job,
# and the job leaves those as they are that were made of the same settings, code and files. So a new explainer computes
# its own files and no others.

SHARD = "<results>/attributions/{dataset}/{model}/seed{seed}/{explainer}.parquet"
SCORE = "<results>/scores/{dataset}/{model}/seed{seed}/{family}/{explainer}.parquet"
MODEL = [
    f"<results>/models/{{dataset}}/{{model}}/seed{{seed}}/{name}" for name in ("model.safetensors", "tokenizer.json")
]
# What a command that asks a model imports under a computed name.
ENGINE = "evenlight.engine.opening"
# Families of metrics that call the explainers again, so that their scores depend on the explainers' code.
EXPLAINING_AGAIN = ("worst_change",)
FAMILY_OF = {name: family for family, names in EXPLAINER_FAMILIES.items() for name in names}
# How much is done at once: flags and no params, since they change results by rounding only and rerun nothing.
IN_GROUPS = "--tokens-per-batch {tokens_per_batch} --items-per-group {items_per_group}".format(**config["explain"])
if config["explain"]["compile"]:
    IN_GROUPS += " --compile"


def of_explainers(path, explainers):
    """The file of each of some explainers; the other wildcards stay."""
    return expand(path, explainer=explainers, allow_missing=True)


def asked_model(section, family):
    """The files of the model, where the family asks it."""
    return MODEL if configuration.asks_model(section, family) else []


def model_flag(wildcards, input):
    """The flag that names the model's folder, where the family asks it."""
    return [f"--model={Path(input.model[0]).parent}"] if input.model else []


def asking_settings(section, family, model):
    """What the answers of a model depend on, where the family asks it."""
    if not configuration.asks_model(section, family):
        return {}
    return {"precision": config["explain"]["precision"], "max_tokens": config["models"][model]["max_tokens"]}


def attribute_settings(family):
    """What the explainers of one family depend on, as a function of the wildcards."""
    return lambda wildcards: as_json(
        family=family,
        explainers=configuration.without_labels(
            {name: config["explainers"][name] for name in EXPLAINER_FAMILIES[family]}
        ),
        seed=int(wildcards.seed),
        **asking_settings("explainers", family, wildcards.model),
    )


def attribute_code(family):
    """Digest of what one family of explainers runs."""
    engine = [ENGINE] if configuration.asks_model("explainers", family) else []
    return code_of("explanations/attribute.py", f"evenlight.explainers.{family}", *engine)


def score_settings(wildcards):
    """What the metrics of one family depend on."""
    return as_json(
        family=wildcards.family,
        metrics=configuration.without_labels(
            {name: config["metrics"][name] for name in METRIC_FAMILIES[wildcards.family]}
        ),
        **asking_settings("metrics", wildcards.family, wildcards.model),
    )


def score_code(family):
    """Digests of what one family of metrics runs for each explainer."""
    modules = [f"evenlight.metrics.{family}"]
    if configuration.asks_model("metrics", family):
        modules.append(ENGINE)
    if family not in EXPLAINING_AGAIN:
        return as_json(**dict.fromkeys(config["explainers"], code_of("explanations/score.py", *modules)))
    codes = {
        explainers: code_of("explanations/score.py", *modules, f"evenlight.explainers.{explainers}")
        for explainers in EXPLAINER_FAMILIES
    }
    return as_json(**{name: codes[FAMILY_OF[name]] for name in config["explainers"]})


SCORE_CODE = {family: score_code(family) for family in METRIC_FAMILIES}


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
            model=asked_model("explainers", family),
        output:
            update(of_explainers(SHARD, explainers)),
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
            model=model_flag,
            code=attribute_code(family),
        shell:
            "python {input.script:q} --items {input.dataset:q} --readings {input.readings:q} {params.model:q} "
            "--settings {params.settings:q} --code {params.code} --device {resources.device} --threads {threads} "
            "{resources.in_groups} --output {output:q} > {log:q} 2>&1"


rule score:
    """Score the explanations of one model with one family of metrics; equal questions to the model are asked once."""
    input:
        script=script("explanations/score.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        readings="<results>/readings/{dataset}/{model}/seed{seed}.parquet",
        model=lambda wildcards: asked_model("metrics", wildcards.family),
        attributions=of_explainers(SHARD, config["explainers"]),
    output:
        update(of_explainers(SCORE, config["explainers"])),
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
        model=model_flag,
        code=lambda wildcards: SCORE_CODE[wildcards.family],
    shell:
        "python {input.script:q} --items {input.dataset:q} --readings {input.readings:q} "
        "--attributions {input.attributions:q} {params.model:q} --settings {params.settings:q} "
        "--code {params.code:q} --device {resources.device} --threads {threads} {resources.in_groups} "
        "--output {output:q} > {log:q} 2>&1"

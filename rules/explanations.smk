# From models to explanations and their scores.
#
# Comes in: <results>/datasets/, <results>/models/, <results>/predictions/.
# Goes out: <results>/attributions/, one attribution file per explainer, and <results>/costs/, its time;
# <results>/scores/, one file per family of metrics and explainer; <results>/randomised/ and <results>/agreement/, where
# the configuration asks for them.
#
# Jobs here write the files of several explainers, which are `update()` (`taken_over`): Snakemake does not delete them before the job,
# and the job leaves those as they are that were made of the same settings, versions and files. So a new explainer computes
# its own files and no others.


rule plan_explanations:
    """Say how long each explainer will take on this machine, by the pace of a first batch."""
    input:
        script=study.script("explanations/plan_explanations.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        predictions=lambda wildcards: study.of_first_seed(PREDICTIONS, wildcards),
        model=lambda wildcards: study.of_first_seed(study.model_files, wildcards),
    output:
        PLAN,
    log:
        "<logs>/plan_explanations/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/plan_explanations/{dataset}/{model}.tsv"
    wildcard_constraints:
        model=any_of(study.planned_models),
    # Before the explanations, which can begin at the same time.
    priority: 1
    conda:
        "../envs/models.yaml"
    # Alone on this machine, so that it is told before any explanation begins, and measured without others.
    threads: study.threads_of_machine()
    resources:
        model_threads=config["threads"],
        device=config["device"],
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=study.gpu,
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=study.plan_settings,
        versions=study.versions("plan_explanations"),
    shell:
        # Where it is read.
        "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} "
        "--model $(dirname {input.model[0]:q}) --settings {params.settings:q} --device {resources.device} "
        "--threads {resources.model_threads} --tokens-per-batch {resources.tokens_per_batch} --output {output:q} 2>&1 | tee {log:q}"


if study.planned_models and study.asking_families:

    rule plan:
        """Print how long each explainer will take on this machine."""
        input:
            study.every(PLAN, model=study.planned_models),
        log:
            "<logs>/plan.log",
        localrule: True
        conda:
            "../envs/models.yaml"
        shell:
            "cat {input:q} | tee {log:q}"


# The explainers of a family share their passes through the model, so one job writes the attribution files of all of
# them. Snakemake needs the outputs of a rule written out, hence one rule per configured family.
for family, (rule_name, explainers, on) in [
    (family, job)
    for family, names in study.attributing_families.items()
    for job in study.jobs_of(f"attribute_{family}", names)
]:

    rule:
        name:
            rule_name
        input:
            script=study.script("explanations/attribute.py"),
            dataset="<results>/datasets/{dataset}/items.parquet",
            predictions=PREDICTIONS,
            model=study.asked_model("explainers", family),
            imported=study.imported_files(family),
            looks=study.looked_into,
        output:
            attribution_files=study.taken_over(study.of_explainers(ATTRIBUTION_FILE, explainers)),
            costs=study.taken_over(study.of_explainers(COST, explainers)),
        log:
            f"<logs>/attribute/{{dataset}}/{{model}}/seed{{seed}}/{family}.log",
        benchmark:
            f"<benchmarks>/attribute/{{dataset}}/{{model}}/seed{{seed}}/{family}.tsv"
        wildcard_constraints:
            dataset=on,
        conda:
            "../envs/models.yaml"
        threads: config["threads"]
        resources:
            device=config["device"],
            in_groups=study.in_groups,
            asking=study.asking,
            gpu=study.gpu * configuration.needs_model("explainers", family),
            mem_mb=growing(8000),
            runtime=growing(240),
        params:
            settings=study.attribute_settings(family),
            model=study.model_flag,
            versions=study.attribute_versions(family),
        shell:
            "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} {params.model:q} "
            "--settings {params.settings:q} --versions {params.versions:q} --device {resources.device} --threads {threads} "
            "{resources.in_groups} --asking {resources.asking:q} --output {output.attribution_files:q} --costs "
            "{output.costs:q} > {log:q} 2>&1"


for rule_name, explainers, on in study.jobs_of("score", study.explainers):

    rule:
        name:
            rule_name
        input:
            script=study.script("explanations/score.py"),
            dataset="<results>/datasets/{dataset}/items.parquet",
            predictions=PREDICTIONS,
            model=lambda wildcards: study.asked_model("metrics", wildcards.family)(wildcards),
            attributions=study.of_explainers(ATTRIBUTION_FILE, explainers),
        output:
            study.taken_over(study.of_explainers(SCORES, explainers)),
        log:
            "<logs>/score/{dataset}/{model}/seed{seed}/{family}.log",
        benchmark:
            "<benchmarks>/score/{dataset}/{model}/seed{seed}/{family}.tsv"
        wildcard_constraints:
            dataset=on,
            family=any_of(study.scored_families),
        conda:
            "../envs/models.yaml"
        threads: config["threads"]
        resources:
            device=config["device"],
            in_groups=study.in_groups,
            asking=study.asking,
            gpu=lambda wildcards: study.gpu * configuration.needs_model("metrics", wildcards.family),
            mem_mb=growing(8000),
            runtime=growing(240),
        params:
            settings=study.score_settings,
            model=study.model_flag,
            versions=study.score_versions,
        shell:
            "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} "
            "--attributions {input.attributions:q} {params.model:q} --settings {params.settings:q} "
            "--versions {params.versions:q} --device {resources.device} --threads {threads} {resources.in_groups} "
            "--asking {resources.asking:q} --output {output:q} > {log:q} 2>&1"

    study.inside.describe(
        rule_name,
        "Score the explanations of one model with one family of metrics; equal questions to the model are asked once.",
    )


rule randomise_layers:
    """Explain some texts again by the model with random layers; how far do the scores stay as they were?"""
    input:
        script=study.script("explanations/randomise_layers.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        predictions=PREDICTIONS,
        model=study.model_files,
        attributions=ATTRIBUTION_FILE,
    output:
        RANDOMISED,
    log:
        "<logs>/randomise_layers/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/randomise_layers/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=any_of(study.randomised_explainers),
    conda:
        "../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        settings=study.randomised_settings,
        model=study.model_flag,
        versions=study.randomised_versions,
    shell:
        "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} "
        "--attributions {input.attributions:q} {params.model:q} --settings {params.settings:q} "
        "--device {resources.device} --threads {threads} --tokens-per-batch {resources.tokens_per_batch} "
        "--output {output:q} > {log:q} 2>&1"


rule compare_explainers:
    """How far every two explainers of a run agree on each text."""
    input:
        script=study.script("results/compare_explainers.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        predictions=PREDICTIONS,
        attributions=study.explanations_of,
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
        explainers=lambda wildcards: as_argument(study.runs.explainers_of(wildcards.dataset, study.explainers)),
        versions=study.versions("compare_explainers"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} "
        "--attributions {input.attributions:q} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"

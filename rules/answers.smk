# From answers in words to their scores. Each family of explainers in words has a rule that writes them.
#
# Comes in: <results>/datasets/; tables of answers, by path or address. Goes out: <results>/answers/, a file for each
# explainer; <results>/changed_answers/; <results>/follow_ups/; <results>/scores/.


for name, archive in sources.ARCHIVES.items():

    rule:
        name:
            f"unpack_{name}"
        input:
            script=study.script("explanations/unpack_release.py"),
        output:
            [f"results/sources/{name}/{table}" for table in archive.tables],
        log:
            f"logs/unpack_release/{name}.log",
        benchmark:
            f"benchmarks/unpack_release/{name}.tsv"
        localrule: True
        conda:
            "../envs/data.yaml"
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            release=name,
            sha256=archive.sha256,
            versions=study.versions("unpack_release"),
        shell:
            "python {input.script:q} --release {params.release:q} --output $(dirname $(dirname {output[0]:q})) > {log:q} 2>&1"

    study.inside.describe(
        f"unpack_{name}", "Take tables of single files from the mirror, or make them of their repository's archive."
    )


rule import_released:
    """Fetch answers as their authors released them, and write those of one part as a table."""
    input:
        script=study.script("explanations/import_released.py"),
        tables=study.released_tables,
        resources=study.released_resources,
    output:
        "<results>/released/{release}_{part}.parquet",
    log:
        "<logs>/import_released/{release}_{part}.log",
    benchmark:
        "<benchmarks>/import_released/{release}_{part}.tsv"
    wildcard_constraints:
        release=any_of(released.RELEASES),
        part=any_of({part for release in released.RELEASES.values() for part in release.parts}),
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        sha256=study.released_digests,
        tables=lambda wildcards, input: [f"--tables={Path(input.tables[0]).parents[1]}"] if input.tables else [],
        resources=lambda wildcards, input: [f"--resources={input.resources}"] if input.resources else [],
        content=lambda wildcards: content_of([study.base / path for path in study.released_content(wildcards)]),
        versions=study.versions("import_released"),
    shell:
        "python {input.script:q} --release {wildcards.release:q} --part {wildcards.part:q} {params.tables:q} {params.resources:q} "
        "--output {output:q} > {log:q} 2>&1"


rule record_answers:
    """Read recorded answers of a model from a table, and match them with the questions of a dataset."""
    input:
        script=study.script("answers/record_answers.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        units="<results>/datasets/{dataset}/units.parquet",
        table=study.recorded_table,
    output:
        ANSWER,
    log:
        "<logs>/record_answers/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/record_answers/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=study.answerers("from_table"),
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=lambda wildcards: study.answer_settings(wildcards),
        versions=lambda wildcards: study.versions("record_answers", explainers=[wildcards.explainer]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} --table {input.table:q} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule record_changed_answers:
    """Read recorded answers of a model to the questions of a dataset as they were and with one concept changed."""
    input:
        script=study.script("answers/record_changed_answers.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        units="<results>/datasets/{dataset}/units.parquet",
        table=study.recorded_table,
    output:
        CHANGED_ANSWER,
    log:
        "<logs>/record_changed_answers/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/record_changed_answers/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=study.answerers("from_table"),
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=lambda wildcards: study.answer_settings(wildcards),
        versions=lambda wildcards: study.versions("record_changed_answers", explainers=[wildcards.explainer]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} --table {input.table:q} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule record_follow_ups:
    """Read recorded answers of a model to the questions that follow from its answers."""
    input:
        script=study.script("answers/record_follow_ups.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        units="<results>/datasets/{dataset}/units.parquet",
        table=study.recorded_table,
    output:
        FOLLOW_UP,
    log:
        "<logs>/record_follow_ups/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/record_follow_ups/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=study.answerers("from_table"),
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=study.follow_up_settings,
        versions=lambda wildcards: study.versions("record_follow_ups", explainers=[wildcards.explainer]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} --table {input.table:q} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule estimate_answers:
    """Say, before the first of them, how many questions a language model will be asked; refuse what the limits forbid."""
    input:
        script=study.script("answers/estimate_answers.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
    output:
        QUESTIONS,
    log:
        "<logs>/estimate_answers/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/estimate_answers/{dataset}/{model}.tsv"
    wildcard_constraints:
        model=any_of(study.chats),
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=study.estimated_answers,
        versions=study.versions("estimate_answers"),
    shell:
        # Where it is read.
        "python {input.script:q} --items {input.dataset:q} --settings {params.settings:q} --output {output:q} "
        "2>&1 | tee {log:q}"


rule ask_answers:
    """Ask a language model behind an address about the questions of a dataset; what was asked before is not asked again."""
    input:
        script=study.script("answers/ask_answers.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        # Not ancient, as the estimate of classifiers.
        questions=QUESTIONS,
    output:
        ANSWER,
    log:
        "<logs>/ask_answers/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/ask_answers/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=study.answerers("from_api"),
    conda:
        "../envs/data.yaml"
    resources:
        asking=study.asking,
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        settings=lambda wildcards: study.answer_settings(wildcards, name=wildcards.model, chat=study.chat(wildcards)),
        versions=lambda wildcards: study.versions(
            "ask_answers", models=[wildcards.model], explainers=[wildcards.explainer]
        ),
    shell:
        "python {input.script:q} --items {input.dataset:q} --settings {params.settings:q} "
        "--asking {resources.asking:q} --output {output:q} > {log:q} 2>&1"


rule ask_follow_ups:
    """Ask a language model behind an address what follows from its answers; what was asked before is not asked again."""
    input:
        script=study.script("answers/ask_follow_ups.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        answers=ANSWER,
    output:
        FOLLOW_UP,
    log:
        "<logs>/ask_follow_ups/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/ask_follow_ups/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=study.answerers("from_api"),
    conda:
        "../envs/data.yaml"
    resources:
        asking=study.asking,
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        settings=study.follow_up_settings,
        versions=lambda wildcards: study.versions(
            "ask_follow_ups", models=[wildcards.model], explainers=[wildcards.explainer]
        ),
    shell:
        "python {input.script:q} --items {input.dataset:q} --answered {input.answers:q} --settings {params.settings:q} "
        "--asking {resources.asking:q} --output {output:q} > {log:q} 2>&1"


rule generate_answers:
    """Let a causal language model of the study answer the questions of a dataset; answers that are there stay."""
    input:
        script=study.script("explanations/generate_answers.py"),
        dataset=study.of_run("<results>/datasets/{dataset}/items.parquet"),
        predictions=study.predictions_of_writer,
        model=study.writer_files,
    output:
        study.taken_over(ANSWER),
    log:
        "<logs>/generate_answers/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/generate_answers/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=study.answerers("local_generation"),
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
        settings=study.generated_settings,
        files=study.writer_flags,
        versions=study.generated_versions,
    shell:
        "python {input.script:q} --items {input.dataset:q} {params.files:q} --settings {params.settings:q} "
        "--versions {params.versions:q} --device {resources.device} --threads {threads} {resources.in_groups} "
        "--output {output:q} > {log:q} 2>&1"


rule generate_follow_ups:
    """Let a causal language model of the study answer what follows from its answers; answers that are there stay."""
    input:
        script=study.script("explanations/generate_answers.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        answers=ANSWER,
        predictions=study.predictions_of_writer,
        model=study.writer_files,
    output:
        study.taken_over(FOLLOW_UP),
    log:
        "<logs>/generate_follow_ups/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/generate_follow_ups/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=study.answerers("local_generation"),
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
        settings=study.generated_follow_up_settings,
        files=study.writer_flags,
        versions=study.generated_versions,
    shell:
        "python {input.script:q} --items {input.dataset:q} {params.files:q} --follow-ups-of {input.answers:q} --settings {params.settings:q} "
        "--versions {params.versions:q} --device {resources.device} --threads {threads} {resources.in_groups} "
        "--output {output:q} > {log:q} 2>&1"


rule score_answers:
    """Score the answers of one explainer with one family of metrics."""
    input:
        script=study.script("answers/score_answers.py"),
        answers=ANSWER,
        changed=study.changed_answers,
        follow_ups=study.follow_ups,
        lexicons=study.answer_lexicons,
    output:
        SCORES,
    log:
        "<logs>/score_answers/{dataset}/{model}/seed{seed}/{family}/{explainer}.log",
    benchmark:
        "<benchmarks>/score_answers/{dataset}/{model}/seed{seed}/{family}/{explainer}.tsv"
    wildcard_constraints:
        family=any_of(study.answer_families),
        explainer=any_of(study.explainers_in_words),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=study.answer_metrics,
        changed=lambda wildcards, input: [f"--changed={input.changed}"] if input.changed else [],
        follow_ups=lambda wildcards, input: [f"--follow-ups={input.follow_ups}"] if input.follow_ups else [],
        words=lambda wildcards: [*study.answer_words, *content_of(study.answer_lexicons(wildcards))],
        versions=lambda wildcards: study.versions("score_answers", metrics=study.answer_families[wildcards.family]),
    shell:
        "python {input.script:q} --answers {input.answers:q} {params.changed:q} {params.follow_ups:q} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"

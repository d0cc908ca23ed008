# From recorded answers in words to their scores.
#
# Comes in: <results>/datasets/; tables of answers, by path or address. Goes out: <results>/answers/, a file for each
# explainer; <results>/changed_answers/; <results>/scores/; <results>/tables/draws.parquet, faithfulness.parquet; more
# EXPLAINER_PAGES.


include: "helpers/answers.smk"


rule import_released:
    """Fetch answers as their authors released them, and write those of one part as a table."""
    input:
        script=script("explanations/import_released.py"),
        resources=released_resources,
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
        sha256=released_digests,
        resources=lambda wildcards, input: [f"--resources={input.resources}"] if input.resources else [],
        content=lambda wildcards: content_of([BASE / path for path in released_content(wildcards)]),
        code=lambda wildcards: code_of(
            "explanations/import_released.py",
            f"evenlight.datasets.{released.RELEASES[wildcards.release].module}",
        ),
    shell:
        "python {input.script:q} --release {wildcards.release:q} --part {wildcards.part:q} {params.resources:q} "
        "--output {output:q} > {log:q} 2>&1"


rule record_answers:
    """Read recorded answers of a model from a table, and match them with the questions of a dataset."""
    input:
        script=script("explanations/record_answers.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
        table=recorded_table,
    output:
        ANSWER,
    log:
        "<logs>/record_answers/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/record_answers/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=any_of(ANSWERERS),
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=answer_settings,
        code=code_of("explanations/record_answers.py"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} --table {input.table:q} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule record_changed_answers:
    """Read recorded answers of a model to the questions of a dataset as they were and with one concept changed."""
    input:
        script=script("explanations/record_changed_answers.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
        table=recorded_table,
    output:
        CHANGED_ANSWER,
    log:
        "<logs>/record_changed_answers/{dataset}/{model}/seed{seed}/{explainer}.log",
    benchmark:
        "<benchmarks>/record_changed_answers/{dataset}/{model}/seed{seed}/{explainer}.tsv"
    wildcard_constraints:
        explainer=any_of(ANSWERERS),
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        settings=answer_settings,
        code=code_of("explanations/record_changed_answers.py"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --units {input.units:q} --table {input.table:q} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule score_answers:
    """Score the answers of one explainer with one family of metrics."""
    input:
        script=script("explanations/score_answers.py"),
        answers=ANSWER,
        changed=changed_answers,
        lexicons=answer_lexicons,
    output:
        SCORES,
    log:
        "<logs>/score_answers/{dataset}/{model}/seed{seed}/{family}/{explainer}.log",
    benchmark:
        "<benchmarks>/score_answers/{dataset}/{model}/seed{seed}/{family}/{explainer}.tsv"
    wildcard_constraints:
        family=any_of(ANSWER_FAMILIES),
        explainer=any_of(ANSWERERS),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=answer_metrics,
        changed=lambda wildcards, input: [f"--changed={input.changed}"] if input.changed else [],
        words=lambda wildcards: [*ANSWER_WORDS, *content_of(answer_lexicons(wildcards))],
        code=code_of("explanations/score_answers.py"),
    shell:
        "python {input.script:q} --answers {input.answers:q} {params.changed:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


RESULTS |= {
    "compare_draws": Result(
        "Do the answers to two forms differ by more than two answers to one form do?",
        ["draws"],
        compared_settings("confidence", "bootstrap_draws", of=kinds.TEXT),
        {"scores": (SCORES, every_score(kinds.TEXT)), **of_runs(TEXTS)},
        minutes=30,
    ),
    "measure_faithfulness": Result(
        "Are the reasons of each model faithful, of all questions and of each group, beside draws of one question?",
        ["faithfulness"],
        faithfulness_settings(),
        {"changed_answers": (CHANGED_ANSWER, every(CHANGED_ANSWER, explainer=ANSWERERS)), **of_runs(TEXTS)},
        minutes=30,
    ),
}


if faithfulness_metrics():
    EXPLAINER_PAGES["faithfulness"] = Page(
        ["faithfulness", *(["effects"] if comparisons_of(kinds.TEXT) else [])],
        shown("datasets", "models", "explainers", "metrics", of=kinds.TEXT, **of_statistics("confidence")),
        "Explainers",
        csv=["faithfulness"],
    )
if comparisons_of(kinds.TEXT):
    EXPLAINER_PAGES["draws"] = Page(
        ["draws"],
        shown("datasets", "models", "explainers", "metrics", of=kinds.TEXT, **of_statistics("confidence")),
        "Disparity",
    )

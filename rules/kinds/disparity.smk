# The disparity study: are the explanations of one group better than those of another?
#
# Comes in: <results>/scores/, <results>/readings/, <results>/datasets/.
# Goes out: <results>/tables/*.parquet with tests and effects; <results>/figures/ of them; TABLES and FIGURES, which say
# what the study shows.


include: "../verdicts.smk"
include: "../helpers/disparity.smk"


rule permute_groups:
    """Test again with the groups' labels permuted: how many cells are significant without any disparity?"""
    input:
        script=script("statistics/permute_groups.py"),
        scores=every_score(),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        "<results>/tables/control.parquet",
    log:
        "<logs>/permute_groups.log",
    benchmark:
        "<benchmarks>/permute_groups.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(120),
    params:
        settings=compared_settings("alpha", "sign_flips", "control_draws"),
        folders=folders(scores=SCORES, datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/permute_groups.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule measure_associated:
    """What part of every disparity goes along with token counts, confidence and correctness, and what remains?"""
    input:
        script=script("statistics/measure_associated.py"),
        scores=every_score(),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        "<results>/tables/associated.parquet",
    log:
        "<logs>/measure_associated.log",
    benchmark:
        "<benchmarks>/measure_associated.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=compared_settings("confidence", "control_draws", from_probability=from_probability()),
        folders=folders(scores=SCORES, datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/measure_associated.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule measure_beyond_random:
    """What is left of every disparity beyond that of random explanations?"""
    input:
        script=script("statistics/measure_beyond_random.py"),
        scores=every_score(),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        "<results>/tables/beyond_random.parquet",
    log:
        "<logs>/measure_beyond_random.log",
    benchmark:
        "<benchmarks>/measure_beyond_random.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=yardstick_settings(),
        folders=folders(scores=SCORES, datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/measure_beyond_random.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule compare_many_groups:
    """Compare more than two groups: Kruskal-Wallis, and Dunn's comparisons of their pairs, alone and within strata."""
    input:
        script=script("statistics/compare_many_groups.py"),
        scores=every_score(),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        table="<results>/tables/groups.parquet",
        pairs="<results>/tables/group_pairs.parquet",
    log:
        "<logs>/compare_many_groups.log",
    benchmark:
        "<benchmarks>/compare_many_groups.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=compared_settings(),
        folders=folders(scores=SCORES, datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/compare_many_groups.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output.table:q} "
        "--pairs {output.pairs:q} > {log:q} 2>&1"


rule compare_definitions:
    """What each definition of a disputed metric finds, and how far two of them agree."""
    input:
        script=script("statistics/compare_definitions.py"),
        summary="<results>/tables/disparity_summary.parquet",
    output:
        "<results>/tables/definitions.parquet",
    log:
        "<logs>/compare_definitions.log",
    benchmark:
        "<benchmarks>/compare_definitions.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=json.dumps({"disputed": disputed_metrics()}),
        code=code_of("statistics/compare_definitions.py"),
    shell:
        "python {input.script:q} --summary {input.summary:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule measure_specifications:
    """Ask the same question in every way that the study has, and again with the groups' labels permuted."""
    input:
        script=script("statistics/measure_specifications.py"),
        scores=every_score(),
        datasets=every_dataset(),
        readings=every(READINGS),
    output:
        table="<results>/tables/specifications.parquet",
        curves="<results>/tables/specification_curves.parquet",
    log:
        "<logs>/measure_specifications.log",
    benchmark:
        "<benchmarks>/measure_specifications.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=specification_settings(),
        folders=folders(scores=SCORES, datasets=DATASETS, readings=READINGS),
        code=code_of("statistics/measure_specifications.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} --output {output.table:q} "
        "--curves {output.curves:q} > {log:q} 2>&1"


rule compare_published:
    """Lay the study's tables beside those that Dhaini et al. (2025) print."""
    input:
        script=script("statistics/compare_published.py"),
        summary="<results>/tables/disparity_summary.parquet",
        models="<results>/tables/models.parquet",
        published=[repository_file(path) for path in PUBLISHED],
    output:
        table="<results>/tables/published.parquet",
        agreement="<results>/tables/published_agreement.parquet",
        quality="<results>/tables/published_models.parquet",
    log:
        "<logs>/compare_published.log",
    benchmark:
        "<benchmarks>/compare_published.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=as_json(**{part: list(config[part]) for part in COMPARED}, beside=config["statistics"]["published"]),
        published=content_of(BASE / path for path in PUBLISHED),
        code=code_of("statistics/compare_published.py"),
    shell:
        "python {input.script:q} --summary {input.summary:q} --models {input.models:q} "
        '--published "$(dirname {input.published[0]:q})" --settings {params.settings:q} --output {output.table:q} '
        "--agreement {output.agreement:q} --quality {output.quality:q} > {log:q} 2>&1"


rule draw_definitions:
    """The effects on one dataset under each definition of the disputed metrics: which disparities survive?"""
    input:
        script=script("figures/draw_definitions.py"),
        summary="<results>/tables/disparity_summary.parquet",
    output:
        in_formats(
            "<results>/figures/definitions/{dataset}",
            caption="../../resources/captions/definitions.rst",
            category="Disparity",
            labels=labelled("definitions", dataset="{dataset}"),
        ),
    log:
        "<logs>/draw_definitions/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_definitions/{dataset}.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=drawn_of_dataset("models", "explainers", **of_disputed(), **of_statistics("considerable_effect")),
        code=code_of("figures/draw_definitions.py"),
    shell:
        "python {input.script:q} --summary {input.summary:q} --dataset {wildcards.dataset} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_specifications:
    """Every answer to one question on one dataset, sorted, above the choices that each has."""
    input:
        script=script("figures/draw_specifications.py"),
        specifications="<results>/tables/specifications.parquet",
        curves="<results>/tables/specification_curves.parquet",
    output:
        in_formats(
            "<results>/figures/specifications/{dataset}/{kind}",
            caption="../../resources/captions/specifications.rst",
            category="Disparity",
            labels=labelled("specifications", dataset="{dataset}", metric="{kind}"),
        ),
    log:
        "<logs>/draw_specifications/{dataset}/{kind}.log",
    benchmark:
        "<benchmarks>/draw_specifications/{dataset}/{kind}.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=specifications_drawn,
        code=code_of("figures/draw_specifications.py"),
    shell:
        "python {input.script:q} --specifications {input.specifications:q} --curves {input.curves:q} "
        "--dataset {wildcards.dataset} --kind {wildcards.kind:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule draw_control:
    """How many cells are significant, beside how many are with the groups' labels permuted."""
    input:
        script=script("figures/draw_control.py"),
        control="<results>/tables/control.parquet",
    output:
        in_formats(
            "<results>/figures/control",
            caption="../../resources/captions/control.rst",
            category="Disparity",
            labels=labelled("control"),
        ),
    log:
        "<logs>/draw_control.log",
    benchmark:
        "<benchmarks>/draw_control.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=shown("datasets"),
        code=code_of("figures/draw_control.py"),
    shell:
        "python {input.script:q} --control {input.control:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


TABLES = {
    "disparity": Page(
        ["disparity_summary"],
        shown(*COMPARED, **of_statistics("alpha", "considerable_effect")),
        "Disparity",
        csv=["disparity"],
    ),
    "effects": Page(
        ["effects", "tests", "verdict_control", "balanced_accuracy"],
        shown(*COMPARED, **of_statistics("equivalence_bound", "confidence")),
        "Disparity",
    ),
    "control": Page(["control"], shown("datasets", "models", **of_statistics("alpha", "control_draws")), "Disparity"),
    "associated": Page(["associated"], shown(*COMPARED, **of_statistics("confidence")), "Disparity"),
    "scores": SCORE_PAGE,
    **MODEL_PAGES,
    **EXPLAINER_PAGES,
}
FIGURES = [*SCORE_FIGURES, *EXPLAINER_FIGURES]
if compared_datasets():
    FIGURES += [
        every(rules.draw_disparity.output, dataset=compared_datasets()),
        every(rules.draw_effects.output, dataset=compared_datasets()),
        rules.draw_control.output,
    ]

# What only some studies have.
if any(len(levels) > 2 for levels in compared_sets()):
    TABLES["groups"] = Page(["groups", "group_pairs"], shown(*COMPARED, **of_statistics("alpha")), "Disparity")
if configuration.beyond_random(config):
    TABLES["beyond_random"] = Page(
        ["beyond_random"], shown(*COMPARED, **of_statistics("equivalence_bound", "confidence")), "Disparity"
    )
if config["statistics"]["published"]:
    TABLES["published"] = Page(
        ["published", "published_agreement", "published_models"],
        shown(*COMPARED, **of_statistics("considerable_effect")),
        "Disparity",
    )
if disputed_metrics():
    TABLES["definitions"] = Page(
        ["definitions"],
        shown("datasets", **of_disputed(), **of_statistics("alpha", "considerable_effect")),
        "Disparity",
    )
    FIGURES.append(every(rules.draw_definitions.output, dataset=compared_datasets()))
if specified():
    TABLES["specifications"] = Page(
        ["specification_curves", "specifications"],
        shown(
            *("datasets", "explainers", "metrics"),
            kinds=specified(),
            methods=configuration.explaining_methods(config),
            **of_statistics("alpha"),
        ),
        "Disparity",
    )
    FIGURES.append(every(rules.draw_specifications.output, dataset=compared_datasets(), kind=list(specified())))

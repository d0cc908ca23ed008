# The disparity study: are the explanations of one group better than those of another?
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/.
# Goes out: <results>/tables/*.parquet with tests and effects; <results>/figures/ of them; TABLES and FIGURES, which say
# what the study shows.


include: "../verdicts.smk"
include: "../helpers/disparity.smk"


RESULTS |= {
    "permute_groups": Result(
        "Test again with the groups' labels permuted: how many cells are significant without any disparity?",
        ["control"],
        compared_settings("alpha", "control_draws", of=CONTROLLED, **left_out()),
        of_texts() if EXPLAINERS else of_runs(*SCORED),
        minutes=120,
    ),
    "adjust_for_covariates": Result(
        "How large is every disparity, adjusted for token counts, confidence and correctness?",
        ["covariate_adjusted"],
        compared_settings(
            *("confidence", "control_draws"), of=kinds.TOKENS, from_probability=from_probability(), **left_out()
        ),
        of_texts(),
        minutes=60,
    ),
    "measure_beyond_random": Result(
        "What is left of every disparity beyond that of random explanations?",
        ["beyond_random"],
        yardstick_settings(),
        of_runs(*SCORED),
        reads=["looks"] if LOOKS else [],
        minutes=60,
    ),
    "compare_definitions": Result(
        "What each definition of a disputed metric finds, and how far two of them agree.",
        ["definitions"],
        as_argument({"disputed": disputed_metrics()}),
        reads=["disparity_summary"],
    ),
    "measure_specifications": Result(
        "Ask the same question in every way that the study has, and again with the groups' labels permuted.",
        ["specification_curves", "specifications"],
        specification_settings(),
        of_runs(*SCORED),
        minutes=60,
    ),
    "compare_published": Result(
        "Lay the study's tables beside those that Dhaini et al. (2025) print.",
        ["published", "published_agreement", "published_models"],
        as_json(**{part: list(config[part]) for part in COMPARED}, beside=config["statistics"]["published"]),
        {"published": (PUBLISHED[0], [repository_file(path) for path in PUBLISHED])},
        reads=["disparity_summary", "models"],
        content=PUBLISHED,
    ),
}


PLOTS |= {
    "definitions": Plot(
        "The effects on one dataset under each definition of the disputed metrics: which disparities survive?",
        "disparity_summary",
        "definitions/{dataset}",
        drawn_of_dataset("models", "explainers", **of_disputed(), **of_statistics("considerable_effect")),
        caption="definitions",
        category="Disparity",
        labels=labelled("definitions", dataset="{dataset}"),
    ),
    "control": Plot(
        "How many cells are significant, beside how many are with the groups' labels permuted.",
        "control",
        "control",
        shown("datasets"),
        caption="control",
        category="Disparity",
        labels=labelled("control"),
    ),
}


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
        versions=rendered_by("draw_specifications", "plots/specifications.py"),
    shell:
        "python {input.script:q} --specifications {input.specifications:q} --curves {input.curves:q} "
        "--dataset {wildcards.dataset} --kind {wildcards.kind:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


TABLES = {
    "effects": effects_page("Disparity"),
    "disparity": Page(
        ["disparity_summary"],
        shown(*COMPARED, noise=configuration.no_hypotheses(config), **of_statistics("alpha", "considerable_effect")),
        "Disparity",
        csv=["disparity"],
        at_one_look=True,
    ),
    "control": Page(
        ["control"],
        shown("datasets", "models", **of_statistics("alpha", "control_draws")),
        "Disparity",
        at_one_look=True,
    ),
    "scores": SCORE_PAGE,
    **MODEL_PAGES,
    **EXPLAINER_PAGES,
}
# Changes have no tokens and no predictions, by which disparities are adjusted.
if EXPLAINERS:
    TABLES["covariate_adjusted"] = Page(
        ["covariate_adjusted"], shown(*COMPARED, **of_statistics("confidence")), "Disparity", at_one_look=True
    )
FIGURES = [*SCORE_FIGURES, *EXPLAINER_FIGURES]
if compared_datasets():
    FIGURES += [
        every(drawn("disparity"), dataset=compared_datasets()),
        every(drawn("effects"), dataset=compared_datasets()),
    ]
if compared_datasets(CONTROLLED):
    FIGURES.append(drawn("control"))

# What only some studies have.
if configuration.beyond_random(config):
    TABLES["beyond_random"] = Page(
        ["beyond_random"],
        shown(*COMPARED, **of_statistics("as_often_bound", "confidence")),
        "Disparity",
        verdicts=True,
    )
if LOOKS:
    TABLES["looks"] = Page(
        ["looks"],
        shown(plan=config["statistics"]["plan"], planned=LOOKS),
        "Disparity",
        verdicts=True,
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
        at_one_look=True,
    )
    FIGURES.append(every(drawn("definitions"), dataset=compared_datasets()))
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
        at_one_look=True,
    )
    FIGURES.append(every(rules.draw_specifications.output, dataset=compared_datasets(), kind=list(specified())))

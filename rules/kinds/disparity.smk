# The disparity study: are the explanations of one group better than those of another?
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/.
# Goes out: <results>/tables/*.parquet with tests and effects; <results>/figures/ of them; study.tables and figures, which say
# what the study shows.


from evenlight.workflow.disparity import PUBLISHED


include: "../verdicts.smk"


study.results |= {
    "permute_groups": Result(
        "Test again with the groups' labels permuted: how many cells are significant without any disparity?",
        ["control"],
        study.compared_settings("alpha", "control_draws", of=study.controlled, **study.left_out()),
        study.of_texts() if study.explainers else study.of_runs(*study.scored_patterns),
        minutes=120,
    ),
    "adjust_for_covariates": Result(
        "How large is every disparity, adjusted for token counts, confidence and correctness?",
        ["covariate_adjusted"],
        study.compared_settings(
            *("confidence", "control_draws"),
            of=kinds.TOKENS,
            from_probability=study.from_probability(),
            **study.left_out(),
        ),
        study.of_texts(),
        minutes=60,
    ),
    "measure_beyond_random": Result(
        "What is left of every disparity beyond that of random explanations?",
        ["beyond_random"],
        study.yardstick_settings(),
        study.of_runs(*study.scored_patterns),
        reads=["looks"] if study.planned_looks else [],
        minutes=60,
    ),
    "compare_definitions": Result(
        "What each definition of a disputed metric finds, and how far two of them agree.",
        ["definitions"],
        as_argument({"disputed": study.disputed_metrics()}),
        reads=["disparity_summary"],
    ),
    "measure_specifications": Result(
        "Ask the same question in every way that the study has, and again with the groups' labels permuted.",
        ["specification_curves", "specifications"],
        study.specification_settings(),
        study.of_runs(*study.scored_patterns),
        minutes=60,
    ),
    "compare_published": Result(
        "Lay the study's tables beside those that Dhaini et al. (2025) print.",
        ["published", "published_agreement", "published_models"],
        as_json(**{part: list(config[part]) for part in COMPARED}, beside=config["statistics"]["published"]),
        {"published": (PUBLISHED[0], [study.repository_file(path) for path in PUBLISHED])},
        reads=["disparity_summary", "models"],
        content=PUBLISHED,
    ),
}


study.plots |= {
    "definitions": Plot(
        "The effects on one dataset under each definition of the disputed metrics: which disparities survive?",
        "disparity_summary",
        "definitions/{dataset}",
        study.drawn_of_dataset(
            "models", "explainers", **study.of_disputed(), **study.of_statistics("considerable_effect")
        ),
        caption="definitions",
        category="Disparity",
        labels=labelled("definitions", dataset="{dataset}"),
    ),
    "control": Plot(
        "How many cells are significant, beside how many are with the groups' labels permuted.",
        "control",
        "control",
        study.shown("datasets"),
        caption="control",
        category="Disparity",
        labels=labelled("control"),
    ),
}


rule draw_specifications:
    """Every answer to one question on one dataset, sorted, above the choices that each has."""
    input:
        script=study.script("figures/draw_specifications.py"),
        specifications="<results>/tables/specifications.parquet",
        curves="<results>/tables/specification_curves.parquet",
    output:
        study.in_formats(
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
        settings=study.specifications_drawn,
        versions=study.rendered_by("draw_specifications", "plots/specifications.py"),
    shell:
        "python {input.script:q} --specifications {input.specifications:q} --curves {input.curves:q} "
        "--dataset {wildcards.dataset} --kind {wildcards.kind:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


study.tables = {
    "effects": study.effects_page("Disparity"),
    "disparity": Page(
        ["disparity_summary"],
        study.shown(
            *COMPARED, noise=configuration.no_hypotheses(config), **study.of_statistics("alpha", "considerable_effect")
        ),
        "Disparity",
        csv=["disparity"],
        at_one_look=True,
    ),
    "control": Page(
        ["control"],
        study.shown("datasets", "models", **study.of_statistics("alpha", "control_draws")),
        "Disparity",
        at_one_look=True,
    ),
    "scores": SCORE_PAGE,
    **MODEL_PAGES,
    **study.explainer_pages,
}
# Changes have no tokens and no predictions, by which disparities are adjusted.
if study.explainers:
    study.tables["covariate_adjusted"] = Page(
        ["covariate_adjusted"],
        study.shown(*COMPARED, **study.of_statistics("confidence")),
        "Disparity",
        at_one_look=True,
    )
study.figures = [*SCORE_FIGURES, *study.explainer_figures]
if study.compared_datasets():
    study.figures += [
        study.every(study.drawn("disparity"), dataset=study.compared_datasets()),
        study.every(study.drawn("effects"), dataset=study.compared_datasets()),
    ]
if study.compared_datasets(study.controlled):
    study.figures.append(study.drawn("control"))

# What only some studies have.
if configuration.beyond_random(config):
    study.tables["beyond_random"] = Page(
        ["beyond_random"],
        study.shown(*COMPARED, **study.of_statistics("as_often_bound", "confidence")),
        "Disparity",
        verdicts=True,
    )
if study.planned_looks:
    study.tables["looks"] = Page(
        ["looks"],
        study.shown(plan=config["statistics"]["plan"], planned=study.planned_looks),
        "Disparity",
        verdicts=True,
    )
if config["statistics"]["published"]:
    study.tables["published"] = Page(
        ["published", "published_agreement", "published_models"],
        study.shown(*COMPARED, **study.of_statistics("considerable_effect")),
        "Disparity",
    )
if study.disputed_metrics():
    study.tables["definitions"] = Page(
        ["definitions"],
        study.shown("datasets", **study.of_disputed(), **study.of_statistics("alpha", "considerable_effect")),
        "Disparity",
        at_one_look=True,
    )
    study.figures.append(study.every(study.drawn("definitions"), dataset=study.compared_datasets()))
if study.specified():
    study.tables["specifications"] = Page(
        ["specification_curves", "specifications"],
        study.shown(
            *("datasets", "explainers", "metrics"),
            kinds=study.specified(),
            methods=configuration.explaining_methods(config),
            **study.of_statistics("alpha"),
        ),
        "Disparity",
        at_one_look=True,
    )
    study.figures.append(
        study.every(rules.draw_specifications.output, dataset=study.compared_datasets(), kind=list(study.specified()))
    )

# The study of concepts: which explanations tell what a model does when a concept changes, and for which concepts and texts?
#
# Comes in: what rules/effects.smk makes. Goes out: study.tables and figures, which say what the study shows.


include: "../verdicts.smk"


study.tables = {**study.explainer_pages, **MODEL_PAGES}
study.figures = [*study.explainer_figures]
# Where texts are explained as well.
if study.explainers:
    study.tables["scores"] = SCORE_PAGE
    study.figures += SCORE_FIGURES
# Are the estimates equally good for every concept, every kind of change and every group of texts?
if study.comparisons():
    study.tables["effects"] = study.effects_page("Concepts")
    study.tables["disparity"] = Page(
        ["disparity_summary"],
        study.shown(
            *COMPARED, noise=configuration.no_hypotheses(config), **study.of_statistics("alpha", "considerable_effect")
        ),
        "Concepts",
        csv=["disparity"],
    )
    study.figures.append(study.every(study.drawn("effects")))

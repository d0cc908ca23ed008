# The study of concepts: which explanations tell what a model does when a concept changes, and for which concepts and texts?
#
# Comes in: what rules/effects.smk makes. Goes out: TABLES and FIGURES, which say what the study shows.


include: "../verdicts.smk"


TABLES = {**EXPLAINER_PAGES, **MODEL_PAGES}
FIGURES = [*EXPLAINER_FIGURES]
# Where texts are explained as well.
if EXPLAINERS:
    TABLES["scores"] = SCORE_PAGE
    FIGURES += SCORE_FIGURES
# Are the estimates equally good for every concept, every kind of change and every group of texts?
if comparisons():
    TABLES["effects"] = effects_page("Concepts")
    TABLES["disparity"] = Page(
        ["disparity_summary"],
        shown(*COMPARED, noise=configuration.no_hypotheses(config), **of_statistics("alpha", "considerable_effect")),
        "Concepts",
        csv=["disparity"],
    )
    FIGURES.append(every(drawn("effects")))

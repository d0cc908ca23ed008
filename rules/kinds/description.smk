# A study that describes: how good are the models and their explanations, on each dataset and for each of its groups?
#
# Comes in: <results>/tables/scores.parquet, models.parquet; <results>/scores/. Goes out: study.tables and figures, which say
# what the study shows. Nothing is compared.

study.tables = {"scores": SCORE_PAGE, **MODEL_PAGES, **study.explainer_pages}
study.figures = [*SCORE_FIGURES, *study.explainer_figures]

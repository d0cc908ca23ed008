"""Where files of a study lie, as patterns of Snakemake; and what all comparisons name."""

from evenlight.core import kinds

LEARNING_RATE = "<results>/learning_rates/{dataset}/{model}/rate{rate}.csv"
QUESTIONS = "<results>/questions/{dataset}/{model}.txt"
ATTRIBUTION_FILE = "<results>/attributions/{dataset}/{model}/seed{seed}/{explainer}.parquet"
ANSWER = "<results>/answers/{dataset}/{model}/seed{seed}/{explainer}.parquet"
COST = "<results>/costs/{dataset}/{model}/seed{seed}/{explainer}.parquet"
SCORES = "<results>/scores/{dataset}/{model}/seed{seed}/{family}/{explainer}.parquet"
PLAN = "<results>/plans/{dataset}/{model}.txt"
RANDOMISED = "<results>/randomised/{dataset}/{model}/seed{seed}/{explainer}.parquet"
TEXTS = "<results>/datasets/{dataset}/{table}.parquet"
# Where items and units stand that explanations may be of, by their folder.
UNITS = {each.units: f"<results>/{each.units}/{{dataset}}/{{table}}.parquet" for each in kinds.MODALITIES.values()}
PREDICTIONS = "<results>/predictions/{dataset}/{model}/seed{seed}.parquet"
AGREEMENT = "<results>/agreement/{dataset}/{model}/seed{seed}.parquet"
REPRESENTATION = "<results>/representations/{dataset}/{model}/seed{seed}.parquet"
CONCEPT_EFFECT = "<results>/concept_effects/{dataset}/{model}/seed{seed}/{explainer}.parquet"
WORD_ATTRIBUTION = "<results>/word_attributions/{dataset}/{model}/seed{seed}/{attribution}.parquet"
COUNTERFACTUAL = "<results>/counterfactuals/{dataset}/{model}/seed{seed}/{explainer}/{concept}.parquet"
PREDICTED_LEVELS = "<results>/changes/{dataset}/levels/{concept}.parquet"
CONCEPT_SCORE = "<results>/scores/{dataset}/{model}/seed{seed}/concepts/{explainer}.parquet"
CHANGED_ANSWER = "<results>/changed_answers/{dataset}/{model}/seed{seed}/{explainer}.parquet"
FOLLOW_UP = "<results>/follow_ups/{dataset}/{model}/seed{seed}/{explainer}.parquet"
MANIFEST = "<results>/models/{dataset}/{model}/seed{seed}/manifest.json"
MASKED = "<results>/masked_words/{dataset}/{model}/seed{seed}.parquet"
DATASET_CHECK = "<results>/checks/{dataset}/dataset.json"
MODEL_CHECK = "<results>/checks/{dataset}/{model}/seed{seed}.json"
# A table of scores that were made elsewhere, by the name of its folder: only that this folder has the file counts.
SCORE_TABLE = {"score_table": "<anywhere>/score_table/{file}"}
# A filed audit, likewise.
BASELINE = {"baseline": "<anywhere>/baseline/{file}"}
# What results read of all runs, by the folder below <results>.
OF_RUNS = UNITS | {
    pattern.split("/")[1]: pattern
    for pattern in (
        *(LEARNING_RATE, ATTRIBUTION_FILE, ANSWER, COST, SCORES, RANDOMISED, PREDICTIONS, AGREEMENT),
        *(CHANGED_ANSWER, FOLLOW_UP, MASKED, CONCEPT_EFFECT, REPRESENTATION, COUNTERFACTUAL),
    )
}

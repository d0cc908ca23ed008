"""Tables of results: what is computed over all scores of a study."""

from dataclasses import replace

import pyarrow as pa

from evenlight.core.contracts.fields import columns, required, with_interval
from evenlight.core.tables import Contract

# Of a cell over its seeds; the factor is that by which the two levels differ: gender, race.
_CELL = columns(pa.string(), "dataset", "model", "explainer", "metric", "factor", "level_a", "level_b")
# `tables/disparity.parquet`: a cell and a seed.
DISPARITY = Contract(
    "disparity",
    "measure_disparity",
    pa.schema(
        [
            required("dataset", pa.string()),
            required("model", pa.string()),
            required("seed", pa.int64()),
            required("explainer", pa.string()),
            required("metric", pa.string()),
            required("factor", pa.string()),  # by which the two levels differ: gender, race
            required("level_a", pa.string()),
            required("level_b", pa.string()),
            required("size_a", pa.int64()),
            required("size_b", pa.int64()),
            required("mean_a", pa.float64()),
            required("mean_b", pa.float64()),
            required("u", pa.float64()),  # Mann-Whitney, and its p
            required("p", pa.float64()),
            required("p_holm", pa.float64()),  # adjusted over all rows
            required("cohens_d", pa.float64()),
            required("cliffs_delta", pa.float64()),
            required("pairs", pa.int64()),  # with both scores; 0 where items do not come in pairs
            pa.field("p_signed_rank", pa.float64()),
        ]
    ),
)


# `tables/judged_scores.parquet`, of a study of scores that were made elsewhere: a row for each of them, in the order of
# its table. What no column of that says is `all`.
JUDGED_SCORES = Contract(
    "judged scores",
    "read_scores",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "metric", "factor", "level", "unit_id", "cluster"),
            required("repetition", pa.string()),
            pa.field("stratum", pa.string()),  # null where there is none
            pa.field("score", pa.float64()),  # null where it is undefined
        ]
    ),
)


# `tables/effects.parquet`: a cell over its seeds, and which level is explained better more often, in the metric's
# direction.
EFFECTS = Contract(
    "effects",
    "estimate_effects",
    pa.schema(
        [
            *_CELL,
            required("family", pa.string()),  # the cells among which it is adjusted
            required("adjusted_by", pa.string()),  # holm or flips
            required("verdict", pa.string()),
            required("side", pa.int64()),  # of the verdict: 1, −1 for the second level, or 0
            pa.field("reason", pa.string()),  # why a cell is not decidable
            pa.field("look", pa.int64()),  # of a plan of looks, the first that has found it
            required("paired", pa.bool_()),
            required("unit", pa.string()),  # what has a vote: pairs, clusters, or texts or units without pairs
            *columns(pa.int64(), "units_a", "units_b"),  # votes that count
            *columns(pa.int64(), "left_out_a", "left_out_b"),  # pairs or texts of a level that do not count
            # Votes for the first level, for the second, and within the margin, in the metric's units; none of texts.
            *columns(pa.int64(), "wins", "losses", "ties", missing=True),
            pa.field("margin", pa.float64()),
            # Of decided votes the share that the first level wins; of texts the relative effect of better scores.
            *columns(pa.float64(), "share", "low", "high", "family_low", "family_high", missing=True),
            # P(win) − P(loss) of all votes.
            *columns(pa.float64(), "net_benefit", "net_benefit_low", "net_benefit_high", missing=True),
            pa.field("most_differ", pa.float64()),  # upper limit of the share of votes beyond the margin
            *columns(pa.float64(), "p", "p_adjusted", "p_as_often_adjusted"),
            required("level", pa.float64()),  # that verdicts of this analysis have
            pa.field("least_decided", pa.int64()),  # the fewest decided votes that can be found in this family
            # What seeds are: trainings, draws of answers, or repetitions in a table of scores.
            required("repeated", pa.string()),
            *columns(pa.int64(), "seeds", "seeds_agree"),  # that count; that have the same majority
            required("left_out_seeds", pa.string()),  # those that have too few scores, by name
            # Of the majorities of seeds; how many seeds it takes, if all agree; the side that more have than not, or 0.
            *columns(pa.float64(), "p_retraining", "p_retraining_adjusted", missing=True),
            pa.field("seeds_needed", pa.int64()),
            required("retraining_side", pa.int64()),
            # Pairs in which the score of this level alone is in the worst tenth, or its texts there; which level has it
            # more often, or 0.
            *columns(pa.int64(), "worst_a", "worst_b"),
            *columns(pa.float64(), "p_worst", "p_worst_adjusted"),
            required("worst_side", pa.int64()),
            # Of the means, first level minus second, in the metric's units and in sds; effects without a verdict.
            *columns(pa.float64(), "difference", "difference_low", "difference_high", "sd", missing=True),
            *columns(pa.float64(), "standardised", "standardised_low", "standardised_high", missing=True),
            required("apart", pa.bool_()),  # whether the mean is better for the level with the fewer wins
            # Of the mean, and of its significance: the strength of a confounder that explains it away.
            *columns(pa.float64(), "robustness", "robustness_significance", missing=True),
            *with_interval("cohens_d"),
            *with_interval("cliffs_delta"),
        ]
    ),
)


# `tables/effect_counts.parquet`: a set of cells, and in how many at least one level is explained better more often.
EFFECT_COUNTS = Contract(
    "effect counts",
    "estimate_effects",
    pa.schema(
        [
            *columns(pa.string(), "family", "set", "name"),
            *columns(pa.string(), "factor", "level_a", "level_b", missing=True),  # where they are one
            # At least so many differ, are better for the first level, for the second; all valid together.
            *columns(pa.int64(), "comparisons", "differ", "first", "second"),
            *columns(pa.int64(), "found_first", "found_second"),  # verdicts
            required("thresholds", pa.string()),  # by flips, or by Simes' inequality
        ]
    ),
)


# `tables/draws.parquet`: a cell of answers in words whose forms are pairs, beside two answers to one form.
DRAWS = Contract(
    "draws",
    "compare_draws",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "metric", "factor", "level_a", "level_b"),
            required("units", pa.int64()),  # with two answers to either form
            *columns(pa.float64(), "draws_a", "draws_b", missing=True),  # answers to a form, mean over units and seeds
            *with_interval("difference"),  # of the means of both forms, first level minus second
            # Mean absolute difference of an answer to one form and one to the other.
            pa.field("absolute", pa.float64()),
            pa.field("null", pa.float64()),  # the same of two answers to one form
            *with_interval("beyond"),  # the one less the other
        ]
    ),
)


# `tables/decisions.parquet`: a model, an explainer in words and a pair of forms, with how often the decision changes.
DECISIONS = Contract(
    "changes of decision",
    "compare_decisions",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "factor", "level_a", "level_b"),
            required("family", pa.string()),  # the rows among which it is adjusted
            required("seeds", pa.int64()),
            required("units", pa.int64()),  # with two decisions on either form
            *columns(pa.float64(), "draws_a", "draws_b"),  # decisions on a form, mean over units and seeds
            # The share of pairs of answers that decide otherwise: to two forms, and to one form.
            *columns(pa.float64(), "changed", "by_chance"),
            *with_interval("difference"),  # the one less the other, for further questions
            *columns(pa.float64(), "p", "p_adjusted"),  # by exchanged draws
            required("verdict", pa.string()),
            pa.field("reason", pa.string()),  # why a row is not decidable
        ]
    ),
)


# `tables/faithfulness.parquet`: a measure of the reasons of a run, of all its questions or of those of a group.
FAITHFULNESS = Contract(
    "faithfulness",
    "measure_faithfulness",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            required("seed", pa.int64()),
            *columns(pa.string(), "explainer", "factor", "level"),  # `all` for all questions
            # The name of a metric of the study, and what is measured; of changes of questions both are the same.
            *columns(pa.string(), "metric", "measure"),
            *columns(pa.int64(), "questions", "changes"),  # that have a value; of concepts in the place of changes
            *columns(pa.float64(), "value", "low", "high", missing=True),
            # What reasons would have that mention nothing, and everything.
            *columns(pa.float64(), "silent", "copier", missing=True),
            # What these reasons have where no change does anything: the mean, and between which ends 95 % of draws lie.
            *columns(pa.float64(), "null", "null_low", "null_high", missing=True),
        ]
    ),
)


_COMPARED = [*columns(pa.string(), "dataset", "model", "explainer", "factor", "level_a", "level_b")]
# `tables/answered.parquet`, in a study that compares answers in words: a group in a comparison.
ANSWERED = Contract(
    "answers by group",
    "count_decisions",
    pa.schema(
        [
            *_COMPARED,
            required("level", pa.string()),
            *columns(pa.int64(), "questions", "answers"),
            required("once", pa.int64()),  # questions with one answer, summed over seeds
            *columns(pa.int64(), "empty", "undecided"),  # answers without a word, and without a decision
        ]
    ),
)
# `tables/decided.parquet`, likewise: a decision of the answers of a group.
DECIDED = Contract(
    "decisions by group",
    "count_decisions",
    pa.schema([*_COMPARED, *columns(pa.string(), "level", "decision"), required("answers", pa.int64())]),
)
# `tables/looks.parquet`: a look that was made, of a plan.
LOOKS = Contract(
    "looks",
    "record_looks",
    pa.schema(
        [
            required("plan", pa.string()),  # its name
            required("planned", pa.string()),  # pairs, or texts, of every look, and how the level is spent
            required("settings", pa.string()),  # what else the plan says
            *columns(pa.int64(), "look", "units"),
            required("spent", pa.float64()),  # of the level, by this look
            required("texts", pa.string()),  # a digest of their names
            required("made", pa.string()),  # when
        ]
    ),
)


# `tables/look_texts.parquet`: a look of the plan, up to the present one.
LOOK_TEXTS = Contract(
    "look_texts",
    "check_looks",
    pa.schema(
        [
            required("units", pa.int64()),  # pairs, or texts
            required("texts", pa.string()),  # a digest of their names, words, labels and levels
        ]
    ),
)


# `tables/interim_analyses.parquet`: an analysis of a comparison, the first or a later one with other texts.
INTERIM_ANALYSES = Contract(
    "interim analyses",
    "record_analyses",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "factor", "level_a", "level_b"),
            required("analysis", pa.int64()),  # of this comparison, from 1
            required("plan", pa.string()),  # the plan's name; empty for an analysis without a plan
            pa.field("pairs", pa.int64()),  # as the configuration had them; null for all
            required("files", pa.string()),  # the dataset's own files and their SHA-256, as JSON
            *columns(pa.int64(), "units_a", "units_b"),  # how many were judged
            required("texts", pa.string()),  # a digest of what was judged
            required("level", pa.float64()),  # at which verdicts were made
            required("made", pa.string()),  # when
        ]
    ),
)


# `tables/audit_changes.parquet`, of an audit with a baseline: a cell that is a hypothesis, then and in new texts.
AUDIT_CHANGES = Contract(
    "changes since the last audit",
    "compare_audits",
    pa.schema(
        [
            *_CELL,
            required("family", pa.string()),  # the cells among which it is adjusted, those that both audits have
            pa.field("verdict_before", pa.string()),  # of the last audit; null of a cell that it has not
            required("verdict", pa.string()),  # of this audit, of all its texts
            *columns(pa.int64(), "wins_before", "losses_before", "ties_before", missing=True),
            pa.field("share_before", pa.float64()),
            # Of the texts that the last audit did not judge.
            pa.field("unit", pa.string()),
            *columns(pa.int64(), "units_a", "units_b", missing=True),
            *columns(pa.int64(), "wins", "losses", "ties", missing=True),
            pa.field("share", pa.float64()),
            *columns(pa.float64(), "p", "p_adjusted", missing=True),  # exact of pairs, else asymptotic
            required("level", pa.float64()),
            required("side", pa.int64()),  # which level wins more often than then: 1, −1 for the second, or 0
            required("change", pa.string()),  # the verdict on the change
            pa.field("reason", pa.string()),  # why it is not decidable
        ]
    ),
)


# `tables/verdict_control.parquet`: a family of cells under one permutation of the labels.
VERDICT_CONTROL = Contract(
    "verdict_control",
    "permute_verdicts",
    pa.schema(
        [
            required("permutation", pa.int64()),
            required("family", pa.string()),
            *columns(pa.int64(), "cells", "disparities"),
        ]
    ),
)


# Of a cell over its seeds, selected by significance and not; an effect may be undefined, or infinite.
_MEANS = columns(pa.float64(), "mean_d_significant", "sd_d_significant", "mean_d", "sd_d", missing=True)
# `tables/disparity_summary.parquet`: a cell over its seeds.
SUMMARY = Contract(
    "the summary of disparities",
    "summarise_disparity",
    pa.schema(
        [
            *_CELL,
            *columns(pa.int64(), "seeds", "significant_seeds"),
            *columns(pa.int64(), "significant_seeds_a_better", "significant_seeds_b_better"),
            *_MEANS,
            *columns(pa.float64(), "mean_delta_significant", "mean_delta", missing=True),
            pa.field("better_group", pa.string()),  # of the two levels, by delta
            required("contradicted", pa.bool_()),  # whether d has the other direction
            required("considerable", pa.bool_()),
        ]
    ),
)
# `tables/scores.parquet`: a dataset, model, explainer, metric and group.
SCORE_SUMMARY = Contract(
    "the summary of scores",
    "summarise_scores",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer"),
            pa.field("factor", pa.string()),  # none of all texts together
            *columns(pa.string(), "group", "metric"),
            required("seeds", pa.int64()),
            *columns(pa.float64(), "mean", "sd", "monte_carlo_error", missing=True),
        ]
    ),
)
# `tables/costs.parquet`: a dataset, model, explainer and device.
COST_SUMMARY = Contract(
    "the summary of costs",
    "summarise_costs",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer"),
            *columns(pa.string(), "together", "device", missing=True),
            pa.field("threads", pa.int64()),
            *columns(pa.int64(), "seeds", "texts"),  # of which the cost is known
            *columns(pa.float64(), "seconds", "rows", "rows_asked", missing=True),  # per text
        ]
    ),
)
# `tables/strategies.parquet`, in a study of strategies: a strategy, explainer, metric and subset of the texts.
# How well texts are explained in a strategy, on a subset of them; beside the baseline strategy, and beside random
# scores.
STRATEGIES = Contract(
    "the summary of strategies",
    "summarise_strategies",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "architecture", "strategy", "model", "explainer", "metric", "subset"),
            required("seeds", pa.int64()),
            pa.field("texts", pa.float64()),  # with a score, mean over seeds
            *columns(pa.float64(), "mean", "sd", "low", "high", missing=True),
            *columns(pa.float64(), "ratio", "ratio_low", "ratio_high", missing=True),  # of the means, to the baseline's
            # Mean over texts of log(ratio - 1), where it is defined, and the share of the texts in which it is.
            *columns(pa.float64(), "log_excess", "log_excess_share", missing=True),
            pa.field("expected", pa.float64()),  # of scores that are drawn at random, for mass accuracy
        ]
    ),
)
# `tables/attribution_differences.parquet`, in a study of strategies that compares levels: a run, an explainer and a
# pair of levels.
# How differently words of the ground truth are explained in both forms of a sentence.
ATTRIBUTION_DIFFERENCES = Contract(
    "differences of attributions",
    "compare_attributions",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            required("seed", pa.int64()),
            *columns(pa.string(), "explainer", "factor", "level_a", "level_b"),
            *columns(pa.int64(), "pairs", "words"),
            *columns(pa.float64(), "mean_absolute", "mean_difference", missing=True),
            *columns(pa.float64(), "p", "p_holm", "p_pairs", "p_pairs_holm", missing=True),
        ]
    ),
)
# `tables/proposed_methods.parquet`, in a study of strategies that names some: one that is held against all others.
# Whether an explainer is better than all others, and its difference from each of them.
PROPOSED_METHODS = Contract(
    "the verdicts on proposed methods",
    "compare_proposed_methods",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "metric", "family"),
            required("others", pa.int64()),
            required("best_other", pa.string()),
            # That it is better than each of the others, and that one is better than it; and the one found, adjusted.
            *columns(pa.float64(), "p_best", "p_behind", "p_adjusted"),
            required("side", pa.int64()),  # 1, −1 where it is not the best, or 0
            required("verdict", pa.string()),
        ]
    ),
)
# `tables/proposed_method_pairs.parquet`: a proposed method beside one of the others.
PROPOSED_METHOD_PAIRS = Contract(
    "proposed methods beside the others",
    "compare_proposed_methods",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "other", "metric"),
            *columns(pa.int64(), "seeds", "texts", "wins", "losses", "ties"),
            *columns(
                pa.float64(), "share", "low", "high", missing=True
            ),  # of decided texts, that the proposed method wins
            *columns(pa.float64(), "p_better", "p_worse"),
            *columns(pa.float64(), "mean", "mean_other", "difference"),
            *columns(pa.float64(), "difference_low", "difference_high", missing=True),
        ]
    ),
)
# `tables/masked_words.parquet`: a score of a model at a level, or between two levels.
# How improbable a masked language model finds the words of texts: means, and differences of two levels.
MASKED_SUMMARY = Contract(
    "the summary of masked words",
    "summarise_masked_words",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "score", "factor", "level_a"),
            pa.field("level_b", pa.string()),  # null in the mean of a level
            *columns(pa.int64(), "seeds", "units"),
            *columns(pa.float64(), "value", "low", "high", missing=True),
        ]
    ),
)
# `tables/pair_invariance.parquet`: a model, an explainer and two levels, with how alike the forms of a text are
# explained.
PAIR_INVARIANCE = Contract(
    "invariance of pairs",
    "measure_reliance",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "factor", "level_a", "level_b"),
            *columns(pa.int64(), "seeds", "pairs"),
            required("words", pa.float64()),  # that the forms of a pair share, mean
            *with_interval("distance"),
            *with_interval("rank_correlation"),
            pa.field("null", pa.string()),  # repeated: by other draws; fixed: nothing is drawn; null: not known
            *columns(pa.float64(), "null_distance", "null_rank_correlation", missing=True),
            *with_interval("beyond_null"),  # distance − null_distance
        ]
    ),
)
# `tables/group_reliance.parquet`: a model, an explainer and a level, with the share of the words that name it.
GROUP_RELIANCE = Contract(
    "reliance on the group's name",
    "measure_reliance",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "factor", "level"),
            required("texts", pa.int64()),
            required("tokens", pa.float64()),  # the share of tokens that name the group: that of equal scores
            *with_interval("absolute"),
            *with_interval("signed"),
        ]
    ),
)
# `tables/words_by_group.parquet`: a word, with its mean share in each group. It has no words of a dataset that keeps
# its texts.
WORDS_BY_GROUP = Contract(
    "words by group",
    "measure_reliance",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "factor", "level", "class", "word"),
            required("texts", pa.int64()),
            *with_interval("share"),
        ]
    ),
)
# `tables/word_associations.parquet`, in a study of strategies: a word and a class.
WORD_ASSOCIATIONS = Contract(
    "associations of words",
    "check_ground_truth",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "word", "class"),
            *columns(pa.int64(), "texts", "marked", "unmarked"),
            pa.field("correlation", pa.float64()),  # of tf-idf with the class; none where one of them is constant
            *columns(pa.float64(), "z", "p"),
        ]
    ),
)
# `tables/ground_truth.parquet`, in a study of strategies: a dataset.
GROUND_TRUTH = Contract(
    "the check of the ground truth",
    "check_ground_truth",
    pa.schema(
        [
            required("dataset", pa.string()),
            *columns(pa.int64(), "texts", "without_truth", "units", "unequal_units", "places", "marked_places"),
            *columns(pa.int64(), "unmarked_differences", "marked_equals", "words", "associated_words"),
            *columns(pa.int64(), "associated_unmarked", "marked_words", "marked_unassociated", "both_ways"),
        ]
    ),
)
# `tables/confusions.parquet`, in a study of strategies: a run, a true class and a predicted one.
# How often each class is predicted for each, and the curve of true against false positives of a class.
CONFUSIONS = Contract(
    "confusions",
    "measure_predictions",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            required("seed", pa.int64()),
            *columns(pa.string(), "label", "predicted"),
            required("texts", pa.int64()),
            pa.field("share", pa.float64()),  # of the texts with this label
        ]
    ),
)
# `tables/roc_curves.parquet`, in a study of strategies: a point of the curve of a run and a class.
ROC_CURVES = Contract(
    "curves of true and false positives",
    "measure_predictions",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            required("seed", pa.int64()),
            required("class", pa.string()),
            pa.field("auc", pa.float64()),
            required("false_positives", pa.list_(pa.float64())),  # shares, from the highest threshold down
            required("true_positives", pa.list_(pa.float64())),
        ]
    ),
)
# `tables/randomisation.parquet`: an explainer, a model and a stage.
RANDOMISATION = Contract(
    "the summary of randomisation",
    "summarise_randomisation",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "order", "layer"),
            *columns(pa.int64(), "stage", "seeds", "texts"),
            *columns(pa.float64(), "rank_correlation", "rank_correlation_sd", missing=True),
            *columns(pa.float64(), "rank_correlation_absolute", "rank_correlation_absolute_sd", missing=True),
        ]
    ),
)
# `tables/agreement.parquet`: two explainers and a group of texts.
AGREEMENT_SUMMARY = Contract(
    "the summary of agreement",
    "summarise_agreement",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer_a", "explainer_b", "measure"),
            *columns(pa.string(), "factor", "level_a", "level_b", missing=True),  # none of all texts together
            required("seeds", pa.int64()),
            *columns(pa.float64(), "mean", "sd", missing=True),  # of all texts, from here on of two levels
            *columns(pa.float64(), "mean_a", "mean_b", "mean_d", "sd_d", missing=True),
            pa.field("significant_seeds", pa.int64()),
        ]
    ),
)
# The factor of a level or of two; none of all items, and of classes.
_QUALITY = [required("measure", pa.string()), pa.field("factor", pa.string()), required("subset", pa.string())]
# `tables/models.parquet`: a model and a group of texts.
QUALITY = Contract(
    "the quality of models",
    "measure_quality",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            *_QUALITY,
            required("seeds", pa.int64()),
            *columns(pa.float64(), "mean", "sd", missing=True),
        ]
    ),
)
# `tables/learning_rates.parquet`, where rates are tried: a model and a rate.
# One training for each rate; of a diverged one there is no epoch.
LEARNING_RATES = Contract(
    "the trainings by learning rate",
    "summarise_learning_rates",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            required("learning_rate", pa.float64()),
            pa.field("epoch", pa.int64()),
            *columns(pa.float64(), "validation_loss", "validation_accuracy", missing=True),
            required("chosen", pa.bool_()),
        ]
    ),
)
# `tables/models_per_seed.parquet`: a run and a group of texts.
QUALITY_PER_SEED = Contract(
    "the quality of models per seed",
    "measure_quality",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            required("seed", pa.int64()),
            *_QUALITY,
            required("size", pa.int64()),
            pa.field("value", pa.float64()),
        ]
    ),
)
# `tables/balanced_accuracy.parquet`: a model, beside guessing.
# How a run classifies the test texts, every class counted alike: guessing is right about `chance` of them.
BALANCED_ACCURACY = Contract(
    "the balanced accuracies",
    "measure_quality",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            required("seed", pa.int64()),
            *columns(pa.int64(), "size", "clusters"),
            *columns(pa.float64(), "value", "low", "high", "chance"),
        ]
    ),
)
# `tables/control.parquet`: a test in all cells of a dataset and a model, with real and with permuted labels.
CONTROL = Contract(
    "the control",
    "permute_groups",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "test"),  # `all` for all datasets or models
            required("cells", pa.int64()),
            *columns(pa.float64(), "real_rate", "null_rate", "null_low", "null_high", missing=True),
            required("alpha", pa.float64()),
            pa.field("study_p", pa.float64()),
        ]
    ),
)
# `tables/covariate_adjusted.parquet`: a cell and a covariate.
COVARIATE_ADJUSTED = Contract(
    "covariate-adjusted disparities",
    "adjust_for_covariates",
    pa.schema(
        [
            *_CELL,
            required("covariate", pa.string()),
            required("seeds", pa.int64()),
            pa.field("undecided", pa.string()),  # why there is no split; none where there is one
            *columns(pa.float64(), "support", "total", missing=True),
            *with_interval("covariate_part"),
            *with_interval("adjusted"),
            *with_interval("shuffled"),
        ]
    ),
)


def _judged_part(part: str, missing: bool = False) -> list[pa.Field]:
    """How often either level wins in a part of the scores, and its verdict; ``missing``: where there is none."""
    fields = columns(pa.int64(), *(f"{part}_{count}" for count in ("wins", "losses", "ties")), missing=True)
    fields += columns(pa.float64(), f"{part}_share", missing=True)
    fields += columns(pa.float64(), f"{part}_p_adjusted", missing=missing)
    fields += [pa.field(f"{part}_side", pa.int64(), missing), pa.field(f"{part}_verdict", pa.string(), missing)]
    return [*fields, pa.field(f"{part}_reason", pa.string())]


# `tables/beyond_random.parquet`, where a study has a random explainer: a cell, with what is left of it beyond random
# explanations.
BEYOND_RANDOM = Contract(
    "effects beyond random explanations",
    "measure_beyond_random",
    pa.schema(
        [
            *_CELL,
            *columns(pa.string(), "family", "adjusted_by"),  # the cells among which it is adjusted; holm or flips
            *columns(pa.int64(), "seeds", "units_a", "units_b"),
            pa.field("sd", pa.float64()),
            *_judged_part("plain"),
            *_judged_part("beyond"),
            *_judged_part("own", missing=True),
            # Mean differences in the metric's units, of which the first is the sum of the others.
            *columns(pa.float64(), "plain_difference", "plain_difference_low", "plain_difference_high", missing=True),
            *columns(pa.float64(), "beyond_difference", "beyond_difference_low", missing=True),
            *columns(pa.float64(), "beyond_difference_high", "random_difference", missing=True),
            pa.field("outcome", pa.string()),  # where there is a disparity: what becomes of it beyond random
            pa.field("made_by", pa.string()),  # where there is a disparity: the model, the explainer, or undecided
            *columns(pa.float64(), "score_a", "score_b", "random_a", "random_b", missing=True),
            *columns(pa.float64(), "upper_bound_a", "upper_bound_b", "reached_a", "reached_b", missing=True),
        ]
    ),
)
# `tables/concept_errors.parquet`: a model, an explainer, a metric and a change of a concept.
CONCEPT_ERRORS = Contract(
    "errors of estimated effects",
    "summarise_concepts",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "metric", "concept", "change"),  # `all` for all
            *columns(pa.int64(), "changes", "seeds"),
            *columns(pa.float64(), "mean", "sd", "low", "high", missing=True),
        ]
    ),
)
# `tables/concept_effects.parquet`: a change of a concept, with its effect on a model.
CONCEPT_EFFECTS = Contract(
    "effects of concepts",
    "summarise_concepts",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "concept", "before", "after"),
            *columns(pa.int64(), "changes", "seeds"),
            required("label_effect", pa.float64()),  # of the labels, in steps from class to class
            *columns(pa.float64(), "predicted_effect", "predicted_effect_sd", "moved"),
            required("effect", pa.list_(pa.float64())),  # of the probabilities
        ]
    ),
)
# `tables/definitions.parquet`, where a study has several definitions of a metric: a comparison under two of them.
DEFINITIONS = Contract(
    "definitions",
    "compare_definitions",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "factor", "level_a", "level_b", "kind", "metric", "other"),
            *columns(pa.int64(), "cells", "significant", "considerable", "opposed"),
            *columns(pa.float64(), "same_direction", "correlation", missing=True),
        ]
    ),
)
# `tables/specifications.parquet`, where a study asks in several ways: a question asked in one of them.
SPECIFICATIONS = Contract(
    "specifications",
    "measure_specifications",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "factor", "level_a", "level_b", "kind"),
            required("rank", pa.int64()),  # by estimate, from below
            *columns(pa.string(), "method", "explainer", "metric", "model"),
            required("seed", pa.int64()),
            required("effect", pa.string()),  # cohens_d or cliffs_delta
            *columns(pa.float64(), "estimate", "error", "z", "p", "null_low", "null_high"),
        ]
    ),
)
# `tables/specification_curves.parquet`: a question, over all ways to ask it.
SPECIFICATION_CURVES = Contract(
    "specification curves",
    "measure_specifications",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "factor", "level_a", "level_b", "kind", "method"),
            *columns(pa.int64(), "specifications", "undecided", "a_better", "b_better"),
            *columns(pa.float64(), "median", "p_median"),
            required("significant", pa.int64()),
            *columns(pa.float64(), "null_significant", "p_significant", "mean_z", "p_mean_z"),
            required("permutations", pa.int64()),
        ]
    ),
)
# `tables/published.parquet`, where a study has published counterparts: a published disparity beside that of the
# study.
PUBLISHED = Contract(
    "published disparities",
    "compare_published",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "explainer", "metric", "training", "published_model"),
            *columns(pa.int64(), "seeds", "significant_seeds"),
            *_MEANS,
            *columns(pa.int64(), "published_significant"),
            *columns(pa.float64(), "published_d", "published_sd_d", missing=True),
            *columns(pa.int64(), "table", "effects_table", missing=True),  # numbers of the printed tables
            required("within_one", pa.bool_()),
            *columns(pa.bool_(), "same_direction", "same_direction_all_seeds", missing=True),
        ]
    ),
)
_DIRECTIONS = ("same_direction", "same_direction_by_chance", "kappa")
# `tables/published_agreement.parquet`: a part of the study, with how far it agrees with published disparities.
PUBLISHED_AGREEMENT = Contract(
    "the agreement with published disparities",
    "compare_published",
    pa.schema(
        [
            *columns(pa.string(), "part", "name"),
            required("cells", pa.int64()),
            *columns(pa.float64(), "within_one", "within_one_by_chance"),
            required("directed", pa.int64()),
            *columns(pa.float64(), *_DIRECTIONS, missing=True),
            required("directed_all_seeds", pa.int64()),
            *columns(pa.float64(), *(f"{name}_all_seeds" for name in _DIRECTIONS), missing=True),
        ]
    ),
)
# `tables/published_models.parquet`: a model beside the published one.
PUBLISHED_QUALITY = Contract(
    "published quality of models",
    "compare_published",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model", "published_model", "measure"),
            *columns(pa.float64(), "seeds", "mean", "sd", "published_mean", "published_sd", missing=True),
        ]
    ),
)


# `tables/audited_texts.parquet`, in a study that compares groups: a dataset.
AUDITED_TEXTS = Contract(
    "audited texts",
    "count_texts",
    pa.schema(
        [
            required("dataset", pa.string()),
            *columns(pa.list_(pa.string()), "files", "files_sha256"),  # of what it was read from
            required("sha256", pa.string()),  # of the texts as they were read
            required("classes", pa.list_(pa.string())),
            *columns(pa.int64(), "texts", "test_texts", "explained_texts", "repeated_texts"),
            required("repeated_apart", pa.bool_()),  # whether copies lie in different clusters
        ]
    ),
)
# `tables/audited_questions.parquet`, in a study that compares answers in words: a dataset.
AUDITED_QUESTIONS = replace(AUDITED_TEXTS, name="audited questions", rule="count_questions")
# `tables/audited_groups.parquet`, in a study that compares groups: a level.
AUDITED_GROUPS = Contract(
    "audited groups",
    "count_texts",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "factor", "level"),
            required("texts", pa.int64()),
            required("compared", pa.bool_()),
        ]
    ),
)
# `tables/different_texts.parquet`, in a study that compares groups: a comparison in which texts are copies of others.
DIFFERENT_TEXTS = Contract(
    "different texts",
    "count_texts",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "factor", "level_a", "level_b"),
            required("paired", pa.bool_()),
            *columns(pa.int64(), "different_a", "different_b"),  # texts of either level, or pairs
        ]
    ),
)
# `tables/texts_needed.parquet`, in a study that compares groups: an undecided cell, with how many texts would decide
# it.
TEXTS_NEEDED = Contract(
    "needed texts",
    "estimate_texts_needed",
    pa.schema(
        [
            *_CELL,
            required("paired", pa.bool_()),
            *columns(pa.int64(), "units", "comparisons"),  # that there are; among which it is adjusted
            pa.field("ties", pa.float64()),  # the share of pairs that are not decided
            *columns(pa.float64(), "detectable", "needed", missing=True),
        ]
    ),
)
# `tables/decision_rates.parquet`, in a study that compares groups: a measure of how a model decides, with a class and a
# group of texts.
DECISION_RATES = Contract(
    "rates of decisions",
    "describe_decisions",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            pa.field("factor", pa.string()),  # or two of them; none of all texts
            pa.field("level", pa.string()),  # none of texts whose level is not known
            pa.field("class", pa.string()),  # none of accuracy
            required("measure", pa.string()),
            required("texts", pa.int64()),  # among which the share is counted
            *columns(pa.float64(), "value", "low", "high", missing=True),
            pa.field("reference", pa.string()),  # of an impact ratio, the level with the largest selection rate
        ]
    ),
)
# `tables/without_words.parquet`, in a study that compares groups: a run and a way of hiding, with the class of texts
# without words.
WITHOUT_WORDS = Contract(
    "classes of texts without words",
    "classify_empty_texts",
    pa.schema(
        [
            *columns(pa.string(), "dataset", "model"),
            required("seed", pa.int64()),
            *columns(pa.string(), "hidden", "class"),
            required("probability", pa.float64()),
        ]
    ),
)

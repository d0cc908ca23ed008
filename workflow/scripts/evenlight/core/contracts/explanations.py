"""Explanations and their scores, and what else is computed of single texts."""

import pyarrow as pa

from evenlight.core.contracts.fields import columns, required
from evenlight.core.tables import Contract

# What a row was made of, a digest, and a checksum of what it says, by which a job takes rows over
# (evenlight.jobs.parts). They are missing where nothing takes them over.
KEPT = [pa.field("made_of", pa.string()), pa.field("checksum", pa.string())]
KEPT_NAMES = tuple(field.name for field in KEPT)
# Two words of a text, by their numbers, and what they do together beyond what each does.
PAIR = ("first", "second", "interaction")
# `attributions/{dataset}/{model}/seed{seed}/{explainer}.parquet`: an explained text, a row group per group of items.
ATTRIBUTIONS = Contract(
    "attributions",
    "attribute",
    pa.schema(
        [
            required("item_id", pa.string()),
            required("token_score", pa.list_(pa.float64())),
            pa.field("completeness_gap", pa.float64()),
            required("forward_rows", pa.int64()),
            # The strongest first; null where the explainer tells none.
            pa.field(
                "pairs", pa.list_(pa.struct(list(zip(PAIR, (pa.int64(), pa.int64(), pa.float64()), strict=True))))
            ),
            pa.field(
                "remarks",
                pa.list_(
                    pa.struct(
                        [
                            ("text", pa.string()),
                            ("counts", pa.list_(pa.struct([("name", pa.string()), ("number", pa.float64())]))),
                        ]
                    )
                ),
            ),
            # How other random draws agree, where the text was explained twice.
            pa.field("explained_again", pa.struct([("error", pa.float64()), ("rank", pa.float64())])),
            *KEPT,
        ]
    ),
    optional=("pairs", "remarks", "explained_again", *KEPT_NAMES),
)
# What of them is scored and compared.
EXPLAINED = ATTRIBUTIONS.only("item_id", "token_score")
PAIRED = ATTRIBUTIONS.only("item_id", "pairs")
# `costs/{dataset}/{model}/seed{seed}/{explainer}.parquet`: a part that a job computed at once, as long as one of its
# texts is in the attribution file. There is none where the cost is not known.
COSTS = Contract(
    "costs",
    "attribute",
    pa.schema(
        [
            required("texts", pa.int64()),
            required("seconds", pa.float64()),  # of all explainers that were computed together
            required("rows", pa.int64()),  # through the model for this explainer, those shared with others included
            required("rows_asked", pa.int64()),  # of the model, for all of them
            required("device", pa.string()),
            required("threads", pa.int64()),
            required("together", pa.list_(pa.string())),  # the explainers whose time this is
            required("made_of", pa.list_(pa.string())),  # of its rows in the attribution file
        ]
    ),
)
# `agreement/{dataset}/{model}/seed{seed}.parquet`: a text, with a column for every two explainers.
AGREEMENT = Contract(
    "agreement of explainers",
    "compare_explainers",
    pa.schema([required("item_id", pa.string())]),
    extra_columns=pa.float64(),
)
# `randomised/{dataset}/{model}/seed{seed}/{explainer}.parquet`: a text at a stage, beside the scores of a model with
# random layers.
RANDOMISED = Contract(
    "scores by random layers",
    "randomise_layers",
    pa.schema(
        [
            required("item_id", pa.string()),
            required("order", pa.string()),  # cascading or independent
            required("stage", pa.int64()),  # how far down from the head, 0 for the model as it is
            required("layer", pa.string()),
            pa.field("rank_correlation", pa.float64()),
            pa.field("rank_correlation_absolute", pa.float64()),
        ]
    ),
)
# `scores/{dataset}/{model}/seed{seed}/{family}/{explainer}.parquet`, and `score_changes` those of concepts: an
# explained text or change, with a column for each metric.
SCORES = Contract(
    "scores",
    "score",
    pa.schema([required("item_id", pa.string()), *KEPT]),
    extra_columns=pa.float64(),
    optional=KEPT_NAMES,
)
# What is known of how an answer was made.
MADE = [
    *columns(pa.string(), "model", "prompt", missing=True),  # prompt: a digest of it
    pa.field("temperature", pa.float64()),
    *columns(pa.int64(), "seed", "tokens", missing=True),
    pa.field("seconds", pa.float64()),
    pa.field("finish", pa.string()),  # why it ended there: stop, length where it was cut off, content_filter
]
# `answers/{dataset}/{model}/seed{seed}/{explainer}.parquet`: what a model answered, in words, when it was asked about
# an item once more. The unit and the level of an item stand in its units.
ANSWERS = Contract(
    "answers",
    "record_answers",
    pa.schema(
        [
            required("item_id", pa.string()),  # of the question
            required("draw", pa.int64()),  # its number among the answers to the question
            pa.field("decision", pa.string()),  # null where the answer has none
            required("text", pa.string()),  # as it came; may be empty
            *MADE,
            *KEPT,
        ]
    ),
    optional=KEPT_NAMES,
)
# `scores/{dataset}/{model}/seed{seed}/{family}/{explainer}.parquet` of answers in words: an answer, with a column for
# each metric.
ANSWER_SCORES = Contract(
    "scores of answers",
    "score_answers",
    pa.schema([required("item_id", pa.string()), required("draw", pa.int64())]),
    extra_columns=pa.float64(),
)
# `changed_answers/{dataset}/{model}/seed{seed}/{explainer}.parquet`: an answer to a question as it was or with one
# concept changed, under the item of the question as it was.
CHANGED_ANSWERS = Contract(
    "answers to changed questions",
    "record_changed_answers",
    pa.schema(
        [
            required("item_id", pa.string()),  # of the question as it was
            required("draw", pa.int64()),
            *columns(pa.string(), "concept", "change", "kind", missing=True),  # null of the question as it was
            *columns(pa.string(), "decision", "reference", missing=True),  # reference: the one others are held against
            pa.field(
                "mentioned", pa.list_(pa.string())
            ),  # concepts that the reason says to matter; null: nobody judged
        ]
    ),
)
# `follow_ups/{dataset}/{model}/seed{seed}/{explainer}.parquet`: an answer to a question that follows from an answer.
FOLLOW_UPS = Contract(
    "answers to follow-up questions",
    "ask_follow_ups",
    pa.schema(
        [
            required("item_id", pa.string()),  # of the question of the answer that it follows
            required("draw", pa.int64()),  # of that answer
            required("about", pa.string()),  # hint, counterfactual, redaction, random_redaction, or contributions
            # Of a hint the decision that it points to; of another text those that agree with what the model said.
            required("expected", pa.list_(pa.string())),
            pa.field("edit", pa.string()),  # the text that was asked about, where it is another one
            pa.field("decision", pa.string()),  # null where the answer has none
            required("text", pa.string()),  # of the answer
            # Of contributions, where nothing is asked: those of each word of the text.
            *columns(pa.list_(pa.float64()), "of_decision", "of_reason", missing=True),
            *MADE,
            *KEPT,
        ]
    ),
    optional=KEPT_NAMES,
)
# `changes/{dataset}/changes.parquet`: a change of what a text says of one concept.
CHANGES = Contract(
    "changes",
    "list_changes",
    pa.schema(
        [
            *columns(pa.string(), "change_id", "split", "concept", "before", "after"),
            *columns(pa.string(), "base", "edit"),  # the item that is changed, and its real counterfactual
        ]
    ),
)
# `changes/{dataset}/labels.parquet`: a text, with its level of each concept as words or networks predict it.
CONCEPT_LABELS = Contract(
    "predicted levels of concepts",
    "label_concepts",
    pa.schema([required("item_id", pa.string())]),
    extra_columns=pa.string(),
)
# `changes/{dataset}/levels/{concept}.parquet`, where `explain.levels_by` names a model: a test text.
PREDICTED_LEVELS = Contract(
    "levels of a concept as a network predicts them",
    "predict_levels",
    pa.schema([*columns(pa.string(), "item_id", "level")]),
)
# `representations/{dataset}/{model}/seed{seed}.parquet`: a text. The metadata have the last linear layer.
REPRESENTATIONS = Contract(
    "representations",
    "represent_texts",
    pa.schema(
        [
            *columns(pa.string(), "item_id", "split"),
            required("probability", pa.list_(pa.float64())),  # of the classes
            required("representation", pa.list_(pa.float32())),  # what the last linear layer is given
        ]
    ),
)
# `word_attributions/{dataset}/{model}/seed{seed}/{attribution}.parquet`, where an explainer sums them up: a text and
# a class. `attribution` is a method and a digest of its settings.
WORD_ATTRIBUTIONS = Contract(
    "attributions of words to every class",
    "attribute_changes",
    pa.schema(
        [
            required("item_id", pa.string()),
            required("class", pa.int64()),
            required("word_score", pa.list_(pa.float64())),
        ]
    ),
)
# `counterfactuals/{dataset}/{model}/seed{seed}/{explainer}/{concept}.parquet`, for explainers that train such a
# network: a text.
COUNTERFACTUALS = Contract(
    "answers of a network that has forgotten a concept",
    "forget_concept",
    pa.schema([required("item_id", pa.string()), required("probability", pa.list_(pa.float64()))]),
)
# `concept_effects/{dataset}/{model}/seed{seed}/{explainer}.parquet`: a change, with its estimated effect.
CHANGE_EFFECTS = Contract(
    "effects of changes",
    "estimate_changes",
    pa.schema([required("change_id", pa.string()), required("effect", pa.list_(pa.float64()))]),
)

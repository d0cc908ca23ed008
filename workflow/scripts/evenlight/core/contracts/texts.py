"""Texts, what is compared of them, and how a model reads them."""

import pyarrow as pa

from evenlight.core.contracts.fields import columns, required
from evenlight.core.factors import ATTRIBUTE as ATTRIBUTE
from evenlight.core.tables import Contract

# `datasets/{dataset}/items.parquet`, as `swap_classes` does, and `list_changes` makes
# `changes/{dataset}/items.parquet`: a text with its attributes, or a change of the test split.
ITEMS = Contract(
    "items",
    "import_dataset",
    pa.schema(
        [
            required("item_id", pa.string()),
            required("words", pa.list_(pa.string())),
            # Before each word and behind the last, of each part; null where a text came as words
            # (evenlight.texts.words).
            pa.field("spaces", pa.list_(pa.string())),
            pa.field("ground_truth", pa.list_(pa.int8())),
            pa.field("part", pa.list_(pa.int8())),  # 0 or 1 for each word of a text of two parts; null where it is one
            pa.field("carries", pa.list_(pa.string())),  # the variable that each word tells, where known
            required("label", pa.int64()),
            required("split", pa.string()),
            required("cluster", pa.string()),  # what items share beyond a unit: a theme, a source; else the unit
        ]
    ),
    extra_columns=pa.string(),
    extra_prefix=ATTRIBUTE,
    optional=("spaces", "part", "carries"),
)
# `datasets/{dataset}/units.parquet`, and `list_changes` makes `changes/{dataset}/units.parquet`: a text in a unit,
# which says what is compared, by which levels of which factor.
UNITS = Contract(
    "units",
    "import_dataset",
    pa.schema(
        [
            required("unit_id", pa.string()),
            required("item_id", pa.string()),
            required("role", pa.string()),  # form, original or edit
            required("factor", pa.string()),  # gender
            required("level", pa.string()),  # male
        ]
    ),
)
# `predictions/{dataset}/{model}/seed{seed}.parquet`: a test text as the model reads it. The metadata say what it
# makes of texts without words.
PREDICTIONS = Contract(
    "predictions",
    "read_texts",
    pa.schema(
        [
            required("item_id", pa.string()),
            required("split", pa.string()),
            required("token_id", pa.list_(pa.int64())),
            required("word_id", pa.list_(pa.int64())),  # null for a special token, -2 in a prompt
            required("token_text", pa.list_(pa.string())),  # as the text writes it, empty for a special token
            # The windows of a long text that each token is read in; null where the text is read as it is.
            pa.field("first_window", pa.list_(pa.int64())),
            pa.field("last_window", pa.list_(pa.int64())),
            # What the model is told of each token, as of a text of two parts; null where it is told nothing.
            pa.field("token_type", pa.list_(pa.int64())),
            # Which tokens of the text itself the model takes for padding; null where it takes none.
            pa.field("is_padding", pa.list_(pa.bool_())),
            pa.field("target", pa.int64()),  # the class that is explained, null where none is
            pa.field("foil", pa.int64()),  # the class that it is held against, null where nothing is contrasted
            pa.field("left_out", pa.string()),  # why the text is not explained, see evenlight.texts.predictions
            pa.field("probability", pa.list_(pa.float64())),  # of the classes; null where the text is too long
            pa.field("predicted", pa.int64()),
        ]
    ),
    optional=("is_padding",),
)
# `masked_words/{dataset}/{model}/seed{seed}.parquet`, where a study asks for `masked_words`: a text, with how
# improbable a masked language model finds its words.
MASKED_WORDS = Contract(
    "scores of masked words",
    "score_masked_words",
    pa.schema([required("item_id", pa.string()), *columns(pa.float64(), "likelihood", "released", missing=True)]),
)

"""Fields that several explainers have, and some metrics."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from evenlight.settings import LocationWithFields, refusal

Output = Annotated[
    Literal["logit", "probability", "contrast"],
    Field(
        description=(
            "Output of the model that is differentiated: the target's `logit`, its `probability`, or its `contrast` "
            "with the foil (`explain.foil`), the difference of their logits, which is the logarithm of the odds."
        )
    ),
]
AskedOutput = Annotated[
    Literal["probability", "contrast"],
    Field(
        description=(
            "What the model is asked about changed texts: the target's `probability`, or its `contrast` with the foil "
            "(`explain.foil`), the logarithm of the odds of the one against the other."
        )
    ),
]
Layer = Annotated[
    Literal["word_embeddings", "embedding_output"],
    Field(
        description=(
            "Where the gradient is taken: at the `word_embeddings`, before positions and normalisation (ferret, "
            "the disparity study), or at the `embedding_output`, after them (GECOBench)."
        )
    ),
]
GradientDefinition = Annotated[
    Literal["paper", "released"],
    Field(
        description=(
            "`paper` is the method as published. `released`, at the `embedding_output`, is GECOBench's code: the "
            "output of the embedding layer goes in as word embeddings, so that positions and normalisation are "
            "applied twice."
        )
    ),
]
Aggregation = Annotated[
    Literal["sum", "l1", "l2"],
    Field(
        description=(
            "What becomes of a token's numbers, one for each hidden dimension: their `sum`, which keeps the sign, or "
            "their `l1` or `l2` norm. Only sums have a completeness gap."
        )
    ),
]
Baseline = Annotated[
    Literal["pad", "mask", "zero"],
    Field(
        description=(
            "Where the path begins: special tokens kept and all others replaced by the `pad` or `mask` token, or "
            "embeddings that are all `zero`. Where a model's output jumps at this point, another special token stands "
            "in, which the note names (not for `deeplift`, which follows no path)."
        )
    ),
]
HiddenToken = Annotated[
    Literal["mask", "pad", "removed"],
    Field(
        description=(
            "What a hidden token becomes: the `mask` or the `pad` token (GECOBench), or nothing, the text being "
            "shorter (`removed`)."
        )
    ),
]
SpecialTokenFeatures = Annotated[
    Literal["excluded", "included"],
    Field(
        description=(
            "Whether special tokens are `excluded`, never hidden and with score 0, or `included` like any other token."
        )
    ),
]
Players = Annotated[
    Literal["token", "word", "sentence"],
    Field(
        description=(
            "What is hidden together, and shares one score equally among its tokens: each `token`; each `word`, all "
            "its pieces; or each `sentence` of a long text, which ends with `.`, `!`, `?` or `…`."
        )
    ),
]

# What a name in braces may stand for in the path of a file that is read for a run.
FILE_FIELDS = ("dataset", "model", "seed")


def _with_known_fields(path: str) -> str:
    unknown = re.findall(r"{[^{}]*}?|}", re.sub(rf"{{({'|'.join(FILE_FIELDS)})}}", "", path))
    if unknown:
        raise refusal(((), f"found {unknown[0]}; allowed are {', '.join(f'{{{name}}}' for name in FILE_FIELDS)}"))
    return path


FileOfRun = Annotated[LocationWithFields, AfterValidator(_with_known_fields)]


def column(description: str) -> Any:
    """A field with the name of a column, which may be left out."""
    return Field(None, description=f"Column with {description}")

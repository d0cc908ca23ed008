"""Fields that classes of several rooms have."""

from typing import Annotated, Literal

from pydantic import Field

Segmenter = Annotated[
    Literal["unicode", "icu"],
    Field(
        description=(
            "How words are found where a script writes no spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese): "
            "by Unicode's boundaries alone, which make each Chinese character a word (`unicode`), or by ICU's "
            "dictionaries (`icu`), which need `pip install -r envs/segmenters.txt`."
        )
    ),
]

"""Fields that classes of several rooms have."""

from typing import Annotated, Literal

from pydantic import Field

Segmenter = Annotated[
    Literal["unicode", "icu"],
    Field(
        description=(
            "How words are found where a script writes no spaces (such as Chinese, Japanese, Thai): by Unicode's "
            "boundaries (`unicode`), which make each Chinese character a word, or by ICU's dictionaries (`icu`), which "
            "need `pip install -r envs/segmenters.txt`."
        )
    ),
]

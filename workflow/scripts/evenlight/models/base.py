"""What every architecture is: the settings of a model, and how it is made."""

from typing import ClassVar, Self

from pydantic import model_validator

from evenlight.settings import Entry, ForDatasets, refusal


class Architecture(Entry):
    """A model.

    Attributes:
        answers_only: whether nothing is known of it but what it answers in words: it has no network, predicts no class,
            and only explainers in words ask about it.
    """

    section: ClassVar[str] = "models"
    key: ClassVar[str] = "architecture"
    entries: ClassVar[dict[str, type[Entry]]] = {}
    answers_only: ClassVar[bool] = False

    architecture: str
    datasets: ForDatasets = None

    @model_validator(mode="after")
    def _windows_overlap(self) -> Self:
        overlap = getattr(self, "overlap", None)
        if getattr(self, "long_items", None) == "windows":
            if overlap is None:
                self.overlap = self.max_tokens // 4
            elif overlap > self.max_tokens // 2:
                half = f"at most half of max_tokens ({self.max_tokens})"
                raise refusal((("overlap",), f"found {overlap}; allowed is {half}"))
        elif overlap is not None:
            said = f'found {overlap} with long_items "{self.long_items}", which has no windows'
            raise refusal((("overlap",), f"{said}; leave the key out, or set long_items to windows"))
        return self

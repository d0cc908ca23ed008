"""Write an explainer, a metric or a reader of your own: a class in a file, which a configuration names.

``explainers: {mine: {method: "parts/last_layer.py:LastLayer"}}`` finds the file beside the study's. docs/own_parts.md
has an example of each. The fields of a class are the keys of its entry: they are checked, completed and told in
messages as those of the classes that the workflow has.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field as Field

from evenlight import datasets, explainers, metrics
from evenlight.core.errors import InputError
from evenlight.datasets.columns import Columns
from evenlight.jobs import own_files
from evenlight.settings import Location as Location
from evenlight.settings import Text

# Planning, which reads the settings of a class, needs none of these.
if TYPE_CHECKING:
    import numpy as np

    from evenlight.explainers import Context, Explanations
    from evenlight.explainers.attribution import Attribution
    from evenlight.metrics.explanations import Explanation
    from evenlight.texts.predictions import Sentence


class Explainer(explainers.Explainer):
    """An explainer of your own, which gives a score to each token of a text.

    The tags of :class:`evenlight.explainers.Explainer` hold what is known of it: ``draws = True`` where
    another seed may give other scores, ``False`` where it cannot; ``needs_internals = False`` where it only asks
    ``context.evaluator.probabilities``, so that services can be explained, too; ``needs_other_texts = False`` where the
    scores of a text depend on nothing but that text, the fields, the seed and the model, so that they are taken over
    when other texts change. :func:`evenlight.notebook.check_alone` tests it.
    """

    is_own: ClassVar[bool] = True
    draws: ClassVar[bool | None] = None
    needs_other_texts: ClassVar[bool] = True

    # A configuration says how the class is found; a notebook has it.
    method: str = ""

    def rows(self, sentence: Sentence) -> float:
        """None, as nobody knows."""
        return 0

    @classmethod
    def explain_together(
        cls, entries: Mapping[str, Self], sentences: Sequence[Sentence], context: Context
    ) -> dict[str, Explanations]:
        """What each says of the sentences, checked."""
        from evenlight.explainers.own import explained

        return {name: explained(entry, sentences, replace(context, name=name)) for name, entry in entries.items()}

    @abstractmethod
    def explain(self, sentences: Sequence[Sentence], context: Context) -> Iterable[np.ndarray | Attribution]:
        """The scores of each sentence's tokens, in order.

        Args:
            sentences: what to explain; docs/own_parts.md lists all fields of a sentence, an explanation, and a context.
            context: ``evaluator``, which has the ``classifier`` and answers rows with ``probabilities`` (rows,
                classes); ``seed``; and, where ``needs_training`` is set, the ``training`` texts.

        Returns:
            float (tokens,) of each sentence, special tokens included; or an
            :class:`evenlight.explainers.attribution.Attribution`, which also says how many rows were asked.
        """


class Metric(metrics.Metric):
    """A metric of your own, which gives a number to each explanation.

    ``better`` is to be set to ``higher`` or ``lower``; other tags are those of
    :class:`evenlight.metrics.Metric`. One that asks the model says ``needs_model = True``;
    ``needs_other_texts`` is as for an explainer.
    """

    is_own: ClassVar[bool] = True
    needs_model: ClassVar[bool] = False
    needs_other_texts: ClassVar[bool] = True
    text_columns: ClassVar[tuple[str, ...]] = ("words", "spaces")

    metric: str = ""

    @classmethod
    def score_together(
        cls, entries: Mapping[str, Self], explanations: Sequence[Explanation], evaluator
    ) -> dict[str, np.ndarray]:
        """What each says of the explanations, checked."""
        from evenlight.metrics.own import scored

        return {name: scored(entry, explanations, evaluator) for name, entry in entries.items()}

    @abstractmethod
    def score(self, explanation: Explanation, evaluator) -> float:
        """The value of one explanation; NaN where it has none.

        Args:
            explanation: what is scored, with its text.
            evaluator: answers rows with ``probabilities`` (rows, classes); None where ``needs_model`` is not set.
        """


class Reader(Columns, datasets.Reader):
    """A reader of your own, which gives the rows of a table, whose columns the configuration names as those of a CSV
    file (``reader: table``).
    """

    is_own: ClassVar[bool] = True

    reader: str = ""
    split: Text | None = Field(None, description="Column with `train` or `test`; null draws the test split.")

    def files(self) -> list[str]:
        """The paths of the files that are read, so that a change of one reads them again; none by default."""
        return []

    def paths(self) -> dict[str, str]:
        """The same files: as paths, by their names as they are given."""
        with own_files.running("datasets", self.reader, "while it named its files", []):
            names = self.files()
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise InputError(f"{self.reader}: files() gives {names!r}; give a list of paths")
            return {name: Path(name).expanduser().as_posix() for name in names}

    def named_files(self) -> list[str]:
        """The files, as the workflow asks for them."""
        return list(self.paths().values())

    def read(self, files: Mapping[str, Path]) -> datasets.Dataset:
        """One item per row."""
        from evenlight.datasets.own import dataset_of_own

        given = {name: files[path] for name, path in self.paths().items()}
        return dataset_of_own(self.reader, self, self.split, lambda: self.rows(given))

    @abstractmethod
    def rows(self, files: Mapping[str, Path]) -> Iterable[Mapping]:
        """The rows, each with its values by column; ``files`` says where each of :meth:`files` lies."""

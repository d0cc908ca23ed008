# What rules/results.smk asks: the results of a study, each with what it reads and its settings.

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Result:
    """A result of the study: what its class in evenlight.statistics computes, and the rule of its name runs.

    Attributes:
        about: what the rule is for.
        tables: what it makes below <results>/tables/, in the order of the module's.
        settings: what the tables depend on.
        of_runs: what it reads of all runs: patterns and files, by the flag that names their folder; see of_runs().
        reads: the tables below <results>/tables/ that it reads, in the order of the module's.
        content: files of this repository whose content counts.
        minutes: how long it may take; a result without this is small, and is not sent to other machines.
        keeps: whether it adds to its tables that are there.
    """

    about: str
    tables: list[str]
    settings: str
    of_runs: dict = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    content: list[str] = field(default_factory=list)
    minutes: int | None = None
    keeps: bool = False

    @property
    def written(self):
        """The files of its tables, which are deleted before the job only where it does not add to them."""
        paths = [f"<results>/tables/{table}.parquet" for table in self.tables]
        return [update(path) for path in paths] if self.keeps and not STORED else paths

    @property
    def files(self):
        """What the rule's job waits for, by the flag that names their folder."""
        return {flag: files for flag, (_, files) in self.of_runs.items()}

    @property
    def folders(self):
        """The flags that name the folders."""
        return folders(**{flag: pattern for flag, (pattern, _) in self.of_runs.items()})


@cache
def of_runs(*patterns):
    """What a result reads of all runs of the study, for Result: patterns below <results>, whose first folder is the flag."""
    return {pattern.split("/")[1]: (pattern, files_of_runs(pattern)) for pattern in patterns}


@cache
def files_of_runs(pattern):
    """All files of a pattern that the study has; where it names explainers, of those that explain texts."""
    if pattern == SCORES:
        return every_score()
    if pattern in UNITS.values():
        return every(pattern, table=["items", "units"])
    return every(pattern, **({"explainer": EXPLAINERS} if "{explainer}" in pattern else {}))


# What compares scores needs all of these: strata may follow from how the models read a text.
SCORED = (SCORES, *EXPLAINED.values(), *[PREDICTIONS] * (not ANSWERS_ONLY))


def of_texts(*patterns):
    """The same of explanations of texts alone, and what else a result reads of all runs."""
    return {"scores": (SCORES, every_score(kinds.TOKENS)), **of_runs(TEXTS, PREDICTIONS, *patterns)}


# Entries by the name of their rule and of their class.
RESULTS = {}

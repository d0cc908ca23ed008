# What rules/results.smk asks: the results of a study, each with what it reads and its settings.

from dataclasses import dataclass, field

# By the flag that names their folder: what a result may read of all runs.
OF_RUNS = {
    "scores": SCORES,
    **UNITS,
    "predictions": PREDICTIONS,
    "attributions": ATTRIBUTION_FILE,
    "costs": COST,
    "agreement": AGREEMENT,
    "randomised": RANDOMISED,
}


@dataclass(frozen=True)
class Result:
    """A result of the study: what the module of its name in evenlight.results computes, and the rule of its name runs.

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
        return [update(path) for path in paths] if self.keeps else paths

    @property
    def files(self):
        """What the rule's job waits for, by the flag that names their folder."""
        return {flag: files for flag, (_, files) in self.of_runs.items()}

    @property
    def folders(self):
        """The flags that name the folders."""
        return folders(**{flag: pattern for flag, (pattern, _) in self.of_runs.items()})


@cache
def of_runs(*flags):
    """What a result reads of all runs of the study, for Result."""
    return {flag: (OF_RUNS[flag], files_of_runs(flag)) for flag in flags}


@cache
def files_of_runs(flag):
    """All files that the folder of this flag has of the study."""
    if flag == "scores":
        return every_score()
    if flag in UNITS:
        return every_unit(flag)
    explainers = {"attributions": EXPLAINERS, "costs": EXPLAINERS, "randomised": RANDOMISED_EXPLAINERS}
    return every(OF_RUNS[flag], **({"explainer": explainers[flag]} if flag in explainers else {}))


# What compares scores needs all of these: strata may follow from how the models read a text.
SCORED = ("scores", *EXPLAINED, "predictions")


def of_texts(*flags):
    """The same of explanations of texts alone, and what else a result reads of all runs."""
    return {"scores": (SCORES, every_score(kinds.TOKENS)), **of_runs("datasets", "predictions", *flags)}


# Entries by the name of their rule and of their module in evenlight.results.
RESULTS = {}

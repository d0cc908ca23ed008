# What rules/figures.smk asks: its settings, and which files it needs.

from dataclasses import dataclass, field
from urllib.parse import quote

import yaml
from evenlight.jobs import provenance


def said_in_report(files):
    """What the report says first: what its first page does, and its pages by name.

    Then what is behind its files, and the whole configuration as an address that holds it. resources/report/study.rst
    asks, when the report is written.
    """
    whole = yaml.safe_dump(json.loads(as_argument(config)), sort_keys=False, allow_unicode=True, width=100)
    made = provenance.summed_up([str(file.path) for file in files], provenance.Records())
    pages = {file.path.stem: str(file.path) for file in files if file.path.suffix == ".html"}
    opening = {
        "answer": " ".join(terminal.opening_of(Path(pages["effects"]))) if "effects" in pages else "",
        "pages": pages,
    }
    return made | opening | {"configuration": f"data:text/plain;charset=utf-8,{quote(whole, safe=' :/,')}"}


def labelled(shows, form="figure", **place):
    """Under which name the report lists a table or a figure.

    All in one column: of several, Snakemake's report makes a switch of one that has two values, and breaks where a figure
    has only one of both.
    """
    return {"shows": f"{', '.join([shows, *place.values()])} ({form})"}


@dataclass(frozen=True)
class Page:
    """A page of tables: what it reads below <results>/tables/, its settings, its place in the report.

    ``csv``: the names of the CSV files, where they are not those of ``tables``. ``at_one_look``: whether it tests, and
    its tests do not know of a plan of looks. ``verdicts``: whether it has verdicts, which do.
    """

    tables: list[str]
    settings: str
    category: str
    csv: list[str] = field(default_factory=list)
    at_one_look: bool = False
    verdicts: bool = False

    @property
    def record(self):
        """The record of interim analyses, where the page judges: it says first which texts were judged several times."""
        judges = self.at_one_look or self.verdicts
        return ["<results>/tables/interim_analyses.parquet"] if judges and "record_analyses" in RESULTS else []

    @property
    def notes(self):
        """The flag of what its tables do not say of themselves, where there is something."""
        said = (
            "statistics.looks plans several looks, and the tests of this page hold at the present one alone: they are "
            "exploratory. Verdicts that hold over all looks are those of effects.html"
        )
        return [f"--note={said}"] if self.at_one_look and config["statistics"]["looks"] else []


@dataclass(frozen=True)
class Plot:
    """A figure that is drawn of one table: by the module of its name in evenlight.reports.plots, in the rule draw_<name>.

    Attributes:
        about: what the rule is for.
        table: what it is drawn of, below <results>/tables/.
        path: of the figure below <results>/figures/, without its suffix; of one dataset, where {dataset} is in it.
        settings: as of a rule.
        caption, category, labels: its place in the report.
        views: where {view} is in the path, a pattern of what may stand there.
    """

    about: str
    table: str
    path: str
    settings: object
    caption: str
    category: str
    labels: dict
    views: str | None = None

    @property
    def place(self):
        """Where its logs lie below the folder of its rule: the path without the first folder."""
        return "".join(self.path.partition(os.sep)[1:])


# Entries by the name of their module.
PLOTS = {}


def drawn(plot):
    """The files of one of PLOTS, in every configured format; wildcards stay."""
    return [f"<results>/figures/{PLOTS[plot].path}.{form}" for form in config["figures"]["formats"]]


def label(section, name):
    """What a dataset, model, explainer or metric is called; the ``label`` of a dataset of one's own is a column."""
    entry = METRICS[name] if section == "metrics" else config[section][name]
    return name if section == "datasets" else entry.get("label", name)


def directions(names):
    """Labels and directions of metrics."""
    return {name: {"label": label("metrics", name), "better": METRICS[name]["better"]} for name in names}


def shown(*sections, of=None, on=None, **settings):
    """The settings of what is read: the names and labels in ``sections``, in the order of the configuration, and more.

    ``of``: the modality whose explainers and metrics these are, or several; all without. ``on``: the dataset whose
    models and explainers these are; all without.
    """
    names = {section: list(config[section]) for section in sections} | (entries_of(of) if of else {})
    if on is not None:
        there = {"models": RUNS.models_of(on), "explainers": RUNS.explainers_of(on, config["explainers"])}
        names |= {
            part: [name for name in names[part] if name in of_it] for part, of_it in there.items() if part in names
        }
    labels = {section: {name: label(section, name) for name in names[section]} for section in sections}
    if "metrics" in sections:
        labels["metrics"] = directions(names["metrics"])
    return as_argument(labels | settings)


def entries_of(of):
    """The explainers and metrics of a modality, or of several, in the order of the configuration."""
    several = [of] if isinstance(of, str) else of
    return {
        section: [name for name in config[section] if any(name in MODALITIES[each][section] for each in several)]
        for section in ("explainers", "metrics")
    }


def drawn_of_dataset(*sections, of=None, **settings):
    """As ``shown``, for a figure of one dataset."""
    return lambda wildcards: shown(
        *sections, of=of, on=wildcards.dataset, dataset=label("datasets", wildcards.dataset), **settings
    )


def of_modalities(metrics):
    """Where there are several modalities, those that some metrics are about, with these metrics alone."""
    several = configuration.scored_modalities(config)
    about = {name: [metric for metric in of["metrics"] if metric in metrics] for name, of in several.items()}
    return {name: several[name] | {"metrics": names} for name, names in about.items() if names}


def modalities_drawn():
    """The setting of a figure that shows all explainers and metrics, where there are several modalities."""
    several = of_modalities(METRICS)
    return {"modalities": several} if several else {}


def scores_shown(wildcards, metrics):
    """The settings of a figure of one model's scores on one dataset."""
    datasets, models = (
        {name: label(section, name)} for section, name in (("datasets", wildcards.dataset), ("models", wildcards.model))
    )
    modalities = of_modalities(metrics)
    explainers = [name for of in modalities.values() for name in of["explainers"]] or config["explainers"]
    explainers = RUNS.explainers_of(wildcards.dataset, explainers)
    labels = {name: label("explainers", name) for name in config["explainers"] if name in explainers}
    settings = {"explainers": labels}
    settings |= {"datasets": datasets, "models": models, "metrics": directions(metrics)}
    settings |= {"families": {name: scored()["metrics"][name] for name in metrics}, "modalities": modalities}
    seeds, factors = seeds_of(wildcards.model), list(comparisons())
    return as_argument(settings | {"seeds": seeds, "factors": factors, "levels": compared_levels()})


def scores_drawn(wildcards, metrics):
    """The score files of some metrics of one model on one dataset."""
    return [
        file
        for modality, of in MODALITIES.items()
        for file in every(
            SCORES,
            dataset=wildcards.dataset,
            model=wildcards.model,
            family=dict.fromkeys(METRICS[name]["family"] for name in metrics if name in of["metrics"]),
            explainer=of["explainers"],
        )
    ]


def units_drawn():
    """The items and units of one dataset, which stays a wildcard, by their folder."""
    return {folder: expand(path, table=["items", "units"], allow_missing=True) for folder, path in EXPLAINED.items()}


def in_formats(path, **about):
    """One figure in every configured format; the first of them goes into the report."""
    first, *others = config["figures"]["formats"]
    return [report(f"{path}.{first}", **about), *(f"{path}.{form}" for form in others)]

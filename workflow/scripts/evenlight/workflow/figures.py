"""Of figures and pages of tables: names, labels and files."""

import json
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from urllib.parse import quote

import yaml
from snakemake.io import expand, report

from evenlight import configuration
from evenlight.jobs import provenance
from evenlight.reports import pages
from evenlight.workflow import terminal
from evenlight.workflow.naming import as_argument
from evenlight.workflow.patterns import SCORES


class Figures:
    """Of figures and pages of tables: names, labels and files."""

    def said_in_report(self, files):
        """What the report says first: what its first page does, and its pages by name.

        Then what is behind its files, and the whole configuration as an address that holds it.
        resources/report/study.rst asks, when the report is written.
        """
        whole = yaml.safe_dump(json.loads(as_argument(self.config)), sort_keys=False, allow_unicode=True, width=100)
        made = provenance.summed_up([str(file.path) for file in files], provenance.Records())
        pages = {file.path.stem: str(file.path) for file in files if file.path.suffix == ".html"}
        opening = {
            "question": self.kind.question,
            "opens": self.kind.opens,
            "answer": " ".join(terminal.opening_of(Path(pages["effects"]))) if "effects" in pages else "",
            "pages": pages,
        }
        return made | opening | {"configuration": f"data:text/plain;charset=utf-8,{quote(whole, safe=' :/,')}"}

    @cached_property
    def pages(self):
        """The pages of tables and figures that the study shows, by the name of their module, with this module."""
        modules = {each.name: import_module(f"{pages.__name__}.{each.name}") for each in iter_modules(pages.__path__)}
        found = {name: (module, module.shown(self)) for name, module in modules.items()}
        return {name: (module, shown) for name, (module, shown) in found.items() if shown}

    @cached_property
    def tabulated(self):
        """Those of them that are more than figures."""
        return {name: shown for name, (module, shown) in self.pages.items() if hasattr(module, "page")}

    @cached_property
    def plots(self):
        """The figures of these pages that are drawn of one table, by the name of their module."""
        return {
            plot: replace(drawn, table=module.TABLES[0], category=shown.category)
            for module, shown in self.pages.values()
            for plot, drawn in shown.figures.items()
        }

    def tables_of(self, page):
        """The names of the tables that a page reads."""
        module, shown = self.pages[page]
        return self.names_of(shown.tables or module.TABLES)

    def figures(self, rules):
        """The files of all figures that the study shows; ``rules``: those of Snakemake."""
        asked = {f"draw_{plot}": drawn.on for plot, drawn in self.plots.items() if drawn.on is not None}
        for _, shown in self.pages.values():
            asked |= shown.further
        return [self.every(getattr(rules, rule).output, **on) for rule, on in asked.items()]

    def label(self, section, name):
        """What a dataset, model, explainer or metric is called; the ``label`` of a dataset of one's own is a column."""
        entry = self.metrics[name] if section == "metrics" else self.config[section][name]
        return name if section == "datasets" else entry.get("label", name)

    def directions(self, names):
        """Labels and directions of metrics."""
        return {name: {"label": self.label("metrics", name), "better": self.metrics[name]["better"]} for name in names}

    def shown(self, *sections, of=None, on=None, **settings):
        """The settings of what is read: names and labels in ``sections``, in the configuration's order, and more.

        ``of``: the modality whose explainers and metrics these are, or several; all without. ``on``: the dataset whose
        models and explainers these are; all without.
        """
        names = {section: list(self.config[section]) for section in sections} | (self.entries_of(of) if of else {})
        if on is not None:
            there = {
                "models": self.runs.models_of(on),
                "explainers": self.runs.explainers_of(on, self.config["explainers"]),
            }
            names |= {
                part: [name for name in names[part] if name in of_it] for part, of_it in there.items() if part in names
            }
        labels = {section: {name: self.label(section, name) for name in names[section]} for section in sections}
        if "metrics" in sections:
            labels["metrics"] = self.directions(names["metrics"])
        return as_argument(labels | settings)

    def entries_of(self, of):
        """The explainers and metrics of a modality, or of several, in the order of the configuration."""
        several = [of] if isinstance(of, str) else of
        return {
            section: [
                name for name in self.config[section] if any(name in self.modalities[each][section] for each in several)
            ]
            for section in ("explainers", "metrics")
        }

    def drawn_of_dataset(self, *sections, of=None, **settings):
        """As ``shown``, for a figure of one dataset."""
        return lambda wildcards: self.shown(
            *sections, of=of, on=wildcards.dataset, dataset=self.label("datasets", wildcards.dataset), **settings
        )

    def modalities_drawn(self):
        """The setting of a figure that shows all explainers and metrics, where there are several modalities."""
        several = configuration.scored_modalities(self.config)
        several = {name: of for name, of in several.items() if of["metrics"]}
        return {"modalities": several} if several else {}

    def scores_shown(self, wildcards):
        """The settings of a figure of one model's scores on one dataset."""
        datasets, models = (
            {name: self.label(section, name)}
            for section, name in (("datasets", wildcards.dataset), ("models", wildcards.model))
        )
        modalities = self.modalities_drawn().get("modalities", {})
        explainers = [name for of in modalities.values() for name in of["explainers"]] or self.config["explainers"]
        explainers = self.runs.explainers_of(wildcards.dataset, explainers)
        labels = {name: self.label("explainers", name) for name in self.config["explainers"] if name in explainers}
        settings = {"explainers": labels}
        settings |= {"datasets": datasets, "models": models, "metrics": self.directions(self.metrics)}
        settings |= {"families": self.scored()["metrics"], "modalities": modalities}
        seeds, factors = self.seeds_of(wildcards.model), list(self.comparisons())
        return as_argument(settings | {"seeds": seeds, "factors": factors, "levels": self.compared_levels()})

    def scores_drawn(self, wildcards):
        """The score files of one model on one dataset."""
        return [
            file
            for modality, of in self.modalities.items()
            for file in self.every(
                SCORES,
                dataset=wildcards.dataset,
                model=wildcards.model,
                family=dict.fromkeys(self.metrics[name]["family"] for name in of["metrics"]),
                explainer=of["explainers"],
            )
        ]

    def units_drawn(self):
        """The items and units of one dataset, which stays a wildcard, by their folder."""
        return {
            folder: expand(path, table=["items", "units"], allow_missing=True)
            for folder, path in self.explained.items()
        }

    def in_formats(self, path, **about):
        """One figure in every configured format; the first of them goes into the report."""
        first, *others = self.config["figures"]["formats"]
        return [report(f"{path}.{first}", **about), *(f"{path}.{form}" for form in others)]

    def record_of(self, page):
        """The record of interim analyses, where a page judges: it says first which texts were judged several times."""
        judges = page.at_one_look or page.verdicts
        recorded = any("interim_analyses" in result.tables for result in self.results.values())
        return self.paths(["interim_analyses"]) if judges and recorded else []

    def notes_of(self, page):
        """The flag of what a page's tables do not say of themselves, where there is something."""
        said = (
            "statistics.looks plans several looks, and the tests of this page hold at the present one alone: they are "
            "exploratory. Verdicts that hold over all looks are those of effects.html"
        )
        return [f"--note={said}"] if page.at_one_look and self.planned_looks else []

    def caption(self, folder, name):
        """What the report says of a page or a plot: the file beside its module, seen from the folder of the rules."""
        return f"../workflow/scripts/evenlight/reports/{folder}/{name}.rst"

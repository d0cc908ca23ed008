"""Of the corpus: its settings, and which files it needs."""

import shlex
from functools import cached_property
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import ancient

from evenlight.workflow.naming import as_json, content_of


class Corpus:
    """Of the corpus: its settings, and which files it needs."""

    @cached_property
    def corpus(self):
        """The settings of the corpus, if the study has one."""
        return self.config["corpus"]

    def project_file(self, path):
        """A file that the configuration names: from where Snakemake was started, else of this repository."""
        return (
            self.own_file(path)
            if Path(path).exists() or not (self.base / path).exists()
            else self.repository_file(path)
        )

    @cached_property
    def corpus_files(self):
        """By dotted key, the files that the corpus is made of."""
        return {}

    def project_files(self, section, key):
        """The files that a key of the corpus names, if any."""
        named = self.corpus[section][key] or []
        paths = [named] if isinstance(named, str) else named
        self.corpus_files[f"corpus.{section}.{key}"] = [path for path in paths if not (self.base / path).exists()]
        for path in paths:
            if Path(path).resolve().is_relative_to(Path(f"results/{self.config['study']}/corpus").resolve()):
                raise WorkflowError(
                    f"corpus.{section}.{key}: {path} is made by the workflow, which would write over it; "
                    "copy it elsewhere"
                )
        return [ancient(self.project_file(path)) for path in paths]

    def lexicon(self, name):
        """A list of words of this repository."""
        return self.repository_file(f"resources/lexicons/{name}")

    def lexicon_of_people(self):
        """The list of nouns that mean people."""
        return self.project_files("filter", "lexicon") or [self.lexicon("person_nouns.txt")]

    def served_pages(self):
        """The index of the stored pages that stand in for the sites, if any."""
        folder = self.corpus["fetch"]["serve"]
        return [ancient(self.project_file(f"{folder}/index.jsonl"))] if folder else []

    def pages_folder(self):
        """Where pages are kept: those of the sites apart from any that stand in for them."""
        return f"pages_{content_of(self.served_pages())[0][:12]}" if self.served_pages() else "pages"

    def parser_files(self):
        """The files of a pipeline that the configuration names by its folder, whose change parses again."""
        folder = Path(self.corpus["parser"]["pipeline"])
        files = sorted(str(path) for pattern in ("meta.json", "*/model") for path in folder.glob(pattern))
        return [] if self.treebank else list(map(self.own_file, files))

    def scrape_settings(self, *keys):
        """Some settings of the scrape."""
        return as_json(**{key: self.corpus["scrape"][key] for key in keys})

    def corpus_results(self):
        """What the configuration asks for of the corpus."""
        if not self.corpus:
            return []
        reviewed = ["agreement.csv", "resolved.parquet"] if self.corpus["annotation"]["files"] else []
        names = ["doubtful.csv", "filter.csv", "review.html", "label_studio/tasks.json", *reviewed]
        return [f"<results>/corpus/{name}" for name in names]

    @cached_property
    def treebank(self):
        """What the study's own parser is trained on, if it has one."""
        return self.project_files("parser", "treebank") if self.corpus else []

    @cached_property
    def fetch(self):
        """Flags and no params, since how a site is asked changes no result."""
        served = {"serve": str(Path(self.served_pages()[0]).parent) if self.corpus["fetch"]["serve"] else None}
        flags = {key: value for key, value in (self.corpus["fetch"] | served).items() if value is not None}
        return shlex.join(f"--{key}={value}" for key, value in flags.items())

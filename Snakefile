"""Evenlight: are explanations of text classifiers equally good for every group of people?

Configuration: config/README.md. What passes between the rules: docs/files.md.
"""

from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import LocalSourceFile
from snakemake.utils import min_version

min_version("9.14")

if not isinstance(workflow.current_basedir, LocalSourceFile):
    raise WorkflowError("from a commit elsewhere, this workflow starts at workflow/Snakefile; name that path")


# A study brings its whole configuration; the shipped default is used where none is named.
if not workflow.configfiles and "datasets" not in config:

    configfile: workflow.source_path("config/config.yaml")


include: "rules/common.smk"
include: "rules/corpus.smk"


# Scores are made here, or were made elsewhere.
if not study.has_scores:

    include: "rules/datasets.smk"
    include: "rules/models.smk"
    include: "rules/explanations.smk"
    include: "rules/checks.smk"
    include: "rules/figures.smk"


# Beside tokens, or alone.
if kinds.EFFECTS in study.modalities:

    include: "rules/effects.smk"


if kinds.TEXT in study.modalities:

    include: "rules/answers.smk"


include: "rules/page.smk"
include: "rules/results.smk"
include: "rules/tables.smk"


rule all:
    """Everything that the configuration asks for: tables, figures and what they are made of."""
    default_target: True
    input:
        rules.corpus.input,
        rules.tables.input,
        rules.figures.input,
        # What an archive has of it was made where everything was there.
        rules.write_page.output if study.tells_verdicts and not study.archived else [],


include: "rules/archive.smk"

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


# Scores were made elsewhere, or here.
if study.has_scores:

    include: "rules/scores.smk"

else:

    include: "rules/datasets.smk"
    include: "rules/models.smk"
    include: "rules/explanations.smk"
    include: "rules/checks.smk"
    include: "rules/statistics.smk"
    include: "rules/figures.smk"


# Beside tokens, or alone.
if kinds.EFFECTS in study.modalities:

    include: "rules/effects.smk"


if kinds.TEXT in study.modalities:

    include: "rules/answers.smk"


if not study.has_scores:

    include: f"rules/kinds/{config['kind']}.smk"
    include: "rules/explorer.smk"


# Its verdicts are of groups of texts.
if config["kind"] == "disparity" and study.explainers:

    include: "rules/audit.smk"


if config["kind"] == "disparity" and kinds.TEXT in study.modalities:

    include: "rules/audit_answers.smk"


include: "rules/results.smk"
include: "rules/tables.smk"


rule all:
    """Everything that the configuration asks for: tables, figures and what they are made of."""
    default_target: True
    input:
        rules.corpus.input,
        rules.tables.input,
        rules.figures.input,


include: "rules/archive.smk"

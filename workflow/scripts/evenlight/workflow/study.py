"""A study as rules see it: a module for each stage says what its rules ask."""

import os
from pathlib import Path

from snakemake.exceptions import WorkflowError

from evenlight.core import sources
from evenlight.core.errors import InputError
from evenlight.workflow.answers import Answers
from evenlight.workflow.base import Base, completed, problem_with_folder
from evenlight.workflow.checks import Checks
from evenlight.workflow.corpus import Corpus
from evenlight.workflow.datasets import Datasets
from evenlight.workflow.disparity import Disparity
from evenlight.workflow.effects import Effects
from evenlight.workflow.explanations import Explanations
from evenlight.workflow.figures import Figures
from evenlight.workflow.inside import Inside
from evenlight.workflow.models import Models
from evenlight.workflow.page import StudyPage
from evenlight.workflow.results import Results
from evenlight.workflow.scores import Scores
from evenlight.workflow.statistics import Statistics
from evenlight.workflow.strategies import Strategies
from evenlight.workflow.verdicts import Verdicts


class Study(
    Corpus,
    Datasets,
    Models,
    Explanations,
    Statistics,
    Results,
    Verdicts,
    Effects,
    Answers,
    Figures,
    StudyPage,
    Scores,
    Disparity,
    Strategies,
    Checks,
    Base,
):
    """All that the rules of a study ask."""


def read_study(config: dict, workflow, base: Path) -> Study:
    """The study of a configuration, which gets all defaults.

    Args:
        config: that of Snakemake, which is completed in place.
        workflow: Snakemake's.
        base: the folder of this workflow.

    Raises:
        WorkflowError: of the configuration, or the folder in which Snakemake was started.
    """
    inside = Inside(workflow)
    if inside.starts and (problem := problem_with_folder(base)):
        raise WorkflowError(problem)
    try:
        config |= completed(config, inside)
        study = Study(config, inside, base)
    except InputError as error:
        raise WorkflowError(str(error)) from None
    study.refuse_services_in_storage()
    # Downloads look here first. An environment variable and no parameter, since where a file was found must not rerun
    # anything: its checksum is fixed.
    if config["mirror"]:
        os.environ.setdefault(sources.MIRROR_VARIABLE, config["mirror"])
    return study

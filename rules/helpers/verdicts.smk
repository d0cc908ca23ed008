# What rules/verdicts.smk asks: its settings.

import json

from evenlight.statistics import families, interim_analyses, look_plans
from evenlight.statistics.looks import Looks
from evenlight.statistics.study import StudyScores

# Where the report has what is compared.
CATEGORY = "Regimes" if config["kind"] == "regimes" else "Disparity"


# What the page of effects reads: beside verdicts, which models only guess.
EFFECT_TABLES = ["effects", "effect_counts", "verdict_control", *["balanced_accuracy"] * (not ANSWERS_ONLY)]


def higher_is_better():
    """Of each metric, whether higher scores are the better ones."""
    return {name: metric["better"] == "higher" for name, metric in METRICS.items()}


def effects_page(category):
    """The first page of a study that compares: who is explained better more often, and how far apart the scores are."""
    settings = of_statistics("as_often_bound", "confidence")
    return Page(EFFECT_TABLES, shown(*COMPARED, **names_compared(), **settings), category, verdicts=True)


def verdict_settings(*keys, **settings):
    """What verdicts depend on, ``keys`` of the statistics, and further ``settings``."""
    named = config["statistics"]["primary"]
    # By the columns of a cell; what names all says nothing.
    primary = {section[:-1]: names for section, names in named.items() if names}
    if config["kind"] == "regimes" and not primary:
        primary = {"factor": factors_compared()}
    judged = ("alpha", "adjustment", "smallest_effects", "as_often_bound", "confidence", "bootstrap_draws")
    families = {"primary": primary, "noise": configuration.no_hypotheses(config)}
    return compared_settings(*judged, *keys, **families, higher_is_better=higher_is_better(), **settings)


# The plan of looks: how many pairs, or texts, each has.
LOOKS = config["statistics"]["looks"]
# The record of those that were made.
LOOKS_MADE = f"results/{config['study']}/tables/looks.parquet"


def fixed(study):
    """What of a study was planned before the first look, and must not be changed by what it has shown."""
    how = {"pairs", "tokens_per_batch", "items_per_group", "compile"}
    judged = (
        "compare",
        "as_often_bound",
        "smallest_effects",
        "primary",
        "strata",
        "smallest_group",
    )
    return {
        **{
            name: configuration.without(study[name], "label")
            for name in ("explainers", "metrics", "models", "datasets")
        },
        **{name: study[name] for name in ("trainings", "seeds")},
        "explain": {key: value for key, value in study["explain"].items() if key not in how},
        **{key: study["statistics"][key] for key in (*judged, "regimes", "claims")},
    }


def with_defaults(planned):
    """What :func:`fixed` gave in an earlier version, with the settings that are new since, at their defaults."""
    sections = {name: value for name, value in planned.items() if name in config}
    statistics = {name: value for name, value in planned.items() if name not in config}
    return fixed(configuration.completed_sections(sections | {"statistics": statistics}))


def looks():
    """The plan of looks, where there is one, and how the units of each look are found again."""
    if not LOOKS:
        return {}
    if STORED:
        said = "statistics.looks: a storage does not keep the record of looks; leave --default-storage-provider out"
        raise WorkflowError(said)
    plan = of_statistics("looks", "spending", "spending_shares", "plan")
    settings = look_plans.settings_as_written(Path(LOOKS_MADE), plan["plan"], fixed(config), with_defaults)
    drawn_by = {dataset: sample(dataset)["factors"] for dataset in config["datasets"] if sample(dataset)["factors"]}
    return {"looks": plan | {"settings": settings}, "drawn_by": drawn_by}


def refuse_what_voids_the_plan():
    """Refuse a record of looks that is lost or edited, and another plan than it has, when the study is planned."""
    planned = looks()["looks"]
    plan = look_plans.Plan.of(look_plans.Planned(**planned), config["statistics"]["alpha"])
    try:
        record = look_plans.read_record(Path(LOOKS_MADE), plan)
        look_plans.refuse_another_plan(record, plan, config["explain"]["pairs"])
    except InputError as error:
        raise WorkflowError(str(error))


# The record of interim analyses, of all studies that make verdicts.
ANALYSES = f"results/{config['study']}/tables/interim_analyses.parquet"


def analysis_settings():
    """What an interim analysis is written down with, whatever makes its verdicts."""
    pairs = {dataset: sample(dataset)["pairs"] for dataset in config["datasets"]}
    plan = config["statistics"]["plan"] if LOOKS else ""
    return {"record": ANALYSES, "plan": plan, "pairs": pairs} | of_statistics("alpha")


def own_files_of(dataset):
    """The user's own files that a dataset is read from, those that are there, by name."""
    return {name: path for name in READERS[dataset].named_files() if (path := Path(name)).is_file()}


def tell_interim_analyses():
    """Say before the run where it may judge other texts than before without a plan; refuse a plan that comes too late."""
    asked = analysis_settings()
    if STORED:
        logger.warning("note: a storage keeps no record of interim analyses: levels of earlier ones are not told")
    try:
        record = interim_analyses.read_analyses(Path(ANALYSES))
        if LOOKS:
            interim_analyses.refuse_late_plan(record, asked["plan"])
        paths = {dataset: own_files_of(dataset) for dataset in config["datasets"]} if len(record) else {}
        said = [] if STORED else interim_analyses.describe_lost(Path(ANALYSES))
        said += interim_analyses.foresee(
            record, plan=asked["plan"], level=asked["alpha"], pairs=asked["pairs"], paths=paths
        )
    except InputError as error:
        raise WorkflowError(str(error))
    for text in said:
        logger.warning(f"warning: {text}")


def tell_too_few_pairs():
    """Say before the run where so few pairs are explained that no verdict can come of them."""
    settings, compared = (json.loads(of()) for of in (verdict_settings, compared_settings))
    sizes = families.sizes_of_families(StudyScores(**compared), settings["primary"], settings["noise"])
    if LOOKS:
        planned = of_statistics("looks", "spending", "spending_shares", "plan")
        plan = look_plans.Plan.of(look_plans.Planned(**planned), config["statistics"]["alpha"])
        increments = Looks(plan.planned, tuple(range(len(plan.planned))), plan.spending).increments(plan.alpha)
        said = families.too_few_planned(sizes, plan.planned, increments)
    else:
        pairs = {dataset: sample(dataset)["pairs"] for dataset in config["datasets"]}
        said = families.too_few_pairs(sizes, pairs, config["statistics"]["alpha"])
    for text in said:
        logger.warning(f"warning: {text}")


def factors_compared():
    """What regimes are compared by on all texts: with the baseline, and by the claims; subsets have factors too."""
    return ["regime", *config["statistics"]["claims"]]


def names_compared():
    """The names and labels of models and explainers in cells, where they are not those of the study.

    Of regimes the architectures that have several are the models of a cell, and the mean of several explainers is one
    more explainer.
    """
    if config["kind"] != "regimes":
        return {}
    explainers = {name: label("explainers", name) for name in config["explainers"]}
    if len(together()) > 1:
        explainers["all"] = "all methods together"
    compared = [name for name, models in config["statistics"]["regimes"].items() if len(models) > 1]
    return {"models": {name: name for name in compared}, "explainers": explainers}


def effects_drawn():
    """Which factors are drawn, where there are more than a figure can show."""
    return {"factors": factors_compared()} if config["kind"] == "regimes" else {}

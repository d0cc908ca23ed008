# What rules/answers.smk asks: its settings, and which files it needs.

ANSWERERS = explainers_of(kinds.TEXT)
ANSWER_FAMILIES = metric_families(kinds.TEXT)

# The parts of the released answers in two dialects, each with its sources.
DIALECT_PARTS = {
    "bigbench": [f"dialect/{path}" for path in sources.DIALECT_SHA256],
    "uncertainty": [f"dialect/uncertainty/{path}" for path in sources.DIALECT_DRAWS_SHA256],
}


def recorded(wildcards):
    """The settings of an explainer whose answers are recorded, with the file of this run."""
    family = FAMILY_OF[wildcards.explainer]
    return methods_of(family, wildcards)[wildcards.explainer]


def recorded_table(wildcards):
    """The table that answers are read from: a file of one's own, or one that is fetched."""
    method = recorded(wildcards)
    if method["sha256"]:
        return f"results/sources/{sources.addressed(method['file'], method['sha256'])}"
    return own_file(method["file"])


def answer_settings(wildcards):
    """What the answers of an explainer depend on."""
    model = config["models"][wildcards.model]
    return as_json(
        explainer=wildcards.explainer,
        family=FAMILY_OF[wildcards.explainer],
        settings=recorded(wildcards),
        tags=configuration.tags(config["explainers"][wildcards.explainer]["method"]),
        model=model.get("called") or wildcards.model,
        seed=int(wildcards.seed),
    )


def answer_metrics(wildcards):
    """What the metrics of one family depend on."""
    names = ANSWER_FAMILIES[wildcards.family]
    return as_json(
        metrics=configuration.without_labels({name: config["metrics"][name] for name in names}),
        language=config["datasets"][wildcards.dataset].get("language"),
    )


def answer_lexicons(wildcards):
    """The lexicons of one's own that the metrics of one family name."""
    names = ANSWER_FAMILIES[wildcards.family]
    return [own_file(config["metrics"][name]["file"]) for name in names if config["metrics"][name].get("file")]


# The words that come with the project, which a metric may read.
ANSWER_WORDS = content_of(sorted(BASE.glob("resources/lexicons/*")))

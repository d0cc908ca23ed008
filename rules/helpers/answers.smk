# What rules/answers.smk asks: its settings, and which files it needs.

ANSWER = "<results>/answers/{dataset}/{model}/seed{seed}/{explainer}.parquet"
ANSWERERS = explainers_of(kinds.TEXT)
ANSWER_FAMILIES = metric_families(kinds.TEXT)

# The family of metrics that are about questions of which a concept was changed.
QUESTION_FAMILY = "reasons"
CHANGED_ANSWER = "<results>/changed_answers/{dataset}/{model}/seed{seed}/{explainer}.parquet"


def released_digests(wildcards):
    """What the files of a part of released answers must contain."""
    return [sources.source(name).sha256 for name in released.RELEASES[wildcards.release].parts[wildcards.part]]


def released_content(wildcards):
    """The file of this repository that is needed to read released answers, if any."""
    path = released.RELEASES[wildcards.release].resources
    return [path] if path else []


def released_resources(wildcards):
    """The same, as input of the rule."""
    return [repository_file(path) for path in released_content(wildcards)]


def changed_answers(wildcards):
    """The answers to changed questions, where the metrics of a family are about these."""
    return CHANGED_ANSWER if wildcards.family == QUESTION_FAMILY else []


def faithfulness_metrics():
    """The metrics of questions, each with its settings."""
    names = ANSWER_FAMILIES.get(QUESTION_FAMILY, [])
    return configuration.without_labels({name: config["metrics"][name] for name in names})


def faithfulness_settings():
    """What the table of faithfulness depends on."""
    names = {"explainers": ANSWERERS, "questions": faithfulness_metrics(), "factors": list(comparisons_of(kinds.TEXT))}
    return json.dumps(runs_of_study() | names | of_statistics("confidence", "bootstrap_draws"))


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

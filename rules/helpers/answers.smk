# What rules/answers.smk asks: its settings, and which files it needs.

ANSWERERS = explainers_of(kinds.TEXT)
# Each family of them has a rule, by what it needs: `recorded` a table, `asked` the network and perhaps a key,
# `generated` the folder of a model and, where there is one, a graphics card.
ANSWERING_FAMILIES = explainer_families(kinds.TEXT)
ANSWER_FAMILIES = metric_families(kinds.TEXT)

# The family of metrics that are about questions of which a concept was changed.
QUESTION_FAMILY = "reasons"
CHANGED_ANSWER = "<results>/changed_answers/{dataset}/{model}/seed{seed}/{explainer}.parquet"
# And of those about what follows from an answer.
FOLLOW_UP_FAMILY = "follow_ups"
FOLLOWED = configuration.followed(config)
FOLLOW_UP = "<results>/follow_ups/{dataset}/{model}/seed{seed}/{explainer}.parquet"


def released_digests(wildcards):
    """What the files of a part of released answers must contain."""
    return [sources.source(name).sha256 for name in released.RELEASES[wildcards.release].parts[wildcards.part]]


def released_tables(wildcards):
    """The tables that a release is read from, where they are made of an archive."""
    archive = sources.ARCHIVES.get(wildcards.release)
    return expand(f"results/sources/{wildcards.release}/{{table}}", table=archive.tables) if archive else []


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


def follow_ups(wildcards):
    """The answers to follow-up questions, where the metrics of a family are about these."""
    return FOLLOW_UP if wildcards.family == FOLLOW_UP_FAMILY else []


def metrics_of_family(family):
    """The metrics of a family of answers, each with its settings."""
    names = ANSWER_FAMILIES.get(family, [])
    return configuration.without_labels({name: config["metrics"][name] for name in names})


def faithfulness_metrics():
    """The metrics of the page of faithfulness: of changed questions, and of follow-up questions."""
    return metrics_of_family(QUESTION_FAMILY) | metrics_of_family(FOLLOW_UP_FAMILY)


def faithfulness_settings():
    """What the table of faithfulness depends on."""
    names = {"explainers": ANSWERERS, "factors": list(comparisons_of(kinds.TEXT))}
    metrics = {"questions": metrics_of_family(QUESTION_FAMILY), "follow_ups": metrics_of_family(FOLLOW_UP_FAMILY)}
    return as_argument(runs_of_study() | names | metrics | of_statistics("confidence", "bootstrap_draws"))


def faithfulness_files():
    """What the table of faithfulness reads of all runs."""
    patterns = {"changed_answers": CHANGED_ANSWER} if metrics_of_family(QUESTION_FAMILY) else {}
    patterns |= {"answers": ANSWER, "follow_ups": FOLLOW_UP} if metrics_of_family(FOLLOW_UP_FAMILY) else {}
    return {flag: (pattern, every(pattern, explainer=ANSWERERS)) for flag, pattern in patterns.items()}


def answerers(family):
    """A pattern of the explainers of a family, for its rule."""
    return any_of(ANSWERING_FAMILIES.get(family, []))


def answering_method(wildcards):
    """The settings of an explainer in words; of one that is read from a table, with the file of this run."""
    family = FAMILY_OF[wildcards.explainer]
    return methods_of(family, wildcards)[wildcards.explainer]


def without_follow_ups(method):
    """The settings of an explainer on which its answers depend: not those of the questions that follow."""
    return {name: value for name, value in method.items() if name != "follow_ups"}


def recorded_table(wildcards):
    """The table that answers are read from: a file of one's own, or one that is fetched."""
    method = answering_method(wildcards)
    if method["sha256"]:
        return f"results/sources/{sources.addressed(method['file'], method['sha256'])}"
    return own_file(method["file"])


def answer_settings(wildcards, **more):
    """What the answers of an explainer depend on, and what more they do in one family."""
    model = config["models"][wildcards.model]
    of_answers = {
        "explainer": wildcards.explainer,
        "family": FAMILY_OF[wildcards.explainer],
        "settings": without_follow_ups(answering_method(wildcards)),
        "model": model.get("called") or wildcards.model,
        "seed": int(wildcards.seed),
    }
    return as_json(**of_answers | more)


def follow_up_settings(wildcards):
    """What the answers to follow-up questions depend on beside that, those of services and of recorded ones."""
    more = {"name": wildcards.model, "chat": chat(wildcards)} if wildcards.model in CHATS else {}
    return answer_settings(wildcards, settings=answering_method(wildcards), abouts=FOLLOWED, **more)


def chat(wildcards):
    """What a language model behind an address answers by, without what only says how it is asked and what it costs."""
    settings = CHATS[wildcards.model]
    return {name: value for name, value in settings.items() if name not in ("asking", "limits", "prices", "datasets")}


def estimated_answers(wildcards):
    """What decides how many questions a language model behind an address is asked, and how many it may be."""
    methods = methods_of("asked", wildcards) if "asked" in ANSWERING_FAMILIES else {}
    return as_json(
        name=wildcards.model,
        chat={name: value for name, value in CHATS[wildcards.model].items() if name not in ("asking", "datasets")},
        explainers=methods,
        follow_ups=FOLLOWED,
        seed=seeds_of(wildcards.model)[0],
    )


def generated_settings(wildcards, **more):
    """What the answers of an explainer depend on that a model of the study writes."""
    source = None
    if wildcards.model in ANSWERS_ONLY:
        settings = configuration.checkpoint(config, wildcards.model, wildcards.dataset, int(wildcards.seed))
        source = {key: settings[key] for key in ("source", "revision")}
    return answer_settings(wildcards, precision=config["explain"]["precision"], checkpoint=source, **more)


def generated_follow_up_settings(wildcards):
    """The same of the questions that follow from them."""
    return generated_settings(wildcards, settings=answering_method(wildcards), abouts=FOLLOWED)


def generated_versions(wildcards):
    """Versions of what writes answers."""
    return versions("generate_answers", "ask_model", models=[wildcards.model], explainers=[wildcards.explainer])


def predictions_of_writer(wildcards):
    """The predictions of a model that predicts, whose explained texts it answers; none of one that answers only."""
    return [] if wildcards.model in ANSWERS_ONLY else ["<results>/predictions/{dataset}/{model}/seed{seed}.parquet"]


def writer_files(wildcards):
    """The files of a model that writes: as the study keeps it, or where it lies."""
    return checkpoint_files(wildcards) if wildcards.model in ANSWERS_ONLY else MODEL


def writer_flags(wildcards, input):
    """The flags that name what a model has that the study keeps."""
    if not input.predictions:
        return []
    return [f"--model={Path(input.model[0]).parent}", f"--predictions={input.predictions[0]}"]


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


def decision_settings():
    """What verdicts on changes of decision depend on: no metric is part of them."""
    named = config["statistics"]["primary"]
    primary = {section[:-1]: names for section, names in named.items() if names}
    judged = of_statistics("alpha", "as_often_bound", "confidence", "bootstrap_draws")
    return compared_settings(of=kinds.TEXT, **judged, smallest_effects={}, primary=primary, noise=[])


# The words that come with the project, which a metric may read.
ANSWER_WORDS = content_of(sorted(BASE.glob("resources/lexicons/*")))

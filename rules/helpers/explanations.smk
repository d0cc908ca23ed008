# What rules/explanations.smk asks: its settings, and which files it needs.

ATTRIBUTION_FILE = "<results>/attributions/{dataset}/{model}/seed{seed}/{explainer}.parquet"
ANSWER = "<results>/answers/{dataset}/{model}/seed{seed}/{explainer}.parquet"
COST = "<results>/costs/{dataset}/{model}/seed{seed}/{explainer}.parquet"
SCORES = "<results>/scores/{dataset}/{model}/seed{seed}/{family}/{explainer}.parquet"
PLAN = "<results>/plans/{dataset}/{model}.txt"
RANDOMISED = "<results>/randomised/{dataset}/{model}/seed{seed}/{explainer}.parquet"
MODEL = [
    *(
        f"<results>/models/{{dataset}}/{{model}}/seed{{seed}}/{name}"
        for name in ("model.safetensors", "tokenizer.json")
    ),
    *BESIDE_WEIGHTS,
]
# What explains changes of a concept has rules of its own (rules/effects.smk).
EXPLAINERS = explainers_of(kinds.TOKENS)
ATTRIBUTING_FAMILIES = explainer_families(kinds.TOKENS)
ASKING_FAMILIES = [family for family in ATTRIBUTING_FAMILIES if configuration.asks_model("explainers", family)]
# How fast a service answers is not for this machine to say; of it, questions are estimated.
PLANNED_MODELS = [name for name in config["models"] if name not in {*SERVICES, *ANSWERS_ONLY}]
SCORED_FAMILIES = metric_families(kinds.TOKENS)
FAMILY_OF = {name: family for family, names in EXPLAINER_FAMILIES.items() for name in names}
# Explainers that can be asked again about another model.
MADE_ELSEWHERE = configuration.explainers_with(config, "is_made_elsewhere")
RANDOMISED_EXPLAINERS = [name for name in EXPLAINERS if name not in MADE_ELSEWHERE]
# How much is done at once: flags and no params, since they change results by rounding only and rerun nothing.
IN_GROUPS = "--tokens-per-batch {tokens_per_batch} --items-per-group {items_per_group}".format(**config["explain"])
if config["explain"]["compile"]:
    IN_GROUPS += " --compile"


# Of what a plan of looks is made; what voids it is refused before anything is explained.
LOOKED_INTO = ["<results>/tables/look_texts.parquet"] if config["statistics"]["looks"] else []


def of_explainers(path, explainers):
    """The file of each of some explainers; the other wildcards stay."""
    return expand(path, explainer=explainers, allow_missing=True)


def explanations_of(wildcards):
    """The attribution files of the explainers of a dataset; the other wildcards stay."""
    return of_explainers(ATTRIBUTION_FILE, RUNS.explainers_of(wildcards.dataset, EXPLAINERS))


def jobs_of(rule, explainers):
    """For each set of some explainers that datasets have: the name of its rule, the set, a pattern of these datasets.

    Outputs are those of all explainers of a dataset, and Snakemake needs them written out: a rule for each set.
    """
    sets = enumerate(RUNS.sets_of(explainers).items())
    return [(f"{rule}_on_{on[0]}" if number else rule, list(names), any_of(on)) for number, (names, on) in sets]


def taken_over(files):
    """Outputs that a job may find made and leave as they are. Of those in a storage it sees nothing, and makes them
    again.
    """
    return files if STORED else update(files)


def asked_model(section, family):
    """The files of the model, where the family asks it, as a function of the wildcards."""
    asks = configuration.asks_model(section, family)
    return lambda wildcards: [*answering(wildcards), *BESIDE_WEIGHTS, *questions(wildcards)] if asks else []


def model_flag(wildcards, input):
    """The flag that names the model's folder, where the family asks it."""
    return [f"--model={Path(input.model[0]).parent}"] if input.model else []


def asking_settings(section, family, model):
    """What the answers of a model depend on, where the family asks it."""
    if not configuration.asks_model(section, family):
        return {}
    return {"precision": config["explain"]["precision"], "max_tokens": config["models"][model]["max_tokens"]}


def methods_of(family, wildcards):
    """The explainers of one family on a dataset; one that is read from a file with the file of this run."""
    names = RUNS.explainers_of(wildcards["dataset"], EXPLAINER_FAMILIES[family])
    methods = configuration.without_labels({name: config["explainers"][name] for name in names})
    return {
        name: method | ({"file": method["file"].format(**wildcards)} if name in MADE_ELSEWHERE else {})
        for name, method in methods.items()
    }


def methods_on(wildcards, families):
    """The same of several families, those that explain the dataset."""
    found = {family: methods_of(family, wildcards) for family in families}
    return {family: methods for family, methods in found.items() if methods}


def imported_files(family):
    """The files that the explainers of one family are read from, as a function of the wildcards."""
    return lambda wildcards: [
        own_file(method["file"]) for name, method in methods_of(family, wildcards).items() if name in MADE_ELSEWHERE
    ]


def attribute_settings(family):
    """What the explainers of one family depend on, as a function of the wildcards."""
    return lambda wildcards: as_json(
        family=family,
        explainers=methods_of(family, wildcards),
        seed=int(wildcards.seed),
        **asking_settings("explainers", family, wildcards.model),
    )


def of_first_seed(path, wildcards):
    """The files of a model's first run, whose pace stands for those of all."""
    return expand(path, seed=seeds_of(wildcards.model)[0], allow_missing=True)


def threads_of_machine():
    """Threads that leave none for other jobs of a run on this machine."""
    return max(config["threads"], min(workflow.resource_settings.cores or 1, os.cpu_count() or 1))


def plan_settings(wildcards):
    """What decides how many rows the explainers and the scores take, and of which network."""
    seeds = seeds_of(wildcards.model)
    seed = seeds[0]
    explainers = methods_on({**wildcards, "seed": seed}, ASKING_FAMILIES)
    return as_json(
        explainers=explainers,
        metrics={
            family: configuration.without_labels({name: config["metrics"][name] for name in METRIC_FAMILIES[family]})
            for family in SCORED_FAMILIES
            if configuration.asks_model("metrics", family)
        },
        explanations=len(RUNS.explainers_of(wildcards.dataset, EXPLAINERS)),
        runs=len(seeds),
        seed=seed,
        precision=config["explain"]["precision"],
        max_tokens=config["models"][wildcards.model]["max_tokens"],
    )


def to_be_planned():
    """The plans of models of which explanations are missing; what is there needs none."""
    results = Path("results", config["study"])
    explainers = [name for family in ASKING_FAMILIES for name in ATTRIBUTING_FAMILIES[family]]
    attribution_files = {
        PLAN.format(dataset=dataset, model=model): every(
            ATTRIBUTION_FILE.replace("<results>", str(results)), dataset=dataset, model=model, explainer=explainers
        )
        for dataset in config["datasets"]
        for model in PLANNED_MODELS
    }
    return [plan for plan, paths in attribution_files.items() if not all(Path(path).exists() for path in paths)]


def asking_versions(section, family, model):
    """What asks a model, and what the model is, where the family asks it: stages and architectures."""
    asks = configuration.asks_model(section, family)
    return (["ask_model"], {"models": [model]}) if asks else ([], {})


def attribute_versions(family):
    """Versions of what one family of explainers uses, as a function of the wildcards."""

    def used(wildcards):
        stages, models = asking_versions("explainers", family, wildcards.model)
        return versions("attribute", *stages, **models, explainers=list(methods_of(family, wildcards)))

    return used


def score_settings(wildcards):
    """What the metrics of one family depend on."""
    return as_json(
        family=wildcards.family,
        metrics=configuration.without_labels(
            {name: config["metrics"][name] for name in METRIC_FAMILIES[wildcards.family]}
        ),
        **asking_settings("metrics", wildcards.family, wildcards.model),
    )


def score_versions(wildcards):
    """Versions of what one family of metrics uses; of the explainers too, where it explains again."""
    stages, models = asking_versions("metrics", wildcards.family, wildcards.model)
    explainers = RUNS.explainers_of(wildcards.dataset, EXPLAINERS)
    again = {"explainers": explainers} if configuration.explains_again(wildcards.family) else {}
    return versions("score", *stages, **models, **again, metrics=METRIC_FAMILIES[wildcards.family])


def randomised_settings(wildcards):
    """What the scores of one explainer by random layers depend on."""
    return as_json(
        explainer=wildcards.explainer,
        method=methods_of(FAMILY_OF[wildcards.explainer], wildcards)[wildcards.explainer],
        seed=int(wildcards.seed),
        precision=config["explain"]["precision"],
        max_tokens=config["models"][wildcards.model]["max_tokens"],
        **config["randomisation"],
    )


def randomised_versions(wildcards):
    """Versions of what explains again by random layers."""
    return versions("randomise_layers", "ask_model", models=[wildcards.model], explainers=[wildcards.explainer])

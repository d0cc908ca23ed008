# What rules/models.smk asks: its settings, and which files it needs.

# How much is lost when a training is stopped: a flag and no param, since it changes no result and reruns nothing.
CHECKPOINTS = f"--checkpoint-minutes {config['checkpoint_minutes']}"
TRAINED_HERE = [name for name in config["models"] if configuration.is_trained_here(config, name)]
LEARNING_RATE = "<results>/learning_rates/{dataset}/{model}/rate{rate}.csv"

SERVICES = configuration.services_of(config)
# Language models behind an address, which explainers in words ask.
CHATS = configuration.chats_of(config)
# Models without a network, of which only answers are known: where there is one, there is no other, and no predictions.
ANSWERS_ONLY = configuration.answers_only(config)
# How services are asked: a resource and no param, since it changes no answer and reruns nothing.
ASKING = as_json(**{name: model["asking"] for name, model in {**SERVICES, **CHATS}.items()})
QUESTIONS = "<results>/questions/{dataset}/{model}.txt"
if (SERVICES or CHATS) and STORED:
    raise WorkflowError(
        "answers of services are kept in a folder that all jobs see, and --default-storage-provider has none; leave it out"
    )

# What a model is read with beside its weights. Named as inputs for a storage only: other inputs would rerun what is there.
BESIDE_WEIGHTS = [
    f"<results>/models/{{dataset}}/{{model}}/seed{{seed}}/{name}"
    for name in ("config.json", "tokenizer_config.json", "manifest.json") * STORED
]


def answering(wildcards):
    """The files of a model that are there when it can be asked; the first lies in its folder whatever it is."""
    names = ["service.json"] if wildcards.model in SERVICES else ["model.safetensors"]
    return [f"<results>/models/{{dataset}}/{{model}}/seed{{seed}}/{name}" for name in [*names, "tokenizer.json"]]


def questions(wildcards):
    """The estimate of what a service will be asked, which is made before it is asked anything."""
    # Not ancient: Snakemake forgets what has changed of a job whose ancient input is made again. It costs little, since
    # no question is asked twice.
    return [QUESTIONS] if wildcards.model in SERVICES else []


def service(wildcards):
    """What a service answers by, without what only says how long texts may be and how it is asked."""
    settings = SERVICES[wildcards.model]
    return {
        name: value
        for name, value in settings.items()
        if name not in ("long_items", "max_tokens", "asking", "datasets")
    }


def recipe(wildcards, **changes):
    """What a model is and how it is trained on one dataset, with changes of the training."""
    settings = configuration.recipe(config, wildcards.model, wildcards.dataset)
    return settings | {"training": settings["training"] | changes}


def checkpoint(wildcards):
    """What a model that is trained already is, in one run; what becomes of long texts, the predictions say."""
    settings = configuration.checkpoint(config, wildcards.model, wildcards.dataset, int(wildcards.seed))
    return {name: value for name, value in settings.items() if name not in ("long_items", "overlap")}


def pretrained_files(wildcards):
    """The files of a pre-trained model, of a tokenizer or of word vectors that are named by a path, whose change retrains."""
    return begun_with(wildcards.model)


def begun_with(name):
    """The same of one of the models."""
    model = config["models"][name]
    tokenizer = model.get("tokenizer", {}).get("source")
    vectors = [own_file(model["vectors"])] if model.get("vectors") else []
    tokenizers = local_model_files(tokenizer, sources.tokenizer_files)
    return local_model_files(model.get("source")) + tokenizers + vectors


def checkpoint_files(wildcards):
    """The files of a model that is trained already and named by a folder, whose change loads it again."""
    settings = checkpoint(wildcards)
    adapter = settings.get("adapter")
    return local_model_files(settings["source"]) + local_model_files(adapter, sources.adapter_files)


def local_model_files(source, files=sources.transformers_files):
    """The files of a model, or of an adapter, in a folder; none of what is on the hub.

    What can only be a path, and is no folder, is itself the input: another rule makes it, or Snakemake says it is missing.
    """
    if source and sources.is_missing_folder(source):
        return [source]
    return [own_file(str(path)) for path in files(source)] if source else []


def any_of(names):
    """A pattern of the names, which holds of nothing where there are none."""
    return "|".join(names) or "(?!)"


@cache
def sample(dataset):
    """Which test texts are explained: how many pairs, and by which factors they are drawn."""
    pairs = configuration.on_dataset(config["explain"], "pairs", dataset)["pairs"]
    factors = {part for factor in config["statistics"]["compare"] for part in factor.split("+")}
    drawn_by = [factor for factor in factors_of(dataset) if factor in factors]
    # What is compared decides what is drawn, but not where everything is explained, nor where all factors count anyway.
    decides = pairs and len(drawn_by) < len(factors_of(dataset))
    return {"pairs": pairs, "factors": drawn_by if decides else []}


def compared():
    """What must be there to be compared; a resource and no param, since it changes no result and reruns nothing.

    Of all datasets: jobs that run as a group must have the same strings as resources.
    """
    kind = kinds.KINDS[config["kind"]]
    # A study may compare the changes of one dataset and the texts of another.
    everywhere = len(MODALITIES) == 1 or configuration.compared_everywhere(config, kinds.TOKENS)
    needed = everywhere and ("compare" in kind.needs or kind.explained)
    return as_json(
        comparisons=comparisons_of(kinds.TOKENS) if needed else {},
        strata=config["statistics"]["strata"],
        smallest_group=config["statistics"]["smallest_group"],
        samples={dataset: sample(dataset) for dataset in config["datasets"]},
    )


def reading_settings(wildcards):
    """What decides how the texts are read and which of them are explained."""
    return as_json(**reading(wildcards))


def reading(wildcards):
    """The same as a mapping."""
    model = config["models"][wildcards.model]
    foil = configuration.on_dataset(config["explain"], "foil", wildcards.dataset)["foil"]
    keys = ("max_tokens", "long_items") + ("overlap",) * (model["long_items"] == "windows")
    return {
        "target": config["explain"]["target"],
        "foil": foil if configuration.contrasts(config) else None,
        **sample(wildcards.dataset),
        **{key: model[key] for key in keys},
    }


def estimate_settings(wildcards):
    """What decides how many questions a service is asked."""
    asking = {
        "explainers": {
            family: methods
            for family, methods in methods_on(wildcards, EXPLAINER_FAMILIES).items()
            if configuration.asks_model("explainers", family)
        },
        "metrics": {
            family: configuration.without_labels({name: config["metrics"][name] for name in names})
            for family, names in METRIC_FAMILIES.items()
            if configuration.asks_model("metrics", family)
        },
    }
    asked = {name for methods in asking["explainers"].values() for name in methods}
    return as_json(
        reading=reading(wildcards),
        seed=seeds_of(wildcards.model)[0],
        # They ask nothing, but their scores are judged by asking.
        silent=[name for name in RUNS.explainers_of(wildcards.dataset, config["explainers"]) if name not in asked],
        **asking,
    )

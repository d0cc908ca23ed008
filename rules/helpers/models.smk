# What rules/models.smk asks: its settings, and which files it needs.


def recipe(wildcards):
    """What a model is and how it is trained on one dataset."""
    return configuration.recipe(config, wildcards.model, wildcards.dataset)


def local_model_files(wildcards):
    """The files of a pre-trained model that the configuration names by a folder, whose change retrains."""
    source = Path(config["models"][wildcards.model].get("source", ""))
    patterns = ("config.json", "*.safetensors", "*.bin", "*token*", "vocab*", "merges.txt")
    return sorted(str(path) for pattern in patterns for path in source.glob(pattern)) if source.name else []


def reading_settings(wildcards):
    """What decides how the texts are read and which of them are explained."""
    model = config["models"][wildcards.model]
    pairs = configuration.on_dataset(config["explain"], "pairs", wildcards.dataset)["pairs"]
    compared = [part for factor in config["statistics"]["compare"] for part in factor.split("+")]
    return as_json(
        target=config["explain"]["target"],
        pairs=pairs,
        # What is compared decides what is drawn; where everything is explained it decides nothing.
        factors=list(dict.fromkeys(compared)) if pairs else [],
        **{key: model[key] for key in ("max_tokens", "long_items")},
    )

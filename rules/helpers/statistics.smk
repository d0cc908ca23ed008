# What rules/statistics.smk asks: its settings, and which files it needs.

TEXTS = "<results>/datasets/{dataset}/{table}.parquet"
# Where items and units stand that explanations may be of, by their folder; and the folders of this study's: texts,
# changes of a concept, or both.
UNITS = {each.units: f"<results>/{each.units}/{{dataset}}/{{table}}.parquet" for each in kinds.MODALITIES.values()}
EXPLAINED = {kinds.MODALITIES[name].units: UNITS[kinds.MODALITIES[name].units] for name in MODALITIES}
PREDICTIONS = "<results>/predictions/{dataset}/{model}/seed{seed}.parquet"
AGREEMENT = "<results>/agreement/{dataset}/{model}/seed{seed}.parquet"
COMPARED = ("datasets", "models", "explainers", "metrics")


@cache
def every_score(of=None):
    """The score files of the whole study, or of explanations of one modality."""
    return [
        file
        for modality, names in MODALITIES.items()
        if of in (None, modality)
        for file in every(SCORES, family=metric_families(modality), explainer=names["explainers"])
    ]


@cache
def every_unit(folder):
    """The items and units of all datasets that have explanations, in one of these folders."""
    return every(UNITS[folder], table=["items", "units"])


def folders(**paths):
    """Flags that name folders below <results>, found from the input of the same name.

    A list of all files would be too long for a command; the scripts build their paths from the names in the settings.
    ``paths`` has the pattern of each.
    """

    def flags(wildcards, input):
        first = {name: Path(getattr(input, name)[0]) for name in paths}
        return shlex.join(f"--{name}={first[name].parents[paths[name].count('/') - 2]}" for name in paths)

    return flags


def of_statistics(*keys):
    """Some settings of the statistics."""
    return {key: config["statistics"][key] for key in keys}


def runs_of_study():
    """What all runs are, in the configuration's order, see :class:`Runs`; what is for some datasets, where there is such."""
    return {name: value for name, value in vars(RUNS).items() if value}


def scored(of=None):
    """The names of all scores, metrics with their families; which are of which modality, where there are several.

    ``of``: the modality of which these are; all without.
    """
    entries = MODALITIES.get(of, {"explainers": [], "metrics": []}) if of else config
    families = {name: METRICS[name]["family"] for name in entries["metrics"]}
    names = runs_of_study() | {"explainers": list(entries["explainers"]), "metrics": families}
    several = {} if of else configuration.scored_modalities(config)
    return names | ({"modalities": several} if several else {})


def comparisons():
    """What is compared: factor to pairs of levels."""
    return config["statistics"]["compare"]


def reliance_settings():
    """What the tables of words depend on."""
    return as_argument(
        runs_of_study()
        | {"explainers": {name: repeated_by(name) for name in EXPLAINERS}}
        | {"comparisons": comparisons_of(kinds.TOKENS)}
        | {"words_of": datasets_shown(), "texts": (config["reliance"] or {}).get("texts")}
        | of_statistics("confidence")
    )


def repeated_by(explainer):
    """The explainer that does the same with other draws; itself where nothing is drawn, None where there is no other."""
    settings = {name: entry | {"label": None, "datasets": None} for name, entry in config["explainers"].items()}
    if configuration.same_again(settings[explainer]["method"]):
        return explainer
    return next((name for name in settings if name != explainer and settings[name] == settings[explainer]), None)


def compared_settings(*keys, of=None, **more):
    """What tables of comparisons depend on: the scores, the comparisons, ``keys`` of the statistics, and ``more``.

    ``of``: the modality of the explanations; all without.
    """
    compared = {"comparisons": comparisons_of(of)} if of else {}
    # Not sorted: the order of the configuration is that of the tables.
    return as_argument(scored(of) | levels_compared() | compared | of_statistics(*keys) | more)


def levels_compared():
    """What the levels of a cell are: those of texts, or regimes of models."""
    if config["kind"] == "regimes":
        return {"comparisons": {}, "together": together()} | of_statistics("regimes", "claims")
    return {"comparisons": comparisons()} | of_statistics("strata") | smallest_group()


def smallest_group():
    """How many units a group must have, where the study says so: without it, nothing is computed again."""
    return {key: value for key, value in of_statistics("smallest_group").items() if value is not None}


def together():
    """The explainers that ask the model and challenge no others, whose mean stands beside each of them."""
    explaining = [name for name in configuration.explaining_methods(config) if name not in challengers()]
    methods = {name: config["explainers"][name]["method"] for name in explaining}
    families = {name: configuration.family_of("explainers", method) for name, method in methods.items()}
    return [name for name, family in families.items() if configuration.asks_model("explainers", family)]


def challengers():
    """The explainers that are held against the others."""
    return config["statistics"]["challengers"]


def compared_levels():
    """The levels that stand in a comparison of two, in the configuration's order."""
    return list(dict.fromkeys(level for pairs in comparisons().values() for pair in pairs for level in pair))

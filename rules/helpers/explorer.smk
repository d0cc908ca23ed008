# What rules/explorer.smk asks: its settings, and which files it needs.


def shown_texts(files, of=kinds.TOKENS):
    """Some files or flags, where the page shows texts; none where it does not, nor where a dataset keeps its texts, nor where none is explained in this modality."""
    allowed = config["explorer"]["texts"] and len(datasets_shown()) == len(config["datasets"])
    return files if allowed and explainers_of(of) else type(files)()


def told_effects():
    """The tables with the verdicts, their counts and the record of interim analyses, where the study tells verdicts of models.

    Those of regimes are about architectures.
    """
    told = "effects" in TABLES and config["kind"] != "regimes"
    return (
        [f"<results>/tables/{table}.parquet" for table in ("effects", "effect_counts", "interim_analyses")]
        if told
        else []
    )


# What the explanations are that a page shows one by one: those that the kind asks about, else of texts, all that there
# are of these.
FIRST_EXPLORED = kinds.KINDS[config["kind"]].explained or next(iter(MODALITIES))
EXPLORED = [name for name in MODALITIES if kinds.MODALITIES[name].units == kinds.MODALITIES[FIRST_EXPLORED].units]


# What of texts it shows beside their words: patterns by the flag that names their folder.
SPOKEN = {
    kinds.TOKENS: {"attributions": ATTRIBUTION_FILE, "predictions": PREDICTIONS},
    kinds.TEXT: {"answers": ANSWER},
}


def spoken():
    """Those of this study, each with its modality."""
    return {flag: (path, of) for of in EXPLORED for flag, path in shown_texts(SPOKEN.get(of, {}), of).items()}


def whole_study(of, **more):
    """The settings of a page of the whole study: names and labels of its scores, what is compared, and ``more``.

    ``of``: the modalities that it shows.
    """
    names = scored()
    families = {name: names["metrics"][name] for name in entries_of(of)["metrics"]}
    settings = {"seeds": names["models"], "families": families}
    settings |= {"only": names["only"]} if "only" in names else {}
    # Those that have the same units are compared by the same.
    settings |= {"comparisons": comparisons_of(of[0])}
    settings |= {"study": config["study"], "target": config["explain"]["target"]}
    return shown(*COMPARED, of=of, **settings, **more)


def explorer_settings():
    """Beside those, the formats of its figures and what the verdicts say."""
    return whole_study(
        of=EXPLORED,
        modalities={name: MODALITIES[name] for name in EXPLORED},
        formats=config["figures"]["formats"],
        **of_statistics("alpha", "as_often_bound"),
    )

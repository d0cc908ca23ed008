# What rules/statistics.smk asks: its settings, and which files it needs.

SCORES = "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet"
COMPARED = ("datasets", "models", "explainers", "metrics")


def of_statistics(*keys):
    """Some settings of the statistics."""
    return {key: config["statistics"][key] for key in keys}


def compared_settings(*keys, parts=COMPARED):
    """What computed tables depend on: the names in ``parts``, the seeds, the groups, ``keys`` of the statistics."""
    return as_json(
        **{part: list(config[part]) for part in parts},
        seeds=config["seeds"],
        statistics={"groups": compared_sets()} | of_statistics(*keys),
    )


def compared_sets():
    """The sets of levels that are compared, of all factors."""
    return [levels for sets in config["statistics"]["compare"].values() for levels in sets]


def compared_levels():
    """The levels that stand in a comparison of two, in the configuration's order."""
    pairs = [levels for levels in compared_sets() if len(levels) == 2]
    return list(dict.fromkeys(level for pair in pairs for level in pair))

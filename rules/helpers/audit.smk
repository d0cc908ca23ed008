# What rules/audit.smk asks: its settings, and which tables it needs.

AUDIT_PARTS = ("page.html", "page.css", "card.md")
MANIFEST = "<results>/models/{dataset}/{model}/seed{seed}/manifest.json"


# The pages of tables that only some studies have, with the tables that the audit reads.
SOMETIMES = {
    "beyond_random": ["beyond_random"],
    "reliance": ["pair_invariance", "group_reliance", "words_by_group"],
}


def audited_pages():
    """Those of them that this study has."""
    return [page for page in SOMETIMES if page in TABLES]


def audited_tables():
    """What the audit reads of them."""
    return [table for page in audited_pages() for table in SOMETIMES[page]]


def audit_settings():
    """As the explorer's, without figures; the probability at which it tells what would be found, and of words what may be told."""
    reliance = {"random": configuration.random_explainers(config), "words": config["explorer"]["texts"]}
    return whole_study(
        pages=audited_pages(),
        hidden=sorted({metric["hidden_token"] for metric in config["metrics"].values() if "hidden_token" in metric}),
        reliance=reliance | of_statistics("confidence"),
        **of_statistics("alpha", "equivalence_bound", "smallest_effects", "power"),
    )

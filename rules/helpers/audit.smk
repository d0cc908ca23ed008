# What rules/audit.smk asks: its settings, and which tables it needs.

AUDIT_PARTS = ("page.html", "page.css", "card.md")
MANIFEST = "<results>/models/{dataset}/{model}/seed{seed}/manifest.json"
# What every audit shows beside the verdicts.
AUDITED = ("audited_texts", "audited_groups", "different_texts", "texts_needed", "without_words")
# The pages that an audit names as its evidence, where the study has them.
EVIDENCE = (
    "disparity",
    "effects",
    "control",
    "covariate_adjusted",
    "models",
    "costs",
    "groups",
    "beyond_random",
    "reliance",
    "looks",
)
# The pages of tables that only some studies have, with the tables that the audit reads.
SOMETIMES = {
    "beyond_random": ["beyond_random"],
    "reliance": ["pair_invariance", "group_reliance", "words_by_group"],
}


def audited_pages():
    """Those of them that this study has."""
    return [page for page in SOMETIMES if page in TABLES]


def audited_tables():
    """The tables that the audit reads, of these pages and of its own."""
    always = ["effects", "disparity", "verdict_control", "models", "balanced_accuracy", "costs", *AUDITED]
    return always + [table for page in audited_pages() for table in SOMETIMES[page]] + shown_texts(["examples"])


def first_scores():
    """One family of metrics and one explainer: all have scores of the same texts, but for those that a look has closed."""
    return {"family": next(iter(SCORED_FAMILIES)), "explainers": EXPLAINERS if CLOSED else EXPLAINERS[:1]}


def hidden_tokens():
    """In which ways the metrics hide words."""
    return sorted({metric["hidden_token"] for metric in config["metrics"].values() if "hidden_token" in metric})


def audit_settings():
    """As the explorer's, without figures; the probability at which it tells what would be found, and of words what may be told."""
    reliance = {"random": configuration.random_explainers(config), "words": config["explorer"]["texts"]}
    return whole_study(
        of=kinds.TOKENS,
        pages=audited_pages(),
        reliance=reliance | of_statistics("confidence"),
        **of_statistics("alpha", "equivalence_bound", "smallest_effects", "power"),
    )

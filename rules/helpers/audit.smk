# What rules/audit.smk asks: its settings, and which tables it needs.

AUDIT_PARTS = ("page.html", "page.css", "card.md")
MANIFEST = "<results>/models/{dataset}/{model}/seed{seed}/manifest.json"


def audited_tables():
    """The tables that only some studies have."""
    return ["beyond_random"] if "beyond_random" in TABLES else []


def audit_settings():
    """The names and labels of all scores, what is compared, and what the verdicts say."""
    names = scored()
    settings = {"seeds": names["models"], "families": names["metrics"], "comparisons": comparisons()}
    settings |= {"study": config["study"], "target": config["explain"]["target"]}
    return shown(*COMPARED, **settings, **of_statistics("alpha", "equivalence_bound", "power"))

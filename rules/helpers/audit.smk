# What rules/audit.smk asks: its settings, and which tables it needs.

AUDIT_PARTS = ("page.html", "page.css", "card.md")
MANIFEST = "<results>/models/{dataset}/{model}/seed{seed}/manifest.json"


def audited_tables():
    """The tables that only some studies have."""
    return ["beyond_random"] if "beyond_random" in TABLES else []


def audit_settings():
    """As the explorer's, without figures, and with the probability at which it tells what would be found."""
    return whole_study(**of_statistics("alpha", "equivalence_bound", "smallest_effects", "power"))

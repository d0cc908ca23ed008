"""How factors and what every dataset has beside its own are called; without pandas, since the Snakefile asks, too."""

JOINT = "+"  # between the factors of an intersection, and between their levels
# A factor that every dataset has and that means nothing: half of the units, by their names, have either level.
NEGATIVE_CONTROL, CONTROL_LEVELS = "negative_control", ("control_a", "control_b")
# By what changes are compared: which concept changes, and from what to what.
CHANGED = CONCEPT, CHANGE = "concept", "change"
# How the columns begin that say what a text has of each attribute, such as attribute.gender.
ATTRIBUTE = "attribute."

"""Names of what every dataset has beside its own factors; without pandas, since the Snakefile asks, too."""

JOINT = "+"  # between the factors of an intersection, and between their levels
# A factor that every dataset has and that means nothing: half of the units, by their names, have either level.
PLACEBO, PLACEBO_LEVELS = "placebo", ("placebo_a", "placebo_b")

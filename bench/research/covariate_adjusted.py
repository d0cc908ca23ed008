"""Are covariate parts what they say? Simulated disparities whose covariate part is known.

``make bench-covariate-adjusted`` prints, for pairs and for groups of texts, covariates that vary in their ways and
associations of known size: how many studies are split, the mean covariate part beside the true one, how often the 95 %
interval has it, and the mean of the shuffled control. Scores have normal or skewed noise; the disparity of 0.3 that is
not associated with the covariate is there always.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))


from evenlight.core.seeds import generator_for
from evenlight.statistics.covariate_adjusted import Split, part_columns, split_groups, split_pairs

DRAWS = 50
BESIDE = 0.3
# By how much the covariate is higher in the first group, and its other variation: within pairs, or in either group.
COVARIATES = {
    "normal, 0.5": (0.5, lambda random, size: random.normal(size=size)),
    "normal, 1": (1.0, lambda random, size: random.normal(size=size)),
    "normal, 6": (6.0, lambda random, size: random.normal(size=size)),
    "whole numbers, 0.5": (0.5, lambda random, size: random.choice([-1.5, -0.5, -0.5, -0.5, 0.5, 0.5, 1.5], size)),
}
ASSOCIATIONS = {
    "none": lambda x: 0 * x,
    "linear": lambda x: 0.4 * x,
    "quadratic": lambda x: 0.2 * x**2,
    "step": lambda x: 0.6 * (x > 0.5),
}
NOISE = {
    "normal": lambda random, size: random.normal(size=size),
    "skewed": lambda random, size: random.exponential(size=size) - 1,
}


def pairs(random: np.random.Generator, count: int, draw, covariate_part, noise) -> Split | str:
    """Scores of pairs whose differences are associated with those of the covariate; SD of the scores 1 in one form."""
    x, b, x_b = draw[0] + draw[1](random, count), random.normal(size=count), 2 * random.normal(size=count)
    a = b + BESIDE + covariate_part(x) + noise(random, count)
    return split_pairs(a, b, x_b + x, x_b, np.arange(count), random.random((DRAWS, count)))


def groups(random: np.random.Generator, count: int, draw, covariate_part, noise) -> Split | str:
    """Scores of texts that are associated with the covariate in either group."""
    x_a, x_b = draw[0] + draw[1](random, count), draw[1](random, count)
    a, b = (covariate_part(x) + noise(random, count) for x in (x_a, x_b))
    return split_groups(a + BESIDE, b, x_a, x_b, np.arange(2 * count), random.random((DRAWS, 2 * count)))


def truth(design, draw, covariate_part, noise) -> float:
    """The covariate part, in standard deviations, from a million texts and no strata."""
    random, count = generator_for("truth"), 10**6
    x, y = draw[0] + draw[1](random, count), noise(random, count)
    if design is pairs:
        return float(covariate_part(x).mean() / np.sqrt((1 + (covariate_part(x) + y).var() + 1) / 2))
    x_b = draw[1](random, count)
    variances = (covariate_part(x) + y).var(), (covariate_part(x_b) + noise(random, count)).var()
    return float((covariate_part(x).mean() - covariate_part(x_b).mean()) / np.sqrt(np.mean(variances)))


def main(runs: int) -> None:
    """Print the table."""
    print("| design | texts | covariate | association | noise | split | true | mean | coverage | shuffled |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for design, sizes in ((pairs, (24, 50, 322)), (groups, (50, 322))):
        for size in sizes:
            for covariate, draw in COVARIATES.items():
                # Whole numbers of two groups that are half a step apart are never equal.
                if design is groups and covariate.startswith("whole"):
                    continue
                for association, covariate_part in ASSOCIATIONS.items():
                    for shape, noise in NOISE.items():
                        names = (design.__name__, size, covariate, association, shape)
                        print(
                            "|",
                            " | ".join(map(str, (*names, *_row(design, size, draw, covariate_part, noise, runs)))),
                            "|",
                        )


def _row(design, size: int, draw, covariate_part, noise, runs: int) -> tuple[str, ...]:
    true = truth(design, draw, covariate_part, noise)
    found, covered, means, shuffled = 0, 0, [], []
    for number in range(runs):
        split = design(generator_for(design.__name__, size, number), size, draw, covariate_part, noise)
        if isinstance(split, str):
            continue
        row = part_columns([split], 0.95)
        found += 1
        covered += row["covariate_part_low"] <= true <= row["covariate_part_high"]
        means.append(row["covariate_part"])
        shuffled.append(row["shuffled"])
    if not found:
        return f"0 of {runs}", f"{true:.3f}", "–", "–", "–"
    rates = f"{np.mean(means):.3f}", f"{covered / found:.3f}", f"{np.mean(shuffled):z.3f}"
    return f"{found} of {runs}", f"{true:.3f}", *rates


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    main(parser.parse_args().runs)

"""How often the intervals of effects hold the effect: simulated pairs of several shapes and sizes, a row for each.

    PYTHONPATH=workflow/scripts python bench/verdicts/measure_coverage.py --runs 500 --draws 499

The table stands in docs/definitions.md. Scores are those of two seeds, correlated by 0.5, and of two forms of a pair,
by 0.6, on the normal scale from which all shapes are made. The true effects are those of 400,000 pairs.
"""

import argparse

import numpy as np
from scipy.stats import norm

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.intervals import EFFECTS, bootstrap_intervals

ZEROS = 0.9  # share of scores that are 0, where most are


def pairs(shape: str, shifted: bool, count: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores (2 seeds, pairs) of both forms, of which the first has the larger ones where ``shifted``."""
    unit, other = generator.normal(size=(2, 1, count))
    noise, other_noise = generator.normal(size=(2, 2, count))
    a = (unit + noise) / np.sqrt(2)
    b = 0.6 * a + 0.8 * (other + other_noise) / np.sqrt(2)
    if shape == "normal":
        return a + 0.5 * shifted, b
    if shape == "exponential":
        return -norm.logsf(a) * (1 + 0.5 * shifted), -norm.logsf(b)
    if shape == "log-normal":
        return np.exp(a + 0.5 * shifted), np.exp(b)
    return tuple(
        np.where(z > norm.isf(share), -norm.logsf(z) + np.log(share), 0.0)
        for z, share in ((a, (1 - ZEROS) * (1 + 0.5 * shifted)), (b, 1 - ZEROS))
    )


def coverage(shape: str, shifted: bool, count: int, runs: int, draws: int) -> dict[str, float]:
    """The share of ``runs`` whose 95 % interval holds the effect, by effect."""
    many = pairs(shape, shifted, 400_000, generator_for("truth", shape, str(shifted)))
    truth = bootstrap_intervals(*many, True, 1, 0.95, generator_for("truth"))
    generator = generator_for("coverage", shape, str(shifted), count)
    held = dict.fromkeys(EFFECTS, 0)
    for _ in range(runs):
        found = bootstrap_intervals(*pairs(shape, shifted, count, generator), True, draws, 0.95, generator)
        for name, interval in found.items():
            held[name] += interval.low <= truth[name].estimate <= interval.high
    return {name: number / runs for name, number in held.items()}


def main(arguments: argparse.Namespace) -> None:
    """Print the table."""
    print("| scores | effect | pairs | d | g | delta |\n| --- | --- | ---: | ---: | ---: | ---: |")
    for shape in ("normal", "exponential", "log-normal", "mostly 0"):
        for shifted in (False, True):
            for count in arguments.pairs:
                rates = coverage(shape, shifted, count, arguments.runs, arguments.draws)
                effect = "shifted" if shifted else "none"
                cells = " | ".join(f"{100 * rates[name]:.1f}" for name in EFFECTS)
                print(f"| {shape} | {effect} | {count} | {cells} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[24, 50])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=999)
    main(parser.parse_args())

"""Record what ``shapiq`` 1.4.1 computes of made games: of all subsets Shapley values and interactions of pairs, and how
far its estimates of the interactions are off with fewer rows.

It asks for packages that nothing here needs, so it is no requirement of the tests, which read what this writes. From
the project's folder, with Python 3.12 and envs/peers.txt:

    .venv-peers/bin/python tests/peers/record_shapiq.py --output tests/peers/shapiq.json
"""

import argparse
import importlib
import json
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import numpy as np

PLAYERS = (2, 5, 12)
ESTIMATORS = ("KernelSHAPIQ", "SVARMIQ", "PermutationSamplingSII")
ROWS, SEEDS = (64, 256, 1024), 5


def game(shown: np.ndarray) -> np.ndarray:
    """Values (rows,) of subsets (rows, players), with interactions of every order."""
    shown = np.atleast_2d(shown)
    players = shown.shape[1]
    slope = np.sin(np.outer(np.arange(1, players + 1), [1.0, 2.3, 3.7]))
    return np.tanh(shown.astype(float) @ slope - 0.4) @ np.array([1.0, -0.7, 0.5])


def main(arguments: argparse.Namespace) -> None:
    """Record all games."""
    shapiq = importlib.import_module("shapiq")
    computer = shapiq.ExactComputer
    recorded: dict = {"made_by": f"shapiq {version('shapiq')}"}
    for players in PLAYERS:
        found = computer(n_players=players, game=game)
        values, pairs = found(index="SV", order=1), found(index="SII", order=2)
        recorded[str(players)] = {
            "values": [float(values[(player,)]) for player in range(players)],
            "pairs": [float(pairs[pair]) for pair in combinations(range(players), 2)],
        }
    # Of the game with the most players.
    exact = np.array(recorded[str(players)]["pairs"])

    def error(name: str, rows: int, seed: int) -> float:
        make = getattr(shapiq, name)(n=players, max_order=2, index="SII", random_state=seed)
        found = make.approximate(budget=rows, game=game)
        estimate = np.array([found[pair] for pair in combinations(range(players), 2)])
        return float(np.linalg.norm(estimate - exact) / np.linalg.norm(exact))

    recorded["errors"] = {
        name: {str(rows): float(np.median([error(name, rows, seed) for seed in range(SEEDS)])) for rows in ROWS}
        for name in ESTIMATORS
    }
    arguments.output.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="the record (JSON)")
    main(parser.parse_args())

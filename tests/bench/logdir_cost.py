#!/usr/bin/env python3
"""Measures what --logdir costs a training step, on an otherwise idle machine.

    python3 tests/bench/logdir_cost.py [--bin build/release/bin] [--ranks 2] [--steps 400] [--rounds 9]

Trains without and with --logdir in turn. Prints the time of a step of both, which is the median of the
rounds, and the median, lowest and highest ratio of a round.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path


def step_ms(options, *more):
    """Trains once; returns the time of a step in milliseconds, without the evaluation."""
    command = [options.bin / "minirun", "-n", options.ranks, options.bin / "train_mnist", "--data",
               "digits", "--steps", options.steps, "--json", *more]
    output = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE).stdout
    return 1e3 * sum(json.loads(output)["seconds_per_epoch"]) / options.steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    rounds = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append((step_ms(options), step_ms(options, "--logdir", folder)))
    without, with_log = map(statistics.median, zip(*rounds))
    ratios = [logged / plain for plain, logged in rounds]
    print(f"a step without --logdir {without:.3f} ms, with {with_log:.3f} ms; ratio "
          f"{statistics.median(ratios):.4f} ({min(ratios):.4f} to {max(ratios):.4f})")


if __name__ == "__main__":
    main()

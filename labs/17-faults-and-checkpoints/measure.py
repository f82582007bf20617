#!/usr/bin/env python3
"""How often to save: simulates a long job with failures, and draws checkpoint_interval.svg.

    labs/17-faults-and-checkpoints/measure.py [--save 30] [--restart 120] [--mtbf 10800]
                                              [--hours 2000] [--bin build/release/bin]
                                              [--svg FILE]

A job needs `hours` of computation. A save takes `save` seconds. Failures come at random, on
average one every `mtbf` seconds; after a failure the job starts again from the last whole
checkpoint, which takes `restart` seconds. The same seed gives the same failures. The dotted
curve is the expectation (Daly 2006): M/t e^(R/M) (e^((t+C)/M) - 1) seconds per second.
"""

import argparse
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import chart  # noqa: E402

MINUTES = (1, 2, 3, 5, 8, 13, 20, 30, 45, 60, 90, 120)


def simulate(work, interval, save, restart, failures):
    """Returns the seconds that a job of `work` seconds takes with a checkpoint every `interval`
    seconds. `failures` returns the time until the next failure."""
    time, saved = 0.0, 0.0
    next_failure = failures()
    while saved < work:
        piece = min(interval, work - saved)
        end = time + piece + save
        if end <= next_failure:
            time, saved = end, saved + piece
            continue
        # The piece, or its checkpoint, is lost. The restart may fail too.
        time = next_failure
        next_failure = time + failures()
        while time + restart > next_failure:
            time = next_failure
            next_failure = time + failures()
        time += restart
    return time


def expected(interval, save, restart, mtbf):
    """Returns the expected seconds per second of work (Daly 2006)."""
    return (mtbf / interval * math.exp(restart / mtbf)
            * (math.exp((interval + save) / mtbf) - 1))


def best_interval(save, mtbf):
    """Returns Young's interval, sqrt(2 C M)."""
    return math.sqrt(2 * save * mtbf)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=float, default=30, help="seconds of a save")
    parser.add_argument("--restart", type=float, default=120, help="seconds of a restart")
    parser.add_argument("--mtbf", type=float, default=3 * 3600, help="seconds between failures")
    parser.add_argument("--hours", type=float, default=2000, help="of computation")
    parser.add_argument("--bin", default="build/release/bin", help="the folder of mini")
    parser.add_argument("--svg", default="checkpoint_interval.svg")
    options = parser.parse_args()
    cost = (options.save, options.restart, options.mtbf)

    print("| a checkpoint every | extra time | by Daly's formula |")
    print("|---|---|---|")
    measured, formula = [], []
    for minutes in MINUTES:
        rng = random.Random(17)
        time = simulate(3600 * options.hours, 60 * minutes, options.save, options.restart,
                        lambda: rng.expovariate(1 / options.mtbf))
        extra = 100 * (time / (3600 * options.hours) - 1)
        predicted = 100 * (expected(60 * minutes, *cost) - 1)
        measured.append((minutes, extra))
        formula.append((minutes, predicted))
        print(f"| {minutes} min | {extra:.1f} % | {predicted:.1f} % |")
    best = best_interval(options.save, options.mtbf)
    print(f"\nYoung: sqrt(2 C M) = {best / 60:.1f} min, "
          f"{100 * (expected(best, *cost) - 1):.1f} % by Daly's formula")
    chart.draw(options.bin, options.svg, type="line",
               title=f"Saves of {options.save:g} s, a failure every {options.mtbf / 3600:g} h",
               x=chart.log("minutes between two checkpoints"),
               y=chart.from_zero("extra time in %"),
               series=chart.series({"simulated": measured})
               + chart.series({"formula": formula}, style="dotted"))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Counts the bytes of a step of DataParallel and of DDP, and draws traffic.svg.

    labs/13-data-parallel/measure.py [--bin build/release/bin] [--batch-size 64] [--svg FILE]
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

PARAMETERS = 21840 * 4  # bytes of the ConvNet
ROW = 28 * 28 * 4, 10 * 4  # bytes of an image, and of its output


def predicted(workers, batch_size):
    """Returns the bytes through device 0: for each other device the parameters and their
    gradients, and for each row of another device an image, an output and the output's
    gradient."""
    most = -(-batch_size // workers)
    others = -(-batch_size // most) - 1  # devices with rows, except device 0
    return 2 * others * PARAMETERS + (batch_size - min(most, batch_size)) * (ROW[0] + 2 * ROW[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--svg", default="traffic.svg")
    options = parser.parse_args()

    output = built.output_of([f"{options.bin}/dp_traffic", "--batch-size", str(options.batch_size)])
    steps = [json.loads(line) for line in output.splitlines()]
    print("| workers | scattered | replicated | gathered | reduced | through device 0 | predicted | "
          "DDP, busiest rank |\n|---|---|---|---|---|---|---|---|")
    for step in steps:
        dp = step["dp"]
        print(f"| {step['workers']} | {dp['scattered']} | {dp['replicated']} | {dp['gathered']} | "
              f"{dp['reduced']} | {dp['total']} | "
              f"{predicted(step['workers'], options.batch_size)} | {step['ddp']} |")
    lines = {"DataParallel, device 0": [step["dp"]["total"] for step in steps],
             "of these, parameters and gradients": [
                 step["dp"]["replicated"] + step["dp"]["reduced"] for step in steps],
             "DDP, busiest rank": [step["ddp"] for step in steps]}
    chart.draw(options.bin, options.svg, type="line",
               title=f"Bytes of a step, batch of {options.batch_size}", x="workers",
               y="kilobytes",
               series=chart.series({name: [(step["workers"], count / 1000)
                                           for step, count in zip(steps, counts)]
                                    for name, counts in lines.items()}))
    print(f"\ndrawn: {options.svg}")


if __name__ == "__main__":
    main()

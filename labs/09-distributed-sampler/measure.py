#!/usr/bin/env python3
"""The error of an accuracy on several ranks: runs padded_accuracy and draws its table.

    labs/09-distributed-sampler/measure.py [--bin build/release/bin] [--samples 100] [--svg FILE]
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

SAMPLERS = ("DistributedEvalSampler", "DistributedSampler", "DistributedSampler, drop_last")
CELL = re.compile(r"(\d+) of +(\d+) ([\d.]+)")


def lines_of(table):
    """Returns {sampler: [(ranks, accuracy), ...]}, without cells that count 0 samples."""
    lines = {name: [] for name in SAMPLERS}
    for row in table.splitlines()[1:]:
        ranks = int(row.split()[0])
        for name, (_, seen, share) in zip(SAMPLERS, CELL.findall(row)):
            if int(seen) > 0:
                lines[name].append((ranks, float(share)))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--svg", default="padded_accuracy.svg")
    options = parser.parse_args()

    command = [f"{options.bin}/padded_accuracy", "--samples", str(options.samples)]
    output = built.output_of(command)
    print(output)
    chart.draw(options.bin, options.svg, type="line",
               title=f"One model, {options.samples} test images, three samplers", x="ranks",
               y="accuracy", series=chart.series(lines_of(output)))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

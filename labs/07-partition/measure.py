#!/usr/bin/env python3
"""The cost of a partition that is made only once: runs dealing and draws its second table.

    labs/07-partition/measure.py [--bin build/release/bin] [--ranks 4] [--svg FILE]
"""

import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import plot  # noqa: E402


def rows_of(table):
    """The rows of numbers below the last heading that begins with epochs."""
    lines = table[table.rindex("  epochs "):].splitlines()[1:]
    return [list(map(float, line.split())) for line in lines[:lines.index("")]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--svg", default="dealing.svg")
    options = parser.parse_args()

    output = subprocess.run([f"{options.bin}/dealing", "--ranks", str(options.ranks)], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    print(output)
    rows = rows_of(output)
    plot.write(options.svg, title=f"What rank 0 of {options.ranks} has seen", x="epochs",
               y="share of the dataset",
               lines={"DistributedSampler": [(row[0], row[2]) for row in rows],
                      "DataPartitioner": [(row[0], row[1]) for row in rows]})
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

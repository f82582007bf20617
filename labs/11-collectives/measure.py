#!/usr/bin/env python3
"""Times each all-reduce over the size of its buffer, and draws costs.svg.

    labs/11-collectives/measure.py [--bin build/release/bin] [--ranks 8] [--link 100Gbit,10us]

The times are the simulated cluster's virtual times, so every run gives the same figures,
on any machine.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

SIZES = [4 << shift for shift in range(4, 23, 2)]  # 64 bytes to 16 MiB
ALGORITHMS = ("naive", "tree", "ring", "recursive-doubling", "halving-doubling", "tutorial")


def rows(output):
    """Returns {algorithm: microseconds} from the output of collective_costs."""
    lines = [line.split() for line in output.splitlines()]
    return {words[0]: float(words[3]) for words in lines if words and words[0] in ALGORITHMS}


def run(options, size):
    command = [f"{options.bin}/collective_costs", "--ranks", str(options.ranks), "--bytes",
               str(size), "--link", options.link]
    return rows(built.output_of(command))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--link", default="100Gbit,10us")
    parser.add_argument("--svg", default="costs.svg")
    options = parser.parse_args()

    times = {size: run(options, size) for size in SIZES}
    print("| bytes | " + " | ".join(ALGORITHMS) + " |\n" + "|---" * (1 + len(ALGORITHMS)) + "|")
    for size, row in times.items():
        best = min(row.values())
        cells = [f"**{row[name]:,.0f}**" if row[name] == best else f"{row[name]:,.0f}"
                 for name in ALGORITHMS]
        print(f"| {size:,} | " + " | ".join(cells) + " |")
    ticks = [(64, "64"), (1 << 10, "1 KiB"), (1 << 14, "16 KiB"), (1 << 18, "256 KiB"),
             (1 << 20, "1 MiB"), (1 << 24, "16 MiB")]
    chart.draw(options.bin, options.svg, type="line",
               title=f"An all-reduce on {options.ranks} ranks, {options.link}",
               x={"label": "bytes of a rank", "log": True, "ticks": ticks},
               y=chart.log("virtual time in us"),
               series=chart.series({name: [(size, times[size][name]) for size in SIZES]
                                    for name in ALGORITHMS}))
    print(f"\ndrawn: {options.svg}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The size of activations in a deep network: runs depth and draws its table.

    labs/04-modules-losses-sgd/measure.py [--bin build/release/bin] [--svg FILE]
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

NAMES = ("normal, std 0.1", "Kaiming for ReLU", "Xavier", "nn::Linear's own")


def lines_of(table):
    """Returns {initialisation: [(layer, size), ...]}."""
    lines = {name: [] for name in NAMES}
    for row in table.splitlines()[1:]:
        layer, *sizes = row.split()
        for name, size in zip(NAMES, sizes):
            lines[name].append((int(layer), float(size)))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--svg", default="depth.svg")
    options = parser.parse_args()

    output = built.output_of([f"{options.bin}/depth"])
    print(output)
    chart.draw(options.bin, options.svg, type="line",
               title="Activations of 20 layers, by initialisation", x="layer",
               y=chart.log("root mean square of the activations"),
               series=chart.series(lines_of(output)))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

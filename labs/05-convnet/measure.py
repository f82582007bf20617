#!/usr/bin/env python3
"""How near a convolution comes to the peak: runs conv_methods and draws its table.

    labs/05-convnet/measure.py [--program conv_methods] [--bin build/release/bin] [--svg FILE]
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

PEAK = re.compile(r"^peak of one core: ([\d.]+) GFLOP/s$", re.MULTILINE)
ROW = re.compile(r"^(conv\d) +(\S.*?) +(definition|im2col|direct) +([\d.]+) us +([\d.]+) GFLOP/s",
                 re.MULTILINE)
PASSES = ("forward", "gradient of x", "gradient of w")
METHODS = ("definition", "im2col", "direct")


def speeds_of(output):
    """Returns (peak, {(layer, pass): {method: GFLOP/s}})."""
    speeds = {}
    for layer, what, method, _, speed in ROW.findall(output):
        if what in PASSES:
            speeds.setdefault((layer, what), {})[method] = float(speed)
    return float(PEAK.search(output)[1]), speeds


def bars_of(speeds):
    """Returns one series per method, with a bar for each layer and pass that it computes."""
    bars = []
    for method in METHODS:
        values = [methods.get(method) for methods in speeds.values()]
        bars.append({"name": method, "values": values,
                     "texts": ["" if speed is None else f"{speed:.0f}" for speed in values]})
    return bars


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="conv_methods")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--svg", default="conv_methods.svg")
    options = parser.parse_args()

    output = built.output_of([f"{options.bin}/{options.program}"])
    print(output)
    peak, speeds = speeds_of(output)
    chart.draw(options.bin, options.svg, type="bar", title="Speed of a convolution, one core",
               groups=[f"{layer}, {what}" for layer, what in speeds],
               axis="GFLOP/s", series=bars_of(speeds),
               references=[{"name": f"peak, {peak:.0f} GFLOP/s", "value": peak}])
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The error of numerical gradients over the step h: runs step_size and draws its table.

    labs/03-autograd/measure.py [--bin build/release/bin] [--program step_size] [--svg FILE]

The dotted curve is a prediction for the central difference of float values: h²/6 times the
third derivative, plus the rounding error of the two values divided by their distance.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

NAMES = {"central": "central difference", "offset": "the same of exp(x) + 1000",
         "one-sided": "one-sided difference", "double": "central, in double"}
ROUNDING = 2.0 ** -25  # relative error of a float that is rounded, on average


def lines_of(table):
    """Returns {name: [(h, error), ...]}."""
    head, *rows = (line.split() for line in table.splitlines() if line.strip())
    return {NAMES[name]: [(float(row[0]), float(row[1 + k])) for row in rows]
            for k, name in enumerate(head[1:])}


def predicted(h):
    """Returns the error of the central difference of exp, relative to exp, in float."""
    return h * h / 6 + 2 * ROUNDING / (2 * h)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="step_size")
    parser.add_argument("--svg", default="step_size.svg")
    options = parser.parse_args()

    output = built.output_of([f"{options.bin}/{options.program}"])
    print(output)
    lines = lines_of(output)
    steps = [h for h, _ in lines[NAMES["central"]]]
    best = (3 * ROUNDING) ** (1 / 3)  # where the derivative of predicted() is 0
    print(f"the prediction is least at h = {best:.1e}: {predicted(best):.1e}")
    curve = {"h²/6 + rounding / h": [(h, predicted(h)) for h in steps]}
    chart.draw(options.bin, options.svg, type="line",
               title="The error of a numerical derivative of exp",
               x=chart.log("step h"), y=chart.log("largest error"),
               series=chart.series(lines) + chart.series(curve, style="dotted"))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

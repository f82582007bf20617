#!/usr/bin/env python3
"""What merged dimensions are worth: runs strided_loops and draws its second table.

    labs/01-tensor/measure.py [--bin build/release/bin] [--svg FILE]

The curve is a prediction from the first and the last row: a time per element, plus a time
per run, divided by the elements of a run.
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

ROW = re.compile(r"^ +(\d+) +([\d.]+) +([\d.]+)$", re.MULTILINE)


def rows_of(output):
    """Returns [(row length, ns per element without gaps, with gaps), ...]."""
    return [(int(length), float(one), float(many)) for length, one, many in ROW.findall(output)]


def costs(rows):
    """Returns (ns per element, ns per run) that give the first and the last row with gaps."""
    (short, _, slow), (long, _, quick) = rows[0], rows[-1]
    run = (slow - quick) / (1 / short - 1 / long)
    return quick - run / long, run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--svg", default="strided_loops.svg")
    options = parser.parse_args()

    output = built.output_of([f"{options.bin}/strided_loops"])
    print(output)
    rows = rows_of(output)
    element, run = costs(rows)
    print(f"predicted: {element:.3f} ns per element and {run:.1f} ns per run")
    measured = {"a gap after each row": [(row[0], row[2]) for row in rows],
                "no gaps: one run": [(row[0], row[1]) for row in rows]}
    predicted = {"predicted": [(row[0], element + run / row[0]) for row in rows]}
    chart.draw(options.bin, options.svg, type="line", title="A copy of 65,536 floats in rows",
               x=chart.log("elements per row"), y=chart.from_zero("ns per element"),
               series=chart.series(measured) + chart.series(predicted, style="dotted"))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The time of a step against the number of workers: runs loader_workers and draws its table.

    labs/08-samplers-and-loader/measure.py [--bin build/release/bin] [--batches 100] [--svg FILE]
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

ROW = re.compile(r"^ +(\d+) +([\d.]+) ms +([\d.]+) ms", re.MULTILINE)
FETCH_MS, STEP_MS = 8, 4


def rows_of(table):
    """Returns [(workers, ms per step if the fetch waits, if the fetch computes), ...]."""
    return [(int(workers), float(waits), float(computes))
            for workers, waits, computes in ROW.findall(table)]


def predicted(workers):
    """Returns the time of a step in ms if the workers do not slow each other down."""
    return max(FETCH_MS / workers, STEP_MS) if workers else FETCH_MS + STEP_MS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--svg", default="loader_workers.svg")
    options = parser.parse_args()

    command = [f"{options.bin}/loader_workers", "--batches", str(options.batches),
               "--fetch-ms", str(FETCH_MS), "--step-ms", str(STEP_MS)]
    output = built.output_of(command)
    print(output)
    rows = rows_of(output)
    measured = {"the fetch waits": [(row[0], row[1]) for row in rows],
                "the fetch computes": [(row[0], row[2]) for row in rows]}
    curve = {"predicted": [(row[0], predicted(row[0])) for row in rows]}
    chart.draw(options.bin, options.svg, type="line",
               title=f"A step of {STEP_MS} ms, batches that take {FETCH_MS} ms",
               x="workers", y="ms a step",
               series=chart.series(measured) + chart.series(curve, style="dotted"))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

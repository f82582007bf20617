#!/usr/bin/env python3
"""The time of a rendezvous against the number of ranks: runs rendezvous_time and draws its table.

    labs/10-store-and-rendezvous/measure.py [--program rendezvous_time_mine] [--links 1Gbit,1ms]
                                            [--bin build/release/bin] [--svg FILE]
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

ROW = re.compile(r"^ +(\d+) +([\d.]+) ms +([\d.]+) ms +(\d+)", re.MULTILINE)


def rows_of(table):
    """Returns [(ranks, rendezvous in ms, barrier in ms, requests), ...]."""
    return [(int(ranks), float(join), float(barrier), int(requests))
            for ranks, join, barrier, requests in ROW.findall(table)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="rendezvous_time",
                        help="rendezvous_time_mine measures the code in work/")
    parser.add_argument("--links", default="1Gbit,1ms")
    parser.add_argument("--svg", default="rendezvous_time.svg")
    options = parser.parse_args()

    command = [f"{options.bin}/{options.program}", "--links", options.links]
    output = built.output_of(command)
    print(output)
    rows = rows_of(output)
    chart.draw(options.bin, options.svg, type="line",
               title=f"A rendezvous and a barrier over {options.links}", x="ranks", y="ms",
               series=chart.series({"rendezvous": [(row[0], row[1]) for row in rows],
                                    "barrier": [(row[0], row[2]) for row in rows]}))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

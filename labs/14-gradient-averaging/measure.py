#!/usr/bin/env python3
"""Compares what ranks can average, and when: runs averaging_ways and draws averaging_ways.svg.

    labs/14-gradient-averaging/measure.py [--bin build/release/bin] [--ranks 4] [--svg FILE]
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="averaging_ways",
                        help="averaging_ways_mine: your code")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--svg", default="averaging_ways.svg")
    options = parser.parse_args()

    output = built.output_of([f"{options.bin}/{options.program}", str(options.ranks)])
    variants = [json.loads(line) for line in output.splitlines()]
    print("| what is averaged | loss after 1 | 4 | 8 | 12 epochs | rank 0 alone |\n"
          "|---|---|---|---|---|---|")
    for variant in variants:
        losses = [f"{variant['test_loss'][epoch - 1]:.3f}" for epoch in (1, 4, 8, 12)]
        print(f"| {variant['variant']} | {' | '.join(losses)} | {variant['own_loss']:.3f} |")
    chart.draw(options.bin, options.svg, type="line",
               title=f"What {options.ranks} ranks average, and what comes of it",
               x="epoch", y=chart.log("loss on the test digits"),
               series=chart.series({variant["variant"]: list(enumerate(variant["test_loss"], 1))
                                    for variant in variants}))
    print(f"\ndrawn: {options.svg}")


if __name__ == "__main__":
    main()

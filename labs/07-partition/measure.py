#!/usr/bin/env python3
"""What a division of sorted samples does to training: runs dealing and draws its last table.

    labs/07-partition/measure.py [--bin build/release/bin] [--ranks 5] [--svg FILE]
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

ROW = re.compile(r"^  (\S.*?, (?:shuffled|blocks)) +([\d. ]+)$", re.MULTILINE)


def lines_of(output):
    """Returns {"plain, blocks": [(epoch, accuracy), ...], ...} from the last table."""
    return {name: list(enumerate(map(float, accuracies.split()), 1))
            for name, accuracies in ROW.findall(output)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--ranks", type=int, default=5)
    parser.add_argument("--svg", default="dealing.svg")
    options = parser.parse_args()

    output = built.output_of([f"{options.bin}/dealing", "--ranks", str(options.ranks)])
    print(output)
    chart.draw(options.bin, options.svg, type="line",
               title=f"Sorted digits, divided among {options.ranks} ranks", x="epochs",
               y="accuracy, mean of the ranks", series=chart.series(lines_of(output)))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

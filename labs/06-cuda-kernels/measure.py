#!/usr/bin/env python3
"""The order of float additions: runs run_sum.cu with several orders of the blocks, and draws.

    mini cuda -I. labs/06-cuda-kernels/{run_sum,trees,sum}.cu -o sum
    labs/06-cuda-kernels/measure.py ./sum [--bin build/release/bin] [--orders 24] [--svg FILE]

The simulator runs the blocks in the order of MINI_SIM_BLOCK_SEED.
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

ROW = re.compile(r"^(\w[\w ]*?) +(-?\d+\.\d+)$", re.MULTILINE)


def errors_of(output):
    """Returns {variant: error of its sum}."""
    return {name: float(error) for name, error in ROW.findall(output)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--orders", type=int, default=24)
    parser.add_argument("--svg", default="sum_orders.svg")
    options = parser.parse_args()

    lines = {}
    for seed in range(1, options.orders + 1):
        env = dict(os.environ, MINI_SIM_CHECK="1", MINI_SIM_BLOCK_SEED=str(seed))
        output = built.output_of([options.program], env=env)
        for name, error in errors_of(output).items():
            lines.setdefault(name, []).append((seed, error))
    print(f"{'variant':12} {'sums':>5} {'least':>10} {'greatest':>10}   error of the sum")
    for name, points in lines.items():
        errors = [error for _, error in points]
        print(f"{name:12} {len(set(errors)):5} {min(errors):10.6f} {max(errors):10.6f}")
    shown = {name: lines[name] for name in ("atomic", "shuffle", "first_add") if name in lines}
    chart.draw(options.bin, options.svg, type="line",
               title="The error of a float sum of 100,000 numbers",
               x="order of the blocks (MINI_SIM_BLOCK_SEED)", y="error",
               series=chart.series(shown))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

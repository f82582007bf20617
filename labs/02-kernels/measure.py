#!/usr/bin/env python3
"""Draws what lab 02 measures: the errors of sums, the ladder of products, and a roofline.

    labs/02-kernels/measure.py sums        runs sum_error, draws sum_error.svg
    labs/02-kernels/measure.py products    runs matmul_variants, draws ladder.svg and roofline.svg

--mine runs sum_error_mine or matmul_variants_mine, which use your kernels. --bin names the folder of
the programs, --svg the folder of the pictures (the current one).
"""

import argparse
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

SUMS = ("random, in order", "random, in pairs", "0.1, in order", "0.1, in pairs")
ERRORS = re.compile(r"^ +(\d+)((?: +[\d.]+e[+-]\d+){4})$", re.MULTILINE)
LIMITS = re.compile(r"^(?:fused multiply-adds|copy of \S+ MiB) +([\d.]+) G", re.MULTILINE)
KERNEL = re.compile(r"^(\S.*?) +([\d.]+) +([\d.]+)$", re.MULTILINE)


def errors_of(output):
    """Returns {name: [(n, relative error), ...]}, without errors of 0."""
    lines = {name: [] for name in SUMS}
    for n, errors in ERRORS.findall(output):
        for name, error in zip(SUMS, errors.split()):
            if float(error) > 0:
                lines[name].append((int(n), float(error)))
    return lines


def limits_of(output):
    """Returns (GFLOP/s of multiply-adds, GB/s of a copy)."""
    peak, bandwidth = LIMITS.findall(output)
    return float(peak), float(bandwidth)


def variants_of(output):
    """Returns {name: [(N, GFLOP/s), ...]} of the table of products."""
    table = output.split("\n\n")[1].splitlines()
    names = table[0].split("in GFLOP/s")[0].split()[1:]
    rows = [[float(word) for word in line.split()] for line in table[1:]]
    return {name: [(int(row[0]), row[k]) for row in rows] for k, name in enumerate(names, 1)}


def kernels_of(output):
    """Returns {name: (FLOP per byte, GFLOP/s)} of the kernels that compute little."""
    return {name: (float(intensity), float(speed))
            for name, intensity, speed in KERNEL.findall(output.split("\n\n")[2])}


def intensity(n):
    """Returns FLOP per byte of a product of n x n matrices, each moved once."""
    return 2 * n ** 3 / (3 * 4 * n ** 2)


def roof(peak, bandwidth, first, last):
    """Returns the corners of the roof between two intensities."""
    corner = peak / bandwidth
    return [(first, bandwidth * first), (corner, peak), (last, peak)]


def draw_sums(output, bin_dir, folder):
    lines = errors_of(output)
    sizes = [n for n, _ in lines[SUMS[0]]]
    predicted = {"2^-26 √n": [(n, 2 ** -26 * math.sqrt(n)) for n in sizes]}
    chart.draw(bin_dir, f"{folder}/sum_error.svg", type="line",
               title="The relative error of a sum of n floats",
               x=chart.log("n"), y=chart.log("relative error"),
               series=chart.series(lines) + chart.series(predicted, style="dotted"))
    return ["sum_error.svg"]


def draw_products(output, bin_dir, folder):
    peak, bandwidth = limits_of(output)
    variants = variants_of(output)
    chart.draw(bin_dir, f"{folder}/ladder.svg", type="line",
               title="Products of N x N matrices, one thread",
               x=chart.log("N"), y=chart.log("GFLOP/s"), series=chart.series(variants),
               references=[{"name": "peak: multiply-adds only", "y": peak}])

    largest = max(n for n, _ in variants["Eigen"])
    points = {name: [point] for name, point in kernels_of(output).items()}
    points.update({f"{name}, N = {largest}": [(intensity(largest), dict(speeds)[largest])]
                   for name, speeds in variants.items()})
    corners = {"roof: copy, multiply-adds": roof(peak, bandwidth, 0.05, 500)}
    chart.draw(bin_dir, f"{folder}/roofline.svg", type="line",
               title="A roofline of one core", x=chart.log("FLOP per byte"),
               y=chart.log("GFLOP/s"),
               series=chart.series(corners) + chart.series(points, style="points"))
    return ["ladder.svg", "roofline.svg"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("sums", "products"))
    parser.add_argument("--mine", action="store_true", help="measure your own kernels")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--svg", default=".", help="the folder of the pictures")
    options = parser.parse_args()

    program, draw = {"sums": ("sum_error", draw_sums),
                     "products": ("matmul_variants", draw_products)}[options.what]
    command = f"{options.bin}/{program}{'_mine' if options.mine else ''}"
    output = built.output_of([command])
    print(output)
    for name in draw(output, options.bin, options.svg):
        print(f"drawn: {options.svg}/{name}")


if __name__ == "__main__":
    main()

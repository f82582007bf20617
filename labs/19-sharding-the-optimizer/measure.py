#!/usr/bin/env python3
"""Counts the bytes that a rank holds, by stage and world size, and draws memory.svg.

    labs/19-sharding-the-optimizer/measure.py [--bin build/release/bin] [--model resnet18]

The bytes are counts of the allocator, not times: every run gives the same figures, on any
machine. Each bar is the rank that holds the most. The peaks, which contain activations and
buffers in flight, are only in the table.
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

RANKS = (1, 2, 3, 4, 7)
STAGES = {0: "DDP", 1: "stage 1", 2: "stage 2"}
BUCKETS = (25, 10, 4, 1)  # MiB; DDP's default first
KINDS = ("parameters", "gradients", "state")
MIB = 1 << 20


def run(options, stage, ranks, bucket=25):
    command = [f"{options.bin}/minirun", "-n", str(ranks), f"{options.bin}/{options.program}",
               "--stage", str(stage), "--model", options.model, "--bucket-cap-mb", str(bucket)]
    output = built.output_of(command)
    return json.loads(output.splitlines()[-1])


def fullest(report):
    """Returns the bytes of the rank that holds the most between backward and step."""
    ranks = zip(*(report[kind] for kind in (*KINDS, "peak")))
    return dict(zip((*KINDS, "peak"), max(ranks, key=lambda rank: sum(rank[:3]))))


def measure(options):
    """Runs each stage with each number of ranks, and prints each row when it is done."""
    print("| ranks | | parameters | gradients | state | together | peak |")
    print("|" + "---|" * 7, flush=True)
    found = {}
    for ranks in RANKS:
        for stage in STAGES:
            report = found[ranks, stage] = run(options, stage, ranks)
            rank = fullest(report)
            cells = [rank[kind] / MIB for kind in KINDS]
            cells += [sum(cells), max(report["peak"]) / MIB]
            print(f"| {ranks} | {STAGES[stage]} | "
                  + " | ".join(f"{cell:.1f}" for cell in cells) + " |", flush=True)
    return found


def print_peaks(options, ranks=4):
    print(f"\n| buckets of | peak on {ranks} ranks, DDP | stage 1 | stage 2 |\n|---|---|---|---|")
    for bucket in BUCKETS:
        peaks = [max(run(options, stage, ranks, bucket)["peak"]) / MIB for stage in STAGES]
        print(f"| {bucket} MiB | " + " | ".join(f"{peak:.1f}" for peak in peaks) + " |",
              flush=True)
    print()


def bars(found):
    """Returns series of stacked bars: in the group of each world size one bar per stage."""
    fullest_of = {key: fullest(report) for key, report in found.items()}
    return [{"name": kind, "stack": name,
             "values": [fullest_of[ranks, stage][kind] / MIB for ranks in RANKS]}
            for stage, name in STAGES.items() for kind in KINDS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="zero_memory", help="zero_memory_mine: your code")
    parser.add_argument("--model", default="resnet18", choices=("resnet10", "resnet18"))
    parser.add_argument("--svg", default="memory.svg")
    options = parser.parse_args()

    found = measure(options)
    print_peaks(options)
    for ranks in RANKS:
        plain, sharded = found[ranks, 0]["sha256"], found[ranks, 1]["sha256"]
        print(f"{ranks} ranks: stage 1 has DDP's parameters bit for bit: "
              f"{'yes' if set(plain) == set(sharded) else 'NO'}; "
              f"stage 2: {'yes' if set(plain) == set(found[ranks, 2]['sha256']) else 'no'}")
    chart.draw(options.bin, options.svg, type="bar",
               title="What the fullest of P ranks holds between backward and step, "
               f"{options.model} with Adam", axis="MiB",
               groups=[f"P = {ranks}" for ranks in RANKS], series=bars(found))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

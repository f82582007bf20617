#!/usr/bin/env python3
"""Counts the bytes that a rank keeps and sends, in four ways to train, and draws memory.svg.

    labs/21-fully-sharded/measure.py [--bin build/release/bin]
    labs/21-fully-sharded/measure.py times      predicts and measures steps on an emulated link

The bytes are counts: every run gives the same figures, on any machine. The resident memory is the
system's, and has the program itself in it. Times need a quiet machine.
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

RANKS = (1, 2, 4)
WAYS = {"ddp": "DDP", "zero1": "ZeRO 1", "zero2": "ZeRO 2", "fsdp": "FSDP"}
MIB = 1 << 20
LINK, BYTES_PER_MS = "1Gbit", 125_000
BATCHES = (4, 64)  # sequences of 16 tokens


def run(options, ranks, way, *more):
    command = [f"{options.bin}/minirun", "-n", str(ranks), f"{options.bin}/{options.program}",
               "--way", way, *more]
    return json.loads(built.output_of(command).splitlines()[-1])


def kept_by_formula(way, ranks):
    """Returns parameters, gradients and Adam's state, in parameters, as the paper has them."""
    return {"ddp": 4, "zero1": 2 + 2 / ranks, "zero2": 1 + 3 / ranks, "fsdp": 4 / ranks}[way]


def sent_by_formula(way, ranks):
    """Returns what a rank sends in a step, in parameters."""
    times = {"ddp": 2, "zero1": 3, "zero2": 2, "fsdp": 3}[way]
    return times * (ranks - 1) / ranks


def memory(options):
    """Prints a row for each number of ranks and way, when it is measured, and draws the chart."""
    print("| ranks | | kept | by formula | peak | sent | by formula | resident |")
    print("|" + "---|" * 8, flush=True)
    kept = {way: [] for way in WAYS}
    for ranks in RANKS:
        for way, name in WAYS.items():
            found = run(options, ranks, way)
            size = found["parameters"] / MIB
            most = {key: max(found[key]) / MIB for key in ("kept", "peak", "sent", "resident")}
            kept[way].append(most["kept"])
            print(f"| {ranks} | {name} | {most['kept']:.1f} | {size * kept_by_formula(way, ranks):.1f} "
                  f"| {most['peak']:.1f} | {most['sent']:.1f} | {size * sent_by_formula(way, ranks):.1f} "
                  f"| {most['resident']:.0f} |", flush=True)
    chart.draw(options.bin, options.svg, type="bar",
               title="What the fullest of P ranks keeps between two steps of Adam", axis="MiB",
               groups=[f"P = {ranks}" for ranks in RANKS],
               series=[{"name": WAYS[way], "values": values} for way, values in kept.items()])
    print(f"drawn: {options.svg}")


def times(options):
    """Prints the step of FSDP on two ranks: predicted from one rank's step and from the bytes."""
    print("| tokens | one rank | gathers, reduction | predicted | measured | without prefetch | DDP |")
    print("|" + "---|" * 7, flush=True)
    for batch in BATCHES:
        more = ("--batch-size", str(batch), "--steps", "12")
        alone = run(options, 1, "fsdp", *more)
        wire = alone["parameters"] / 2 / BYTES_PER_MS  # of one gather of everything
        linked = [run(options, 2, way, *more, "--link", LINK, *flags)["ms"]
                  for way, flags in (("fsdp", ()), ("fsdp", ("--no-prefetch",)), ("ddp", ()))]
        print(f"| {16 * batch} | {alone['ms']:.0f} | {wire:.0f}, {wire:.0f}, {wire:.0f} "
              f"| {predicted(alone['ms'], wire):.0f} | "
              + " | ".join(f"{ms:.0f}" for ms in linked) + " |", flush=True)


def predicted(compute, wire):
    """Returns the time of a step, if a third of the computation is the forward pass, and each pass
    takes the longer of its computation and of its messages."""
    return max(compute / 3, wire) + max(2 * compute / 3, 2 * wire)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", default="memory", choices=("memory", "times"))
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="fsdp_memory", help="fsdp_memory_mine: your code")
    parser.add_argument("--svg", default="memory.svg")
    options = parser.parse_args()
    memory(options) if options.what == "memory" else times(options)


if __name__ == "__main__":
    main()

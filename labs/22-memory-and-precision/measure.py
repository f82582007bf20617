#!/usr/bin/env python3
"""Counts the bytes of a transformer in training, with and without checkpoints and 16 bits.

    labs/22-memory-and-precision/measure.py [--bin build/release/bin] [--steps 20] [--losses]

Draws peak.svg. The bytes are counts of the allocator, the same on any machine. Times are of the
processor, medians of the steps of a run; the runs of a table are repeated in turns, and of each the
shortest is shown.
--losses also trains 4 blocks for 300 steps in float32, bfloat16 and float16.
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

LAYERS = 8
COUNTS = (0, 1, 2, 4, 8)  # layers in a checkpoint; 0: none
DTYPES = ("float32", "bfloat16", "float16")
MIB = 1 << 20


def run(options, checkpoint=0, dtype="float32", layers=LAYERS, steps=None):
    command = [f"{options.bin}/{options.program}", "--layers", str(layers), "--checkpoint",
               str(checkpoint), "--dtype", dtype, "--steps", str(steps or options.steps)]
    return json.loads(built.output_of(command).splitlines()[-1])


def shortest(options, settings):
    """Returns {setting: report} of the turn with the shortest step; settings are run in turns."""
    found = {}
    for _ in range(options.turns):
        for setting in settings:
            report = run(options, *setting)
            if setting not in found or report["step_s"] < found[setting]["step_s"]:
                found[setting] = report
    return found


def predicted_saved(plain, block, entry, count):
    """Bytes at the end of forward: the rest of the network's, and an input for each checkpoint."""
    return plain - LAYERS * block + -(-LAYERS // count) * entry


def predicted_seconds(plain, alone):
    """A step with checkpoints: one more forward pass of the blocks. `alone`: with one block."""
    blocks = (plain["forward_s"] - alone["forward_s"]) * LAYERS / (LAYERS - 1)
    return plain["step_s"] + blocks


def print_memory(options, found, shorter):
    plain = found[0, "float32"]
    block = (plain["saved"] - shorter["saved"]) // (LAYERS - LAYERS // 2)
    entry = 24 * 64 * 64 * 4
    print(f"a block saves {block / MIB:.2f} MiB, its input is {entry / MIB:.2f} MiB\n")
    print("| layers in a checkpoint | saved, predicted | saved | peak | step, predicted | step |")
    print("|" + "---|" * 6)
    for count in COUNTS:
        report = found[count, "float32"]
        saved = predicted_saved(plain["saved"], block, entry, count) if count else plain["saved"]
        seconds = (predicted_seconds(plain, run(options, layers=1, steps=5)) if count
                   else plain["step_s"])
        print(f"| {count or 'none'} | {saved / MIB:.1f} | {report['saved'] / MIB:.1f} | "
              f"{report['peak'] / MIB:.1f} | {1000 * seconds:.0f} ms | "
              f"{1000 * report['step_s']:.0f} ms |", flush=True)


def print_dtypes(found):
    print("\n| linear layers in | checkpoints | saved | peak | step |\n" + "|---" * 5 + "|")
    for (count, dtype), report in found.items():
        print(f"| {dtype} | {'each layer' if count else 'none'} | {report['saved'] / MIB:.1f} | "
              f"{report['peak'] / MIB:.1f} | {1000 * report['step_s']:.0f} ms |", flush=True)


def print_losses(options):
    print("\n| linear layers in | loss after 1, 30, 60, ... 300 steps | skipped |\n|---|---|---|")
    for dtype in DTYPES:
        report = run(options, dtype=dtype, layers=4, steps=300)
        print(f"| {dtype} | " + " ".join(f"{loss:.3f}" for loss in report["losses"])
              + f" | {report['skipped']} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="text_memory", help="text_memory_mine: your code")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3, help="of which the shortest counts")
    parser.add_argument("--losses", action="store_true")
    parser.add_argument("--svg", default="peak.svg")
    options = parser.parse_args()

    found = shortest(options, [(count, "float32") for count in COUNTS])
    print_memory(options, found, run(options, layers=LAYERS // 2, steps=2))
    dtypes = shortest(options, [(count, dtype) for dtype in DTYPES for count in (0, 1)])
    print_dtypes(dtypes)
    if options.losses:
        print_losses(options)
    chart.draw(options.bin, options.svg, type="bar",
               title=f"Peak of a training step, {LAYERS} blocks, 24 sequences of 64 characters",
               axis="MiB", groups=[f"{count} a checkpoint" if count else "none"
                                   for count in COUNTS],
               series=[{"name": what, "values": [found[count, "float32"][what] / MIB
                                                 for count in COUNTS]}
                       for what in ("saved", "peak")])
    print(f"\ndrawn: {options.svg}")


if __name__ == "__main__":
    main()

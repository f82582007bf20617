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
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import plot  # noqa: E402

RANKS = (1, 2, 3, 4, 7)
STAGES = {0: "DDP", 1: "stage 1", 2: "stage 2"}
BUCKETS = (25, 10, 4, 1)  # MiB; DDP's default first
KINDS = ("parameters", "gradients", "state")
MIB = 1 << 20


def run(options, stage, ranks, bucket=25):
    command = [f"{options.bin}/minirun", "-n", str(ranks), f"{options.bin}/{options.program}",
               "--stage", str(stage), "--model", options.model, "--bucket-cap-mb", str(bucket)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
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


def bars(found, model):
    """Returns a chart of stacked bars, one for each world size and stage, as SVG text."""
    heights = {key: [fullest(report)[kind] / MIB for kind in KINDS]
               for key, report in found.items()}
    top = max(sum(parts) for parts in heights.values())
    axis = plot.Axis([0, top], False, plot.HEIGHT - plot.BOTTOM - 18, plot.TOP)
    right = plot.WIDTH - 150
    group = (right - plot.LEFT) / len(RANKS)
    width = group / 4
    title = f"MiB that the fullest of P ranks holds between backward and step, {model} with Adam"
    parts = [plot.words(plot.LEFT - 44, 24, title, "title"),
             plot.words(plot.LEFT - 44, plot.TOP - 12, "MiB", "small"),
             plot.words((plot.LEFT + right) / 2, plot.HEIGHT - 8, "ranks P; bars: DDP, stage 1, "
                        "stage 2", "small", "middle")]
    for tick in axis.ticks:
        parts.append(f'<path d="M{plot.LEFT} {axis.at(tick):.1f}H{right}" class="grid"/>')
        parts.append(plot.words(plot.LEFT - 8, axis.at(tick) + 4, f"{tick:g}", "small", "end"))
    for place, ranks in enumerate(RANKS):
        middle = plot.LEFT + (place + 0.5) * group
        parts.append(plot.words(middle, plot.HEIGHT - plot.BOTTOM + 18, f"P = {ranks}", "",
                                "middle"))
        for stage in STAGES:
            x, height = middle + (stage - 1.5) * width + 1, 0.0
            for size, colour in zip(heights[ranks, stage], plot.COLOURS):
                low, high = axis.at(height), axis.at(height + size)
                parts.append(f'<rect x="{x:.1f}" y="{high:.1f}" width="{width - 2:.1f}" '
                             f'height="{low - high:.1f}" fill="{colour}" class="dot"/>')
                height += size
            parts.append(plot.words(x + width / 2 - 1, axis.at(0) + 14, "D12"[stage], "small",
                                    "middle"))
    for row, (kind, colour) in enumerate(reversed(list(zip(KINDS, plot.COLOURS)))):
        y = plot.TOP + 10 + 22 * row
        parts.append(f'<rect x="{right + 16}" y="{y - 10}" width="12" height="12" '
                     f'fill="{colour}" class="dot"/>')
        parts.append(plot.words(right + 34, y, kind))
    parts.append(plot.words(right + 16, plot.TOP + 84, "D  DDP", "small"))
    parts.append(plot.words(right + 16, plot.TOP + 102, "1, 2  stages of ZeRO", "small"))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plot.WIDTH} {plot.HEIGHT}" '
            f'width="{plot.WIDTH}" height="{plot.HEIGHT}" role="img" aria-label="{title}">\n'
            f"<style>{plot.STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")


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
    with open(options.svg, "w", encoding="utf-8") as file:
        file.write(bars(found, options.model))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

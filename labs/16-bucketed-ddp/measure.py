#!/usr/bin/env python3
"""DDP's step over the size of its buckets, on an emulated link: draws bucket_sweep.svg.

    labs/16-bucketed-ddp/measure.py [--bin build/release/bin] [--link 100Mbit,0.3ms] [--rounds 3]

Each figure is the median of the rounds; the sizes take turns, so that what else the machine does
falls on all of them alike.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import plot  # noqa: E402

CAPS_KIB = (0.01, 8, 16, 32, 64, 128)
AFTER = {"average, one a parameter": "average", "flat, one for all": "flat"}


def run(options, how):
    command = [f"{options.bin}/minirun", "-n", str(options.ranks), f"{options.bin}/train_mnist",
               "--data", "digits", "--steps", str(options.steps), "--batch-size",
               str(options.batch_size), "--link", options.link, "--json", *how]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True).stdout
    report = json.loads(output.splitlines()[-1])
    return {"ms": 1e3 * sum(report["seconds_per_epoch"]) / options.steps,
            "buckets": len(report["bucket_bytes"]), "hidden": report["statistics"]["hidden"]}


def sweep(options):
    """name -> the medians over the rounds."""
    ways = {cap: ["--sync", "ddp", "--bucket-cap-mb", str(cap / 1024)] for cap in CAPS_KIB}
    ways.update({name: ["--sync", sync] for name, sync in AFTER.items()})
    found = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, how in ways.items():
            found[name].append(run(options, how))
    return {name: {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}
            for name, turns in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--link", default="100Mbit,0.3ms")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--svg", default="bucket_sweep.svg")
    options = parser.parse_args()

    found = sweep(options)
    print("| buckets of | how many | ms a step | hidden |\n|---|---|---|---|")
    for name, row in found.items():
        size = f"{name:g} KiB" if name in CAPS_KIB else name
        print(f"| {size} | {row['buckets']:.0f} | {row['ms']:.1f} | {100 * row['hidden']:.0f} % |")

    # The smallest size stands for one bucket a parameter; the chart puts it at 1 KiB.
    line = [(max(cap, 1), found[cap]["ms"]) for cap in CAPS_KIB]
    plot.write(options.svg, title=f"Step time of {options.ranks} ranks on a link of {options.link}",
               x="bucket size in KiB (1 stands for a bucket each)", y="ms a step", log_x=True,
               lines={"DDP, in buckets": line},
               levels=[(name, found[name]["ms"]) for name in AFTER])
    print(f"\ndrawn: {options.svg}")


if __name__ == "__main__":
    main()

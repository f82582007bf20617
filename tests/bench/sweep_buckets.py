#!/usr/bin/env python3
"""DDP's step time over the size of its buckets, on an emulated slow link.

    sweep_buckets.py --bin build/release/bin [--link 100Mbit,1ms] [--ranks 2] [--rounds 3]
                     [--program train_mnist --data digits --steps 60]

Small buckets pay the link's delay again and again; one large bucket can hide nothing behind the
backward pass. Between them lies the best size: the U of Li et al. 2020, figure 7. Rows are medians
over the rounds, sizes taken in turn; beside them averaging after the backward pass, by one
all-reduce a parameter and by one for all.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

CAPS_KIB = (0.01, 4, 8, 16, 32, 64, 128)


def measure(options, how):
    command = [f"{options.bin}/minirun", "-n", str(options.ranks), f"{options.bin}/train_mnist", "--data",
               options.data, "--steps", str(options.steps), "--batch-size", str(options.batch_size),
               "--link", options.link, "--json", *how]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True).stdout
    report = json.loads(output.splitlines()[-1])
    return {"ms": sum(report["seconds_per_epoch"]) / options.steps * 1e3,
            "buckets": len(report["bucket_bytes"]),
            "hidden": report["statistics"]["hidden"]}


def ways():
    for cap in CAPS_KIB:
        yield f"{cap:g} KiB", ["--sync", "ddp", "--bucket-cap-mb", str(cap / 1024)]
    yield "average (one all-reduce a parameter)", ["--sync", "average"]
    yield "flat (one for all)", ["--sync", "flat"]
    yield "overlap (one a parameter during backward)", ["--sync", "overlap"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--link", default="100Mbit,1ms")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--data", default="digits")
    options = parser.parse_args()

    found = {name: [] for name, _ in ways()}
    for _ in range(options.rounds):
        for name, how in ways():
            found[name].append(measure(options, how))
    print(f"{options.ranks} ranks, link {options.link}, batch {options.batch_size}; {time.strftime('%Y-%m-%d')}; "
          f"load average {os.getloadavg()[0]:.1f}\n")
    print("| buckets of | how many | ms a step | hidden |\n|---|---|---|---|")
    for name, turns in found.items():
        middle = {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}
        print(f"| {name} | {middle['buckets']:.0f} | {middle['ms']:.1f} | {100 * middle['hidden']:.0f} % |")


main()

#!/usr/bin/env python3
"""Predicts the steps of lab 16's table before it measures them, and draws the shapes of scaling.

    labs/20-scaling-by-simulation/measure.py [--link 100Mbit,0.3ms] [--rounds 5]
    labs/20-scaling-by-simulation/measure.py --shapes        only the two charts
    ... --mine                                               by your functions, of your lab 16

The prediction comes from parts: all-reduces alone (mini bench allreduce), and training on one
rank that waits for no other, on as many ranks at a time as the measurement has, because they
share the machine. Each round of such runs gives a prediction. Then each way to exchange gradients
is measured, round by round. Figures are medians of the rounds; of the measured ones the minimum
and the maximum stand beside them.

The charts ranks.svg and buckets.svg need no measurement: they are predicted for the published
sizes of ResNet-50, and do not depend on the machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

SYNCS = ("none", "flat", "average", "ddp")
SIZES = "64,512,2K,8K,16K,32K,64K,128K"
QUIET = 0.5  # the largest load of the machine before a measurement that means something
DEMAND = 0.15  # the largest error that the lab accepts, on a quiet machine
HOSTS = "20Gbit,20us; hosts of 8: 1000Gbit,5us"
RANKS = (1, 8, 16, 32, 64, 128, 256, 512, 1024)
CAPS_MB = (0, 1, 5, 10, 25, 50, 100)


# ---- the parts

def bench(options, path):
    text = built.output_of([f"{options.bin}/mini", "bench", "allreduce", "--ranks",
                            str(options.ranks), "--link", options.link, "--sizes", SIZES,
                            "--seconds", str(options.seconds), "--format", "json"])
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def training(options):
    return [f"{options.bin}/train_mnist{options.mine}", "--data", "digits", "--steps", str(options.steps),
            "--bucket-cap-mb", str(options.cap_mb), "--json"]


def alone(options, folder):
    """Trains one rank on each of `ranks` processes at a time; returns the paths of their reports."""
    command = training(options) + ["--backend", "threads", "--ranks", "1", "--sync", "ddp",
                                   "--batch-size", str(options.batch_size // options.ranks)]
    running = [built.start(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
               for _ in range(options.ranks)]
    paths = []
    for rank, process in enumerate(running):
        text, _ = process.communicate()
        if process.returncode != 0:
            sys.exit(f"failed: {' '.join(command)}")
        paths.append(os.path.join(folder, f"rank{rank}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text.splitlines()[-1])
    return paths


def predict(options, bench_path, run_paths):
    return json.loads(built.output_of([
        f"{options.bin}/predict_step{options.mine}", "--bench", bench_path, "--run", ",".join(run_paths),
        "--ranks", str(options.ranks), "--bucket-cap-mb", str(options.cap_mb), "--json"]))


# ---- the measurement

def measure(options, sync):
    """Returns the milliseconds of a step."""
    command = [f"{options.bin}/minirun", "-n", str(options.ranks)] + training(options) + [
        "--batch-size", str(options.batch_size), "--link", options.link, "--sync", sync]
    report = json.loads(built.output_of(command).splitlines()[-1])
    return 1e3 * sum(report["seconds_per_epoch"]) / options.steps


def images_a_second(options, milliseconds):
    return options.batch_size / milliseconds * 1e3


def error_of(predicted, measured):
    return predicted / measured - 1


def print_table(options, predictions, measured):
    print("| way | predicted, ms a step | measured | error | predicted, images/s | measured |")
    print("|---|---|---|---|---|---|")
    errors = []
    for sync in SYNCS:
        expected = 1e3 * statistics.median(one["steps"][sync]["step_s"] for one in predictions)
        times = measured[sync]
        middle = statistics.median(times)
        errors.append(error_of(expected, middle))
        print(f"| {sync} | {expected:.1f} | {middle:.1f} ({min(times):.1f} to {max(times):.1f}) "
              f"| {100 * errors[-1]:+.0f} % "
              f"| {images_a_second(options, expected):,.0f} "
              f"| {images_a_second(options, middle):,.0f} |")
    worst = max(map(abs, errors))
    print(f"\nlargest error {100 * worst:.0f} %, {'within' if worst <= DEMAND else 'beyond'} the "
          f"{100 * DEMAND:.0f} % of the lab")


def predict_and_measure(options):
    load = os.getloadavg()[0]
    if load > QUIET:
        print(f"the machine is busy (load {load:.1f}): the figures below mean little\n")
    with tempfile.TemporaryDirectory() as folder:
        bench_path = os.path.join(folder, "bench.json")
        bench(options, bench_path)
        predictions = [predict(options, bench_path, alone(options, folder))
                       for _ in built.counted(range(options.rounds), "training alone: round")]
    link = predictions[0]  # as in every round: the bench ran once
    print(f"alpha {1e3 * link['alpha_s']:.3f} ms, beta {1e9 * link['beta_s']:.1f} ns; "
          f"the fit's largest error {100 * link['fit_error']:.0f} %\n", flush=True)
    measured = {sync: [] for sync in SYNCS}
    for _ in built.counted(range(options.rounds), "measuring: round"):
        for sync, times in measured.items():
            times.append(measure(options, sync))
    print_table(options, predictions, measured)


# ---- the shapes

def steps(options, ranks, caps):
    """Returns {(ranks, MiB): milliseconds} for ResNet-50."""
    rows = json.loads(built.output_of([
        f"{options.bin}/predict_step{options.mine}", "--model", "resnet50", "--link", HOSTS, "--ranks",
        ",".join(map(str, ranks)), "--bucket-cap-mb", ",".join(map(str, caps)), "--json"]))
    return {(row["ranks"], row["bucket_cap_mb"]): 1e3 * row["step_s"] for row in rows}


def draw(options):
    over_ranks = steps(options, RANKS, (0, 1, 25, 1000))
    names = {0: "a bucket for each", 1: "buckets of 1 MiB", 25: "buckets of 25 MiB",
             1000: "one bucket"}
    chart.draw(options.bin, "ranks.svg", type="line", title="A step of ResNet-50, predicted",
               x={"label": "ranks, 8 to a host", "log": True, "ticks": RANKS},
               y=chart.log("ms a step"),
               series=chart.series({name: [(P, over_ranks[P, cap]) for P in RANKS]
                                    for cap, name in names.items()}))
    over_caps = steps(options, (16, 32, 256), CAPS_MB)
    # A logarithmic axis has no 0: the bucket for each gradient stands at 0.1 MiB.
    ticks = [(max(cap, 0.1), f"{cap}" if cap else "one each") for cap in CAPS_MB]
    chart.draw(options.bin, "buckets.svg", type="line", title="A step of ResNet-50, predicted",
               x={"label": "bucket size in MiB", "log": True, "ticks": ticks},
               y=chart.log("ms a step"),
               series=chart.series({f"{P} ranks": [(max(cap, 0.1), over_caps[P, cap])
                                                   for cap in CAPS_MB]
                                    for P in (16, 32, 256)}))
    print("drawn: ranks.svg, buckets.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--mine", action="store_const", const="_mine", default="",
                        help="predict and train with your own code")
    parser.add_argument("--link", default="100Mbit,0.3ms")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--cap-mb", type=float, default=0.0625)
    parser.add_argument("--seconds", type=float, default=1.0, help="of the bench, for each size")
    parser.add_argument("--shapes", action="store_true", help="only draw the charts")
    options = parser.parse_args()

    draw(options)
    if not options.shapes:
        predict_and_measure(options)


if __name__ == "__main__":
    main()

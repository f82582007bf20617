#!/usr/bin/env python3
"""Measures accuracy, bytes and time of compressed gradients; draws accuracy_bytes.svg.

    labs/18-compressing-gradients/measure.py [--bin build/release/bin] [--link 5Mbit,1ms]

Two kinds of runs of train_mnist on two ranks, for each way to send gradients:

    accuracy   --epochs E, no link: the test accuracy, and the bytes that a rank sends in a step
    time       --steps S on an emulated link, R rounds: the mean step of a run, as the median of
               the rounds with the minimum and the maximum; each round measures all ways, so that
               other load affects all alike

Without --data (or $MINI_DATA_DIR/mnist) the runs use the embedded digits. `--program
train_mnist_mine` runs your code.
"""

import argparse
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

POWER_RANKS = (1, 2, 4)
RATIOS = (0.01, 0.001)


def power_sgd(rank):
    return ["--compress", "powersgd", "--matrix-approximation-rank", str(rank),
            "--start-powersgd-iter", "2"]


def top_k(ratio):
    return ["--compress", "topk", "--compress-ratio", str(ratio)]


def percent(ratio):
    return f"{100 * ratio:g} %"


def ways():
    """Returns {name: options of train_mnist}, in the order of the table."""
    found = {"float32": [], "fp16": ["--compress", "fp16"], "bf16": ["--compress", "bf16"]}
    for rank in POWER_RANKS:
        found[f"PowerSGD, r = {rank}"] = power_sgd(rank)
    found["PowerSGD, r = 1, no feedback"] = [*power_sgd(1), "--no-error-feedback"]
    for ratio in RATIOS:
        found[f"top {percent(ratio)}"] = top_k(ratio)
        found[f"top {percent(ratio)}, no feedback"] = [*top_k(ratio), "--no-error-feedback"]
    return found


# ---- the runs

def run(options, how):
    """Returns the report of one run of train_mnist."""
    command = [f"{options.bin}/minirun", "-n", str(options.ranks),
               f"{options.bin}/{options.program}", "--json", *how]
    if options.data:
        command += ["--data", options.data]
    output = built.output_of(command)
    return json.loads(output.splitlines()[-1])


def learn(options):
    """Returns {name: (accuracy, bytes that a rank sends in a step)}."""
    found = {}
    for name, how in built.counted(ways().items(), "training: way"):
        report = run(options, ["--epochs", str(options.epochs), *how])
        found[name] = report["test_accuracy"][-1], report["statistics"]["sent_bytes"]
    return found


def step_ms(report, steps):
    return 1e3 * sum(report["seconds_per_epoch"]) / steps


def times(options):
    """Returns {name: times of a step in ms, one a round}."""
    found = {name: [] for name in ways()}
    how = ["--link", options.link, "--steps", str(options.steps)]
    for _ in built.counted(range(options.rounds), "measuring steps: round"):
        for name, compression in ways().items():
            report = run(options, [*how, *compression])
            found[name].append(step_ms(report, options.steps))
    return found


# ---- the table and the chart

def row(cells):
    return "| " + " | ".join(cells) + " |"


def print_table(learnt, timed):
    exact = learnt["float32"][1]
    print(row(["gradients travel as", "bytes sent a step", "part", "accuracy", "ms a step"]))
    print("|" + "---|" * 5)
    for name, (accuracy, sent) in learnt.items():
        each = timed[name]
        print(row([name, f"{sent:,.0f}", f"1/{exact / sent:.0f}" if sent < exact else "1",
                   f"{accuracy:.4f}",
                   f"{statistics.median(each):.1f} ({min(each):.1f} to {max(each):.1f})"]))


def families(learnt):
    """Returns {family: [(bytes, accuracy), ...]}: the lines of the chart."""
    lines = {"float32, fp16, bf16": ["float32", "fp16", "bf16"],
             "PowerSGD, r = 4, 2, 1": [f"PowerSGD, r = {rank}" for rank in POWER_RANKS[::-1]],
             "top 1 %, 0.1 %": [f"top {percent(ratio)}" for ratio in RATIOS],
             "PowerSGD, r = 1, no feedback": ["PowerSGD, r = 1, no feedback"],
             "top 1 %, 0.1 %, no feedback": [f"top {percent(ratio)}, no feedback"
                                             for ratio in RATIOS]}
    return {family: [learnt[name][::-1] for name in names] for family, names in lines.items()}


def draw(options, learnt):
    chart.draw(options.bin, options.svg, type="line",
               title=f"Accuracy on the test images after {options.epochs} epoch"
               + "s" * (options.epochs > 1),
               x=chart.log("bytes that a rank sends in a step"), y="accuracy",
               series=chart.series(families(learnt)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="train_mnist", help="train_mnist_mine: your code")
    parser.add_argument("--data", default="", help="MNIST's folder, or \"digits\"")
    parser.add_argument("--link", default="5Mbit,1ms")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--svg", default="accuracy_bytes.svg")
    options = parser.parse_args()

    learnt = learn(options)
    print_table(learnt, times(options))
    draw(options, learnt)
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

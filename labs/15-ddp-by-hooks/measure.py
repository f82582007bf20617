#!/usr/bin/env python3
"""Compares three times to all-reduce, on links of several rates, and draws hook_overlap.svg.

    labs/15-ddp-by-hooks/measure.py [--bin build/release/bin] [--ranks 2] [--rounds 5]

Each figure is a ratio: the time of a step, divided by the time of a step without
communication in the same round, because other load on the machine slows both. The dotted
curves are predictions:

    average   a step without communication, plus all all-reduces
    flat      a step without communication, plus one all-reduce of all bytes
    overlap   each all-reduce starts when its gradient is ready and the previous
              all-reduce has ended

The times at which gradients are ready are taken from a run on the fastest link.
"""

import argparse
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

RATES = (10, 20, 50, 100, 200, 500)  # Mbit/s
SHOWN = 50                           # the rate for the table of gradients
WRAPPERS = ("average", "flat", "overlap")
RING_ABOVE = 16 << 10  # bytes; choose_algorithm in libmini/distributed/backends/transport_backend.cpp


def run(options, rate, wrapper):
    command = [f"{options.bin}/minirun", "-n", str(options.ranks), f"{options.bin}/hook_overlap",
               "--wrapper", wrapper, "--steps", str(options.steps),
               "--batch-size", str(options.batch_size), "--json"]
    link = {"MINI_LINK": f"{rate}Mbit,{options.delay_ms}ms"}
    output = built.output_of(command, env={**os.environ, **link})
    return json.loads(output.splitlines()[-1])


def sweep(options):
    """Returns {rate: [{wrapper: report}, one for each round]}."""
    found = {rate: [] for rate in RATES}
    for _ in range(options.rounds):
        for rate, rounds in found.items():
            rounds.append({wrapper: run(options, rate, wrapper)
                           for wrapper in ("none", *WRAPPERS)})
    return found


def ratios(rounds, wrapper):
    return [turn[wrapper]["step_ms"] / turn["none"]["step_ms"] for turn in rounds]


# ---- the prediction

def all_reduce_ms(size, rate, options):
    """Returns the time in ms of one all-reduce of `size` bytes: by recursive doubling up
    to RING_ABOVE bytes, else by a ring."""
    per_ms = rate * 1e3 / 8
    if size <= RING_ABOVE:
        return (options.ranks - 1).bit_length() * (options.delay_ms + size / per_ms)
    return 2 * (options.ranks - 1) * (options.delay_ms + size / options.ranks / per_ms)


def predicted(found, wrapper, rate, options):
    """Returns the predicted time of a step; 1 is a step without communication."""
    fastest = found[RATES[-1]]
    alone = statistics.median(turn["none"]["step_ms"] for turn in fastest)
    overlap = min((turn["overlap"] for turn in fastest), key=lambda report: report["step_ms"])
    gradients = sorted(overlap["gradients"], key=lambda gradient: gradient["begun_ms"])
    times = [all_reduce_ms(gradient["bytes"], rate, options) for gradient in gradients]
    if wrapper == "average":
        return 1 + sum(times) / alone
    if wrapper == "flat":
        total = sum(gradient["bytes"] for gradient in gradients)
        return 1 + all_reduce_ms(total, rate, options) / alone
    end = 0.0
    for gradient, time in zip(gradients, times):
        end = max(end, gradient["launched_ms"]) + time
    return 1 + max(0.0, end - overlap["backward_ms"]) / alone


# ---- the tables and the chart

def print_tables(found, options):
    print("| link | " + " | ".join(WRAPPERS) + " |\n" + "|---" * (1 + len(WRAPPERS)) + "|")
    for rate, rounds in found.items():
        cells = []
        for wrapper in WRAPPERS:
            all_ratios = ratios(rounds, wrapper)
            cells.append(f"{statistics.median(all_ratios):.2f} ({min(all_ratios):.2f} to "
                         f"{max(all_ratios):.2f}; {predicted(found, wrapper, rate, options):.2f})")
        print(f"| {rate} Mbit/s | " + " | ".join(cells) + " |")

    print(f"\n| gradient, on {SHOWN} Mbit/s | bytes | ready | begins | averaged |\n|---|---|---|---|---|")
    by_step = sorted((turn["overlap"] for turn in found[SHOWN]), key=lambda one: one["step_ms"])
    report = by_step[len(by_step) // 2]
    for gradient in sorted(report["gradients"], key=lambda one: one["begun_ms"]):
        percent = [f"{100 * gradient[key] / report['backward_ms']:.0f} %"
                   for key in ("launched_ms", "begun_ms", "ended_ms")]
        print(f"| {gradient['name']} | {gradient['bytes']:,} | " + " | ".join(percent) + " |")


def draw(found, options):
    measured = {wrapper: [(rate, statistics.median(ratios(rounds, wrapper)))
                          for rate, rounds in found.items()] for wrapper in WRAPPERS}
    curves = {f"{wrapper}, predicted": [(rate, predicted(found, wrapper, rate, options))
                                        for rate in RATES] for wrapper in WRAPPERS}
    chart.draw(options.bin, options.svg, type="line",
               title=f"A step of {options.ranks} ranks; 1 is a step without communication",
               x=chart.log("rate of the link in Mbit/s"),
               y=chart.from_zero("step time, as a multiple"),
               series=chart.series(measured) + chart.series(curves, style="dotted"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=1024, help="of each rank")
    parser.add_argument("--delay-ms", type=float, default=0.3)
    parser.add_argument("--svg", default="hook_overlap.svg")
    options = parser.parse_args()
    found = sweep(options)
    print_tables(found, options)
    draw(found, options)
    print(f"\ndrawn: {options.svg}")


if __name__ == "__main__":
    main()

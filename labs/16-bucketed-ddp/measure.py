#!/usr/bin/env python3
"""Measures DDP's step time by bucket size, on an emulated link, and draws bucket_sweep.svg.

    labs/16-bucketed-ddp/measure.py [--bin build/release/bin] [--link 100Mbit,0.3ms] [--rounds 5]

On a busy machine, `--rounds 10 --keep 5` starts each run when the machine is quiet, and keeps for
each size the 5 runs during which other processes used the least processor time.

Each figure is the median of the rounds, with the minimum and the maximum. Each round
measures every size, so that other load on the machine affects all sizes equally. The
dotted lines are the predictions of the README's formula: the step time without
communication, plus the all-reduces

    nothing hidden   all all-reduces run after the backward pass
    most hidden      all but the last bucket's run during the backward pass, up to its
                     duration
"""

import argparse
import json
import os
import resource
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

CAPS_KIB = (0.01, 8, 16, 32, 64, 128)
AFTER = {"average, one per parameter": "average", "flat, one for all": "flat"}
ALONE = "no exchange"
RING_ABOVE = 16 << 10  # bytes; choose_algorithm in libmini/distributed/backends/transport_backend.cpp
RATES = {"kbit": 1e3 / 8, "Mbit": 1e6 / 8, "Gbit": 1e9 / 8}
TIMES = {"us": 1e-3, "ms": 1.0, "s": 1e3}


# ---- the formula

def quantity(text, units):
    """Returns the number of a text such as 100Mbit or 0.3ms, times the unit's value."""
    unit = next(unit for unit in units if text.endswith(unit))
    return float(text.removesuffix(unit)) * units[unit]


def parse_link(text):
    """Returns (bytes per ms, delay in ms) of a link such as 100Mbit,0.3ms."""
    rate, _, delay = text.partition(",")
    return quantity(rate, RATES) / 1e3, quantity(delay, TIMES) if delay else 0.0


def all_reduce_ms(size, ranks, link):
    """Returns the time in ms of one all-reduce of `size` bytes: by recursive doubling up
    to RING_ABOVE bytes, else by a ring."""
    rate, delay = link
    if size <= RING_ABOVE:
        return (ranks - 1).bit_length() * (delay + size / rate)
    return 2 * (ranks - 1) * (delay + size / ranks / rate)


def predicted(alone, backward, sizes, ranks, link):
    """Returns the step time in ms for all-reduces of these sizes, as a pair: with nothing
    hidden, and with most hidden."""
    times = [all_reduce_ms(size, ranks, link) for size in sizes]
    step = alone + sum(times)
    return step, step - min(backward, sum(times[:-1]))


# ---- the measurement

def run(options, how):
    command = [f"{options.bin}/minirun", "-n", str(options.ranks), f"{options.bin}/{options.program}",
               "--data", "digits", "--steps", str(options.steps), "--batch-size",
               str(options.batch_size), "--link", options.link, "--json", *how]
    output = built.output_of(command)
    report = json.loads(output.splitlines()[-1])
    means = report["statistics"]
    return {"ms": 1e3 * sum(report["seconds_per_epoch"]) / options.steps,
            "buckets": report["bucket_bytes"], "hidden": means["hidden"],
            "communication": 1e3 * means["communication_s"], "backward": 1e3 * means["backward_s"]}


def busy_seconds():
    """Returns two processor times in seconds: of all processes since the machine started,
    and of the child processes of this program that have ended."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, soft = map(int, file.readline().split()[1:8])
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    everyone = (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
    return everyone, ours.ru_utime + ours.ru_stime


def wait_for_quiet(patience=60.0):
    """Blocks until 9/10 of the processors are idle for 0.7 s, at most `patience` s."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        start, (before, _) = time.monotonic(), busy_seconds()
        time.sleep(0.7)
        if busy_seconds()[0] - before < 0.1 * (time.monotonic() - start) * os.cpu_count():
            return


def run_beside_others(options, how):
    """Returns the result of run() and, as "others", the mean number of processors that
    other processes used during the run."""
    if options.keep:
        wait_for_quiet()
    start, (all_before, ours_before) = time.monotonic(), busy_seconds()
    found = run(options, how)
    all_after, ours_after = busy_seconds()
    others = all_after - all_before - (ours_after - ours_before)
    return found | {"others": max(0.0, others / (time.monotonic() - start))}


def quietest(runs, keep):
    return sorted(runs, key=lambda turn: turn["others"])[:keep or len(runs)]


def sweep(options):
    """Returns {name: runs}: one run per round or, with --keep, the quietest runs only."""
    ways = {cap: ["--sync", "ddp", "--bucket-cap-mb", str(cap / 1024)] for cap in CAPS_KIB}
    ways.update({name: ["--sync", sync] for name, sync in {**AFTER, ALONE: "none"}.items()})
    found = {name: [] for name in ways}
    for _ in built.counted(range(options.rounds), "measuring: round"):
        for name, how in ways.items():
            found[name].append(run_beside_others(options, how))
    return {name: quietest(runs, options.keep) for name, runs in found.items()}


def median(runs, key):
    return statistics.median(turn[key] for turn in runs)


def spread(runs):
    times = [turn["ms"] for turn in runs]
    return min(times), max(times)


def merged(found):
    """Returns [(sizes in KiB, runs)]; sizes that give the same buckets share one row."""
    rows = []
    for cap in CAPS_KIB:
        if rows and rows[-1][1][0]["buckets"] == found[cap][0]["buckets"]:
            rows[-1] = (rows[-1][0] + [cap], rows[-1][1] + found[cap])
        else:
            rows.append(([cap], found[cap]))
    return rows


# ---- the table and the chart

def row(cells):
    return "| " + " | ".join(cells) + " |"


def print_table(found, formula):
    print(row(["buckets of", "how many", "ms a step", "formula, ms", "all-reduce, ms", "hidden"]))
    print("|" + "---|" * 6)
    for caps, runs in merged(found):
        none, most = formula(runs[0]["buckets"])
        name = "one each" if caps[0] < 1 else " or ".join(f"{cap:g}" for cap in caps) + " KiB"
        print(row([name, str(len(runs[0]["buckets"])), times_of(runs), f"{most:.1f} to {none:.1f}",
                   f"{median(runs, 'communication'):.1f}", f"{100 * median(runs, 'hidden'):.0f} %"]))
    each, whole = found[CAPS_KIB[0]][0]["buckets"], [sum(found[CAPS_KIB[0]][0]["buckets"])]
    for name, sizes in zip(AFTER, (each, whole)):
        print(row([name, "-", times_of(found[name]), f"{formula(sizes)[0]:.1f}", "-", "0 %"]))
    print(row([ALONE, "-", times_of(found[ALONE]), "-", "-", "-"]))


def times_of(runs):
    low, high = spread(runs)
    return f"{median(runs, 'ms'):.1f} ({low:.1f} to {high:.1f})"


def draw(options, found, formula):
    # The smallest size means one bucket per parameter; the chart shows it at 1 KiB.
    places = {cap: max(cap, 1) for cap in CAPS_KIB}
    ticks = [[place, f"{cap}" if cap >= 1 else "one each"] for cap, place in places.items()]
    measured = [(places[cap], median(found[cap], "ms")) for cap in CAPS_KIB]
    none, most = ([(places[cap], formula(found[cap][0]["buckets"])[which]) for cap in CAPS_KIB]
                  for which in (0, 1))
    curves = {"formula, nothing hidden": none, "formula, most hidden": most}
    chart.draw(options.bin, options.svg, type="line",
               title=f"Step time of {options.ranks} ranks on a link of {options.link}",
               x={"label": "bucket size in KiB", "log": True, "ticks": ticks},
               y=chart.from_zero("ms a step"),
               series=chart.series({"DDP, in buckets": measured})
               + chart.series(curves, style="dotted"),
               references=[{"name": name, "y": median(found[name], "ms")}
                           for name in (*AFTER, ALONE)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="train_mnist", help="train_mnist_mine: your code")
    parser.add_argument("--link", default="100Mbit,0.3ms")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=int, default=0, help="the quietest rounds only")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--svg", default="bucket_sweep.svg")
    options = parser.parse_args()

    found = sweep(options)
    alone, backward = median(found[ALONE], "ms"), median(found[CAPS_KIB[-1]], "backward")

    def formula(sizes):
        return predicted(alone, backward, sizes, options.ranks, parse_link(options.link))

    print_table(found, formula)
    others = statistics.median(turn["others"] for runs in found.values() for turn in runs)
    print(f"\nbackward, with one bucket: {backward:.1f} ms; "
          f"other processes kept {others:.2f} processors busy")
    draw(options, found, formula)
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares all_reduce of real processes on an emulated link with the simulated cluster.

    compare_simulation.py [--bin build/release/bin] [--ranks 2,4,8] [--rounds 3]
                          [--links 100Mbit,5ms 1Gbit,1ms]
                          [--sizes 4,4096,65536,1048576,4194304]
                          [--algorithms recursive-doubling,ring,halving-doubling]

Measured: `mini bench allreduce --link L`; the median, over the rounds, of the medians that it prints.
Simulated: `simulate allreduce --link L`, in virtual time. Prints a table in Markdown for each
link: one row per algorithm and size, and for each number of ranks both times in milliseconds and
their ratio. A star marks a ratio that is not within 15 % of 1.

The two times can be compared only for algorithms in which all ranks finish together: `mini bench` times
a loop on rank 0, but the simulation times one all-reduce until the last rank has its result. `--seconds`
must be much longer than the delay of the link: in a loop of one or two all-reduces, rank 0 may leave the
barrier one delay later than the other ranks, whose messages have then already arrived.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys

TOLERANCE = 0.15


def rows_of(command):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output)["rows"]


def arguments_of(options, ranks, link, algorithm):
    return ["allreduce", "--ranks", str(ranks), "--sizes", options.sizes, "--link", link,
            "--algorithm", algorithm]


def measured_ms(options, *how):
    """Returns {bytes: milliseconds}, measured in one run."""
    rows = rows_of([f"{options.bin}/mini", "bench", *arguments_of(options, *how), "--seconds",
                    str(options.seconds), "--format", "json"])
    assert all(row["wrong"] == 0 for row in rows), rows
    return {row["size"]: row["time_us"] / 1e3 for row in rows}


def simulated_ms(options, *how):
    """Returns {bytes: milliseconds}, in virtual time."""
    rows = rows_of([f"{options.bin}/simulate", *arguments_of(options, *how), "--json"])
    return {row["size"]: row["seconds"] * 1e3 for row in rows}


def median_ms(rounds):
    return {size: statistics.median(times[size] for times in rounds) for size in rounds[0]}


def text_of(ms):
    return f"{ms:.2f}" if ms < 100 else f"{ms:.1f}"


def cell(measured, simulated):
    ratio = measured / simulated
    star = "" if abs(ratio - 1) <= TOLERANCE else " *"
    return f"{text_of(measured)} / {text_of(simulated)} = {ratio:.2f}{star}"


def print_rows(algorithm, found):
    """Prints a row for each size and returns its pairs of times. `found` has, for each number of
    ranks, the measured and the simulated {bytes: milliseconds}."""
    pairs = []
    for size in found[0][0]:
        times = [(measured[size], simulated[size]) for measured, simulated in found]
        pairs += times
        print("| " + " | ".join([algorithm, f"{size:,}", *(cell(*both) for both in times)]) + " |")
    return pairs


def measure_all(options, ways):
    """Returns {way: {bytes: milliseconds}}. Each round measures all ways, so that other load on the
    machine affects all of them."""
    rounds = {way: [] for way in ways}
    for number in range(options.rounds):
        for way in ways:
            rounds[way].append(measured_ms(options, *way))
        print(f"round {number + 1} of {options.rounds} is done", file=sys.stderr)
    return {way: median_ms(found) for way, found in rounds.items()}


def compare(options):
    """Prints the table; returns all pairs of measured and simulated times."""
    ranks = [int(word) for word in options.ranks.split(",")]
    algorithms = options.algorithms.split(",")
    ways = list(itertools.product(ranks, options.links, algorithms))
    simulated = {way: simulated_ms(options, *way) for way in ways}
    measured = measure_all(options, ways)

    pairs = []
    for link in options.links:
        print(f"\n{link}:\n")
        print("| algorithm | bytes | " + " | ".join(f"{P} ranks" for P in ranks) + " |")
        print("|" + "---|" * (2 + len(ranks)))
        for algorithm in algorithms:
            pairs += print_rows(algorithm, [(measured[P, link, algorithm],
                                             simulated[P, link, algorithm]) for P in ranks])
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--links", nargs="+", default=["100Mbit,5ms", "1Gbit,1ms"])
    parser.add_argument("--sizes", default="4,4096,65536,1048576,4194304")
    parser.add_argument("--algorithms", default="recursive-doubling,ring,halving-doubling")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    pairs = compare(parser.parse_args())
    close = sum(abs(measured / simulated - 1) <= TOLERANCE for measured, simulated in pairs)
    print(f"\nwithin {TOLERANCE:.0%}: {close} of {len(pairs)}", file=sys.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Counts the bytes that a rank keeps and sends, in four ways to train, and draws memory.svg.

    labs/21-fully-sharded/measure.py [--bin build/release/bin]
    labs/21-fully-sharded/measure.py times      predicts and measures steps on emulated links
    labs/21-fully-sharded/measure.py torch --python ~/torch/bin/python --steps 200

The bytes are counts: every run gives the same figures, on any machine. The resident memory is the
system's, and has the program itself in it. Times need a quiet machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

RANKS = (1, 2, 4)
WAYS = {"ddp": "DDP", "zero1": "ZeRO 1", "zero2": "ZeRO 2", "fsdp": "FSDP"}
MIB = 1 << 20
TOKENS = 16  # of a sequence


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
    """Prints the steps of two ranks on emulated links, measured and predicted.

    The unit of time is a step of FSDP without an emulated link, measured in the same round. W is the
    time of one gather of everything: without gathers ahead a step takes 1 + 3 W."""
    print("| tokens | link | W by the rate | W | FSDP | DDP | FSDP / DDP |")
    print("|---" * 7 + "|", flush=True)
    for batch in (tokens // TOKENS for tokens in options.tokens):
        for rate in options.rates:
            rounds = [measure(options, batch, rate) for _ in range(options.rounds)]
            by_rate = rounds[0]["parameters"] / 2 / (rate * 1e3 / 8)
            wires = [max(0.0, (each["no-prefetch"] / each["unit"] - 1) / 3) for each in rounds]
            wire = statistics.median(wires)
            foreseen = [fsdp_step(wire), ddp_step(wire), fsdp_step(wire) / ddp_step(wire)]
            found = [[each["fsdp"] / each["unit"] for each in rounds],
                     [each["ddp"] / each["unit"] for each in rounds],
                     [each["fsdp"] / each["ddp"] for each in rounds]]
            cells = [f"{statistics.median(values):.2f} ({predicted:.2f})"
                     for values, predicted in zip(found, foreseen)]
            unit = statistics.median(each["unit"] for each in rounds)
            print(f"| {TOKENS * batch} | {rate} Mbit/s | {by_rate / unit:.2f} | {wire:.2f} | "
                  + " | ".join(cells) + " |", flush=True)


def measure(options, batch, rate):
    """Returns the ms of a step in three ways on a link, and in one without an emulated link."""
    more = ("--batch-size", str(batch), "--steps", str(options.steps))
    alone = run(options, 2, "fsdp", *more)
    ways = {"fsdp": ("fsdp",), "no-prefetch": ("fsdp", "--no-prefetch"), "ddp": ("ddp",)}
    linked = {name: run(options, 2, *way, *more, "--link", f"{rate}Mbit")["ms"]
              for name, way in ways.items()}
    return {**linked, "unit": alone["ms"], "parameters": alone["parameters"]}


# ---- the prediction: lab 20's timeline, with gathers

# The parameters of the tables, which only look up, of the blocks, of ln_f and of lm_head.
UNITS = (12_288, 8_192, *[198_272] * 8, 256, 12_288)
TABLES = 2


def fsdp_step(wire, prefetch=True):
    """Returns the time of a step that computes for 1, if a gather of all units takes `wire`.

    A third of the computation is the forward pass. The link transfers one message at a time, in
    the order of the starts. A unit computes when the unit before has computed and its own gather
    has ended; the gather of the next unit is started then. A reduction is started when its unit
    has computed and the reduction before has ended."""
    products = sum(UNITS[TABLES:])
    calls = [(wire * size / sum(UNITS), size / products if place >= TABLES else 0)
             for place, size in enumerate(UNITS)]
    now = free = 0.0  # the computation's time, and when the link is free

    def transfer(seconds):
        nonlocal free
        free = max(now, free) + seconds
        return free

    for part, order in ((1 / 3, calls), (2 / 3, calls[::-1])):
        reduced = gathered = 0.0
        for place, (seconds, share) in enumerate(order):
            now = max(now, gathered if prefetch and place > 0 else transfer(seconds))
            if prefetch and place + 1 < len(order):
                gathered = transfer(order[place + 1][0])
            now += part * share
            if part > 1 / 2:  # the backward pass
                now = max(now, reduced)
                reduced = transfer(seconds)
        now = max(now, reduced)
    return now


def ddp_step(wire, buckets=6):
    """Returns the same for DDP, whose equal buckets become ready at equal distances in the
    backward pass. On two ranks an all-reduce takes twice the time of a gather."""
    end = 0.0
    for number in range(1, buckets + 1):
        end = max(end, 1 / 3 + 2 / 3 * number / buckets) + 2 * wire / buckets
    return max(1.0, end)


# ---- PyTorch beside it

def beside_torch(options):
    """Prints losses, time and memory of train_text --fsdp and of torch_fsdp.py, which does the same."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_fsdp.py")
    programs = {"libmini": [f"{options.bin}/minirun", "-n", "2", f"{options.bin}/train_text",
                            "--fsdp", "--sample", "1"],
                "PyTorch": [options.python, "-m", "torch.distributed.run", "--nproc-per-node", "2",
                            script]}
    found = {name: [] for name in programs}
    for turn in range(options.rounds):
        for name in list(programs)[::-1 if turn % 2 else 1]:
            found[name].append(trained(programs[name], options.steps))
            print(f"round {turn + 1}, {name}: {found[name][-1]}", file=sys.stderr, flush=True)
    for name, rounds in found.items():
        print(f"{name}: {rounds[0]['losses']}")
    print("\n| | processor time of a step and rank, ms | peak memory of a rank, MiB |")
    print("|---|---|---|")
    for name, rounds in found.items():
        cpu, peak = ([each[key] for each in rounds] for key in ("cpu", "peak"))
        print(f"| {name} | {statistics.median(cpu):.1f} ({min(cpu):.1f} to {max(cpu):.1f}) "
              f"| {statistics.median(peak):.0f} |")


def trained(program, steps):
    """Returns the losses, the processor time of a step and rank in ms, and the peak memory in MiB. A
    run of one step has the time of the start, which is subtracted."""
    every = ["--every", str(max(1, steps // 4))]
    lines, seconds, peak = timed([*program, "--steps", str(steps), *every])
    _, start, _ = timed([*program, "--steps", "1", *every])
    losses = ", ".join("step {1}: {3} ({5})".format(*line.split())
                       for line in lines if line.startswith("step"))
    return {"losses": losses, "cpu": (seconds - start) / (steps - 1) / 2 * 1e3, "peak": peak}


def timed(command):
    """Returns the output's lines, the processor time of all processes of a command in seconds, and
    the peak memory of the largest one in MiB."""
    alone = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    process = built.start(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **alone})
    lines = process.stdout.read().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with exit code {process.returncode}")
    return lines, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", default="memory", choices=("memory", "times", "torch"))
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="fsdp_memory", help="fsdp_memory_mine: your code")
    parser.add_argument("--rates", type=int, nargs="+", default=[10, 20, 50, 100, 200],
                        help="times: of the links, in Mbit/s")
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 1024],
                        help="times: of a rank in a step; multiples of 16")
    parser.add_argument("--rounds", type=int, default=3, help="times, torch: each median is of so many")
    parser.add_argument("--steps", type=int, default=6, help="times, torch: steps of a run")
    parser.add_argument("--python", default=sys.executable, help="torch: a Python that has PyTorch")
    parser.add_argument("--svg", default="memory.svg")
    options = parser.parse_args()
    {"memory": memory, "times": times, "torch": beside_torch}[options.what](options)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares libmini's all_reduce of float32 with Gloo's, for the same sizes in one session.

    compare_allreduce.py --mini build/bin/mini [--ranks 2] [--sizes 4,87360,1048576,26214400]
                         [--rounds 3] [--seconds 0.2] [--json]

Each round measures a size with `mini bench allreduce` over shared memory, over TCP, and with the Gloo
library (--no-verify: libmini does not compare the calls across ranks); then with PyTorch's gloo backend,
whose rank processes are idle during the other measurements; then a copy of as many bytes by one thread.
The report has the medians over the rounds in microseconds, and the ratios of Gloo's times to libmini's.
"""

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import time

import torch
import torch.distributed as dist

BATCHES = 9
OURS = {"shm": ["--medium", "shm"], "tcp": ["--medium", "tcp"]}
GLOO = {"gloo": ["--backend", "gloo", "--no-verify"]}
SIZES = "4,1024,16384,87360,1048576,4194304,26214400,104857600"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def measure_torch(size, seconds):
    """Returns the microseconds of one all_reduce on this rank: the median over batches of calls."""
    data = torch.zeros(max(size // 4, 1))
    for _ in range(3):
        dist.all_reduce(data)
    start = time.perf_counter()
    for _ in range(5):
        dist.all_reduce(data)
    once = torch.tensor([(time.perf_counter() - start) / 5])
    dist.all_reduce(once, op=dist.ReduceOp.MAX)
    repeats = max(1, min(20000, int(seconds / BATCHES / once.item())))
    times = []
    for _ in range(BATCHES):
        dist.barrier()
        start = time.perf_counter()
        for _ in range(repeats):
            dist.all_reduce(data)
        times.append((time.perf_counter() - start) / repeats * 1e6)
    return statistics.median(times)


def run_rank(rank, ranks, port, requests, answers):
    """Measures each size that a line of `requests` names; rank 0 writes the times to `answers`."""
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    for line in requests:
        size, seconds = line.split()
        answer = measure_torch(int(size), float(seconds))
        if rank == 0:
            answers.write(f"{answer}\n")
            answers.flush()


class TorchRanks:
    """PyTorch's ranks: processes that __init__ forks, and that are idle between measurements."""

    def __init__(self, ranks):
        port, self.requests, self.processes = free_port(), [], []
        answer_end, answering = os.pipe()
        for rank in range(ranks):
            request_end, requesting = os.pipe()
            process = os.fork()
            if process == 0:
                for pipe in self.requests:
                    pipe.close()
                os.close(requesting)
                with os.fdopen(request_end) as requests, os.fdopen(answering, "w") as answers:
                    run_rank(rank, ranks, port, requests, answers)
                os._exit(0)
            os.close(request_end)
            self.requests.append(os.fdopen(requesting, "w"))
            self.processes.append(process)
        os.close(answering)
        self.answers = os.fdopen(answer_end)

    def measure(self, size, seconds):
        for pipe in self.requests:
            pipe.write(f"{size} {seconds}\n")
            pipe.flush()
        return float(self.answers.readline())

    def close(self):
        for pipe in self.requests:
            pipe.close()
        for process in self.processes:
            os.waitpid(process, 0)


def measure_copy(size, seconds):
    """Returns the microseconds of copying `size` bytes on one thread."""
    source, target = torch.zeros(max(size // 4, 1)), torch.zeros(max(size // 4, 1))
    times = []
    end = time.perf_counter() + seconds / 4
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        target.copy_(source)
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def measure_mini(options, size, how):
    command = [options.mini, "bench", "allreduce", "--ranks", str(options.ranks), "--sizes", str(size),
               *how, "--seconds", str(options.seconds), "--format", "json"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    row = json.loads(output)["rows"][0]
    assert row["wrong"] == 0, row
    return row["time_us"]


def compare(options):
    theirs = TorchRanks(options.ranks)
    rows = []
    for size in (int(word) for word in options.sizes.split(",")):
        times = {name: [] for name in (*OURS, *GLOO, "torch", "copy")}
        for _ in range(options.rounds):
            for name, how in {**OURS, **GLOO}.items():
                times[name].append(measure_mini(options, size, how))
            times["torch"].append(theirs.measure(size, options.seconds))
            times["copy"].append(measure_copy(size, options.seconds))
        medians = {name: statistics.median(values) for name, values in times.items()}
        rows.append({"size": size, "us": medians})
    theirs.close()
    return rows


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} CPUs, {platform.system()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mini", default="build/release/bin/mini", help="the program mini")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default=SIZES, help="bytes, separated by commas")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of all backends per size")
    parser.add_argument("--seconds", type=float, default=0.2, help="duration of a measurement")
    parser.add_argument("--json", action="store_true", help="print rows as JSON, not as a table")
    options = parser.parse_args()

    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    rows = compare(options)
    head = (f"{machine()}; {options.ranks} ranks; PyTorch {torch.__version__}; "
            f"{time.strftime('%Y-%m-%d')}; load average {load:.1f} to {os.getloadavg()[0]:.1f}")
    if options.json:
        print(json.dumps({"session": head, "rows": rows}))
        return
    print(f"{head}\nmicroseconds, medians of {options.rounds} rounds; ratios: Gloo's time / libmini's\n")
    print("| bytes | shared memory | TCP | Gloo | PyTorch's gloo | one copy | Gloo / shm | Gloo / TCP "
          "| PyTorch / shm | PyTorch / TCP |\n|" + "---|" * 10)
    for row in rows:
        us = row["us"]
        ratios = [us[theirs] / us[ours] for theirs in ("gloo", "torch") for ours in OURS]
        print(f"| {row['size']:,} | " + " | ".join(f"{time:.1f}" for time in us.values()) + " | "
              + " | ".join(f"{ratio:.1f}" for ratio in ratios) + " |")


main()

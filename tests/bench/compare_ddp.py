#!/usr/bin/env python3
"""Compares libmini's training step of the ConvNet with PyTorch's, without and with DDP, in one session.

    compare_ddp.py --bin build/release/bin [--ranks 2] [--steps 469] [--rounds 3] [--json]

Each round runs train_mnist for --steps steps (global batch 128, one thread per rank, images in memory)
with --sync none and with --sync ddp. It then trains the same model in as many PyTorch processes, without
and with DistributedDataParallel over gloo. The report has the medians over the rounds in milliseconds per
step; the ratio of PyTorch's DDP step to libmini's; and for both libraries the cost of DDP: the time of a
DDP step divided by the time of a plain step with the same batch per rank.
"""

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn, optim

BATCH = 128


class ConvNet(nn.Module):
    """The tutorial's network."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.drop = nn.Dropout2d()
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.drop(self.conv2(x)), 2))
        x = F.dropout(F.relu(self.fc1(x.view(-1, 320))), training=self.training)
        return self.fc2(x)


def torch_step_ms(model, share, steps):
    """Returns the milliseconds per step on this rank. Batches are slices of one tensor in memory."""
    generator = torch.Generator().manual_seed(1)
    images = torch.rand(steps * share, 1, 28, 28, generator=generator)
    labels = torch.randint(10, (steps * share,), generator=generator)
    optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    start = None
    for i in range(steps):
        if i == steps // 10:  # the first steps are a warm-up
            start = time.perf_counter()
        x, y = images[i * share:(i + 1) * share], labels[i * share:(i + 1) * share]
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return (time.perf_counter() - start) / (steps - steps // 10) * 1e3


def run_torch_rank(options):
    """Runs one rank in PyTorch: measures the plain step and then the DDP step on this rank's share."""
    torch.set_num_threads(1)
    share = BATCH // options.ranks
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}",
                            rank=options.rank, world_size=options.ranks)
    model = ConvNet()
    dist.barrier()
    plain = torch_step_ms(model, share, options.steps)
    dist.barrier()
    ddp = torch_step_ms(nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True),
                        share, options.steps)
    if options.rank == 0:
        print(json.dumps({"plain": plain, "ddp": ddp}))
    dist.destroy_process_group()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def measure_torch(options):
    port = free_port()
    ranks = [subprocess.Popen(
        [sys.executable, __file__, "--rank", str(rank), "--port", str(port),
         "--ranks", str(options.ranks), "--steps", str(options.steps)],
        stdout=subprocess.PIPE, text=True) for rank in range(options.ranks)]
    outputs = [rank.communicate()[0] for rank in ranks]
    return json.loads(outputs[0].splitlines()[-1])


def measure_mini(options):
    def step_ms(sync):
        command = [f"{options.bin}/minirun", "-n", str(options.ranks), f"{options.bin}/train_mnist",
                   "--sync", sync, "--steps", str(options.steps), "--json", "--batch-size", str(BATCH)]
        if options.data:
            command += ["--data", options.data]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True).stdout
        report = json.loads(output.splitlines()[-1])
        return sum(report["seconds_per_epoch"]) / options.steps * 1e3

    return {"plain": step_ms("none"), "ddp": step_ms("ddp")}


def compare(options):
    rounds = [(measure_mini(options), measure_torch(options)) for _ in range(options.rounds)]
    median = {}
    for side, name in enumerate(("libmini", "torch")):
        for kind in ("plain", "ddp"):
            median[name, kind] = statistics.median(turn[side][kind] for turn in rounds)
    return {
        "ranks": options.ranks,
        "libmini_plain_ms": median["libmini", "plain"], "libmini_ddp_ms": median["libmini", "ddp"],
        "torch_plain_ms": median["torch", "plain"], "torch_ddp_ms": median["torch", "ddp"],
        "torch_over_libmini": median["torch", "ddp"] / median["libmini", "ddp"],
        "libmini_cost_of_ddp": median["libmini", "ddp"] / median["libmini", "plain"],
        "torch_cost_of_ddp": median["torch", "ddp"] / median["torch", "plain"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of minirun and train_mnist")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=469, help="steps per measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", default="", help="train_mnist's --data")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rank", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank >= 0:
        run_torch_rank(options)
        return

    load = os.getloadavg()[0]
    found = compare(options)
    if options.json:
        print(json.dumps(found))
        return
    print(f"{platform.machine()}, {os.cpu_count()} CPUs; {options.ranks} ranks, global batch {BATCH}; PyTorch "
          f"{torch.__version__}; {time.strftime('%Y-%m-%d')}; load average {load:.1f} to {os.getloadavg()[0]:.1f}\n")
    print("| | plain step | DDP step | cost of DDP |\n|---|---|---|---|")
    for name, title in (("libmini", "libmini"), ("torch", "PyTorch")):
        print(f"| {title} | {found[name + '_plain_ms']:.2f} ms | {found[name + '_ddp_ms']:.2f} ms "
              f"| {found[name + '_cost_of_ddp']:.2f} |")
    print(f"\nPyTorch's DDP step over libmini's: {found['torch_over_libmini']:.2f}")


main()

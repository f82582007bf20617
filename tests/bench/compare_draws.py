#!/usr/bin/env python3
"""Compares libmini's orders and initial weights with PyTorch's, bit for bit, and the losses of a training.

    compare_draws.py --mini build/release/bin/mini [--data MNIST'S FOLDER]

Libmini's orders come from `mini indices`, its initial weights and losses from train_mnist; train_mnist and minirun must be in the same folder as mini. The training is 20 steps of
the tutorial's job on two ranks with dropout; PyTorch uses DistributedDataParallel over gloo. If the folder
--data does not exist, the training is skipped.

Orders and weights must be bitwise identical. Losses may differ, because the two programs add
float32 numbers in different orders: the longest sum has 320 products (the inputs of fc1), each addition
rounds by at most 2^-24 of the sum, and losses are below 2.5, so that the difference of two losses must be
at most 320 * 2^-24 * 2.5 = 4.8e-5.

Prints "all equal" and exits with code 0, or prints "not all equal" and exits with code 1.
"""

import argparse
import json
import os
import pathlib
import platform
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, Subset, TensorDataset

from torch_data import read_images
from torch_models import ConvNet

SEEDS = (0, 1234, 2**32 + 5)
STEPS = 20
BATCH = 128  # samples per step, over both ranks
TOLERANCE = 320 * 2**-24 * 2.5


def answer(*words):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


class Comparison:
    """The rows of the table: what is compared, the number of cases, how, and the verdict."""

    def __init__(self, mini):
        self.mini = mini
        self.rows = []

    def bits(self, title, pairs):
        """Compares bit for bit. A pair has mini's arguments and PyTorch's result, a list."""
        wrong = sum(json.loads(answer(self.mini, *words, "--format", "json")) != expected
                    for words, expected in pairs)
        self.add(title, len(pairs), "every bit", f"{wrong} differ" if wrong else "equal")

    def add(self, title, cases, how, verdict):
        self.rows.append((title, cases, how, verdict))

    def print(self):
        print("| what | cases | compared | verdict |\n|---|---|---|---|")
        for row in self.rows:
            print("| " + " | ".join(str(cell) for cell in row) + " |")
        return all(verdict.startswith("equal") for *_, verdict in self.rows)


def generator(seed):
    return torch.Generator().manual_seed(seed)


def compare_orders(table):
    table.bits("torch.randperm", [(["indices", "randperm", "--n", n, "--seed", seed],
                                   torch.randperm(n, generator=generator(seed)).tolist())
                                  for n in (0, 1, 2, 100, 60_000) for seed in SEEDS])
    table.bits("RandomSampler", [(["indices", "random", "--len", n, "--seed", seed],
                                  list(RandomSampler(range(n), generator=generator(seed))))
                                 for n in (1, 10, 1000) for seed in SEEDS])
    weights = [0.1, 0.9, 0.4, 0.7, 3.0, 0.6]
    table.bits("torch.multinomial", [
        (["indices", "weighted", "--weights", ",".join(map(str, weights)), "--num-samples", n, "--seed", seed],
         torch.multinomial(torch.tensor(weights, dtype=torch.float64), n, True, generator=generator(seed)).tolist())
        for n in (1, 2, 100) for seed in SEEDS])
    pairs = []
    for ranks in (1, 2, 3, 4, 7):
        for n in (1, 10, 60_000):
            for rank in range(ranks):
                sampler = DistributedSampler(range(n), ranks, rank, seed=5)
                sampler.set_epoch(3)
                pairs.append((["indices", "distributed", "--len", n, "--replicas", ranks, "--rank", rank,
                               "--seed", 5, "--epoch", 3], list(sampler)))
    table.bits("DistributedSampler", pairs)
    table.bits("the tutorial's DataPartitioner", [
        (["indices", "partition", "--len", n, "--sizes", ",".join(map(repr, [1 / ranks] * ranks))], parts(n, ranks))
        for n in (10, 60_000) for ranks in (1, 2, 3, 7)])


def parts(n, ranks):
    """Returns the parts of the tutorial's DataPartitioner."""
    order = list(range(n))
    random.Random(1234).shuffle(order)
    share = int(1 / ranks * n)
    return [order[rank * share:(rank + 1) * share] for rank in range(ranks)]


def read_safetensors(path):
    content = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    return {name: content[8 + size:][slice(*entry["data_offsets"])]
            for name, entry in header.items() if name != "__metadata__"}


def compare_weights(table, train_mnist):
    """Compares the initial weights, which a step with learning rate 0 does not change."""
    wrong = cases = 0
    for seed in SEEDS:
        torch.manual_seed(seed)
        expected = {name: value.numpy().tobytes() for name, value in ConvNet().state_dict().items()}
        with tempfile.TemporaryDirectory() as folder:
            answer(train_mnist, "--data", "digits", "--steps", 1, "--lr", 0, "--seed", seed,
                   "--save", f"{folder}/weights", "--json")
            actual = read_safetensors(f"{folder}/weights")
        cases += len(expected)
        wrong += sum(actual.get(name) != value for name, value in expected.items())
    table.add("initial weights of the ConvNet", cases, "every bit", f"{wrong} differ" if wrong else "equal")


def read_mnist(folder):
    images, labels = read_images(folder, 60_000)
    return TensorDataset(images.unsqueeze(1).float().div(255).sub(0.1307).div(0.3081), labels)


def run_torch_rank(options):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}",
                            rank=options.rank, world_size=2)
    dataset = read_mnist(options.data)
    torch.manual_seed(1234)
    model = nn.parallel.DistributedDataParallel(ConvNet())
    optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    if options.partition == "tutorial":
        share = Subset(dataset, parts(len(dataset), 2)[options.rank])
        loader = DataLoader(share, batch_size=BATCH // 2, shuffle=True)
    else:
        sampler = DistributedSampler(dataset, 2, options.rank, seed=1234)
        loader = DataLoader(dataset, batch_size=BATCH // 2, sampler=sampler)
    losses = []
    for step, (x, y) in enumerate(loader):
        if step == STEPS:
            break
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(mean.item() / 2)
    if options.rank == 0:
        print(json.dumps(losses))
    dist.destroy_process_group()


def torch_losses(options, partition):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    ranks = [subprocess.Popen([sys.executable, __file__, "--rank", str(rank), "--port", str(port),
                               "--partition", partition, "--data", options.data, "--mini", options.mini],
                              stdout=subprocess.PIPE, text=True) for rank in range(2)]
    return json.loads([rank.communicate()[0] for rank in ranks][0].splitlines()[-1])


def compare_losses(table, options, folder):
    for partition in ("tutorial", "sampler"):
        output = answer(folder / "minirun", "-n", 2, folder / "train_mnist", "--data", options.data,
                        "--partition", partition, "--steps", STEPS, "--batch-size", BATCH, "--seed", 1234, "--json")
        ours = json.loads(output.splitlines()[-1])["step_loss"]
        theirs = torch_losses(options, partition)
        worst = max(abs(a - b) for a, b in zip(ours, theirs))
        equal = len(ours) == len(theirs) == STEPS and worst <= TOLERANCE
        table.add(f"losses of {STEPS} steps, 2 ranks, --partition {partition}", STEPS, f"within {TOLERANCE:.1e}",
                  f"{'equal' if equal else 'differ'}, at most {worst:.1e} apart")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mini", default="build/release/bin/mini")
    parser.add_argument("--data", default=os.path.join(os.environ.get("MINI_DATA_DIR", "data"), "mnist"))
    parser.add_argument("--rank", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--partition", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank >= 0:
        run_torch_rank(options)
        return

    folder = pathlib.Path(options.mini).resolve().parent
    table = Comparison(options.mini)
    compare_orders(table)
    compare_weights(table, folder / "train_mnist")
    if os.path.isdir(options.data):
        compare_losses(table, options, folder)
    print(f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}; PyTorch {torch.__version__}; "
          f"{time.strftime('%Y-%m-%d')}\n")
    equal = table.print()
    print("\nall equal" if equal else "\nnot all equal")
    sys.exit(0 if equal else 1)


main()

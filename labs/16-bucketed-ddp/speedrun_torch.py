#!/usr/bin/env python3
"""The recipe of speedrun.cpp in PyTorch: two ranks of DistributedDataParallel, one thread each.

    labs/16-bucketed-ddp/speedrun_torch.py FOLDER [--seeds 3] [--epochs 0.7]

FOLDER has MNIST's four files, compressed. Prints the accuracy and the seconds of each training, as speedrun does."""

import argparse
import gzip
import statistics
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

RANKS = 2


class Network(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5, bias=False)
        self.conv2 = nn.Conv2d(10, channels, 5, bias=False)
        self.norm1 = nn.BatchNorm2d(10)
        self.norm2 = nn.BatchNorm2d(channels)
        self.scores = nn.Linear(16 * channels, 10)

    def forward(self, x):
        y = F.relu(self.norm1(F.max_pool2d(self.conv1(x), 2)))
        y = F.relu(self.norm2(F.max_pool2d(self.conv2(y), 2)))
        return self.scores(y.flatten(1))


def load(folder, part):
    """Returns the normalised images and the labels, as tensors."""
    def read(name, header):
        data = bytearray(gzip.open(Path(folder) / f"{part}-{name}-ubyte.gz").read())
        return torch.frombuffer(data, dtype=torch.uint8, offset=header)
    images = read("images-idx3", 16).reshape(-1, 1, 28, 28).float().div_(255).sub_(0.1307).div_(0.3081)
    return images, read("labels-idx1", 8).long()


def train(options, rank, images, labels, seed):
    """Trains a new network; returns it and the seconds."""
    torch.manual_seed(seed)
    network = Network(options.channels)
    ddp = DistributedDataParallel(network, broadcast_buffers=False, gradient_as_bucket_view=True)
    sgd = torch.optim.SGD(ddp.parameters(), lr=options.lr, momentum=0.9, nesterov=True)
    sampler = DistributedSampler(range(len(images)), RANKS, rank, seed=seed)
    share = options.batch_size // RANKS
    per_epoch = len(sampler) // share
    steps = int(options.epochs * per_epoch)
    dist.barrier()
    start = time.perf_counter()
    for step in range(steps):
        if step % per_epoch == 0:
            sampler.set_epoch(step // per_epoch)
            order = torch.tensor(list(sampler))
        chosen = order[step % per_epoch * share:][:share]
        sgd.param_groups[0]["lr"] = options.lr * min(
            (step + 0.5) / (options.warmup * steps), (steps - step - 0.5) / ((1 - options.warmup) * steps))
        sgd.zero_grad()
        F.cross_entropy(ddp(images[chosen]), labels[chosen], label_smoothing=options.label_smoothing).backward()
        sgd.step()
    for buffer in network.buffers():
        dist.all_reduce(buffer)
        buffer.div_(RANKS) if buffer.is_floating_point() else buffer.floor_divide_(RANKS)
    dist.barrier()
    return network, time.perf_counter() - start


def rank_main(rank, options):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{options.meeting}", rank=rank, world_size=RANKS)
    images, labels = load(options.folder, "train")
    test, wanted = load(options.folder, "t10k")
    accuracies, times = [], []
    for seed in range(1, options.seeds + 1):
        network, seconds = train(options, rank, images, labels, seed)
        if rank:
            continue
        network.eval()
        with torch.no_grad():
            correct = sum(int((network(x).argmax(1) == y).sum()) for x, y in zip(test.split(200), wanted.split(200)))
        accuracies.append(correct / len(wanted))
        times.append(seconds)
        print(f"seed {seed:4}   test accuracy {accuracies[-1]:.4f}   {seconds:.2f} s", flush=True)
    if rank == 0:
        print(f"{options.seeds} seeds: mean accuracy {statistics.mean(accuracies):.5f}, "
              f"median {statistics.median(times):.2f} s")
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=float, default=0.7)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.15)
    parser.add_argument("--warmup", type=float, default=0.3)
    parser.add_argument("--label-smoothing", type=float, default=0.1)
    parser.add_argument("--channels", type=int, default=30)
    options = parser.parse_args()
    options.meeting = Path.cwd() / f".speedrun-{time.time_ns()}"
    try:
        torch.multiprocessing.spawn(rank_main, (options,), nprocs=RANKS)
    finally:
        options.meeting.unlink(missing_ok=True)


if __name__ == "__main__":
    main()

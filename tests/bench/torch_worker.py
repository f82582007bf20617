#!/usr/bin/env python3
"""The worker of compare.py on PyTorch's side; bench_worker.cpp is libmini's.

    torch_worker.py step --model convnet --batch 64 --threads 2 [--compile]
    torch_worker.py epoch --sync ddp --data FILES --rank 0 --ranks 2 --port P
    torch_worker.py all-reduce --bytes 4 --rank 0 --ranks 2 --port P
    torch_worker.py data --case randperm
    torch_worker.py first-step --data FILES --rank 0 --ranks 2 --port P

Reads lines from stdin, each a number of seconds, measures for about that time, and prints one line
of JSON per line; an epoch takes as long as it takes. first-step reads nothing. Each of several ranks
runs on its own core.
"""

import argparse
import json
import os
import resource
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

import torch_data
import torch_models

BATCHES = 9
GLOBAL_BATCH = 128


def seconds_each(seconds, work):
    """Returns the seconds of one run: the median over batches of runs, as timing.cpp does."""
    def time_of(runs):
        start = time.perf_counter()
        for _ in range(runs):
            work()
        return (time.perf_counter() - start) / runs

    once = time_of(1)
    if once * BATCHES > seconds:
        times, left = [once], seconds - once
        while left >= once:
            times.append(time_of(1))
            left -= times[-1]
        return statistics.median(times)
    runs = max(1, int(seconds / BATCHES / once))
    return statistics.median(time_of(runs) for _ in range(BATCHES))


def answer(measure):
    """Answers each line of stdin, a number of seconds, with a line of JSON."""
    for line in sys.stdin:
        print(json.dumps(measure(float(line))), flush=True)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)


def answer_step(options):
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model, image = torch_models.make(options.model)
    optimizer = sgd(model)
    images = torch.randn(options.batch, *image)
    labels = torch.zeros(options.batch, dtype=torch.int64)

    def loss_of(x, y):
        return F.cross_entropy(model(x), y)

    loss_function = torch.compile(loss_of) if options.compile else loss_of

    def step():
        optimizer.zero_grad()
        loss_function(images, labels).backward()
        optimizer.step()

    for _ in range(10 if options.model == "convnet" else 1):
        step()
    parameters = sum(parameter.numel() for parameter in model.parameters())
    answer(lambda seconds: {"ms": seconds_each(seconds, step) * 1e3, "parameters": parameters})


# Several ranks.

def join(options):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[options.rank % len(cores)]})
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}",
                            rank=options.rank, world_size=options.ranks)


def answer_all_reduce(options):
    join(options)
    data = torch.zeros(max(options.bytes // 4, 1))

    def measure(seconds):
        for _ in range(3):
            dist.all_reduce(data)
        start = time.perf_counter()
        for _ in range(5):
            dist.all_reduce(data)
        once = torch.tensor([(time.perf_counter() - start) / 5])
        dist.all_reduce(once, op=dist.ReduceOp.MAX)
        repeats = max(1, min(20_000, int(seconds / BATCHES / once.item())))
        times = []
        for _ in range(BATCHES):
            dist.barrier()
            start = time.perf_counter()
            for _ in range(repeats):
                dist.all_reduce(data)
            times.append((time.perf_counter() - start) / repeats * 1e6)
        return {"us": statistics.median(times)}

    answer(measure)


def average_gradients(model):
    """The tutorial's: one all-reduce per parameter."""
    size = float(dist.get_world_size())
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad.data, op=dist.ReduceOp.SUM)
        parameter.grad.data /= size


class Training:
    """One rank's training: --sync ddp, none, or tutorial: the tutorial as written."""

    def __init__(self, options):
        join(options)
        torch.manual_seed(1234)
        self.sync = options.sync
        images, labels = torch_data.read_images(options.data, options.images)
        part = torch_data.own_indices(len(labels), options.rank, options.ranks)
        batches = (torch_data.batches_as_written if self.sync == "tutorial"
                   else torch_data.batches_in_memory)
        self.epoch = batches(images, labels, part, GLOBAL_BATCH // options.ranks)
        self.model = torch_models.ConvNet()
        self.network = self.model
        if self.sync == "ddp":
            self.network = nn.parallel.DistributedDataParallel(
                self.model, gradient_as_bucket_view=True)
        self.optimizer = sgd(self.model)

    def step(self, data, target):
        self.optimizer.zero_grad()
        loss = F.nll_loss(F.log_softmax(self.network(data), dim=1), target)
        loss.backward()
        if self.sync == "tutorial":
            average_gradients(self.model)
        self.optimizer.step()
        return loss.item()


def answer_epoch(options):
    training = Training(options)

    def measure(seconds):
        """Trains an epoch; a request for less than 0.1 s is a warm-up of 20 steps."""
        dist.barrier()
        start = time.perf_counter()
        for i, (data, target) in enumerate(training.epoch()):
            training.step(data, target)
            if seconds < 0.1 and i == 20:
                break
        dist.barrier()
        return {"s": time.perf_counter() - start}

    answer(measure)


def run_first_step(options):
    options.sync = "ddp"
    training = Training(options)
    first = 0.0
    for i, (data, target) in enumerate(training.epoch()):
        training.step(data, target)
        if i == 0:
            first = time.monotonic()
        if i == options.steps - 1:
            break
    peak = torch.tensor(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    dist.all_reduce(peak, op=dist.ReduceOp.MAX)
    print(json.dumps({"first_step_at": first, "mib": peak.item()}), flush=True)
    dist.barrier()
    os._exit(0)  # the end of the interpreter has aborted ("terminate called without an active exception")


def answer_data(options):
    torch.set_num_threads(1)
    work = torch_data.make_case(options)
    answer(lambda seconds: {"s": seconds_each(seconds, work)})


ANSWERS = {"step": answer_step, "epoch": answer_epoch, "all-reduce": answer_all_reduce,
           "data": answer_data, "first-step": run_first_step}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=tuple(ANSWERS))
    parser.add_argument("--model", default="convnet")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--sync", default="ddp", choices=("ddp", "none", "tutorial"))
    parser.add_argument("--data", default="", help="folder of MNIST's files, or empty")
    parser.add_argument("--images", type=int, default=60_000)
    parser.add_argument("--case", default="randperm", help="of bench_worker data")
    parser.add_argument("--workers", type=int, default=0, help="processes of the loader")
    parser.add_argument("--samples", type=int, default=10_000_000, help="indices to permute")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--bytes", type=int, default=4)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    ANSWERS[options.what](options)


if __name__ == "__main__":
    main()

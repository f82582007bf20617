#!/usr/bin/env python3
"""Compares a training step of the ConvNet on a GPU with PyTorch's eager step on the same GPU.

    compare_cuda.py --mini build/gpu/bin/mini [--batch 128] [--rounds 5] [--seconds 0.5] [--json]

Each round measures libmini's step with `mini bench train-step`. It then measures PyTorch's step with the
same network, batch size and SGD with momentum, in float32, in series of steps with one synchronize per
series. The report has the medians over the rounds in microseconds, and their ratio.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

BATCHES = 9


def torch_step(batch):
    """Returns a function that runs one step in PyTorch."""
    import torch
    from torch.nn import functional

    from torch_models import ConvNet

    model = ConvNet().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    images = torch.ones(batch, 1, 28, 28, device="cuda")
    labels = torch.ones(batch, dtype=torch.int64, device="cuda")

    def step():
        optimizer.zero_grad()
        functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def measure_torch(step, seconds):
    """Returns the microseconds of a step: the median over series of steps, as in mini bench."""
    import torch

    def batch_of(repeats):
        start = time.perf_counter()
        for _ in range(repeats):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / repeats

    batch_of(10)
    repeats = max(1, int(seconds / BATCHES / batch_of(10)))
    return 1e6 * statistics.median(batch_of(repeats) for _ in range(BATCHES))


def measure_mini(arguments):
    """Returns the microseconds of a step."""
    with tempfile.TemporaryDirectory() as folder:
        rows = os.path.join(folder, "rows.json")
        subprocess.run([arguments.mini, "bench", "train-step", "--device", "cuda",
                        "--batch", str(arguments.batch), "--seconds", str(arguments.seconds),
                        "--json", rows], check=True, stdout=subprocess.DEVNULL)
        with open(rows, encoding="utf-8") as file:
            return json.load(file)["rows"][0]["us"]


def summary(rounds):
    """Returns the medians over rounds of (libmini, PyTorch), and their ratio."""
    ours, theirs = (statistics.median(times) for times in zip(*rounds))
    return {"libmini_us": ours, "torch_us": theirs, "times_as_fast": theirs / ours}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mini", required=True)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("compare_cuda.py needs PyTorch")
    if not torch.cuda.is_available():
        sys.exit("compare_cuda.py needs a GPU that PyTorch sees")

    step = torch_step(arguments.batch)
    rounds = [(measure_mini(arguments), measure_torch(step, arguments.seconds))
              for _ in range(arguments.rounds)]
    result = {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__,
              "batch": arguments.batch, **summary(rounds)}
    if arguments.json:
        print(json.dumps(result))
    else:
        print(f"{result['gpu']}, batch {result['batch']}: libmini {result['libmini_us']:.0f} us, "
              f"PyTorch {result['torch']} {result['torch_us']:.0f} us per step; "
              f"libmini {result['times_as_fast']:.2f} times as fast")


if __name__ == "__main__":
    main()

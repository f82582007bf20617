#!/usr/bin/env python3
"""Compares a training step on a GPU with PyTorch's step on the same GPU.

    compare_cuda.py --bin build/gpu/bin [--model convnet] [--batch 128] [--variant eager] [--json]

Each round measures libmini's step with bench_worker, which launches kernel by kernel in float32. It then measures PyTorch's step with the same network, batch size, SGD with momentum and random
images, in series of steps with one synchronize per series. The report has the medians over the rounds in
microseconds, and their ratio. The variants of PyTorch's step:

    eager        float32: TF32 is off for products, and for convolutions, where PyTorch has it on
    eager-tf32   the same with TF32 on for both
    compile      torch.compile, float32
    graph        the whole step replayed from a torch.cuda.CUDAGraph, float32
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

BATCHES = 9
VARIANTS = ["eager", "eager-tf32", "compile", "graph"]


def torch_step(model_name, batch, variant):
    """Returns a function that runs one step in PyTorch."""
    import torch
    from torch.nn import functional

    from torch_models import make

    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = variant == "eager-tf32"
    torch.backends.cudnn.allow_tf32 = variant == "eager-tf32"
    model, image = make(model_name)
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    images = torch.rand(batch, *image, device="cuda") * 2 - 1
    labels = torch.arange(batch, device="cuda") % 10
    network = torch.compile(model) if variant == "compile" else model

    def step():
        optimizer.zero_grad()
        functional.cross_entropy(network(images), labels).backward()
        optimizer.step()

    return captured(step) if variant == "graph" else step


def captured(step):
    """Returns a function that replays `step` from a CUDA graph."""
    import torch

    side = torch.cuda.Stream()  # PyTorch's documentation warms up in a stream of its own
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def measure_torch(step, seconds):
    """Returns the microseconds of a step: the median over series of steps."""
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
    words = [os.path.join(arguments.bin, "bench_worker"), "step", "--device", "cuda",
             "--model", arguments.model, "--batch", str(arguments.batch)]
    output = subprocess.run(words, input=f"{arguments.seconds}\n", check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    return 1e3 * json.loads(output)["ms"]


def summary(rounds):
    """Returns the medians over rounds of (libmini, PyTorch), and their ratio."""
    ours, theirs = (statistics.median(times) for times in zip(*rounds))
    return {"libmini_us": ours, "torch_us": theirs, "times_as_fast": theirs / ours}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the folder of bench_worker")
    parser.add_argument("--model", default="convnet", choices=["convnet", "resnet18", "resnet50"])
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--variant", default="eager", choices=VARIANTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("compare_cuda.py needs PyTorch")
    if not torch.cuda.is_available():
        sys.exit("compare_cuda.py needs a GPU that PyTorch sees")

    step = torch_step(arguments.model, arguments.batch, arguments.variant)
    rounds = [(measure_mini(arguments), measure_torch(step, arguments.seconds))
              for _ in range(arguments.rounds)]
    result = {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__,
              "model": arguments.model, "batch": arguments.batch, "variant": arguments.variant,
              **summary(rounds)}
    if arguments.json:
        print(json.dumps(result))
    else:
        print(f"{result['gpu']}, {result['model']}, batch {result['batch']}: "
              f"libmini {result['libmini_us']:.0f} us, PyTorch {result['torch']} "
              f"({result['variant']}) {result['torch_us']:.0f} us per step; "
              f"libmini {result['times_as_fast']:.2f} times as fast")


if __name__ == "__main__":
    main()

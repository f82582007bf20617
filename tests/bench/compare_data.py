#!/usr/bin/env python3
"""Compares libmini's samplers and loaders with PyTorch's, for the same cases in one session.

    compare_data.py --bench build/bin/data_bench [--rounds 3] [--repeats 2] [--json]

Each round runs a case of data_bench, then the same case in PyTorch with one thread. The report has the
best and the median seconds of all passes, and the ratio of PyTorch's median to libmini's. PyTorch's
pass over MNIST is compared with two of libmini's cases, mnist_* and transforms_*, see data_bench.cpp.
Without --torchvision, PyTorch's pass converts each image by a few tensor operations that give the result
of ToTensor and Normalize. With --torchvision, it uses PIL images and torchvision's transforms, as the
tutorial does.

MNIST is read from $MINI_DATA_DIR/mnist. If the files are missing, PyTorch's passes use random images of
the same size.
"""

import argparse
import gzip
import json
import os
import platform
import statistics
import subprocess
import time

try:
    import torch
except ModuleNotFoundError:
    raise SystemExit("compare_data.py compares with PyTorch: run it with a Python that has torch")
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

SAMPLES = 10_000_000
IMAGES = 60_000


class Sized:
    """The part of a dataset that a sampler uses: its length."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


def normalised(image):
    """Converts bytes (H, W) to floats (1, H, W), as ToTensor and Normalize do."""
    return image.unsqueeze(0).to(torch.float32).div(255).sub_(0.1307).div_(0.3081)


def torchvision_transform():
    from PIL import Image
    from torchvision import transforms

    transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
    return lambda image: transform(Image.fromarray(image.numpy(), mode="L"))


class Mnist(Dataset):
    """MNIST as in torchvision; `transform` takes the bytes of an image."""

    def __init__(self, images, labels, transform):
        self.images = images
        self.labels = labels
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image, label = self.images[index], int(self.labels[index])
        return self.transform(image), label


def read_mnist(images, transform):
    folder = os.path.join(os.environ.get("MINI_DATA_DIR", "data"), "mnist")

    def read(name, header):
        for path, opener in ((name, open), (name + ".gz", gzip.open)):
            path = os.path.join(folder, path)
            if os.path.exists(path):
                with opener(path, "rb") as file:
                    return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)
        return None

    pixels = read("train-images-idx3-ubyte", 16)
    labels = read("train-labels-idx1-ubyte", 8)
    if pixels is None or labels is None:
        pixels = torch.randint(0, 256, (images * 784,), dtype=torch.uint8)
        labels = torch.randint(0, 10, (images,), dtype=torch.uint8)
    return Mnist(pixels.view(-1, 28, 28)[:images], labels[:images].long(), transform)


def list_of_rank(n):
    sampler = DistributedSampler(Sized(n), num_replicas=3, rank=0, seed=0)
    epoch = 0

    def run():
        nonlocal epoch
        sampler.set_epoch(epoch)
        epoch += 1
        return len(list(iter(sampler)))

    return run


def permutation(n):
    def run():
        generator = torch.Generator()
        generator.manual_seed(0)
        return len(torch.randperm(n, generator=generator))

    return run


def load_all(dataset, batch_size, workers):
    loader = DataLoader(dataset, batch_size=batch_size, shuffle=True, num_workers=workers)
    return lambda: sum(len(data) for data, _ in loader)


def torch_cases(samples, images, transform):
    mnist = read_mnist(images, transform)
    cases = {"distributed_sampler": list_of_rank(samples), "randperm": permutation(samples)}
    for batch_size in (64, 128):
        for workers in (0, 2):
            cases[f"mnist_b{batch_size}_w{workers}"] = load_all(mnist, batch_size, workers)
    return cases


def mini_cases(name):
    """Returns the cases of data_bench that are compared with PyTorch's case `name`."""
    return [name, name.replace("mnist", "transforms")] if name.startswith("mnist") else [name]


def run_torch(case, repeats):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        case()
        seconds.append(time.perf_counter() - start)
    return seconds


def run_mini(options, name):
    command = [options.bench, "--case", name, "--repeats", str(options.repeats),
               "--samples", str(options.samples), "--images", str(options.images)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output)["seconds"]


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} CPUs, {platform.system()}"


def row(name, mini, theirs):
    return {"case": name, "mini_best": min(mini), "mini_median": statistics.median(mini),
            "torch_best": min(theirs), "torch_median": statistics.median(theirs),
            "ratio": statistics.median(theirs) / statistics.median(mini)}


def print_table(rows):
    print(f"{machine()}; PyTorch {torch.__version__}; {time.strftime('%Y-%m-%d')}")
    print("seconds per pass, best and median; ratio of the medians, PyTorch / libmini\n")
    print("| case | libmini | PyTorch | ratio |\n|---|---|---|---|")
    for r in rows:
        print(f"| {r['case']} | {r['mini_best']:.4f} {r['mini_median']:.4f} "
              f"| {r['torch_best']:.4f} {r['torch_median']:.4f} | {r['ratio']:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/bin/data_bench", help="the program data_bench")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of both sides per case")
    parser.add_argument("--repeats", type=int, default=2, help="measured passes per round")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="indices to permute")
    parser.add_argument("--images", type=int, default=IMAGES, help="images to load")
    parser.add_argument("--torchvision", action="store_true", help="torchvision's images and transforms")
    parser.add_argument("--json", action="store_true", help="print rows as JSON, not as a table")
    options = parser.parse_args()

    torch.set_num_threads(1)
    transform = torchvision_transform() if options.torchvision else normalised
    rows = []
    for name, case in torch_cases(options.samples, options.images, transform).items():
        mini, theirs = {ours: [] for ours in mini_cases(name)}, []
        case()  # not measured
        for _ in range(options.rounds):
            for ours, seconds in mini.items():
                seconds += run_mini(options, ours)
            theirs += run_torch(case, options.repeats)
        rows += [row(ours, seconds, theirs) for ours, seconds in mini.items()]
    if options.json:
        print(json.dumps({"machine": machine(), "torch": torch.__version__, "rows": rows}))
    else:
        print_table(rows)


main()

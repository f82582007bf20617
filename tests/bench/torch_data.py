"""PyTorch's data in compare.py: MNIST's files, the tutorial's loader, and the cases of
bench_worker data."""

import gzip
import pathlib
import random

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


def read_images(data, count):
    """Returns the bytes (N, 28, 28) and labels (N) of MNIST's files, or random ones if `data` is not a
    folder, of the same number as libmini's digits."""
    def read(name, header):
        for path, opener in ((name, open), (name + ".gz", gzip.open)):
            path = pathlib.Path(data, path)
            if path.exists():
                with opener(path, "rb") as file:
                    return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)
        raise SystemExit(f"{data} has no {name}")

    if data:
        images, labels = read("train-images-idx3-ubyte", 16), read("train-labels-idx1-ubyte", 8)
    else:
        images = torch.randint(0, 256, (60_000 * 784,), dtype=torch.uint8)
        labels = torch.randint(0, 10, (60_000,), dtype=torch.uint8)
    return images.view(-1, 28, 28)[:count], labels[:count].long()


def to_floats(image):
    """Converts bytes (H, W) to floats (1, H, W), as ToTensor and Normalize do."""
    return image.unsqueeze(0).to(torch.float32).div(255).sub_(0.1307).div_(0.3081)


def transform():
    """Returns the tutorial's transform: torchvision's if it is installed, else to_floats."""
    try:
        from PIL import Image
        from torchvision import transforms
    except ImportError:
        return to_floats
    both = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
    return lambda image: both(Image.fromarray(image.numpy(), mode="L"))


class Images(Dataset):
    """MNIST as in torchvision: each image is converted when it is read."""

    def __init__(self, images, labels):
        self.images, self.labels, self.transform = images, labels, transform()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.transform(self.images[index]), int(self.labels[index])


def own_indices(samples, rank, ranks):
    """Returns this rank's part, as the tutorial's DataPartitioner with seed 1234."""
    order = list(range(samples))
    random.Random(1234).shuffle(order)
    share = samples // ranks
    return order[rank * share:(rank + 1) * share]


def batches_in_memory(images, labels, part, size):
    """Yields batches of a tensor that holds this rank's part, normalised in advance."""
    part = torch.tensor(part)
    data = images[part].unsqueeze(1).float().div_(255).sub_(0.1307).div_(0.3081)
    target = labels[part]

    def epoch():
        order = torch.randperm(len(target))
        for batch in order.split(size):
            yield data[batch], target[batch]

    return epoch


def batches_as_written(images, labels, part, size):
    dataset = Subset(Images(images, labels), part)
    loader = DataLoader(dataset, batch_size=size, shuffle=True)
    return lambda: iter(loader)


class Sized:
    """The part of a dataset that a sampler uses: its length."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


def make_case(options):
    """Returns the work of one pass of a case of bench_worker data."""
    if options.case == "randperm":
        generator = torch.Generator().manual_seed(0)
        return lambda: torch.randperm(options.samples, generator=generator)
    if options.case == "distributed_sampler":
        sampler = DistributedSampler(Sized(options.samples), num_replicas=3, rank=0, seed=0)
        return lambda: list(iter(sampler))
    loader = DataLoader(Images(*read_images(options.data, options.images)), shuffle=True,
                        batch_size=options.batch, num_workers=options.workers)
    return lambda: sum(len(batch) for batch, _ in loader)

"""Writes transforms.json: the images that torchvision's transforms return, and the next draw.

Run with PyTorch 2.15 and its torchvision on a CPU: python3 make_transforms.py
Byte k of an input image (C, H, W) is (31 k + 7) mod 256. "next" is the int64 that random_() draws
from the default generator after the calls. Floats are written as the hexadecimal digits of their
bits.
"""

import json
import os
import struct

import torch
import torchvision
from torchvision import transforms

HERE = os.path.dirname(os.path.abspath(__file__))


def image(*shape):
    count = shape[0] * shape[1] * shape[2]
    return ((31 * torch.arange(count) + 7) % 256).to(torch.uint8).view(shape)


def to_tensor(bytes):  # ToTensor takes (H, W, C)
    return transforms.ToTensor()(bytes.permute(1, 2, 0).contiguous().numpy())


def hex_floats(x):
    return [struct.pack(">f", value).hex() for value in x.flatten().tolist()]


def next_seed():
    return int(torch.empty((), dtype=torch.int64).random_())


def run(transform, x, seed, calls):
    torch.manual_seed(seed)
    outputs = [transform(x) for _ in range(calls)]
    return {"outputs": [y.flatten().tolist() for y in outputs], "shape": list(outputs[0].shape),
            "next": next_seed()}


def crops():
    for shape, size, padding in [((1, 5, 7), (3, 3), 0), ((2, 4, 4), (4, 4), 0), ((1, 4, 6), (4, 3), 0),
                                 ((1, 4, 4), (4, 4), 2), ((2, 2, 3), (4, 5), 1), ((1, 1, 1), (2, 1), 3)]:
        transform = transforms.RandomCrop(size, padding=padding or None)
        yield {"kind": "crop", "image": shape, "size": size, "padding": padding, "seed": 3,
               **run(transform, image(*shape), 3, 12)}


def flips():
    for p in (0.0, 0.1, 0.5, 1.0):
        yield {"kind": "flip", "image": (2, 2, 3), "p": p, "seed": 11,
               **run(transforms.RandomHorizontalFlip(p), image(2, 2, 3), 11, 16)}


def augmentations():
    both = transforms.Compose([transforms.RandomCrop(4, padding=1), transforms.RandomHorizontalFlip()])
    yield {"kind": "augment", "image": (3, 4, 4), "size": (4, 4), "padding": 1, "p": 0.5, "seed": 1234,
           **run(both, image(3, 4, 4), 1234, 12)}


def values():
    for mean, std in [((0.1307,), (0.3081,)), ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), ((-1.5,), (1e-3,))]:
        x = to_tensor(image(len(mean), 16, 16))  # every value of a byte
        yield {"kind": "normalise", "image": tuple(x.shape), "mean": mean, "std": std,
               "scaled": hex_floats(x), "normalised": hex_floats(transforms.Normalize(mean, std)(x))}


def main():
    meta = {"torch": torch.__version__, "torchvision": torchvision.__version__, "script": "make_transforms.py"}
    cases = [*crops(), *flips(), *augmentations(), *values()]
    with open(os.path.join(HERE, "transforms.json"), "w") as file:
        json.dump({"meta": meta, "cases": cases}, file, separators=(",", ":"))


main()

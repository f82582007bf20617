"""Short runs of train_mnist on a few random images, for the tests of what a run records."""

import random
import struct
import subprocess
import tempfile
from pathlib import Path

TRAIN_IMAGES, TEST_IMAGES, SIDE, CLASSES = 60, 40, 28, 10
STEPS, BATCH = 4, 12  # of all ranks together


def write_images(folder):
    """Writes random images with labels, as MNIST's files."""
    numbers = random.Random(1)
    for part, count in (("train", TRAIN_IMAGES), ("t10k", TEST_IMAGES)):
        pixels = struct.pack(">4I", 0x803, count, SIDE, SIDE) + numbers.randbytes(count * SIDE * SIDE)
        labels = struct.pack(">2I", 0x801, count) + bytes(i % CLASSES for i in range(count))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(pixels)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(labels)


def train(programs, *options, ranks=2, steps=STEPS):
    """Trains for so many steps, with the programs of a folder; returns what train_mnist prints."""
    with tempfile.TemporaryDirectory() as data:
        write_images(Path(data))
        words = [programs / "minirun", "-n", ranks, programs / "train_mnist", "--data", data,
                 "--steps", steps, "--batch-size", BATCH, *options]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout

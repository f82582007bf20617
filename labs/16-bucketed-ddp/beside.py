#!/usr/bin/env python3
"""Trains MNIST with your library, with libmini's own code of the same files, and with libmini's faster
extras, and compares the three with PyTorch. `labs/lab demo --mine` runs it.

    labs/16-bucketed-ddp/beside.py [-n 2] [options of train_mnist]

Your training is recorded in the folder of --logdir, if that is given. Lines are those of files of libmini/,
without comments and blank lines."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "labs"))
import built  # noqa: E402
from lab_tool.projection import files_of  # noqa: E402
from lab_tool.workspace import Workspace  # noqa: E402

RUNS = (("your library", "train_mnist_mine", ["--plain"]), ("libmini's own", "train_mnist", ["--plain"]),
        ("libmini with extras", "train_mnist", []))
EPOCH = re.compile(r"epoch +\d+ .*accuracy (\S+) +(\S+) s")
PYTORCH = """
PyTorch 2.15, two ranks: 0.954 and 0.956 on MNIST after 3 epochs with two seeds; 3.4 s an epoch on a machine with
AVX-512, 10.5 s on one with AVX2 (docs/measurements.md)."""


def lines_of(paths):
    code = (line.strip() for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return sum(bool(line) and not line.startswith("//") for line in code)


def train(title, ranks, program, options):
    """Runs a training, whose output it prints; returns its last accuracy, and its fastest epoch."""
    print(f"\n{title}", flush=True)
    command = ["build/release/bin/minirun", "-n", ranks, f"build/release/bin/{program}", *options]
    epochs = []
    with built.start(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            epochs += EPOCH.findall(line)
    if process.returncode:
        sys.exit(process.returncode)
    return epochs[-1][0], min(float(seconds) for _, seconds in epochs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", default="2")
    parser.add_argument("--logdir")
    parser.add_argument("--plain", action="store_true", help="ignored: the first two are plain")
    options, more = parser.parse_known_args()
    workspace = Workspace()
    files = {path: name for path, name in files_of(
        workspace, {lab.number for lab in workspace.catalogue.labs}).items() if path.startswith("libmini/")}
    replaced = [path for path in map(ROOT.joinpath, files) if path.exists()]
    lines = [f"{lines_of(map(workspace.folder.joinpath, files.values())):,}", f"{lines_of(replaced):,}", ""]
    rows = []
    for title, program, plain in RUNS:
        logdir = ["--logdir", options.logdir] if options.logdir and not rows else []
        rows.append((title, *train(title, options.n, program, [*more, *plain, *logdir])))
    print(f"\n{len(files)} files of the library are yours.\n\n{'':20} {'lines':>6}  accuracy  fastest epoch")
    for (title, accuracy, seconds), count in zip(rows, lines):
        print(f"{title:20} {count:>6}  {accuracy:>8}  {seconds:>11.1f} s")
    print(PYTORCH)


if __name__ == "__main__":
    main()

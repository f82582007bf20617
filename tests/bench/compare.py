#!/usr/bin/env python3
"""Measures libmini, PyTorch, Gloo and MPI in turn, and prints tables in Markdown.

    MINI_DATA_DIR=... tests/bench/compare.py --python ~/torch/bin/python
    tests/bench/compare.py --only step,all-reduce --rounds 3

    step         a training step of the tutorial's ConvNet, and of ResNet-18
    epoch        an epoch of MNIST on two ranks
    all-reduce   float32, on 2 and 4 ranks
    data         samplers and loaders
    start        two ranks: from the start to the first step; peak memory

A round measures each contender once. A figure is the median of the rounds; a ratio is the median of
the rounds' ratios, with the lowest and the highest in brackets. Nothing else may run meanwhile: a
wide spread says that something did. A contender that does not start is left out, and its error is
printed. Build first: labs/lab test builds bench_worker, mini, minirun and train_mnist.
"""

import argparse
import json
import os
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TORCH_WORKER = ROOT / "tests/bench/torch_worker.py"
DEADLINE = 600  # seconds of one measurement, or of a start with torch.compile
SIZES = (4, 87_360, 1 << 20, 25 << 20)  # 87,360 bytes are the ConvNet's gradients
# glibc returns freed memory to the system, and its pages cost a fault each when they are used
# again. These settings keep the memory, which makes PyTorch's steps up to a fifth faster.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "4294967296",
               "MALLOC_TOP_PAD_": "268435456"}
PORT = "a free port"  # a word of a command, replaced at each start
BOTH_RANKS = '"$@" --rank 1 >/dev/null & "$@" --rank 0 && wait'


class Failure(Exception):
    """A contender cannot be measured."""


def environment(threads=1):
    return {**os.environ, **KEEP_MEMORY, "OMP_NUM_THREADS": str(threads),
            "GLOO_SOCKET_IFNAME": "lo", "PYTHONDONTWRITEBYTECODE": "1"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Once:
    """A command that is started for each measurement; `value_of` takes the last line of its output,
    as JSON, and the time of the start."""

    def __init__(self, command, value_of):
        self.command, self.value_of = [str(word) for word in command], value_of

    def measure(self, _seconds):
        command = [str(free_port()) if word == PORT else word for word in self.command]
        start = time.monotonic()
        try:
            done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
                                  capture_output=True, timeout=DEADLINE, check=True)
        except subprocess.CalledProcessError as error:
            raise Failure(error.stderr.strip().split("\n")[-1]) from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure(str(error)) from None
        return self.value_of(json.loads(done.stdout.strip().split("\n")[-1]), start)

    def stop(self):
        pass


class Workers:
    """Processes that stay: each reads a number of seconds and answers with a line of JSON. They are
    the ranks of one job, or one process alone. The figure is that of the slowest."""

    def __init__(self, command, key, ranks=0, threads=1):
        self.key, self.processes, self.errors = key, [], tempfile.TemporaryFile("w+")
        port = free_port()
        for rank in range(max(ranks, 1)):
            own = ["--rank", rank, "--ranks", ranks, "--port", port] if ranks else []
            self.processes.append(subprocess.Popen(
                [str(word) for word in (*command, *own)], env=environment(threads), text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors))

    def measure(self, seconds):
        try:
            for process in self.processes:
                process.stdin.write(f"{seconds}\n")
                process.stdin.flush()
        except BrokenPipeError:
            self.fail()
        return max(self.answer_of(process)[self.key] for process in self.processes)

    def answer_of(self, process):
        ready, _, _ = select.select([process.stdout], [], [], DEADLINE)
        line = process.stdout.readline() if ready else ""
        return json.loads(line) if line else self.fail()

    def fail(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.errors.seek(0)
        raise Failure(self.errors.read().strip().split("\n")[-1] or "it has not answered")

    def stop(self):
        for process in self.processes:
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass
        for process in self.processes:
            process.wait()
            process.stdout.close()
        self.errors.close()


class Cases:
    """Each method yields (case, unit, seconds, {contender: function that makes it})."""

    def __init__(self, options):
        self.bin, self.python, self.quick = options.bin, options.python, options.quick
        self.data = str(Path(os.environ.get("MINI_DATA_DIR", ROOT / "data"), "mnist"))
        self.data = self.data if Path(self.data).is_dir() else ""

    def ours(self, *words, key):
        return lambda: Workers([self.bin / "bench_worker", *words], key)

    def torch(self, *words, key, ranks=0, threads=1):
        return lambda: Workers([self.python, TORCH_WORKER, *words], key, ranks, threads)

    def step(self):
        models = [("convnet", 8)] if self.quick else [
            ("convnet", 64), ("convnet", 128), ("resnet18", 32)]
        for model, batch in models:
            for threads in (1,) if self.quick else (1, 2):
                words = ["step", "--model", model, "--batch", batch, "--threads", threads]
                contenders = {"libmini": self.ours(*words, key="ms"),
                              "PyTorch": self.torch(*words, key="ms", threads=threads)}
                if model == "convnet":
                    contenders["torch.compile"] = self.torch(*words, "--compile", key="ms",
                                                             threads=threads)
                yield f"{model}, batch {batch}, threads: {threads}", "ms", 0.5, contenders

    def epoch(self):
        """libmini trains two epochs, and the second is measured: PyTorch's ranks are warm too."""
        length = ["--steps", 6] if self.quick else ["--epochs", 2]
        images = ["--images", 6 * 128] if self.quick else []
        for ours, theirs in (("ddp", "ddp"), ("none", "none"), ("average", "tutorial")):
            command = [self.bin / "minirun", "-n", 2, self.bin / "train_mnist", *length, "--sync",
                       ours, "--json", "--data", self.data or "digits"]
            yield f"--sync {ours}", "s", 1, {
                "libmini": lambda command=command: Once(
                    command, lambda answer, _: answer["seconds_per_epoch"][-1]),
                "PyTorch": self.torch("epoch", "--sync", theirs, "--data", self.data, *images,
                                      key="s", ranks=2)}

    def all_reduce(self):
        seconds = 0.02 if self.quick else 0.2

        def ours(ranks, size, *how):
            command = [self.bin / "mini", "bench", "allreduce", "--ranks", ranks, "--sizes", size,
                       "--seconds", seconds, "--format", "json", *how]
            return lambda: Once(command, lambda answer, _: answer["rows"][0]["time_us"])

        def mpi(ranks, size):  # the MPI with which the library was built
            command = ["mpirun", "--oversubscribe", "-n", ranks, self.bin / "mpi_all_reduce",
                       size, seconds]
            return lambda: Once(command, lambda answer, _: answer["us"])

        for ranks in (2,) if self.quick else (2, 4):
            for size in SIZES[1:2] if self.quick else SIZES:
                yield f"{ranks} ranks, {size} bytes", "us", 0.2, {
                    "shared memory": ours(ranks, size, "--medium", "auto"),
                    "TCP": ours(ranks, size, "--medium", "tcp"),
                    "Gloo": ours(ranks, size, "--backend", "gloo", "--no-verify"),
                    "MPI": mpi(ranks, size),
                    "PyTorch's gloo": self.torch("all-reduce", "--bytes", size, key="us",
                                                 ranks=ranks),
                    "one copy": self.ours("copy", "--bytes", size, key="us")}

    def data_passes(self):
        sizes = (["--samples", 10_000, "--images", 200] if self.quick
                 else ["--samples", 10_000_000, "--images", 60_000])
        cases = [["distributed_sampler"], ["randperm"]]
        for batch, workers in [(64, 2)] if self.quick else [(64, 0), (64, 2), (128, 0), (128, 2)]:
            cases.append(["mnist", "--batch", batch, "--workers", workers])
        for case in cases:
            words = ["data", "--case", *case, *sizes]
            yield " ".join(str(word).strip("-") for word in case), "s", 0.5, {
                "libmini": self.ours(*words, "--data", self.data or "digits", key="s"),
                "PyTorch": self.torch(*words, "--data", self.data, key="s")}

    def start(self):
        def since(answer, start):
            return answer["first_step_at"] - start

        words = ["first-step", "--data", self.data or "digits"]
        ours = [self.bin / "minirun", "-n", 2, self.bin / "bench_worker", *words]
        theirs = ["sh", "-c", BOTH_RANKS, "sh", self.python, TORCH_WORKER, "first-step", "--data",
                  self.data, "--ranks", 2, "--port", PORT]
        for case, unit, value_of in (
                ("until the first step of 2 ranks", "s", since),
                ("peak memory of a rank", "MiB", lambda answer, _: answer["mib"])):
            yield case, unit, 1, {"libmini": lambda of=value_of: Once(ours, of),
                                  "PyTorch": lambda of=value_of: Once(theirs, of)}

    def sections(self):
        return {"step": self.step, "epoch": self.epoch, "all-reduce": self.all_reduce,
                "data": self.data_passes, "start": self.start}


def started(makers):
    """Returns {name: contender} of those that start and answer once, and prints why others do not."""
    found = {}
    for name, make in makers.items():
        contender = make()
        try:
            contender.measure(0.01)
            found[name] = contender
        except Failure as error:
            contender.stop()
            print(f"  without {name}: {error}", file=sys.stderr)
    return found


def measure(makers, rounds, seconds):
    """Returns {contender: its values in each round}."""
    contenders = started(makers)
    values = {name: [] for name in contenders}
    try:
        for _ in range(rounds):
            for name, contender in contenders.items():
                values[name].append(contender.measure(seconds))
    finally:
        for contender in contenders.values():
            contender.stop()
    return values


def number(value):
    """Returns a number with three significant digits: 0.0123, 1.23, 12.3, 1,230."""
    digits = next((digits for digits in range(6) if abs(value) * 10 ** digits >= 99.95), 6)
    return f"{value:,.{digits}f}"


def row(case, unit, values):
    """Returns a row of the table: medians, and the ratio of each other contender to the first."""
    first, *others = values
    cells = [f"{name} {number(statistics.median(figures))}" for name, figures in values.items()]
    for other in others:
        ratios = [theirs / ours for theirs, ours in zip(values[other], values[first])]
        cells.append(f"{other} / {first} {number(statistics.median(ratios))} "
                     f"({number(min(ratios))} to {number(max(ratios))})")
    return f"| {case}, {unit} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--python", default=sys.executable, help="a Python that has PyTorch")
    parser.add_argument("--only", default="", metavar="SECTION,...")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="small cases: measures nothing")
    options = parser.parse_args()
    sections = Cases(options).sections()
    wanted = options.only.split(",") if options.only else list(sections)
    if not set(wanted) <= set(sections):
        parser.error(f"--only {options.only}: the sections are {', '.join(sections)}")
    for name in wanted:
        print(f"\n## {name}\n", flush=True)
        for case, unit, seconds, makers in sections[name]():
            values = measure(makers, options.rounds, 0.02 if options.quick else seconds)
            if values:
                print(row(case, unit, values), flush=True)


if __name__ == "__main__":
    main()

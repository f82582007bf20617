"""The figures of run.py: kernels, products, train steps here and in PyTorch, and an epoch."""

import importlib.util
import json
import pathlib
import struct
import sys
import tempfile

from steps import Step, left_out, run, run_with_json

BENCH = pathlib.Path(__file__).resolve().parent.parent / "bench"
MODELS = {"convnet": [64, 128, 1024], "resnet18": [128]}
SMALL_MODELS = {"convnet": [2]}
VARIANTS = ["eager", "eager-tf32", "compile", "graph"]


def with_program(arguments, name, title, work):
    """Returns a step that calls work(program, seconds), or is left out if the program is not built."""
    program = arguments.build / "bin" / name
    return Step(title, lambda seconds: work(program, seconds) if program.exists() else left_out(
        f"{program} is not built"))


def run_with_answer(command, seconds, answers=""):
    """Runs a command whose last line is JSON, and adds it to the result as "data"."""
    result = run(command, seconds, answers=answers)
    if result["status"] == "passed":
        result["data"] = json.loads(result["output"].splitlines()[-1])
    return result


def kernel_times(arguments, *words):
    """Returns the step that runs one command of kernel_times."""
    words = [str(word) for word in words]
    small = ["--seconds", "0.001"] if arguments.small else []
    return with_program(arguments, "kernel_times", " ".join(words), lambda program, seconds: run_with_json(
        [program, *words, *small], seconds))


def bench_steps(arguments):
    if arguments.small:
        return [kernel_times(arguments, "memory", "--elements", 2048),
                kernel_times(arguments, "matmul", "--sizes", 33)]
    return [kernel_times(arguments, "memory"),
            kernel_times(arguments, "matmul", "--sizes", "256,1024,4096,8192")]


def batches(arguments):
    models = SMALL_MODELS if arguments.small else MODELS
    return [(model, batch) for model, sizes in models.items() for batch in sizes]


def train_steps(arguments):
    """Yields a step of training for each model and batch."""
    for model, batch in batches(arguments):
        words = ["step", "--device", "cuda", "--model", model, "--batch", batch]
        yield with_program(
            arguments, "bench_worker", f"{model} {batch}",
            lambda program, seconds, words=words: run_with_answer(
                [program, *words], seconds, answers="0.001" if arguments.small else "0.3"))


def run_torch(words, seconds):
    """Runs a script of tests/bench that uses PyTorch, and prints one line of JSON."""
    if importlib.util.find_spec("torch") is None:
        return left_out("PyTorch is not on this machine")
    result = run_with_answer([sys.executable, *words], seconds)
    if result["status"] != "passed" and "needs a GPU" in result["output"]:
        return left_out(result["output"].splitlines()[-1])
    return result


def torch_steps(arguments):
    """Yields a step for each way in which PyTorch runs the train step, in turn with ours."""
    for model, batch in batches(arguments):
        for variant in VARIANTS:
            words = [BENCH / "compare_cuda.py", "--bin", arguments.build / "bin",
                     "--model", model, "--batch", batch, "--variant", variant, "--json"]

            def measure(seconds, words=words):
                return run_torch(words, seconds)

            yield Step(f"{model} {batch} {variant}", measure)


def train_mnist(command, seconds):
    """Trains, and adds what is compared between runs."""
    result = run_with_answer(command, seconds)
    if result["status"] == "passed":
        told = result["data"]
        result["data"] = {name: told[name] for name in
                          ("seconds_per_epoch", "samples_per_second", "test_accuracy", "parameters_sha256")}
        result["output"] = ""
    return result


def write_small_mnist(folder, count=8):
    """Writes MNIST's files with `count` black images each: a simulated device takes minutes for all digits."""
    for name in ("train", "t10k"):
        images = struct.pack(">IIII", 2051, count, 28, 28) + bytes(count * 28 * 28)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(images)
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, count) + bytes(count))


def train_small(command, seconds):
    with tempfile.TemporaryDirectory() as folder:
        write_small_mnist(pathlib.Path(folder))
        return train_mnist([*command, "--data", folder, "--steps", 2, "--batch-size", 4], seconds)


def job_steps(arguments):
    for workers in (1,) if arguments.small else (0, 1, 2):
        def train(program, seconds, workers=workers):
            command = [program, "--json", "--device", "cuda", "--workers", workers]
            if arguments.small:
                return train_small(command, seconds)
            return train_mnist([*command, "--epochs", 1], seconds)

        yield with_program(arguments, "train_mnist", f"train_mnist, {workers} workers", train)

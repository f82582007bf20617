#!/usr/bin/env python3
"""Measures and checks a build on a GPU, and writes the results to one JSON file.

    tests/gpu/run.py --build build/gpu --out gpu.json [--without torch,sanitizer]

    part        what                                                              about, seconds
    facts       commit, date, GPU, clocks, nvcc, PyTorch and its TF32 flags                  25
    build       starts the built programs; builds them here if they do not start            170
    bench       kernel_times memory and matmul                                               60
    step        bench_worker step: ConvNet and ResNet-18                                     40
    torch       the same step in PyTorch: eager with and without TF32, compiled, graph      120
    job         an epoch of train_mnist, with its accuracy                                   35
    profile     ncu counts the memory accesses of kernels, beside the simulator's counts     80
    suite       the tests with the label gpu: a program at a time, then ctest's others       60
    sanitizer   the kernels' tests under compute-sanitizer, six files at a time             130

The parts run in this order, so that the figures exist if the call is ended early: the file is written
after each step, and a further call with the same --out runs all steps but those that have passed. A step
takes at most --timeout seconds.

The file has one entry for each commit and GPU. A step's status is "passed", "failed" or "left out", with
the reason. The exit code is 1 if a step failed, or without a GPU.

--small is for machines without a GPU: it runs every part on the build's own device, which may be the
simulator, with sizes of some numbers.
"""

import argparse
import json
import pathlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checks  # pylint: disable=wrong-import-position
import facts  # pylint: disable=wrong-import-position
import figures  # pylint: disable=wrong-import-position
import profile_kernels  # pylint: disable=wrong-import-position
from steps import left_out  # pylint: disable=wrong-import-position

# By part, in order: its steps, and how many run at a time.
PARTS = {
    "facts": (facts.steps, 1),
    "build": (facts.build_steps, 1),
    "bench": (figures.bench_steps, 1),
    "step": (figures.train_steps, 1),
    "torch": (figures.torch_steps, 1),
    "job": (figures.job_steps, 1),
    "profile": (profile_kernels.steps, 1),
    "suite": (checks.suite_steps, 5),
    "sanitizer": (checks.sanitizer_steps, 6),
}


class Results:
    """The file of results: {"COMMIT on GPU": {part: {step: result}}}."""

    def __init__(self, path, key):
        self.path, self.lock = path, threading.Lock()
        self.all = json.loads(path.read_text()) if path.exists() else {}
        self.mine = self.all.setdefault(key, {})

    def has_passed(self, part, name):
        return self.mine.get(part, {}).get(name, {}).get("status") == "passed"

    def add(self, part, name, result):
        with self.lock:
            self.mine.setdefault(part, {})[name] = result
            self.path.write_text(json.dumps(self.all, indent=2) + "\n")
        why = f": {result['why']}" if "why" in result else ""
        print(f"{part:10} {name:32} {result['status']}{why}", flush=True)


def run_step(step, seconds):
    """Returns the step's result."""
    try:
        return step.run(seconds)
    except Exception as error:  # pylint: disable=broad-except  # the other steps still run
        return {"status": "failed", "output": repr(error)}


def run_part(part, arguments, results):
    """Runs the steps of a part that have not passed. Returns the statuses of all its steps."""
    make_steps, workers = PARTS[part]
    pending, statuses = [], []
    for step in make_steps(arguments):
        if results.has_passed(part, step.name):
            statuses.append("passed")
        elif part in arguments.without:
            results.add(part, step.name, left_out("by --without"))
        else:
            pending.append(step)
    for group, width in ((False, workers), (True, 1)):
        with ThreadPoolExecutor(width) as pool:
            begun = {pool.submit(run_step, step, arguments.timeout): step
                     for step in pending if step.alone is group}
            for each in as_completed(begun):
                results.add(part, begun[each].name, each.result())
                statuses.append(each.result()["status"])
    return statuses


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="with MINI_CUDA=ON")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the JSON file")
    parser.add_argument("--without", default="", help=f"parts to leave out: {', '.join(PARTS)}")
    parser.add_argument("--timeout", type=float, default=500, help="seconds per step (500)")
    parser.add_argument("--commit", help="what was built (git's answer)")
    parser.add_argument("--simulator", type=pathlib.Path,
                        help="a folder with what mini cuda --count prints of lab 06's programs")
    parser.add_argument("--small", action="store_true", help="on any device, with small sizes")
    arguments = parser.parse_args(words)
    arguments.without = [part for part in arguments.without.split(",") if part]
    unknown = [part for part in arguments.without if part not in PARTS]
    if unknown:
        parser.error(f"--without {unknown[0]}: the parts are {', '.join(PARTS)}")
    arguments.build = arguments.build.resolve()
    arguments.commit = arguments.commit or facts.commit()
    return arguments


def main(words=None):
    arguments = parse(words)
    gpu = facts.gpu_name()
    if gpu is None and not arguments.small:
        print("this machine has no GPU that nvidia-smi shows: --small runs without one")
        return 1
    results = Results(arguments.out, f"{arguments.commit} on {gpu or 'the simulator'}")
    statuses = [status for part in PARTS for status in run_part(part, arguments, results)]
    return 1 if "failed" in statuses else 0


if __name__ == "__main__":
    sys.exit(main())

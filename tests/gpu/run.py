#!/usr/bin/env python3
"""Runs all checks that need a GPU, and writes the results to one JSON file.

    tests/gpu/run.py --build build/gpu --out gpu.json [--without sanitizer,bench,torch]

    suite       ctest -L gpu
    sanitizer   the kernels' tests under compute-sanitizer: memcheck, racecheck, initcheck, synccheck
    bench       mini bench kernels, matmul and train-step, and train-step from a CUDA graph
    torch       compares both train steps with PyTorch's (tests/bench/compare_cuda.py)

The result of each step has the status "passed", "failed" or "left out"; "left out" has a reason.
The exit code is 1 if a step failed, and also if the machine has no GPU.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
# The tests cause CUDA API errors on purpose, so memcheck reports only the memory accesses of kernels.
# Without the allocator's cache the sanitizer sees each allocation.
TOOL_OPTIONS = {"memcheck": ["--report-api-errors", "no"]}
WITHOUT_CACHE = ["env", "MINI_CUDA_CACHING=0"]
PARTS = ["suite", "sanitizer", "bench", "torch"]
BENCHES = {"kernels": [], "matmul": [], "train-step": ["--graph"]}
KEPT_LINES = 40
SUITE_JOBS = 4  # several at once: a small test spends most of its time opening the device


def run(command, timeout):
    """Runs a command and returns its result, with the last lines of its output."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=timeout)
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, output = None, f"not done after {timeout} s"
    except OSError as error:
        code, output = None, str(error)
    return {"status": "passed" if code == 0 else "failed",
            "command": " ".join(map(str, command)),
            "exit_code": code,
            "seconds": round(time.monotonic() - start, 1),
            "output": "\n".join(output.splitlines()[-KEPT_LINES:])}


def left_out(why):
    return {"status": "left out", "why": why}


def run_suite(build, timeout):
    return {"ctest -L gpu": run(["ctest", "--test-dir", build, "-L", "gpu",
                                 "--output-on-failure", "--no-tests=error",
                                 "--parallel", str(SUITE_JOBS)], timeout)}


def run_sanitizer(build, timeout):
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    test = build / "bin" / "cuda_kernels_test"
    if not pathlib.Path(sanitizer).exists():
        return {tool: left_out("compute-sanitizer is not on this machine") for tool in TOOLS}
    if not test.exists():
        return {tool: left_out(f"{test} is not built") for tool in TOOLS}
    return {tool: run([*WITHOUT_CACHE, sanitizer, "--tool", tool, "--error-exitcode", "9",
                       *TOOL_OPTIONS.get(tool, []), test], timeout)
            for tool in TOOLS}


def run_benches(build, timeout):
    mini = build / "bin" / "mini"
    if not mini.exists():
        return {"bench": left_out(f"{mini} is not built")}
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for bench, options in BENCHES.items():
            rows = pathlib.Path(folder) / f"{bench}.json"
            command = [mini, "bench", bench, "--device", "cuda", *options, "--json", rows]
            result = run(command, timeout)
            if rows.exists():
                result["rows"] = json.loads(rows.read_text())
            results[bench] = result
    return results


def run_torch(build, timeout):
    script = HERE.parent / "bench" / "compare_cuda.py"
    try:
        import torch
    except ImportError:
        return {"compare_cuda.py": left_out("PyTorch is not on this machine")}
    if not torch.cuda.is_available():
        return {"compare_cuda.py": left_out("PyTorch sees no GPU")}
    result = run([sys.executable, script, "--mini", build / "bin" / "mini", "--json"], timeout)
    if result["status"] == "passed":
        result["rows"] = json.loads(result["output"].splitlines()[-1])
    return {"compare_cuda.py": result}


def gpu_name():
    """Returns the driver's name for the first GPU, or None."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="with MINI_CUDA=ON")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the JSON file")
    parser.add_argument("--without", default="", help=f"parts to leave out: {', '.join(PARTS)}")
    parser.add_argument("--timeout", type=float, default=540, help="seconds per command (540)")
    arguments = parser.parse_args()
    without = [part for part in arguments.without.split(",") if part]
    unknown = [part for part in without if part not in PARTS]
    if unknown:
        parser.error(f"--without {unknown[0]}: the parts are {', '.join(PARTS)}")

    # Write the file after each part, so that an interrupted run keeps the results of finished parts.
    gpu = gpu_name()
    result = {"gpu": gpu, "parts": {}}
    for part, go in zip(PARTS, [run_suite, run_sanitizer, run_benches, run_torch]):
        if part in without:
            result["parts"][part] = {part: left_out("by --without")}
        elif gpu is None:
            result["parts"][part] = {part: left_out("this machine has no GPU")}
        else:
            result["parts"][part] = go(arguments.build.resolve(), arguments.timeout)
        arguments.out.write_text(json.dumps(result, indent=2) + "\n")

    steps = [(part, name, step) for part, all_steps in result["parts"].items()
             for name, step in all_steps.items()]
    for part, name, step in steps:
        print(f"{part:10} {name:18} {step['status']}{': ' + step['why'] if 'why' in step else ''}")
    failed = any(step["status"] == "failed" for _, _, step in steps)
    sys.exit(1 if failed or gpu is None else 0)


if __name__ == "__main__":
    main()

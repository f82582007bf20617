#!/usr/bin/env python3
"""Runs all checks that need a GPU, and writes the results to one JSON file.

    tests/gpu/run.py --build build/gpu --out gpu.json [--without sanitizer,bench,torch] [--within 550]

    suite       the tests with the label gpu: a program at a time, then ctest for the rest
    sanitizer   the kernels' tests, one file at a time, under compute-sanitizer: memcheck, racecheck,
                initcheck, synccheck
    bench       mini bench kernels, matmul and train-step
    torch       compares the train step with PyTorch's (tests/bench/compare_cuda.py)

A step takes at most --timeout seconds. With --within, no step begins that might not end in time; call
again with the same --out to run the steps that are left.

The result of each step has the status "passed", "failed" or "left out"; "left out" has a reason.
The exit code is 1 if a step failed, even if the machine has no GPU, and 3 if steps are left.
"""

import argparse
import json
import os
import pathlib
import re
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
WITHOUT_CACHE = {"MINI_CUDA_CACHING": "0"}
# initcheck does not know what cuBLAS's kernels write, and reports it as uninitialized.
WITHOUT_CUBLAS = {"MINI_TEST_CUBLAS": "0", "MINI_MATMUL": "pipelined"}
TOOL_SETTINGS = {"initcheck": WITHOUT_CUBLAS}
# racecheck takes minutes for the thousands of products that these tests generate.
TOOL_SPECS = {"racecheck": "~every rung*"}
PARTS = ["suite", "sanitizer", "bench", "torch"]
BENCHES = {"kernels": [], "matmul": [], "train-step": []}
KEPT_LINES = 40


def run(command, timeout, settings=None):
    """Runs a command and returns its result, with the last lines of its output."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=timeout, env={**os.environ, **(settings or {})})
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


def suite_steps(build, timeout):
    """Yields the steps of a part: a name, and a function that runs the step. A program runs all of
    its tests in one process: ctest would open the device once for each, half a second or more."""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    programs, others = suite_programs(json.loads(listed)["tests"])
    for name, (command, settings) in programs.items():
        yield name, lambda command=command, settings=settings: run(command, timeout, settings)
    command = ["ctest", "--test-dir", build, "-L", "gpu", "-R", others, "--output-on-failure"]
    yield "ctest -L gpu", lambda: run(command, timeout)


def suite_programs(tests):
    """Returns the commands of the test programs by name, each with its environment, and a regular
    expression of the other tests with the label gpu. `tests` is ctest's list."""
    programs, others, mixed = {}, [], set()
    for test in tests:
        properties = {each["name"]: each["value"] for each in test.get("properties", [])}
        program = test.get("command", [""])[0]
        settings = dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))
        if not program.endswith("_test") or "MINI_MATMUL" in settings:
            if "gpu" in properties.get("LABELS", []):
                others.append(re.escape(test["name"]))
        elif "gpu" in properties["LABELS"]:
            name = f"{pathlib.Path(program).name}{' on cuda' * ('MINI_TEST_DEVICE' in settings)}"
            programs.setdefault(name, ([program], settings))
        else:
            mixed.add(program)
    for name, (command, settings) in programs.items():
        if "MINI_TEST_DEVICE" in settings:
            command.append("~[cpu]")
        elif command[0] in mixed:  # only the cases of the device have the label
            command.append("[cuda]")
    return programs, f"^({'|'.join(others)})$"


def kernel_tests():
    """Returns the names of the test files of cuda_kernels_test, without .cpp."""
    text = (HERE.parent / "kernels" / "cuda" / "CMakeLists.txt").read_text()
    sources = re.search(r"mini_test\(cuda_kernels\s+SOURCES(.*?)LABELS", text, re.DOTALL).group(1)
    return re.findall(r"(\w+)\.cpp", sources)


def sanitizer_steps(build, timeout):
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    test = build / "bin" / "cuda_kernels_test"
    for needed in (pathlib.Path(sanitizer), test):
        if not needed.exists():
            yield "sanitizer", lambda needed=needed: left_out(f"{needed} is not on this machine")
            return
    for tool in TOOLS:
        for file in kernel_tests():
            command = [sanitizer, "--tool", tool, "--error-exitcode", "9", *TOOL_OPTIONS.get(tool, []),
                       test, "--filenames-as-tags", f"[#{file}]{TOOL_SPECS.get(tool, '')}"]
            settings = {**WITHOUT_CACHE, **TOOL_SETTINGS.get(tool, {})}
            yield f"{tool} {file}", lambda command=command, settings=settings: run(
                command, timeout, settings)


def bench_steps(build, timeout):
    mini = build / "bin" / "mini"
    for bench, options in BENCHES.items():
        yield bench, lambda bench=bench, options=options: run_bench(mini, bench, options, timeout)


def run_bench(mini, bench, options, timeout):
    if not mini.exists():
        return left_out(f"{mini} is not built")
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / f"{bench}.json"
        result = run([mini, "bench", bench, "--device", "cuda", *options, "--json", rows], timeout)
        if rows.exists():
            result["rows"] = json.loads(rows.read_text())
    return result


def torch_steps(build, timeout):
    yield "compare_cuda.py", lambda: run_torch(build, timeout)


def run_torch(build, timeout):
    script = HERE.parent / "bench" / "compare_cuda.py"
    try:
        import torch
    except ImportError:
        return left_out("PyTorch is not on this machine")
    if not torch.cuda.is_available():
        return left_out("PyTorch sees no GPU")
    result = run([sys.executable, script, "--mini", build / "bin" / "mini", "--json"], timeout)
    if result["status"] == "passed":
        result["rows"] = json.loads(result["output"].splitlines()[-1])
    return result


def read_results(path, gpu):
    """Returns the results of earlier calls on this GPU."""
    if path.exists():
        result = json.loads(path.read_text())
        if result["gpu"] == gpu:
            return result
    return {"gpu": gpu, "parts": {}}


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
    parser.add_argument("--timeout", type=float, default=500, help="seconds per step (500)")
    parser.add_argument("--within", type=float, help="seconds for this call")
    arguments = parser.parse_args()
    without = [part for part in arguments.without.split(",") if part]
    unknown = [part for part in without if part not in PARTS]
    if unknown:
        parser.error(f"--without {unknown[0]}: the parts are {', '.join(PARTS)}")

    # Write the file after each step, so that an interrupted run keeps the results.
    start = time.monotonic()
    gpu = gpu_name()
    result = read_results(arguments.out, gpu)
    left = failed = 0
    for part, steps in zip(PARTS, [suite_steps, sanitizer_steps, bench_steps, torch_steps]):
        done = result["parts"].setdefault(part, {})
        for name, step in steps(arguments.build.resolve(), arguments.timeout):
            seconds = time.monotonic() - start
            if done.get(name, {"status": "left out"})["status"] == "left out":
                if part in without:
                    done[name] = left_out("by --without")
                elif gpu is None:
                    done[name] = left_out("this machine has no GPU")
                elif arguments.within and seconds + arguments.timeout > arguments.within:
                    left += 1
                    continue
                else:
                    done[name] = step()
                arguments.out.write_text(json.dumps(result, indent=2) + "\n")
            failed += done[name]["status"] == "failed"
            why = f": {done[name]['why']}" if "why" in done[name] else ""
            print(f"{part:10} {name:32} {done[name]['status']}{why}", flush=True)
    if left:
        print(f"{left} steps are left: call again with the same --out")
    sys.exit(1 if failed or gpu is None else 3 if left else 0)


if __name__ == "__main__":
    main()

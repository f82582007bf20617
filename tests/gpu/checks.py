"""The checks of run.py: the tests with the label gpu, and the kernels under compute-sanitizer."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

from steps import Step, left_out, run

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
# The tests cause CUDA API errors on purpose, so memcheck reports only the memory accesses of kernels.
# Without the allocator's cache the sanitizer sees each allocation.
TOOL_OPTIONS = {"memcheck": ["--report-api-errors", "no"]}
WITHOUT_CACHE = {"MINI_CUDA_CACHING": "0"}
# initcheck does not know what cuBLAS's kernels write, and reports it as uninitialized.
LEFT_OUT = [("initcheck", "conv_test"), ("initcheck", "matmul_test")]
# racecheck takes minutes for the products that this test generates.
TOOL_SPECS = {"racecheck": "~a product equals*"}
# What NVIDIA's tools print if they cannot work on a machine, whatever the program does.
CANNOT_WORK = re.compile(r"^(?:==ERROR==|=+ Error:).*(?:not supported|ERR_NVGPUCTRPERM|permission|privileges|"
                         r"[Ff]ailed to initialize|[Uu]nable to).*$", re.M)


class Tool:
    """One of NVIDIA's tools, which may not work on this machine. Then its steps are left out, with the
    line that it printed, and the tool is not started again."""

    def __init__(self, name):
        self.path = shutil.which(name) or f"/usr/local/cuda/bin/{name}"
        self.why = None if pathlib.Path(self.path).exists() else f"{self.path} is not on this machine"
        self.lock = threading.Lock()  # held by the first step, which finds out
        self.works = False

    def run(self, words, seconds, settings=None):
        with self.lock:
            if not self.works:
                return self.try_it(words, seconds, settings)
        return run([self.path, *words], seconds, settings)

    def try_it(self, words, seconds, settings):
        if self.why:
            return left_out(self.why)
        result = run([self.path, *words], seconds, settings)
        found = CANNOT_WORK.search(result["output"]) if result["status"] == "failed" else None
        if found:
            self.why = found[0]
            return left_out(self.why)
        self.works = result["exit_code"] is not None
        return result


def suite_steps(arguments):
    """Yields a step for each test program, and one for the tests that are not of a program. A program runs
    all of its tests in one process: ctest would open the device once for each, half a second or more."""
    if arguments.small:
        return
    if shutil.which("ctest") is None:
        yield Step("ctest", lambda seconds: left_out("ctest is not on this machine"))
        return
    listed = subprocess.run(["ctest", "--test-dir", arguments.build, "--show-only=json-v1"],
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    programs, others, alone = suite_programs(json.loads(listed)["tests"])
    for name, (command, settings) in programs.items():
        def run_program(seconds, command=command, settings=settings):
            return run(command, seconds, settings)
        yield Step(name, run_program, name in alone)
    command = ["ctest", "--test-dir", arguments.build, "-L", "gpu", "-R", others, "--output-on-failure",
               "--parallel", str(max(1, (os.cpu_count() or 1) // 2))]
    yield Step("ctest -L gpu", lambda seconds: run(command, seconds), alone=True)


def suite_programs(tests):
    """Returns the commands of the test programs by name, each with its environment; a regular expression of
    the other tests with the label gpu; and the programs beside which nothing may run. `tests` is ctest's
    list."""
    programs, others, mixed, alone = {}, [], set(), set()
    for test in tests:
        properties = {each["name"]: each["value"] for each in test.get("properties", [])}
        program = test.get("command", [""])[0]
        settings = dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))
        if not program.endswith("_test"):
            if "gpu" in properties.get("LABELS", []):
                others.append(re.escape(test["name"]))
        elif "gpu" in properties["LABELS"]:
            name = f"{pathlib.Path(program).name}{' on cuda' * ('MINI_TEST_DEVICE' in settings)}"
            programs.setdefault(name, ([program], settings))
            if properties.get("RUN_SERIAL"):
                alone.add(name)
        else:
            mixed.add(program)
    for command, settings in programs.values():
        if "MINI_TEST_DEVICE" in settings:
            command.append("~[cpu]")
        elif command[0] in mixed:  # only the cases of the device have the label
            command.append("[cuda]")
    return programs, f"^({'|'.join(others)})$", alone


def kernel_tests():
    """Returns the names of the test files of cuda_kernels_test, without .cpp."""
    text = (HERE.parent / "kernels" / "cuda" / "CMakeLists.txt").read_text()
    sources = re.search(r"mini_test\(cuda_kernels\s+SOURCES(.*?)LABELS", text, re.DOTALL).group(1)
    return re.findall(r"(\w+)\.cpp", sources)


def sanitizer_steps(arguments):
    """Yields a step for each tool and each file of tests."""
    sanitizer = Tool("compute-sanitizer")
    test = arguments.build / "bin" / "cuda_kernels_test"
    for tool in TOOLS:
        files = [file for file in kernel_tests() if (tool, file) not in LEFT_OUT]
        for file in files[:1] if arguments.small else files:
            words = ["--tool", tool, "--error-exitcode", "9", *TOOL_OPTIONS.get(tool, []),
                     test, "--filenames-as-tags", f"[#{file}]{TOOL_SPECS.get(tool, '')}"]

            def check(seconds, words=words):
                return sanitizer.run(words, seconds, WITHOUT_CACHE) if test.exists() else left_out(
                    f"{test} is not built")

            yield Step(f"{tool} {file}", check)

#!/usr/bin/env python3
"""Checks the machine code that nvcc makes of the kernels (SASS), and prints a table of it. No GPU needed.

    tests/gpu/machine_code.py --objects build/cuda      the objects of a build with MINI_CUDA=ON
    tests/gpu/machine_code.py --compile build/gpu       compiles lab 06's matrix products there
    ... --write docs/measurements.md                    replaces the table between the markers

No kernel may use local memory: a register that does not fit there costs a load and a store. The
products of lab 06 must contain the instructions that their file describes. The exit code is 1 if a check fails,
and 77 if nvcc or cuobjdump is missing.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
ARCHITECTURE = "sm_90"
CUDA = pathlib.Path("/usr/local/cuda/bin")
PRODUCTS = "labs/06-cuda-kernels/matmul.cu"
MARKERS = ("<!-- machine code -->", "<!-- end of machine code -->")

# Instructions that each variant of a kernel must contain, and why.
REQUIRED = {
    "registers_kernel": {"LDS.128": "shared memory is read as float4"},
}
# Instructions that no kernel may contain, and why.
FORBIDDEN = {
    "LDL": "reads local memory", "STL": "writes local memory",
    "LD": "reads an address of unknown kind", "ST": "writes an address of unknown kind",
}
COUNTED = ["FFMA", "LDS.128"]


class Missing(Exception):
    """A tool that this machine does not have."""


def tool(name):
    """Returns the path of a CUDA tool: from PATH, the toolkit, or its PyPI package."""
    packages = [pathlib.Path(folder) / "nvidia/cu13/bin" for folder in sys.path]
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(map(str, [CUDA, *packages])))
    if found is None:
        raise Missing(f"this machine has no {name}: install CUDA, or nvidia-cuda-{name} from PyPI")
    return found


def output_of(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def compile_products(folder):
    """Compiles lab 06's products for one architecture. Returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "matmul.cu.cubin"
    output_of([tool("nvcc"), "-O3", f"-arch={ARCHITECTURE}", "-I.", "-cubin", PRODUCTS, "-o", made], cwd=ROOT)
    return made


class Kernel:
    """One variant of a kernel: a template with its arguments."""

    def __init__(self, file, function):
        self.file = file
        # `void ns::(anonymous namespace)::tiled_kernel<...>(...)`
        called = re.search(r"(\w+_kernel)\b", function)
        self.name = called.group(1) if called else function
        self.registers = self.stack = self.shared = 0
        self.instructions = {}

    def has(self, instruction):
        return sum(count for name, count in self.instructions.items()
                   if name == instruction or name.startswith(instruction + "."))


def kernels_of(made):
    """Reads an object's kernels."""
    file = made.name.removesuffix(".o").removesuffix(".cubin")
    options = ["-arch", ARCHITECTURE, made]
    usage = output_of([tool("cuobjdump"), "--dump-resource-usage", *options])
    sass = output_of([tool("cuobjdump"), "--dump-sass", *options])
    filt = shutil.which("c++filt")
    if filt:
        usage, sass = (output_of([filt], input=text) for text in (usage, sass))

    kernels = {}
    for function, registers, stack, shared in re.findall(
            r"Function (.+):\n\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", usage):
        kernel = kernels[function] = Kernel(file, function)
        kernel.registers, kernel.stack, kernel.shared = int(registers), int(stack), int(shared)
    for part in re.split(r"^\s+Function : ", sass, flags=re.MULTILINE)[1:]:
        function, code = part.split("\n", 1)
        instructions = kernels[function].instructions
        for name in re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][A-Z0-9_.]*)", code):
            instructions[name] = instructions.get(name, 0) + 1
    return list(kernels.values())


def findings(kernels):
    """Yields a sentence for each check that fails."""
    for kernel in kernels:
        where = f"{kernel.file}: {kernel.name}"
        if kernel.stack:
            yield f"{where} uses {kernel.stack} bytes of local memory a thread; it must use none"
        for instruction, why in FORBIDDEN.items():
            if kernel.has(instruction):
                yield f"{where} has {kernel.has(instruction)} {instruction}: it {why}"
        for instruction, why in REQUIRED.get(kernel.name, {}).items():
            if not kernel.has(instruction):
                yield f"{where} has no {instruction}, but {why}"
    for name in REQUIRED.keys() - {kernel.name for kernel in kernels}:
        yield f"{name} is in none of the objects"


def span(numbers):
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def table(kernels):
    """Returns the table in Markdown: one row a kernel, over all its variants."""
    groups = {}
    for kernel in kernels:
        groups.setdefault((kernel.file, kernel.name), []).append(kernel)
    lines = ["| file | kernel | variants | registers | shared bytes | instructions of one variant |",
             "|---|---|---|---|---|---|"]
    for (file, name), variants in sorted(groups.items()):
        first = max(variants, key=lambda kernel: sum(kernel.instructions.values()))
        counts = ", ".join(f"{first.has(each)} {each}" for each in COUNTED if first.has(each))
        lines.append(f"| {file} | {name} | {len(variants)} | {span([v.registers for v in variants])} | "
                     f"{span([v.shared for v in variants])} | {counts} |")
    return "\n".join(lines)


def write_table(page, text):
    before, rest = page.read_text(encoding="utf-8").split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    page.write_text(f"{before}{MARKERS[0]}\n{text}\n{MARKERS[1]}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--objects", type=pathlib.Path, help="a build's folder")
    source.add_argument("--compile", type=pathlib.Path, help="a folder for the object")
    parser.add_argument("--write", type=pathlib.Path, help="a page with the markers of the table")
    arguments = parser.parse_args()

    try:
        if arguments.compile:
            objects = [compile_products(arguments.compile)]
        else:
            objects = sorted(arguments.objects.glob("**/*.cu.o"))
        kernels = [kernel for made in objects for kernel in kernels_of(made)]
    except Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
    except subprocess.CalledProcessError as failed:
        sys.exit(f"{' '.join(map(str, failed.cmd))}\n{failed.stderr}")

    print(table(kernels))
    if arguments.write:
        write_table(arguments.write, table(kernels))
    failed = list(findings(kernels))
    for finding in failed:
        print(finding, file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

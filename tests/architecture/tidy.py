#!/usr/bin/env python3
"""Runs clang-tidy on components of the library, with the checks of .clang-tidy.

    tests/architecture/tidy.py BUILD              the components that a reader starts with
    tests/architecture/tidy.py BUILD nn group     these components
    tests/architecture/tidy.py BUILD all          all components

BUILD is a configured build folder with a compile_commands.json. Prints the warnings of clang-tidy
and a summary; exits with code 1 if there is any warning.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ["random", "tensor", "autograd", "nn", "optim", "store", "collectives"]
COMPONENT = re.compile(r"libmini/.*CMakeFiles/mini_(\w+)\.dir/")


def units(build, components):
    """Yields the source files that are compiled for the components, without a learner's copies."""
    for command in json.loads((build / "compile_commands.json").read_text()):
        component = COMPONENT.search(command.get("output", "") or command["command"])
        is_cpp = command["file"].endswith((".cpp", ".cxx"))
        if component and is_cpp and (component[1] in components or components == ["all"]):
            yield command["file"]


def tidy(build, unit):
    """Returns the exit code and the output of clang-tidy for one file."""
    done = subprocess.run(
        ["clang-tidy", "-p", build, "--quiet", f"--config-file={ROOT / '.clang-tidy'}",
         "--extra-arg=-Wno-unknown-warning-option", unit],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.returncode, done.stdout


def main(build, *components):
    components = list(components) or CORE
    files = sorted(set(units(Path(build), components)))
    if not files:
        sys.exit(f"tidy: {build} compiles no file of the components {', '.join(components)}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for code, text in pool.map(lambda unit: tidy(build, unit), files) if code]
    print("".join(found), end="")
    print(f"clang-tidy: {len(files)} files or batches, {len(found)} with warnings")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

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
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Components that are read as one file, since nearly all time goes into the headers of the standard
# library. tensor and autograd have functions of the same names.
CORE = ["tensor", "random autograd nn optim store collectives"]
COMPONENT = re.compile(r"libmini/.*CMakeFiles/mini_(\w+)\.dir/")


def commands_of(build):
    """Returns {component: commands that compile its C++ files, without a learner's copies}."""
    found = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        component = COMPONENT.search(command.get("output", "") or command["command"])
        if component and command["file"].endswith((".cpp", ".cxx")):
            found.setdefault(component[1], []).append(command)
    return found


def flags_of(commands):
    """Returns the flags that say how the files are read."""
    text = " ".join(command["command"] for command in commands)
    flags = re.findall(r" (-isystem [^ ]+|-[DI][^ ]+|-std=[^ ]+)", text)
    return shlex.split(" ".join(dict.fromkeys(flags)))


def tidy(build, group, commands):
    """Returns the exit code and the output of clang-tidy for a group of components."""
    whole = build / f"tidy_{group.split()[0]}.cxx"
    whole.write_text("".join(f'#include "{command["file"]}"\n' for command in commands))
    done = subprocess.run(
        ["clang-tidy", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", whole, "--",
         "-Wno-unknown-warning-option", "-w", *flags_of(commands)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.returncode, done.stdout


def main(build, *groups):
    build = Path(build)
    found = commands_of(build)
    groups = list(found) if groups == ("all",) else groups or CORE
    batches = {group: [command for name in group.split() for command in found.get(name, [])]
               for group in groups}
    missing = [group for group, commands in batches.items() if not commands]
    if missing:
        sys.exit(f"tidy: {build} compiles no file of {', '.join(missing)}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = list(pool.map(lambda batch: tidy(build, *batch), batches.items()))
    print("".join(text for code, text in ends if code), end="")
    print(f"clang-tidy: {sum(map(len, batches.values()))} files or batches, "
          f"{sum(code != 0 for code, _ in ends)} groups of components with warnings")
    return any(code for code, _ in ends)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

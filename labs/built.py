"""Runs the built programs of the labs, for the scripts measure.py.

    output = built.output_of(["build/release/bin/depth"])
"""

import os
import subprocess
import sys


def start(command, **options):
    """Starts a program, which is built if it is missing, and returns its Popen."""
    ensure(command[0])
    return subprocess.Popen(command, **options)


def ensure(program):
    """Builds a program if it is missing. If that is not possible, ends this program with a message on
    stderr that says how to build it."""
    if os.path.exists(program):
        return
    folder, name = os.path.split(program)
    build = os.path.dirname(folder) or "."
    command = ["cmake", "--build", build, "--target", name]
    if os.path.exists(os.path.join(build, "CMakeCache.txt")):
        print(f"{program} is missing; building it: {' '.join(command)}", file=sys.stderr)
        subprocess.run(command, stdout=2)  # stderr
    if not os.path.exists(program):
        sys.exit(f"{program} is not there: build it with\n"
                 f"  cmake --preset {os.path.basename(build)}; {' '.join(command)}")


def output_of(command, **options):
    """Returns the output of a program. If it fails, ends this program with the program's messages
    and its exit code on stderr."""
    with start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
               **options) as process:
        output, messages = process.communicate()
    if process.returncode:
        sys.exit(f"{messages}{' '.join(command)} ended with exit code {process.returncode}")
    return output


def counted(items, what):
    """Yields the items. On a terminal, stderr has the number of the item in work, as in
    "measuring: round 2 of 5", until the last one is done."""
    items = list(items)
    for number, item in enumerate(items, 1):
        tell(f"{what} {number} of {len(items)}")
        yield item
    tell("")


def tell(text, width=60):
    if sys.stderr.isatty():
        print(f"\r{text:{width}}\r", end="", file=sys.stderr, flush=True)

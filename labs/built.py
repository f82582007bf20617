"""Runs the built programs of the labs, for the scripts measure.py.

    output = built.output_of(["build/release/bin/depth"])
"""

import os
import subprocess
import sys


def start(command, **options):
    """Starts a program, and returns its Popen. If it is not built, ends this program with a message
    on stderr that says how to build it."""
    try:
        return subprocess.Popen(command, **options)
    except FileNotFoundError:
        folder, name = os.path.split(command[0])
        sys.exit(f"{command[0]} is not there: build it with\n"
                 f"  cmake --build {os.path.dirname(folder) or '.'} --target {name}")


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

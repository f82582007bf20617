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

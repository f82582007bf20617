"""A step of run.py: a name, and a function that runs it within a number of seconds."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Callable

KEPT_LINES = 200


@dataclass
class Step:
    name: str
    run: Callable  # takes the seconds that it may take; returns the result
    alone: bool = False  # no other step may run at the same time


def run(command, seconds, settings=None, answers=""):
    """Runs a command and returns its result, with the last lines of its output. Its stdin has `answers`. The
    exit code is None if it was not done in time."""
    start = time.monotonic()
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds,
                              input=f"{answers}\n", env={**os.environ, **(settings or {})})
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, output = None, f"not done after {seconds:.0f} s"
    except OSError as error:
        code, output = 127, str(error)
    return {"status": "passed" if code == 0 else "failed",
            "command": " ".join(map(str, command)),
            "exit_code": code,
            "seconds": round(time.monotonic() - start, 1),
            "output": "\n".join(output.splitlines()[-KEPT_LINES:])}


def run_with_json(command, seconds):
    """Runs a command that writes a file with --json, and adds the file to the result as "data"."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "data.json"
        result = run([*command, "--json", path], seconds)
        if path.exists():
            result["data"] = json.loads(path.read_text())
    return result


def left_out(why):
    return {"status": "left out", "why": why}

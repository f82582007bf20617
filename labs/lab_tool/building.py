"""Configures and builds a preset: progress on one line, all output in a log."""

import os
import re
import time

from lab_tool.places import BUILD, ROOT, fresh_log, shown
from lab_tool.process import check, run_logged
from lab_tool.screen import ProgressLine, say

NINJA_STEP = re.compile(r"^\[(\d+)/(\d+)\] (.*)")  # "[12/80] Building CXX object a/b.cpp.o"


def parse_step(line):
    """Returns (done, total, what) for a line that reports a build step, else None. `what` is a file
    name without folders and ".o": "ops.cpp"."""
    found = NINJA_STEP.match(line)
    if not found:
        return None
    return int(found[1]), int(found[2]), re.split("[ /]", found[3])[-1].removesuffix(".o")


def build_environment():
    """Returns the environment; if the home is read-only, ccache uses a folder in build/."""
    env = dict(os.environ)
    if not os.access(env.get("HOME", ""), os.W_OK):
        env.setdefault("CCACHE_DIR", str(BUILD / "ccache"))
    return env


def configure(preset, log, *options, root=ROOT):
    command = ["cmake", "--preset", preset, *options]
    check("configuring", run_logged(command, log, cwd=root, env=build_environment()), log)


def run_build(where, targets, log_path, *options, label="  building"):
    """Builds targets of a build folder, or of ["--preset", its preset], and shows the progress.
    Returns the exit code and the lines of output."""
    lines = []
    command = ["cmake", "--build", *where, *(["--target", *targets] if targets else []), *options]
    with ProgressLine(label) as progress:

        def on_line(line):
            step = parse_step(line)
            if step:
                progress.show(*step)
            lines.append(line)

        code = run_logged(command, log_path, on_line, cwd=ROOT, env=build_environment())
        return code, lines


def build(preset, targets=()):
    """Configures and builds `targets` (everything when empty) of `preset`."""
    start = time.monotonic()
    log = fresh_log(preset)
    say(f"configure and build preset {preset} (log: {shown(log)})")
    configure(preset, log)
    check("the build", run_build(["--preset", preset], targets, log)[0], log)
    say(f"  built in {time.monotonic() - start:.0f} s")

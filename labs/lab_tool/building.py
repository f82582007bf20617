"""Configures and builds a preset: progress on one line, all output in a log."""

import os
import re
import time

from lab_tool.places import BUILD, ROOT, fresh_log, shown
from lab_tool.process import check_logged
from lab_tool.screen import ProgressLine, say

# Ninja: "[12/80] Building CXX object a/b.cpp.o". Make: "[ 12%] Building CXX object a/b.cpp.o".
NINJA_STEP = re.compile(r"^\[(\d+)/(\d+)\] (.*)")
MAKE_STEP = re.compile(r"^\[ *(\d+)%\] (.*)")


def parse_step(line):
    """Returns (done, total, what) for a line that reports a build step, else None."""
    found = NINJA_STEP.match(line)
    if found:
        return int(found[1]), int(found[2]), short(found[3])
    found = MAKE_STEP.match(line)
    if found:
        return int(found[1]), 100, short(found[2])
    return None


def short(what):
    """Returns the file name of a step, without folders and ".o": "ops.cpp"."""
    name = what.split(" ")[-1].rsplit("/", 1)[-1]
    return name[:-2] if name.endswith(".o") else name


def build_environment():
    """Returns the environment; if the home is read-only, ccache uses a folder in build/."""
    env = dict(os.environ)
    home = env.get("HOME", "")
    if not os.access(home, os.W_OK):
        env.setdefault("CCACHE_DIR", str(BUILD / "ccache"))
    return env


def build(preset, targets=()):
    """Configures and builds `targets` (everything when empty) of `preset`."""
    start = time.monotonic()
    log = fresh_log(preset)
    env = build_environment()
    say(f"configure and build preset {preset} (log: {shown(log)})")
    check_logged(
        "configuring", ["cmake", "--preset", preset, "-DMINI_WORK_WITHOUT="],
        log, lambda line: None, cwd=ROOT, env=env,
    )

    command = ["cmake", "--build", "--preset", preset]
    if targets:
        command += ["--target", *targets]
    with ProgressLine("  building") as progress:

        def on_line(line):
            step = parse_step(line)
            if step:
                progress.show(*step)

        check_logged("the build", command, log, on_line, cwd=ROOT, env=env)
    say(f"  built in {time.monotonic() - start:.0f} s")

"""Configures and builds: progress on one line, all output in a log.

If some of the learner's files do not compile or link, a lab's check is built again without them, so
that the tasks of the other files are checked."""

import contextlib
import fcntl
import re
import time

from lab_tool import compile_errors
from lab_tool.places import BUILD, PRESET, ROOT, fresh_log, shown
from lab_tool.process import run_logged
from lab_tool.projection import project
from lab_tool.screen import LabError, ProgressLine, say

BUILDS = 4  # a build may find errors in files that the previous build did not reach
SAYS_ERROR = re.compile(r"(?i)\berror[: ]")
NINJA_STEP = re.compile(r"^\[(\d+)/(\d+)\] (?!Re-)(.*)")  # "[12/80] Building a/b.cpp.o", not CMake


def parse_step(line):
    """Returns (done, total, "ops.cpp") for a line that reports a build step, else None."""
    found = NINJA_STEP.match(line)
    if not found:
        return None
    return int(found[1]), int(found[2]), re.split("[ /]", found[3])[-1].removesuffix(".o")


@contextlib.contextmanager
def turn_in(folder):
    """Waits until no other labs/lab configures or builds in a folder, such as "release", of build/."""
    with open(BUILD / f"{folder}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("  another labs/lab is building in the same folder; this one waits for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks
        yield


def configure(log, *options, preset=PRESET):
    command = ["cmake", "--preset", preset, *options]
    with turn_in(preset):
        say("  configuring")
        lines = []
        check_built("configuring failed", run_logged(command, log, lines.append, cwd=ROOT), lines, log)


def run_build(where, targets, log_path, *options, label="  building"):
    """Builds targets and shows the progress. `where`: a build folder, or ["--preset", its preset].
    Returns the exit code and the lines of output."""
    lines = []
    command = ["cmake", "--build", *where, *(["--target", *targets] if targets else []), *options]
    with turn_in(where[-1]), ProgressLine(label) as progress:

        def on_line(line):
            step = parse_step(line)
            if step:
                progress.show(*step)
            lines.append(line)

        code = run_logged(command, log_path, on_line, cwd=ROOT)
        return code, lines


def build(preset, targets=()):
    """Configures and builds `targets` (everything when empty) of `preset`."""
    start = time.monotonic()
    log = fresh_log(preset)
    say(f"configure and build preset {preset} (log: {shown(log)})")
    configure(log, preset=preset)
    check_built("the build failed", *run_build(["--preset", preset], targets, log), log)
    say(f"  built in {time.monotonic() - start:.0f} s")


def build_checks(targets, log):
    """Builds as many of `targets` as possible; returns the exit code and the lines of output."""
    if not (BUILD / PRESET / "build.ninja").exists():
        configure(log)
    return run_build(["--preset", PRESET], targets, log, "--", "-k", "0")


def build_without_broken(workspace, labs, mine=None):
    """Builds the checks of labs, the learner's files first; `mine`: see project(). Tells and returns
    {"07-partition/a.cpp": errors} of those that do not compile. Raises LabError if another does not."""
    log = fresh_log("lab")
    targets = [f"lab{lab.number}_check" for lab in labs]
    broken = {}
    for _ in range(BUILDS):
        for lab in labs:
            project(workspace, lab.number, mine, without=broken)
        code, lines = build_checks([f"mini_check{lab.number}_own" for lab in labs], log)
        if code == 0:
            code, lines = build_checks(targets, log)
        if code == 0:
            return broken
        errors = compile_errors.errors_in(lines, ROOT)
        own = [error for error in errors if error.path.startswith("work/")]
        failed = compile_errors.broken_files(lines, ROOT) or [error.path.removeprefix("work/")
                                                              for error in own if error.is_of_linker]
        if not failed:
            check_built("the check does not build", code, lines, log)
        for name in failed:
            broken[name] = [error for error in own if error.path == f"work/{name}"] or errors[:3]
            told = [line for error in broken[name][:1] for line in error.spelled()]
            say("\n    ".join([f"  work/{name} does not build:", *told]))
    raise LabError(f"the check does not build; the whole output is in {log}")


def check_built(what, code, lines, log):
    """Unless the exit code is 0, raises LabError with the first errors of a command's output: without
    a compiler's or a linker's, with the lines from the first `error`; without any, with the last."""
    if code == 0:
        return
    errors = compile_errors.errors_in(lines, ROOT)
    told = [line for error in errors[:3] for line in error.spelled()]
    first = next((at for at, line in enumerate(lines) if SAYS_ERROR.search(line)), -10)
    told = told or [line for line in lines[first:] if line][:30]
    raise LabError("\n".join([f"{what}:", *told, f"the whole output is in {log}"]))

"""Fuzzes all readers of files, messages and options with arbitrary bytes
(libFuzzer).

    labs/lab fuzz                       every target for 10 s
    labs/lab fuzz --minutes 30          all targets, half an hour altogether
    labs/lab fuzz idx png --seconds 60  two targets, a minute each
    labs/lab fuzz --list                the names of the targets

Each core runs one target at a time. Inputs that reach new code are kept in
build/fuzz/corpus, and the next run begins with them. An input that breaks a
target is minimised and kept in build/fuzz/crashes; then the exit code is 1.
tests/fuzz/README.md describes the targets.
"""

import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from lab_tool.building import build
from lab_tool.places import BUILD, ROOT, bin_dir, shown
from lab_tool.process import output_of, run_in_foreground
from lab_tool.screen import LabError, ProgressLine, say
from lab_tool.verbs.setup import install_missing

FOLDER = BUILD / "fuzz"
CORPUS, CRASHES, LOGS = FOLDER / "corpus", FOLDER / "crashes", FOLDER / "logs"
PROGRAM = bin_dir("fuzz") / "mini_fuzz"
LIMITS = ("-timeout=10", "-rss_limit_mb=1024")  # seconds and memory of one input
ENVIRONMENT = {"ASAN_OPTIONS": "quarantine_size_mb=32:allow_addr2line=1",
               "UBSAN_OPTIONS": "print_stacktrace=1"}
MEMORY_FOLDER = "/dev/shm"  # files of inputs are quicker there
SECONDS = 10.0
MINIMISE_SECONDS = 5  # minimising ends after this time without a smaller input
PAUSE = 0.1

ARTIFACT = re.compile(r"Test unit written to (\S+)")
STATISTIC = re.compile(r"^stat::(\w+): +(\d+)", re.M)
REPORT_BEGINS = re.compile(r"ERROR: |runtime error: |terminate called")
REPORT_ENDS = re.compile(r"^SUMMARY: |^MS: ")
FRAME = re.compile(r"^ +#\d+ ")
OUR_FRAME = re.compile(r"^ +(#\d+) \S+ in (.*) \S*/((?:libmini|tests)/\S+)$")
REPORT_LINES = 8


@dataclass
class Outcome:
    """The result of one target's run."""

    target: str
    runs: int
    rate: int  # runs per second
    fault: Path = None  # the input that broke the target
    report: str = ""

    def corpus(self):
        return len(list((CORPUS / self.target).iterdir()))


def add_arguments(parser):
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="only these (all)")
    parser.add_argument("--list", action="store_true", help="print the names of the targets")
    parser.add_argument("--replay", metavar="FILE", type=Path, help="run one saved input")
    time_group = parser.add_mutually_exclusive_group()
    time_group.add_argument("--seconds", type=float, metavar="S",
                            help=f"for each target ({SECONDS:.0f})")
    time_group.add_argument("--minutes", type=float, metavar="M", help="for all targets together")


def run(options):
    install_missing(optional=False, clang=True)
    build("fuzz", ["mini_fuzz"])
    if options.replay:
        return replay(options.replay)
    names = choose(write_seeds(), options.targets)
    if options.list:
        say("\n".join(names))
        return 0
    workers = os.cpu_count() or 1
    seconds = seconds_each(options, len(names), workers)
    say(f"fuzz {len(names)} targets for {seconds:.0f} s each, {workers} at a time")
    outcomes = fuzz(names, seconds, workers)
    for outcome in outcomes:
        if outcome.fault:
            tell_of_fault(outcome)
    say(table(outcomes))
    return 1 if any(outcome.fault for outcome in outcomes) else 0


def write_seeds():
    """Writes the seeds of all targets into their corpora; returns the targets' names."""
    printed = output_of([str(PROGRAM), f"--write-seeds={CORPUS}"])
    if not printed:
        raise LabError(f"{shown(PROGRAM)} --write-seeds={shown(CORPUS)} failed; run it by hand")
    return printed.split()


def choose(names, wanted):
    for name in wanted:
        if name not in names:
            raise LabError(f"there is no target {name!r}; the targets: {', '.join(names)}")
    return wanted or names


def seconds_each(options, targets, workers):
    if options.minutes is None:
        return SECONDS if options.seconds is None else options.seconds
    return max(1, options.minutes * 60 * min(workers, targets) / targets)


def fuzz(names, seconds, workers):
    """Runs the targets, `workers` at a time; returns their outcomes in the order of `names`."""
    for folder in (CRASHES, LOGS):
        folder.mkdir(parents=True, exist_ok=True)
    waiting, running, outcomes = list(names), {}, {}
    total = round(seconds * -(-len(names) // workers))
    with scratch_folder() as scratch, ProgressLine("  fuzzing, seconds") as progress:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    name = waiting.pop(0)
                    running[name] = start(name, seconds, scratch)
                progress.show(min(round(progress.seconds()), total), total, ", ".join(running))
                time.sleep(PAUSE)
                for name in [name for name in running if running[name].poll() is not None]:
                    code = running.pop(name).returncode
                    outcomes[name] = outcome_of(name, code, scratch)
        finally:
            for process in running.values():
                process.kill()
                process.wait()
    return [outcomes[name] for name in names]


def scratch_folder():
    """Returns a temporary folder for the targets' files; it is deleted even after a crash."""
    memory = MEMORY_FOLDER if os.access(MEMORY_FOLDER, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="mini-fuzz-", dir=memory)


def command_for(name, *options):
    return [str(PROGRAM), f"--target={name}", *LIMITS, *map(str, options)]


def environment(scratch):
    return {**os.environ, **ENVIRONMENT, "TMPDIR": str(scratch)}


def log_of(name):
    return LOGS / f"{name}.log"


def start(name, seconds, scratch):
    command = command_for(name, f"-max_total_time={max(1, round(seconds))}",
                          "-print_final_stats=1", f"-artifact_prefix={CRASHES}/{name}-",
                          CORPUS / name)
    with open(log_of(name), "wb") as log:
        return subprocess.Popen(command, cwd=ROOT, env=environment(scratch), stdout=log,
                                stderr=log, stdin=subprocess.DEVNULL)


def outcome_of(name, code, scratch):
    log = log_of(name).read_text(encoding="utf-8", errors="replace")
    statistics = {key: int(value) for key, value in STATISTIC.findall(log)}
    outcome = Outcome(name, statistics.get("number_of_executed_units", 0),
                      statistics.get("average_exec_per_sec", 0))
    if code == 0:
        return outcome
    kept = ARTIFACT.search(log)
    if not kept:
        raise LabError(f"target {name} ended with exit code {code}, see {shown(log_of(name))}")
    outcome.report = report_in(log)
    outcome.fault = minimised(name, Path(kept[1]), scratch)
    return outcome


def report_in(log):
    """Returns the first lines of a sanitizer's report, with only our sources' frames."""
    telling, begun = [], False
    for line in log.splitlines():
        begun = begun or bool(REPORT_BEGINS.search(line))
        if begun and REPORT_ENDS.search(line):
            break
        frame = OUR_FRAME.match(line)
        if begun and frame:
            telling.append(f"    {frame[1]} {function_name(frame[2])} {frame[3]}")
        elif begun and line.strip() and not FRAME.match(line):
            telling.append(line)
    return "\n".join(telling[:REPORT_LINES])


def function_name(signature):
    """Returns a function's name without arguments: "mini::data::read_chunk"."""
    return signature.replace("(anonymous namespace)::", "").split("(")[0]


def minimised(name, fault, scratch):
    """Returns a smaller input with the same failure if one is found, else `fault`."""
    if not fault.name.startswith(f"{name}-crash-"):
        return fault  # an input that takes too much time or memory is not minimised
    smaller = fault.with_name(fault.name + "-small")
    command = command_for(name, "-minimize_crash=1", f"-max_total_time={MINIMISE_SECONDS}",
                          f"-exact_artifact_path={smaller}", fault)
    try:
        subprocess.run(command, cwd=ROOT, env=environment(scratch), stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=10 * MINIMISE_SECONDS)
    except subprocess.TimeoutExpired:
        pass  # the smallest input so far was written
    return smaller if smaller.exists() else fault


def tell_of_fault(outcome):
    size = outcome.fault.stat().st_size
    say(f"\nFAULT: {outcome.target} broke on {shown(outcome.fault)} ({size} bytes):")
    for line in outcome.report.splitlines():
        say(f"  | {line}")
    say(f"  again: labs/lab fuzz --replay {shown(outcome.fault)}")


def table(outcomes):
    lines = [f"\n{'target':18} {'runs':>10} {'runs/s':>8} {'corpus':>7} {'faults':>7}"]
    for outcome in outcomes:
        lines.append(f"{outcome.target:18} {outcome.runs:>10} {outcome.rate:>8} "
                     f"{outcome.corpus():>7} {1 if outcome.fault else 0:>7}")
    runs, faults = sum(each.runs for each in outcomes), sum(bool(each.fault) for each in outcomes)
    lines.append(f"{len(outcomes)} targets, {runs} runs, {faults} faults")
    return "\n".join(lines)


def replay(file):
    """Runs one input; the name of its file or folder begins with the target's name."""
    if not file.is_file():
        raise LabError(f"{file}: there is no such file")
    file = file.absolute()
    name = file.parent.name if file.parent.parent == CORPUS else file.name.split("-")[0]
    with scratch_folder() as scratch:
        code = run_in_foreground(command_for(name, file), cwd=ROOT, env=environment(scratch))
    say(f"{name}: " + ("a fault, see above" if code else "no fault"))
    return 1 if code else 0

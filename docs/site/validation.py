#!/usr/bin/env python3
"""Writes docs/pages/validation.md, the validation of a release, from what its commands print.

    docs/site/validation.py check check check grades   runs three times a part, and another one
    docs/site/validation.py                            writes the page from what was run before

Each run adds a file to build/validation: its command, commit, machine and time, then its output. The
page has them all, also those that failed. A new release begins with an empty folder. Run it on a
quiet machine: the parts have deadlines.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "labs"), str(ROOT / "tests/labs")]

from lab_tool.catalogue import Catalogue  # noqa: E402
from lab_tool.workspace import Workspace  # noqa: E402
from learner_end_to_end import WORK, Learner  # noqa: E402

RUNS, PAGE = ROOT / "build/validation", ROOT / "docs/pages/validation.md"
KINDS = ("threads", "ring-tcp", "ring-shm", "gloo")
PARTS = {  # name: (command, the line of its output that goes into the page)
    "check": ("labs/lab dev check", r"dev check: .* (\d+ killed, \d+ wrong)"),
    "grades": ("docs/site/validation.py --grade", r"(the reference: .*)"),
    "learner": ("tests/labs/learner_end_to_end.py --here", r"(the reference and the solved labs train to .*)"),
    "course": ("tests/labs/course_end_to_end.py", r"(the workflow gave \d+ points)"),
    **{f"faults-{kind}": (f"build/release/bin/dist_faults {kind}",
                          r"(\d+ faults, .* out of bounds)") for kind in KINDS}}
HEAD = """\
# Validation of {version}

Made by `docs/site/validation.py` from the output of the commands below. A run that failed
has its row, too. The hours of the labs are estimates: no class has been measured.
"""
GRADES = """
## Grades

`labs/lab grade` of all labs. Bonus tasks come on top of the possible points.

| work of a learner | points |
|---|---|
"""
MUTANTS = """
## Mutants

A mutant is a wrong version of a task's code, which a check of its lab must detect. `labs/lab
dev check` also requires that each case passes with the reference, and that each case of a task
is "not started" without the task's code. The last run:

{counts}.

| lab | tasks | mutants | killed |
|---|---|---|---|
"""
TABLE = """
## Runs

Minutes are wall-clock time. Load is the system's load average of the last 15 minutes of a run: if
it is far above the number of cores, processes wait for a core, and deadlines pass.

| command | result | minutes | load | date | commit | machine |
|---|---|---|---|---|---|---|
"""


def output_of(command):
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout


def machine():
    names = re.findall(r"^Model name: +(.*)$", output_of(["lscpu"]), re.MULTILINE)
    return f"{', '.join(names)}, {len(os.sched_getaffinity(0))} cores"


def run_part(name):
    """Runs a part and writes its file; returns the exit code."""
    start, words = time.time(), PARTS[name][0].split()
    python = [sys.executable] * words[0].endswith(".py")
    done = subprocess.run(python + words, cwd=ROOT, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    head = {"part": name, "code": done.returncode, "minutes": round((time.time() - start) / 60, 1),
            "load": round(os.getloadavg()[2], 1), "date": time.strftime("%Y-%m-%d"), "machine": machine(),
            "commit": output_of(["git", "describe", "--always", "--dirty"]).strip()}
    RUNS.mkdir(parents=True, exist_ok=True)
    file = RUNS / f"{len(list(RUNS.iterdir())):02}-{name}.log"
    file.write_text(f"{json.dumps(head)}\n{done.stdout}", encoding="utf-8")
    print(f"{name}: exit code {done.returncode} after {head['minutes']} minutes: {file}", flush=True)
    return done.returncode


def grade_all():
    """Grades all labs with empty files, with frames, and with the reference's code."""
    if (ROOT / WORK).exists():
        sys.exit(f"validation: {ROOT / WORK} holds a learner's work; move it away")
    os.environ.update(NO_COLOR="1", OMP_NUM_THREADS="1")
    learner, sums = Learner(ROOT), {}
    labs, is_core = learner.catalogue.labs, Workspace(learner.catalogue).is_core
    try:
        for what, words in (("empty files", ["start"]), ("frames", ["reset", "--guided"])):
            for lab in labs:
                learner.lab(words[0], lab.number, *words[1:])
            sums[what] = learner.lab("grade").splitlines()[-1]
        for lab in labs:
            learner.solve_lab(lab.number)
            for path in filter(is_core, learner.catalogue.files_of(lab.number)):
                learner.write_whole(path)
            learner.repair_hunt(lab.number)
        sums["the reference"] = learner.lab("grade").splitlines()[-1]
    finally:
        shutil.rmtree(ROOT / WORK, ignore_errors=True)
    print("\n".join(f"{what}: {points}" for what, points in sums.items()))


def read_runs(folder):
    """Returns the heads of all runs in their order, each with its output."""
    found = []
    for file in sorted(folder.glob("*.log")):
        head, output = file.read_text(encoding="utf-8").split("\n", 1)
        found.append({**json.loads(head), "output": output})
    return found


def page_of(runs, tasks, version):
    """Returns the page. `tasks`: {lab: how many}."""
    last = {run["part"]: run["output"] for run in runs}
    text = HEAD.format(version=version)
    if grades := re.findall(r"^(empty files|frames|the reference): (.*) points$", last.get("grades", ""),
                            re.MULTILINE):
        text += GRADES + "".join(f"| {what} | {points} |\n" for what, points in grades)
    if found := re.search(r"^dev check: (.*), \d+ s$", last.get("check", ""), re.MULTILINE):
        killed = Counter(re.findall(r"^lab(\d\d)\.\d+/\S+ ", last["check"], re.MULTILINE))
        alive = Counter(re.findall(r"^WRONG: mutant lab(\d\d)\S+ survives", last["check"], re.MULTILINE))
        text += MUTANTS.format(counts=textwrap.fill(found[1], 90))
        text += "".join(f"| {lab} | {count} | {killed[lab] + alive[lab]} | {killed[lab]} |\n"
                        for lab, count in tasks.items())
    machines = list(dict.fromkeys(run["machine"] for run in runs))
    text += TABLE + "".join(row_of(run, machines.index(run["machine"]) + 1) for run in runs)
    text += "".join(f"\nMachine {number}: {name}.\n" for number, name in enumerate(machines, 1))
    left = [f"- `{command}`\n" for name, (command, _) in PARTS.items() if name not in last]
    return text + "\nNo run is shown of:\n\n" * bool(left) + "".join(left)


def row_of(run, machine_number):
    command, result = PARTS[run["part"]]
    found = re.findall(result, run["output"])
    told = found[-1] if found and run["code"] == 0 else f"failed, exit code {run['code']}"
    cells = told, run["minutes"], run["load"], run["date"], run["commit"], machine_number
    return f"| `{command}` | {' | '.join(map(str, cells))} |\n"


def main(words):
    if words == ["--grade"]:
        return grade_all()
    if set(words) - set(PARTS):
        sys.exit(f"{__doc__}\nparts: {', '.join(PARTS)}")
    codes = list(map(run_part, words))
    version = re.search(r"project\(libmini VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    tasks = {lab.number: len(lab.tasks) for lab in Catalogue().labs}
    PAGE.write_text(page_of(read_runs(RUNS), tasks, version), encoding="utf-8")
    sys.exit(1 if any(codes) else 0)


if __name__ == "__main__":
    main(sys.argv[1:])

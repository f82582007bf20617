"""Works through the labs like a learner, in a fresh clone; fails if an output is unexpected.

    tests/labs/learner_end_to_end.py solved      all labs from their starters together: demo --mine
    tests/labs/learner_end_to_end.py graded      all labs from their starters, one by one

CI runs `solved`. It also has the mutants and the references of labs/lab dev check, the cheats, and
course_end_to_end.py, where a student does lab 07.

Several parts may be given. The clone stays in build/end-to-end, so that a second run builds little.
--here uses this repository instead, without a new clone; it must not have a work/ folder. CI uses
--here in a fresh clone that is already built. The output of the commands is printed, and saved in
build/end-to-end-PART.txt. No network is needed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = "work"
sys.path.insert(0, str(ROOT / "labs"))

from lab_tool.catalogue import Catalogue  # noqa: E402
from author_tool import repairs  # noqa: E402
from lab_tool.regions import with_bodies  # noqa: E402

DEMO = ["--epochs", "1", "--", "--data", "digits", "--steps", "20", "--json"]


def fresh_clone():
    """Returns a clone of this repository's current commit, without a learner's files."""
    clone = ROOT / "build" / "end-to-end" / "libmini"
    if clone.exists():
        commands = [["git", "-C", clone, "fetch", "-q", "origin", "HEAD"],
                    ["git", "-C", clone, "reset", "-q", "--hard", "FETCH_HEAD"],
                    ["git", "-C", clone, "clean", "-q", "-fdx", "-e", "/build/"]]
    else:
        clone.parent.mkdir(parents=True, exist_ok=True)
        commands = [["git", "clone", "-q", ROOT, clone]]
    for command in commands:
        subprocess.run(list(map(str, command)), check=True)
    return clone


class Learner:
    def __init__(self, part, clone):
        self.clone = clone
        self.transcript = open(ROOT / "build" / f"end-to-end-{part}.txt", "w", encoding="utf-8")
        self.catalogue = Catalogue(clone)

    def show(self, line):
        print(line, flush=True)
        self.transcript.write(line + "\n")
        self.transcript.flush()

    def lab(self, *words, ends=0, says=()):
        """Runs labs/lab with `words`; requires exit code `ends` and output with each of `says`."""
        self.show(f"\n$ labs/lab {' '.join(words)}")
        done = subprocess.run(["labs/lab", *words], cwd=self.clone, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.show(done.stdout.rstrip("\n"))
        assert done.returncode == ends, f"exit code {done.returncode}, expected {ends}"
        for text in says:
            assert text in done.stdout, f"missing in the output: {text}"
        return done.stdout

    def write(self, path, task):
        """Writes the reference's bodies of a task into a learner's file."""
        own = self.clone / WORK / path
        solution = {(region.task, region.title): region.body
                    for region in self.catalogue.regions if region.path == path}
        text = with_bodies(own.read_text(encoding="utf-8"), path, lambda region: (
            None if region.task != task else list(solution[region.task, region.title])))
        own.write_text(text, encoding="utf-8")

    def solve(self, task):
        for path in dict.fromkeys(region.path for region in self.catalogue.regions_of(task=task)):
            self.write(path, task)

    def solve_file(self, path):
        """Writes libmini's file in place of a learner's file."""
        shutil.copyfile(ROOT / path, self.clone / WORK / path)

    def solve_lab(self, number):
        for task in self.catalogue.lab(number).tasks:
            self.solve(task.name)

    def repair_hunt(self, number):
        """Applies the stored repairs to the learner's copy of a lab's hunt."""
        lab = self.catalogue.lab(number)
        stored = repairs.read_repairs(self.clone, lab)
        if stored:
            own = self.clone / WORK / lab.hunt
            text = own.read_text(encoding="utf-8")
            own.write_text(repairs.variants(text, stored)[repairs.ALL], encoding="utf-8")


EMPTY = "// empty\n"
LISTED = re.compile(r"^  (\S) (\d\d\.\d+)  ", re.MULTILINE)


def check_lacking(learner, own, number, text, tasks):
    """Checks a lab with `text` in a file: `tasks` are not started, and no task fails."""
    learner.show(f"\n({own.relative_to(learner.clone)} without code of {', '.join(sorted(tasks))})")
    own.write_text(text, encoding="utf-8")
    output = learner.lab("check", number, ends=1)
    assert "does not define" in " ".join(output.split())
    signs = {task: sign for sign, task in LISTED.findall(output)}
    assert all(signs[task] == "·" for task in tasks), (tasks, signs)
    assert "✗" not in signs.values(), signs


def solve_all(learner):
    labs = [lab.number for lab in learner.catalogue.labs]
    for number in labs:
        learner.lab("start", number)
    for number in labs:
        learner.solve_lab(number)
        learner.repair_hunt(number)


def graded(learner):
    solve_all(learner)
    out = learner.clone / "build" / "grades.json"
    learner.lab("grade", "--format", "json", "--output", str(out))
    grades = json.loads(out.read_text(encoding="utf-8"))
    assert grades["points"] == grades["of"] > 0, grades


def solved(learner):
    solve_all(learner)
    digests = [digests_of(learner.lab("demo", *DEMO, "--plain")),  # as with --mine
               digests_of(learner.lab("demo", "--mine", *DEMO))]
    assert digests[0] == digests[1], f"the reference ends with {digests[0]}, mine {digests[1]}"
    learner.show("\nthe reference and the solved labs train to bitwise identical parameters")


def digests_of(output):
    results = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert len(results) == 1 and results[0]["parameters_sha256"], output
    return results[0]["parameters_sha256"]


PARTS = {"solved": solved, "graded": graded}


def live(part, clone):
    PARTS[part](Learner(part, clone))
    print(f"\nlearner_end_to_end: {part} passed", flush=True)


def main(words):
    here = "--here" in words
    parts = [word for word in words if word != "--here"]
    if not parts or any(part not in PARTS for part in parts):
        sys.exit(__doc__)
    if here and (ROOT / WORK).exists():
        sys.exit(f"learner_end_to_end: {ROOT / WORK} holds a learner's work; leave out --here")
    os.environ.update(NO_COLOR="1", OMP_NUM_THREADS="1")
    for part in parts:
        if not here:
            live(part, fresh_clone())
            continue
        try:
            live(part, ROOT)
        finally:
            shutil.rmtree(ROOT / WORK, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])

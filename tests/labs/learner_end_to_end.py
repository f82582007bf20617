"""Works through the labs like a learner: all labs from their starters together, in demo --mine, which
must train to the bits of the reference; then a test of the learner's own, which must kill a mutant.
Fails if an output is unexpected.

    tests/labs/learner_end_to_end.py           in a fresh clone, build/end-to-end, which stays
    tests/labs/learner_end_to_end.py --here    in this repository, which must not have a work/; so CI

CI also has the mutants and the references of labs/lab dev check, the cheats, and
course_end_to_end.py, where a student does lab 07. No network is needed.
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
from lab_tool.places import work_name  # noqa: E402
from lab_tool.regions import LOOKS_LIKE_ONE, with_bodies  # noqa: E402

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
    def __init__(self, clone):
        self.clone = clone
        self.catalogue = Catalogue(clone)

    def lab(self, *words, ends=0, says=()):
        """Runs labs/lab with `words`; requires exit code `ends` and output with each of `says`."""
        print(f"\n$ labs/lab {' '.join(words)}", flush=True)
        done = subprocess.run(["labs/lab", *words], cwd=self.clone, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        print(done.stdout.rstrip("\n"), flush=True)
        assert done.returncode == ends, f"exit code {done.returncode}, expected {ends}"
        for text in says:
            assert text in done.stdout, f"missing in the output: {text}"
        return done.stdout

    def own(self, path):
        lab = self.catalogue.lab_of.get(path) or path[5:7]
        return self.clone / WORK / work_name(ROOT, lab, path)

    def write(self, path, task):
        """Writes the reference's bodies of a task into a learner's file."""
        own = self.own(path)
        solution = {(region.task, region.title): region.body
                    for region in self.catalogue.regions if region.path == path}
        text = with_bodies(own.read_text(encoding="utf-8"), path, lambda region: (
            None if region.task != task else list(solution[region.task, region.title])))
        own.write_text(text, encoding="utf-8")

    def solve(self, task):
        for path in self.catalogue.files_of(task=task):
            self.write(path, task)

    def write_whole(self, path):
        """Writes libmini's file without regions in place of a learner's file, as one that began empty."""
        text = (ROOT / path).read_text(encoding="utf-8")
        own = [line for line in text.splitlines(keepends=True) if not LOOKS_LIKE_ONE.match(line)]
        self.own(path).write_text("".join(own), encoding="utf-8")

    def solve_lab(self, number):
        for task in self.catalogue.lab(number).tasks:
            self.solve(task.name)

    def repair_hunt(self, number):
        """Applies the stored repairs to the learner's copy of a lab's hunt."""
        lab = self.catalogue.lab(number)
        own = self.own(lab.hunt)
        stored = repairs.read_repairs(self.catalogue.root, lab)
        own.write_text(repairs.variants(own.read_text(encoding="utf-8"), stored)[repairs.ALL],
                       encoding="utf-8")


EMPTY = "// empty\n"
LISTED = re.compile(r"^  (\S) (\d\d\.\d+)  ", re.MULTILINE)


def check_lacking(learner, own, number, text, tasks):
    """Checks a lab with `text` in a file: `tasks` are not started, and no task fails."""
    print(f"\n({own.relative_to(learner.clone)} without code of {', '.join(sorted(tasks))})")
    own.write_text(text, encoding="utf-8")
    output = learner.lab("check", number, ends=1)
    assert "does not define" in " ".join(output.split())
    signs = {task: sign for sign, task in LISTED.findall(output)}
    assert all(signs[task] == "·" for task in tasks), (tasks, signs)
    assert "✗" not in signs.values(), signs


def solve_all(learner):
    labs = [lab.number for lab in learner.catalogue.labs]
    for number in labs:
        learner.lab("start", number, "--guided")
    for number in labs:
        learner.solve_lab(number)
    digests = [digests_of(learner.lab("demo", *DEMO, "--plain")),  # as with --mine
               digests_of(learner.lab("demo", "--mine", *DEMO))]
    assert digests[0] == digests[1], f"the reference ends with {digests[0]}, mine {digests[1]}"
    print("\nthe reference and the solved labs train to bitwise identical parameters", flush=True)
    output = subprocess.run(["labs/16-bucketed-ddp/beside.py", *DEMO[:2], *DEMO[3:-1]],
                            cwd=learner.clone, check=True, text=True, stdout=subprocess.PIPE).stdout
    found = re.findall(r"^(?:your library|libmini's own) +(\S+) +(\S+)", output, re.MULTILINE)
    assert len(found) == 2 and found[0] == found[1], output  # lines and accuracy


def test_yours(learner):
    learner.lab("test-yours", "9", says=["wrote work/09-distributed-sampler/my_test.cpp"])
    own = learner.clone / WORK / "09-distributed-sampler/my_test.cpp"
    own.write_text(own.read_text(encoding="utf-8").replace("1 + 1 == 2", (
        "data::DistributedSampler(10, {.num_replicas = 3, .rank = 1, .shuffle = false}).indices() == "
        "std::vector<int64_t>{1, 4, 7, 0}")), encoding="utf-8")
    assert " kills 0 " not in learner.lab("test-yours", "9", says=["your test kills", "bonus points"])


def digests_of(output):
    results = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert len(results) == 1 and results[0]["parameters_sha256"], output
    return results[0]["parameters_sha256"]


def main(words):
    if words not in ([], ["--here"]):
        sys.exit(__doc__)
    if words and (ROOT / WORK).exists():
        sys.exit(f"learner_end_to_end: {ROOT / WORK} holds a learner's work; leave out --here")
    os.environ.update(NO_COLOR="1", OMP_NUM_THREADS="1")
    try:
        learner = Learner(ROOT if words else fresh_clone())
        solve_all(learner)
        test_yours(learner)
    finally:
        if words:
            shutil.rmtree(ROOT / WORK, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])

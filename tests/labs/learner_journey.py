"""Works through the labs like a learner, in a fresh clone; fails if an output is unexpected.

    tests/labs/learner_journey.py transcript    lab 07: start, fail, hint, pass
    tests/labs/learner_journey.py collectives   lab 11: the same, with three mistakes of its README
    tests/labs/learner_journey.py broken        code that loops, crashes, exits, floods, ...
    tests/labs/learner_journey.py blank         one file at a time is empty, or lacks one function
    tests/labs/learner_journey.py blank_all     the same, for the files of all labs
    tests/labs/learner_journey.py one_process   part I: one process trains on the code of labs 01 to 05
    tests/labs/learner_journey.py solved        all labs from their starters together: demo --mine
    tests/labs/learner_journey.py graded        all labs from their starters, one by one

CI runs `solved`. For the others it has the mutants and the references of labs/lab dev check, the
cheats, and course_journey.py, where a student does lab 07.

Several parts may be given. The clone stays in build/journey, so that a second run builds little.
--here uses this repository instead, without a new clone; it must not have a work/ folder. CI uses
--here in a fresh clone that is already built. The output of the commands is printed, and saved in
build/journey-PART.txt. No network is needed.
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
from lab_tool import repairs  # noqa: E402
from lab_tool.definitions import defined_in  # noqa: E402
from lab_tool.regions import regions_in, with_bodies  # noqa: E402

LAST_OF_PART_I = "05"
DEMO = ["--epochs", "1", "--", "--data", "digits", "--steps", "20", "--json"]


def fresh_clone():
    """Returns a clone of this repository's current commit, without a learner's files."""
    clone = ROOT / "build" / "journey" / "libmini"
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


class Journey:
    def __init__(self, part, clone):
        self.clone = clone
        self.transcript = open(ROOT / "build" / f"journey-{part}.txt", "w", encoding="utf-8")
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

    def write(self, path, bodies, include=""):
        """Writes bodies into the regions of a learner's file. `bodies`: {task: lines}; None in
        place of lines stands for the reference's body."""
        own = self.clone / WORK / path
        solution = {(region.task, region.title): region.body
                    for region in self.catalogue.regions if region.path == path}
        text = with_bodies(own.read_text(encoding="utf-8"), path, lambda region: (
            None if region.task not in bodies else
            list(bodies[region.task] or solution[region.task, region.title])))
        own.write_text(include + text, encoding="utf-8")

    def write_region(self, path, task, number, body):
        """Writes `body` into region `number`, counted from 0, of a task in a learner's file."""
        own = self.clone / WORK / path
        text = own.read_text(encoding="utf-8")
        chosen = [region for region in regions_in(text, path) if region.task == task][number]
        own.write_text(with_bodies(text, path, lambda region: (
            list(body) if region.first == chosen.first else None)), encoding="utf-8")

    def solve(self, task):
        for path in dict.fromkeys(region.path for region in self.catalogue.regions_of(task=task)):
            self.write(path, {task: None})

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


def transcript(journey):
    names = [task.name for task in journey.catalogue.lab("7").tasks]
    first = journey.catalogue.labs[0].number
    journey.lab("status", says=["lab 07", f"next: labs/lab start {first}"])
    journey.lab("start", "7", says=["write  work/libmini/data/partition.cpp"])
    journey.lab("check", "7", ends=1, says=[f"0 of {len(names)} tasks pass"]
                + [f"· {name}" for name in names])
    journey.lab("next", says=["07.1"])

    journey.show("\n(A first try: sample i of the partition is sample i of the dataset.)")
    journey.solve("07.1")
    own = journey.clone / WORK / "libmini/data/partition.cpp"
    text = own.read_text(encoding="utf-8")
    assert "dataset_->get(at(i))" in text
    own.write_text(text.replace("dataset_->get(at(i))", "dataset_->get(i)"), encoding="utf-8")
    journey.lab("check", "7.1", ends=1, says=["07.1 failed", "stuck? labs/lab hint 07.1"])
    journey.lab("hint", "7.1", says=["hint 1 of 3"])
    own.write_text(text, encoding="utf-8")
    journey.lab("check", "7.1", says=["✓ 07.1", "1 of 1 tasks pass"])

    journey.show("\n(The other tasks are written one after the other.)")
    journey.solve_lab("7")
    journey.lab("check", "7", says=[f"{len(names)} of {len(names)} tasks pass"])
    journey.lab("diff", "7.1", says=["are the same"])
    journey.lab("status", says=[f"{len(names)}/{len(names)}"])


SEND_FIRST = ["    transport.send((rank + 1) % P, out);",
              "    transport.recv((rank + P - 1) % P, in);"]
WHOLE_BUFFERS = ["    std::vector<std::byte> out(data.bytes.begin(), data.bytes.end()), in(out);",
                 "    for (int step = 0; step < P - 1; ++step) {",
                 "        transport.send_recv(right, out, left, in);",
                 "        combine_for(data.dtype, op).apply(data.bytes.data(), in.data(), data.size());",
                 "        out.swap(in);",
                 "    }"]
LOCKED = ("        lock.unlock();\n", "")


def collectives(journey):
    """Lab 11, with the mistakes that its README describes, one after another."""
    names = [task.name for task in journey.catalogue.lab("11").tasks]
    shift, ring = "labs/11-collectives/shift.cpp", "libmini/distributed/collectives/ring_all_reduce.cpp"
    group = "labs/11-collectives/simple_group.cpp"
    journey.lab("start", "11", says=[f"write  work/{shift}", f"write  work/{ring}"])
    journey.lab("check", "11", ends=1, says=[f"0 of {len(names)} tasks pass"]
                + [f"· {name}" for name in names])

    journey.show("\n(A first try: every rank sends, then receives.)")
    journey.solve("11.1")
    journey.write(shift, {"11.1": SEND_FIRST})
    journey.lab("check", "11.1", ends=1, says=["11.1 failed", "deadlock: rank", "stuck? labs/lab hint"])
    journey.lab("hint", "11.1", says=["hint 1 of 3"])
    journey.write(shift, {"11.1": None})
    journey.lab("check", "11.1", says=["✓ 11.1", "1 of 1 tasks pass"])

    journey.show("\n(The trees are right at once; the ring is the tutorial's.)")
    journey.solve("11.2")
    journey.solve("11.3")
    journey.write_region(ring, "11.3", 0, WHOLE_BUFFERS)
    journey.lab("check", "11.3", ends=1, says=["11.3 failed", "sends the whole buffer P-1 times"])
    journey.lab("hint", "11.3", says=["hint 1 of 3"])
    journey.solve("11.3")
    journey.lab("check", "11.3", says=["✓ 11.3"])

    journey.show("\n(The rest, with a mutex that stays locked while an operation runs.)")
    for name in ("11.4", "11.5", "11.6"):
        journey.solve(name)
    own = journey.clone / WORK / group
    text = own.read_text(encoding="utf-8")
    assert LOCKED[0] in text
    own.write_text(text.replace(*LOCKED), encoding="utf-8")
    journey.lab("check", "11.6", ends=1, says=["11.6 failed"])
    own.write_text(text, encoding="utf-8")
    journey.lab("check", "11", says=[f"{len(names)} of {len(names)} tasks pass"])
    journey.lab("diff", "11.6", says=["are the same"])
    journey.lab("status", says=[f"{len(names)}/{len(names)}"])


LOOP = ["    for (volatile bool on = true; on;) {}"]
CRASH = ["    *reinterpret_cast<volatile int*>(8) = 1;"]
EXIT = ["    _exit(0);"]
FLOOD = ["    for (;;) std::puts(\"forever\");"]
DEADLOCK = ["    std::mutex mutex;", "    const std::lock_guard one(mutex), two(mutex);"]


def broken(journey):
    """Each kind of broken code is in its own task; the other tasks are still checked."""
    include = "#include <unistd.h>\n#include <cstdio>\n#include <mutex>\n"
    partition, shuffle = "libmini/data/partition.cpp", "libmini/random/python_random.cpp"
    whole = "libmini/data/partition_dataset.cpp"
    journey.lab("start", "7")
    journey.solve_lab("7")

    journey.write(partition, {"07.1": LOOP}, include)
    journey.write(shuffle, {"07.3": CRASH}, include)
    journey.write(whole, {"07.6": ["    return nothing_that_is_declared;"]})
    journey.lab("check", "7", ends=1, says=[
        "07.1 failed: did not end within", f"at work/{partition}:", "✓ 07.2",
        "07.3 failed: AddressSanitizer: SEGV", f"at work/{shuffle}:", "✓ 07.4",
        f"07.6 failed: work/{whole} does not compile", "nothing_that_is_declared"])

    journey.lab("reset", "7", says=["your files as they were"])
    journey.solve_lab("7")
    journey.write(partition, {"07.4": FLOOD}, include)
    journey.write(shuffle, {"07.3": EXIT}, include)
    journey.write(whole, {"07.6": DEADLOCK}, include)
    journey.lab("check", "7", ends=1, says=[
        "✓ 07.1", "✓ 07.2", "07.3 failed: exited with code 0 before its result was written",
        "07.4 failed: wrote more than", "07.6 failed: "])


EMPTY = "// empty\n"
SEVERAL_FILES = ("07", "12", "15", "16")  # labs with several files in one component, and more
LISTED = re.compile(r"^  (\S) (\d\d\.\d+)  ", re.MULTILINE)


def blank(journey, numbers=SEVERAL_FILES):
    """What a file does not define is not taken from libmini: the tasks of an empty file are not
    started, and so is the task of a function that was deleted; the other tasks are checked."""
    for number in numbers:
        journey.lab("start", number)
        journey.solve_lab(number)
        for path in journey.catalogue.files_of(number):
            own = journey.clone / WORK / path
            text = own.read_text(encoding="utf-8")
            regions = [region for region in journey.catalogue.regions if region.path == path]
            check_lacking(journey, own, number, EMPTY, {region.task for region in regions})
            with_region = [each for each in defined_in(text) if not is_private(text, each) and any(
                each.first < region.first < each.last for region in regions)]
            if with_region:
                least, task = without_function(text, with_region[-1], regions)
                check_lacking(journey, own, number, least, {task})
            own.write_text(text, encoding="utf-8")
        names = journey.catalogue.lab(number).tasks
        journey.lab("check", number, says=[f"{len(names)} of {len(names)} tasks pass"])


def is_private(text, function):
    """Returns whether a function is in an anonymous namespace: other files do not call it."""
    before = "\n".join(text.split("\n")[:function.first])
    return before.rfind("\nnamespace {\n") > before.rfind("\n}  // namespace\n")


def without_function(text, function, regions):
    """Returns the text without all definitions of a function, and the task of its region."""
    lines = text.split("\n")
    for each in reversed([each for each in defined_in(text) if each.name == function.name]):
        del lines[each.first:each.last + 1]
    return "\n".join(lines), next(region.task for region in regions
                                  if function.first < region.first < function.last)


def check_lacking(journey, own, number, text, tasks):
    """Checks a lab with `text` in a file: `tasks` are not started, and no task fails."""
    journey.show(f"\n({own.relative_to(journey.clone)} without code of {', '.join(sorted(tasks))})")
    own.write_text(text, encoding="utf-8")
    output = journey.lab("check", number, ends=1)
    assert "does not define" in " ".join(output.split())
    signs = {task: sign for sign, task in LISTED.findall(output)}
    assert all(signs[task] == "·" for task in tasks), (tasks, signs)
    assert "✗" not in signs.values(), signs


def one_process(journey):
    """Part I of the course: on the learner's code of all its labs, one process trains the ConvNet to
    the reference's parameters, bit for bit."""
    options = ["-n", "1", "--epochs", "1", "--", "--steps", "20", "--json"]
    labs = [lab.number for lab in journey.catalogue.labs if lab.number <= LAST_OF_PART_I]
    for number in labs:
        journey.lab("start", number)
    for number in labs:
        journey.solve_lab(number)

    journey.show("\n(One task is left out: the program consists of the learner's code.)")
    journey.lab("reset", "5.6")
    journey.lab("demo", "--mine", *options, ends=1, says=["lab05.6"])
    journey.solve("05.6")
    mine = digests_of(journey.lab("demo", "--mine", *options))
    reference = digests_of(journey.lab("demo", *options))
    assert mine == reference, f"the reference ends with {reference}, mine {mine}"
    journey.show(f"\none process on labs {', '.join(labs)} has the reference's parameters, bit for bit")


def solve_all(journey):
    labs = [lab.number for lab in journey.catalogue.labs]
    for number in labs:
        journey.lab("start", number)
    for number in labs:
        journey.solve_lab(number)
        journey.repair_hunt(number)


def graded(journey):
    solve_all(journey)
    out = journey.clone / "build" / "grades.json"
    journey.lab("grade", "--format", "json", "--output", str(out))
    grades = json.loads(out.read_text(encoding="utf-8"))
    assert grades["points"] == grades["of"] > 0, grades


def solved(journey):
    solve_all(journey)
    digests = [digests_of(journey.lab("demo", *DEMO)),
               digests_of(journey.lab("demo", "--mine", *DEMO))]
    assert digests[0] == digests[1], f"the reference ends with {digests[0]}, mine {digests[1]}"
    journey.show("\nthe reference and the solved labs train to bitwise identical parameters")


def digests_of(output):
    results = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert len(results) == 1 and results[0]["parameters_sha256"], output
    return results[0]["parameters_sha256"]


PARTS = {"transcript": transcript, "collectives": collectives, "broken": broken, "blank": blank,
         "blank_all": lambda journey: blank(journey, [lab.number for lab in journey.catalogue.labs]),
         "one_process": one_process, "solved": solved, "graded": graded}


def live(part, clone):
    PARTS[part](Journey(part, clone))
    print(f"\nlearner_journey: {part} passed", flush=True)


def main(words):
    here = "--here" in words
    parts = [word for word in words if word != "--here"]
    if not parts or any(part not in PARTS for part in parts):
        sys.exit(__doc__)
    if here and (ROOT / WORK).exists():
        sys.exit(f"learner_journey: {ROOT / WORK} holds a learner's work; leave out --here")
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

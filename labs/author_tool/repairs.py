"""The repairs of the bug hunts, with which labs/lab dev check verifies that each bug matters.

    tests/hunts/lab07/compare-pointers.patch    one bug: a line that says what is wrong, then a
                                                unified diff of labs/07-partition/bug_hunt.cpp

The hunt must fail without repairs, must succeed with all repairs, and must fail if one
repair is left out. A hunk is found by its lines, not by its line numbers.
"""

from dataclasses import dataclass
from pathlib import Path, PurePath

from lab_tool import check_build, checking
from lab_tool.compile_errors import errors_in
from author_tool.dev_check import MUTANTS_PER_CORE, spread
from lab_tool.hunts import environment_of, run_hunt
from lab_tool.places import ROOT
from lab_tool.projection import write_all
from lab_tool.runner import Limits
from lab_tool.screen import LabError, say

LIMITS = Limits(seconds=20.0)

ALL = "repaired"  # the variant with all repairs


@dataclass(frozen=True)
class Repair:
    name: str  # "compare-pointers"
    wrong: str  # one sentence
    path: str  # of the patch, in the repository
    hunks: tuple  # of (lines before, lines after)


def read_repairs(root, lab):
    """Returns the repairs of a lab's hunt, sorted by name."""
    folder = Path(root) / "tests" / "hunts" / f"lab{lab.number}"
    return [read_repair(path, str(path.relative_to(root))) for path in sorted(folder.glob("*.patch"))]


def read_repair(path, shown):
    wrong, *lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    if not wrong.endswith(".") or wrong.startswith(("---", "@@")):
        raise LabError(f"{shown}:1: a repair begins with a sentence that says what is wrong")
    hunks = []
    for line in lines:
        if line.startswith("@@"):
            hunks.append(([], []))
        elif hunks:
            before, after = hunks[-1]
            if line[:1] != "+":
                before.append(line[1:])
            if line[:1] != "-":
                after.append(line[1:])
    if not hunks:
        raise LabError(f"{shown}: it has no hunk (@@); make it with diff -U1")
    return Repair(path.stem, wrong, shown, tuple((tuple(a), tuple(b)) for a, b in hunks))


def apply(repair, text):
    """Returns the text with a repair; raises LabError if a hunk is not found exactly once."""
    lines = text.split("\n")
    for number, (before, after) in enumerate(repair.hunks, 1):
        places = [place for place in range(len(lines) - len(before) + 1)
                  if tuple(lines[place:place + len(before)]) == before]
        if len(places) != 1:
            raise LabError(f"{repair.path}: the lines of hunk {number} occur {len(places)} times "
                           "in the bug hunt, not once")
        lines[places[0]:places[0] + len(before)] = after
    return "\n".join(lines)


def variants(text, repairs):
    """Returns {variant: text}: the text with all repairs and, if there are several
    repairs, a text without each of them."""
    left_out = [None] + (repairs if len(repairs) > 1 else [])
    found = {}
    for without in left_out:
        repaired = text
        for repair in repairs:
            if repair is not without:
                repaired = apply(repair, repaired)
        found[f"without_{without.name}" if without else ALL] = repaired
    return found


def generate(catalogue, labs, folder):
    """Writes the variants of the hunts to folder/07/, and removes all others; returns {lab's
    number: names of its variants}. Unchanged files are not rewritten."""
    wanted, names = {}, {}
    for lab in labs:
        repairs = read_repairs(catalogue.root, lab) if lab.hunt else []
        if repairs:
            text = (catalogue.root / lab.hunt).read_text(encoding="utf-8")
            found = variants(text, repairs)
            names[lab.number] = list(found)
            suffix = PurePath(lab.hunt).suffix
            wanted.update({folder / lab.number / f"{name}{suffix}": text
                           for name, text in found.items()})
    for lab in labs:
        write_all(folder / lab.number, {path: text for path, text in wanted.items()
                                        if path.parent.name == lab.number})
    return names


def check_hunts(labs, variants, outcome, log):
    """Builds and runs the hunts of `labs` and their variants. `variants`: {lab's number:
    names of its variants}."""
    labs = [lab for lab in labs if lab.hunt]
    for lab in labs:
        if lab.number not in variants:
            say(f"  note: the hunt of lab {lab.number} has no repair in tests/hunts/lab{lab.number}")
    programs = [program for lab in labs for program in programs_of(lab, variants)]
    code, lines = check_build.build_checks(programs, log) if programs else (0, [])
    if code:
        told = [line for error in errors_in(lines, ROOT)[:5] for line in error.spelled()]
        outcome.blame("\n".join(["the bug hunts do not build:", *(told or lines[-20:])]))
        return
    runs = [(lab, program) for lab in labs for program in programs_of(lab, variants)]
    results = spread(lambda run: run_hunt(checking.bin_dir(checking.PRESET) / run[1], LIMITS,
                                          **environment_of(run[0])), runs, MUTANTS_PER_CORE)
    for (lab, program), (happened, _) in zip(runs, results):
        outcome.count("bug hunts")
        complaint = judge(lab.number, program, happened)
        if complaint:
            outcome.blame(complaint)


def programs_of(lab, variants):
    """Returns the names of the programs: the hunt without repairs, and its variants."""
    program = f"lab{lab.number}_bug_hunt"
    return [program, *(f"{program}_{name}" for name in variants.get(lab.number, ()))]


def judge(lab, program, happened):
    """Returns what is wrong with a hunt or variant, "" if it is right. `happened` is ""
    if the program exited with code 0."""
    variant = program.removeprefix(f"lab{lab}_bug_hunt").lstrip("_")
    if variant == ALL:
        return happened and f"lab {lab}: with all repairs of tests/hunts/lab{lab} the bug hunt " \
                            f"{happened}"
    if happened:
        return ""
    left_out = variant.replace("_", " ", 1) or "without any repair"
    return f"lab {lab}: the bug hunt succeeds {left_out}"

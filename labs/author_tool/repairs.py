"""The repairs of the bug hunts, with which labs/lab dev check verifies that each bug matters.

    tests/hunts/lab07.diff      a change of labs/07-partition/bug_hunt.cpp for each bug, as
                                author_tool.mutants reads it
"""

from pathlib import PurePath

from lab_tool import building
from author_tool.dev_check import MUTANTS_PER_CORE, spread
from author_tool.mutants import apply, read_changes
from lab_tool.hunts import environment_of, run_hunt
from lab_tool.places import BIN
from lab_tool.projection import write_all
from lab_tool.runner import Limits

LIMITS = Limits(seconds=20.0)

ALL = "repaired"  # the variant with all repairs


def read_repairs(root, lab):
    """Returns the repairs of a lab's hunt, sorted by name."""
    path = root / "tests" / "hunts" / f"lab{lab.number}.diff"
    return read_changes(path, root) if path.exists() else []


def variants(text, repairs):
    """Returns {variant: text}: with all repairs and, of several repairs, without each of them."""
    left_out = [None] + (repairs if len(repairs) > 1 else [])
    found = {}
    for without in left_out:
        lines = text.split("\n")
        for repair in repairs:
            if repair is not without:
                lines = apply(repair, lines)
        found[f"without_{without.name}" if without else ALL] = "\n".join(lines)
    return found


def generate(catalogue, labs, folder):
    """Writes the variants of the hunts to folder/07/, and so on; returns {lab's number: names}."""
    names = {}
    for lab in labs:
        repairs = read_repairs(catalogue.root, lab) if lab.hunt else []
        found = variants((catalogue.root / lab.hunt).read_text(encoding="utf-8"),
                         repairs) if repairs else {}
        names[lab.number] = list(found)
        suffix = PurePath(lab.hunt).suffix
        write_all(folder / lab.number, {folder / lab.number / f"{name}{suffix}": text
                                        for name, text in found.items()})
    return names


def check_hunts(labs, variants, outcome, log):
    """Builds and runs the hunts of `labs` and their variants, {lab's number: names}."""
    runs = [(lab, "_".join([f"lab{lab.number}_bug_hunt", *variant]))
            for lab in labs if lab.hunt
            for variant in [(), *((name,) for name in variants[lab.number])]]
    if runs:
        building.check_built("the bug hunts do not build",
                             *building.build_checks([each for _, each in runs], log), log)
    results = spread(lambda run: run_hunt(BIN / run[1], LIMITS,
                                          **environment_of(run[0])), runs, MUTANTS_PER_CORE)
    for (lab, program), (happened, _) in zip(runs, results):
        outcome.count("bug hunts")
        outcome.blame(judge(lab.number, program, happened))


def judge(lab, program, happened):
    """Returns what is wrong with a hunt or variant, or "". `happened`: "" for exit code 0."""
    variant = program.removeprefix(f"lab{lab}_bug_hunt").lstrip("_")
    if variant == ALL:
        return happened and f"lab {lab}: with all repairs of tests/hunts/lab{lab}.diff the bug " \
                            f"hunt {happened}"
    if happened:
        return ""
    left_out = variant.replace("_", " ", 1) or "without any repair"
    return f"lab {lab}: the bug hunt succeeds {left_out}"

"""The check of `labs/lab dev check` that runs the bug hunts. Each hunt must fail without
repairs, succeed with all repairs of tests/hunts (lab_tool.repairs), and fail if one
repair is left out."""

from lab_tool import check_build, checking
from lab_tool.compile_errors import errors_in
from lab_tool.dev_check import spread
from lab_tool.hunts import environment_of, run_hunt
from lab_tool.places import ROOT
from lab_tool.repairs import ALL
from lab_tool.runner import Limits
from lab_tool.screen import say

LIMITS = Limits(seconds=20.0)


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
                                          **environment_of(run[0])), runs)
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

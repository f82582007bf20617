"""The bug hunt of a lab: a program that the learner repairs in work/ until it exits with code 0. Of a
program with kernels the simulator checks every access (MINI_SIM_CHECK=1), and a race is a bug, too.
A hunt that is equal to the original counts as not started."""

from dataclasses import replace
from pathlib import PurePath

from lab_tool import compile_errors
from lab_tool.building import build_checks
from lab_tool.checking import TaskResult, program_of
from lab_tool.confine import FREE
from lab_tool.places import ROOT, fresh_log
from lab_tool.runner import Limits, case_environment, run_case
from lab_tool.screen import LabError
from lab_tool.verdict import FAILED, NOT_STARTED, PASSED, Verdict, last_lines

LIMITS = Limits(seconds=30.0)
COLUMNS = 240  # of a line of a hunt's output: a report of the simulator has long lines


def run_hunt(program, limits=LIMITS, **environment):
    """Runs a hunt; returns ("", output) if it exits with code 0, else (what happened, output)."""
    ended = run_case([str(program)], limits, cwd=ROOT, env=case_environment(**environment))
    if ended.killed_for == "time":
        return f"did not end within {limits.seconds:g} s", ended.output
    if ended.killed_for:
        return "was ended: it wrote too much", ended.output
    if ended.code < 0:
        return f"was ended by signal {-ended.code}", ended.output
    return (f"exits with code {ended.code}" if ended.code else ""), ended.output


def environment_of(lab):
    return {"MINI_SIM_CHECK": "1"} if lab.hunt.endswith(".cu") else {}


def build_failure(task, target, own):
    """Builds a program of the learner's file `own`; returns None or, if it fails, the TaskResult."""
    log = fresh_log(target)
    code, lines = build_checks([target], log)
    return TaskResult(task, FAILED, f"{own} does not build (log: {log})",
                      errors=compile_errors.errors_in(lines, ROOT)) if code else None


def check_hunt(workspace, lab, confinement=FREE):
    """Builds and runs the learner's hunt; returns the TaskResult."""
    if not lab.hunt:
        raise LabError(f"lab {lab.number} has no bug hunt")
    task = lab.all_tasks[-1]
    if workspace.mine(lab.hunt) is None:
        return TaskResult(task.name, FAILED, f"{workspace.shown(lab.hunt)} is missing; to begin it again: "
                          f"labs/lab reset {task.words}")
    if workspace.untouched(task.name):
        return TaskResult(task.name, NOT_STARTED)
    failure = build_failure(task.name, f"lab{lab.number}_bug_hunt_mine", workspace.shown(lab.hunt))
    if failure:
        return failure
    program = program_of(lab.number, "bug_hunt_mine")
    limits = replace(LIMITS, confinement=confinement)
    happened, output = run_hunt(program, limits, **environment_of(lab))
    if not happened:
        return TaskResult(task.name, PASSED)
    reason = f"a bug is left: the program {happened}"
    story = ["the end of its output:", *("  " + line for line in last_lines(output, COLUMNS))]
    verdict = Verdict(PurePath(task.file).name, FAILED, reason, story)
    return TaskResult(task.name, FAILED, reason, [verdict])

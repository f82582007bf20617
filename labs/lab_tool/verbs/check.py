"""Builds your code and checks it, task by task.

    labs/lab check 7        all tasks of lab 7
    labs/lab check 7.2      one task
    labs/lab check all      every lab that you have started

A task has passed, has failed, or is not started. For a failed task the steps, the expected and the
actual values are printed. Every case runs in its own process with the address and
undefined-behaviour sanitizers, so an endless loop or a crash in one case does not affect others.
"""

import time

from lab_tool import report
from lab_tool.catalogue import Catalogue
from lab_tool.checking import build_without_broken, check_lab, configured_without
from lab_tool.screen import LabError, say
from lab_tool.state import State
from lab_tool.verdict import PASSED
from lab_tool.workspace import Workspace, files_amiss


def add_arguments(parser):
    parser.add_argument("what", metavar="N[.task]", nargs="?", default="",
                        help="a lab, a task, or: all (the lab you are at)")


def run(options):
    catalogue, state = Catalogue(), State()
    results = []
    for lab, tasks in chosen(catalogue, state, options.what):
        results += check(catalogue, state, lab, tasks)
    return 0 if all(result.status == PASSED for result in results) else 1


def chosen(catalogue, state, what):
    """Returns the (lab, tasks) to check; None means all tasks."""
    workspace = Workspace(catalogue, state)
    if what == "all":
        labs = [lab for lab in catalogue.labs if workspace.started(lab.number)]
        if not labs:
            raise LabError("no lab is started; begin with: labs/lab next")
        return [(lab, None) for lab in labs]
    what = what or state.current
    if not what:
        raise LabError("no lab is started; begin with: labs/lab next")
    if "." in what:
        lab, task = catalogue.task(what)
        pair = (lab, [task.name])
    else:
        pair = (catalogue.lab(what), None)
    if not workspace.started(pair[0].number):
        raise LabError(f"lab {pair[0].number} is not started; run: labs/lab start "
                       f"{pair[0].number}")
    return [pair]


def check(catalogue, state, lab, tasks=None):
    """Checks tasks of a lab, prints the results, and stores them."""
    refuse_amiss(Workspace(catalogue))
    say(report.head(lab))
    start = time.monotonic()
    if configured_without() is None:
        say("  the first check builds the rooms of libmini that it needs; later ones take seconds")
    broken = build_without_broken([f"lab{lab.number}_check"])
    say(f"  built in {time.monotonic() - start:.0f} s\n")
    results = check_lab(catalogue, lab, tasks, broken=broken,
                        on_task=lambda result: report.say_task(lab, result))

    record = state.of(lab.number)
    record["results"].update({result.task: result.status for result in results})
    state.current = lab.number
    state.save()
    shown = record["hints"]
    report.say_stories(results, lambda task: len(lab.hints(task)) - shown.get(task, 0))
    report.say_summary(results)
    return results


def refuse_amiss(workspace):
    for path, why in files_amiss(workspace).items():
        raise LabError(f"work/{path} {why}: delete it")

"""Builds your code and checks it, task by task.

    labs/lab check 7              all tasks of lab 7
    labs/lab check 7.2            one task
    labs/lab check 7 hunt         only the bug hunt: your copy must exit with 0
    labs/lab check all            every lab that you have started
    labs/lab check 9 --all-mine   on top of your code of all labs

The code of other labs is libmini's own; with --all-mine it is yours.

A task has passed, has failed, or is not started. For a failed task the steps,
the expected and the actual values are printed. Every case runs in its own
process with the address and undefined-behaviour sanitizers, so an endless loop
or a crash in one case does not affect others.
"""

import time

from lab_tool import hunts, report
from lab_tool.catalogue import Catalogue
from lab_tool.check_build import build_without_broken, is_configured
from lab_tool.checking import check_lab
from lab_tool.projection import NO_LAB
from lab_tool.screen import say
from lab_tool.state import State
from lab_tool.verdict import PASSED
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("what", metavar="N[.task]", nargs="?", default="",
                        help="a lab, a task, or: all (the lab you are at)")
    parser.add_argument("part", metavar="hunt", nargs="?", choices=("hunt",),
                        help="the lab's bug hunt instead of its tasks")
    parser.add_argument("--all-mine", action="store_true", help="with your code of all labs")


def run(options):
    catalogue, state = Catalogue(), State()
    pairs, results = chosen(catalogue, state, options.what), []
    if options.what != "all":  # labs/lab next continues with this lab, even if it does not build
        state.current = pairs[0][0].number
        state.save()
    for lab, tasks in pairs:
        if options.part:
            results.append(check_hunt(catalogue, state, lab))
            continue
        mine = labs_started(catalogue, state) if options.all_mine else None
        results += check(catalogue, state, lab, tasks, mine)
    return 0 if all(result.status == PASSED for result in results) else 1


def chosen(catalogue, state, what):
    """Returns the pairs (lab, tasks) to check; tasks is None for all tasks of the lab."""
    workspace, what = Workspace(catalogue, state), what or state.current
    if what in ("all", ""):
        return [(lab, None) for lab in workspace.chosen()]
    lab, task = catalogue.task(what) if "." in what else (catalogue.lab(what), None)
    workspace.chosen([lab.number])
    return [(lab, task and [task.name])]


def labs_started(catalogue, state):
    workspace = Workspace(catalogue, state)
    return {NO_LAB, *(lab.number for lab in catalogue.labs if workspace.started(lab.number))}


def check(catalogue, state, lab, tasks=None, mine=None):
    """Checks tasks of a lab, prints the results, and stores them. `mine`: the labs whose code is
    taken from the learner, by default this lab alone."""
    workspace = Workspace(catalogue)
    workspace.refuse_misplaced()
    say(report.head(lab))
    start = time.monotonic()
    if not is_configured():
        say("  the first check builds a part of libmini; later ones take seconds")
    broken = build_without_broken(workspace, [lab], mine)
    say(f"  built in {time.monotonic() - start:.0f} s\n")
    results = check_lab(catalogue, lab, broken, tasks,
                        on_task=lambda result: report.say_task(
                            lab, result, workspace.gaps(result.task)))

    record = state.of(lab.number)
    shown = record["hints"]
    record["results"].update({result.task: result.status for result in results})
    if lab.hunt and tasks is None:
        check_hunt(catalogue, state, lab)
    state.save()
    report.say_stories(results, lambda task: len(lab.hints(task)) - shown.get(task, 0))
    report.say_summary(results)
    return results


def check_hunt(catalogue, state, lab):
    """Checks the learner's bug hunt, prints the result, and stores it."""
    result = hunts.check_hunt(Workspace(catalogue), lab)
    say(report.task_line(lab.all_tasks[-1], result.status))
    report.say_stories([result], lambda task: 0)
    state.of(lab.number)["results"][result.task] = result.status
    state.save()
    return result

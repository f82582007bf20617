"""Builds your code and checks it, task by task.

    labs/lab check 7              all tasks of lab 7
    labs/lab check 7.2            one task
    labs/lab check 7 hunt         only the bug hunt: your copy must exit with 0
    labs/lab check 9 --all-mine   on top of your code of all labs

The code of other labs is libmini's own; with --all-mine it is yours.

A task has passed, has failed, or is not started. For a failed task the steps,
the expected and the actual values are printed. Every case runs in its own
process, so an endless loop or a crash in one case does not affect others."""

import time

from lab_tool import cli, hunts, report
from lab_tool.building import build_without_broken
from lab_tool.checking import check_lab, program_of
from lab_tool.screen import say
from lab_tool.verdict import PASSED
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("what", metavar="N[.task]", nargs="?", default="",
                        help="a lab or a task (the lab you are at)")
    parser.add_argument("part", metavar="hunt", nargs="?", choices=("hunt",),
                        help="the lab's bug hunt instead of its tasks")
    parser.add_argument("--all-mine", action="store_true", help="with your code of all labs")


def run(options):
    workspace = Workspace()
    what = options.what or workspace.state.current or workspace.chosen()[0].number
    if what == "00":
        return cli.dispatch(["check", "0"])
    lab, task = workspace.catalogue.task(what) if "." in what else (workspace.catalogue.lab(what), None)
    workspace.chosen([lab.number])
    workspace.state.current = lab.number  # for labs/lab next, even if the lab does not build
    workspace.state.save()
    mine = {lab.number for lab in workspace.chosen()} if options.all_mine else None
    results = [check_hunt(workspace, lab)] if options.part else check(
        workspace, lab, task and [task.name], mine)
    return 0 if all(result.status == PASSED for result in results) else 1


def check(workspace, lab, tasks, mine):
    """Checks tasks of a lab, prints the results, and stores them. `mine`: see project()."""
    workspace.refuse_misplaced()
    say(report.head(lab))
    start = time.monotonic()
    if not program_of(lab.number).exists():
        say("  the first check of a lab compiles its tests; later ones take seconds")
    broken = build_without_broken(workspace, [lab], mine)
    say(f"  built in {time.monotonic() - start:.0f} s\n")
    results = check_lab(workspace, lab, broken, tasks,
                        on_task=lambda result: report.say_task(
                            lab, result, workspace.gaps(result.task),
                            workspace.is_guided(result.task)))

    if not mine:  # else unfinished code of another lab may be the cause
        workspace.state.record(lab.number, results)
    if lab.hunt and tasks is None:
        check_hunt(workspace, lab)
    hints = workspace.state.of(lab.number)["hints"]
    report.say_stories(results, lambda task: len(lab.hints(task)) - hints.get(task, 0))
    report.say_summary(results)
    return results


def check_hunt(workspace, lab):
    result = hunts.check_hunt(workspace, lab)
    say(report.task_line(lab.all_tasks[-1], result.status))
    report.say_stories([result], lambda task: 0)
    workspace.state.record(lab.number, [result])
    return result

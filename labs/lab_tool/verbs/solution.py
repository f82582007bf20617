"""Shows the solution of a task, after asking whether you want that."""

import sys

from lab_tool.regions import solution_of
from lab_tool.report import say_wrapped
from lab_tool.screen import LabError, say
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("task", metavar="N.task", help="a task: 7.2")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options):
    workspace = Workspace()
    lab, task = refused_in_course(workspace.catalogue, options.task)
    if not may_see(lab, task, workspace.state, options, "solution"):
        return 1
    whole = [path for path in workspace.catalogue.files_of(task=task.name) if workspace.is_whole(path)]
    for path in whole:
        say("\n".join([f"\n{path}\n", *solution_of(workspace.reference(path), path)]))
    for region in workspace.catalogue.regions_of(task=task.name):
        if region.path in whole:
            continue
        say(f"\n{region.place}\n")
        for line in region.body:
            say(line)
    return 0


def refused_in_course(catalogue, name):
    """Returns the lab and the task. Raises LabError in a course: it has no solutions to show."""
    if catalogue.course:
        raise LabError("this course has no solutions; ask your instructor")
    return catalogue.task(name)


def may_see(lab, task, state, options, verb):
    """Returns whether the learner agrees to see the solution, by --yes or when asked; notes it."""
    record = state.of(lab.number)
    left = len(lab.hints(task.name)) - record["hints"].get(task.name, 0)
    if not options.yes and not agreed(task, left, verb):
        say("The solution stays hidden.")
        return False
    if task.name not in record["solutions"]:
        record["solutions"].append(task.name)
    state.save()
    return True


def agreed(task, left, verb):
    """Asks the learner and returns the answer; raises LabError if there is no terminal."""
    advice = f" {left} of its hints are unread (labs/lab hint {task.name})." if left > 0 else ""
    say_wrapped(f"This shows the whole solution of {task.name}, {task.what}.{advice}", "")
    if not sys.stdin.isatty():
        raise LabError(f"there is no terminal to ask on; labs/lab {verb} {task.name} --yes "
                       "shows it without asking")
    try:
        return input("Show it? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:  # Ctrl-D
        say()
        return False

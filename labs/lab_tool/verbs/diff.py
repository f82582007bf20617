"""Compares your code of a task with libmini's, which is the solution: of a task
that you have not written it shows the solution alone. It asks first if the task
has not passed its check. Of a file that you write whole it compares all, and so
asks until all the file's tasks have passed."""

from lab_tool.report import say_wrapped
from lab_tool.screen import LabError, say
from lab_tool.verdict import PASSED
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("task", metavar="N.task", help="a task: 7.2")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options):
    workspace = Workspace()
    if workspace.catalogue.course:
        raise LabError("this course has no solutions; ask your instructor")
    lab, task = workspace.catalogue.task(options.task)
    state = workspace.state
    lines = workspace.difference(task.name)
    shown = [region.task for path in workspace.catalogue.files_of(task=task.name)
             if workspace.is_whole(path) for region in workspace.catalogue.regions
             if region.path == path] or [task.name]
    passed = all(state.result(each) == PASSED for each in shown) and not workspace.written_or_not(
        task.name)[1]
    if lines and not passed:
        record = state.of(lab.number)
        left = len(lab.hints(task.name)) - record["hints"].get(task.name, 0)
        if not options.yes and not agreed(task, left):
            say("The solution stays hidden.")
            return 1
        if task.name not in record["solutions"]:
            record["solutions"].append(task.name)
        state.save()
    for line in lines or [f"{task.name}: your code and the solution are the same, line by line"]:
        say(line)
    return 0


def agreed(task, left):
    """Asks whether to show the solution. Without a terminal, input() ends the command."""
    advice = f" {left} of its hints are unread (labs/lab hint {task.name})." if left > 0 else ""
    say_wrapped(f"This shows the whole solution of {task.name}, {task.what}.{advice}", "")
    return input("Show it? [y/N] ").strip().lower() in ("y", "yes")

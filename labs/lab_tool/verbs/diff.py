"""Compares your code of a task with libmini's, which is the solution: of a task
that you have not written it shows the solution alone. It asks first if it would
show the solution of a task that has not passed its check: of a file that you
write whole it compares all."""

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
    hidden = sorted({each for each in shown if state.result(each) != PASSED
                     or workspace.written_or_not(each)[1]})
    if lines and hidden:
        record = state.of(lab.number)
        left = sum(len(lab.hints(each)) - record["hints"].get(each, 0) for each in hidden)
        whole = f" {task.name} is in a file that is compared whole." * (hidden != [task.name])
        advice = f" {left} of the hints are unread (labs/lab hint {hidden[0]})." * (left > 0)
        if not options.yes:
            say_wrapped(f"This shows the solution of {', '.join(hidden)}, not passed yet.{whole}{advice}", "")
            if input("Show it? [y/N] ").strip().lower() not in ("y", "yes"):  # ends without a terminal
                say("The solution stays hidden.")
                return 1
        record["solutions"] = sorted({*record["solutions"], *hidden})
        state.save()
    for line in lines or [f"{task.name}: your code and the solution are the same, line by line"]:
        say(line)
    return 0

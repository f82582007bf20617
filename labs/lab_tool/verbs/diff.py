"""Compares your code of a task with the solution. It asks first if the task has
not passed its check, because it shows the solution. Of a file that you write
whole it compares all, and so asks until all the file's tasks have passed."""

from lab_tool.screen import say
from lab_tool.verbs.solution import may_see, refused_in_course
from lab_tool.verdict import PASSED
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("task", metavar="N.task", help="a task: 7.2")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options):
    workspace = Workspace()
    lab, task = refused_in_course(workspace.catalogue, options.task)
    state = workspace.state
    lines = workspace.difference(task.name)
    shown = [region.task for path in workspace.catalogue.files_of(task=task.name)
             if workspace.is_whole(path) for region in workspace.catalogue.regions
             if region.path == path] or [task.name]
    passed = all(state.result(each) == PASSED for each in shown) and not workspace.written_or_not(
        task.name)[1]
    if lines and not passed and not may_see(lab, task, state, options, "diff"):
        return 1
    for line in lines or [f"{task.name}: your code and the solution are the same, line by line"]:
        say(line)
    return 0

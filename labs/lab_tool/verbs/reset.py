"""Resets a lab, or one of its tasks, to the starter. Your old files are kept in work/.backup."""

from lab_tool.catalogue import Catalogue
from lab_tool.places import shown
from lab_tool.screen import LabError, say
from lab_tool.state import State
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("what", metavar="N[.task]", help="a lab or a task: 7 or 7.2")


def run(options):
    catalogue, state = Catalogue(), State()
    workspace = Workspace(catalogue, state)
    if "." in options.what:
        lab, task = catalogue.task(options.what)
        names = [task.name]
    else:
        lab, task = catalogue.lab(options.what), None
        names = [each.name for each in lab.tasks]
    if not workspace.started(lab.number):
        raise LabError(f"lab {lab.number} is not started; run: labs/lab start {lab.number}")
    paths, backup = workspace.reset(lab.number, task and task.name)
    for name in names:
        state.of(lab.number)["results"].pop(name, None)
    state.save()
    for path in paths:
        say(f"back to the starter: work/{path}")
    if backup:
        say(f"your files as they were: {shown(backup)}")
    return 0

"""Compares your code of a task with the solution: a spoiler, meant for after
you have passed."""

from lab_tool.catalogue import Catalogue
from lab_tool.course import refuse_in_course
from lab_tool.screen import say
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("task", metavar="N.task", help="a task: 7.2")


def run(options):
    catalogue = Catalogue()
    refuse_in_course(catalogue)
    _, task = catalogue.task(options.task)
    lines = Workspace(catalogue).difference(task.name)
    for line in lines or [f"{task.name}: your code and the solution are the same, line by line"]:
        say(line)
    return 0

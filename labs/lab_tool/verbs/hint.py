"""Shows the next hint of a task: one more each time, from a question to what
the guided frame has."""

from lab_tool.screen import LabError, say
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("task", metavar="N.task", help="a task: 7.2")


def run(options):
    workspace = Workspace()
    catalogue, state = workspace.catalogue, workspace.state
    lab, task = catalogue.task(options.task)
    hints, shown = lab.hints(task.name), state.of(lab.number)["hints"]
    if not hints:
        raise LabError(f"task {task.name} has no hints")
    shown[task.name] = number = min(shown.get(task.name, 0) + 1, len(hints))
    state.save()
    say(f"{task.name} {task.what}\n\nhint {number} of {len(hints)}\n\n{hints[number - 1]}")
    if number == len(hints):
        if any(map(workspace.is_whole, catalogue.files_of(task=task.name))):
            say(f"\nA frame for each file, for 80 % of the points: labs/lab reset {lab.number} --guided")
        diff = "" if catalogue.course else f" If you need the solution: labs/lab diff {task.name}"
        say(f"\nThese are all hints.{diff}")
    return 0

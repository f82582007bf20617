"""Shows the next hint of a task: one more each time, from a first idea to
nearly the code."""

from lab_tool.catalogue import Catalogue
from lab_tool.screen import LabError, say
from lab_tool.state import State


def add_arguments(parser):
    parser.add_argument("task", metavar="N.task", help="a task: 7.2")
    parser.add_argument("--again", action="store_true", help="only the hints shown before")


def run(options):
    catalogue = Catalogue()
    lab, task = catalogue.task(options.task)
    hints = lab.hints(task.name)
    if not hints:
        raise LabError(f"task {task.name} has no hints")
    state = State()
    shown = state.of(lab.number)["hints"]
    count = shown.get(task.name, 0)
    if not options.again:
        count = min(count + 1, len(hints))
        shown[task.name] = count
        state.save()
    if count == 0:
        raise LabError(f"no hint of task {task.name} was shown yet; run: labs/lab hint {task.name}")
    say(f"{task.name} {task.what}")
    first = 1 if options.again else count
    for number in range(max(first, 1), count + 1):
        say(f"\nhint {number} of {len(hints)}\n\n{hints[number - 1]}")
    if count == len(hints):
        say("\nThese are all hints." + (
            "" if catalogue.course else
            f" If you need the solution: labs/lab solution {task.name}"))
    return 0

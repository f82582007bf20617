"""Lists the labs and your progress in each."""

from lab_tool import hunts, report
from lab_tool.catalogue import POINTS_OF_A_HUNT, Catalogue
from lab_tool.screen import say
from lab_tool.state import State
from lab_tool.verdict import PASSED
from lab_tool.workspace import Workspace


def add_arguments(parser):
    del parser  # it has no options


def run(options):
    del options
    catalogue, state = Catalogue(), State()
    workspace = Workspace(catalogue, state)
    for lab in catalogue.labs:
        started = workspace.started(lab.number)
        passed = [task for task in lab.tasks
                  if started and status_of(task, state, workspace) == PASSED]
        say(f"{report.head(lab)}  {bar(len(passed), len(lab.tasks))}  "
            + (points_of(lab, passed, state, workspace) if started else "not started"))
        if not started:
            continue
        for task in lab.tasks:
            say(report.task_line(task.name, task.what, status_of(task, state, workspace),
                                 notes(lab, task, state)))
        if lab.hunt:
            say(report.task_line("hunt", hunts.task_of(lab).what, status_of_hunt(lab, state,
                                                                                 workspace)))
    say()
    report.say_wrapped("next: " + advice(catalogue, state, workspace), "")
    return 0


def bar(done, total):
    """[##--] 2/4"""
    return f"[{'#' * done}{'-' * (total - done)}] {done}/{total}"


def points_of(lab, passed, state, workspace):
    """20 of 90 points"""
    hunt = POINTS_OF_A_HUNT if lab.hunt else 0
    points = sum(task.points for task in passed)
    points += hunt if hunt and status_of_hunt(lab, state, workspace) == PASSED else 0
    return f"{points} of {sum(task.points for task in lab.tasks) + hunt} points"


def status_of(task, state, workspace):
    if workspace.untouched(task.name):
        return "not started"
    return state.result(task.name) or "not checked"


def status_of_hunt(lab, state, workspace):
    if hunts.untouched(workspace, lab):
        return "not started"
    return state.result(f"{lab.number}.hunt") or "not checked"


def notes(lab, task, state):
    record = state.of(lab.number)
    hints = record["hints"].get(task.name, 0)
    told = [f"{hints} {'hint' if hints == 1 else 'hints'}"] if hints else []
    if task.name in record["solutions"]:
        told.append("solution seen")
    return f" ({', '.join(told)})" if told else ""


def next_step(catalogue, state, workspace):
    """Returns the next (lab, task) to do; (lab, None) for a lab to start, (None, None) if
    all labs are done. The order: the current lab, the other started labs, the labs that
    are not started, from the current lab on. A lab's bug hunt is its last task."""
    labs = catalogue.labs
    here = next((place for place, lab in enumerate(labs) if lab.number == state.current), 0)
    for lab in sorted(labs[here:] + labs[:here], key=lambda lab: not workspace.started(lab.number)):
        if not workspace.started(lab.number):
            return lab, None
        for task in lab.tasks:
            if status_of(task, state, workspace) != PASSED:
                return lab, task
        if lab.hunt and status_of_hunt(lab, state, workspace) != PASSED:
            return lab, hunts.task_of(lab)
    return None, None


def advice(catalogue, state, workspace):
    """Returns the next step, with the command if there is one."""
    lab, task = next_step(catalogue, state, workspace)
    if task and hunts.is_hunt(task):
        return f"the bug hunt of lab {lab.number} (labs/lab check {lab.number} hunt)"
    if task:
        return (f"task {task.name}, {task.what} (labs/lab check {task.name}, "
                f"labs/lab hint {task.name})")
    if lab:
        return f"labs/lab start {lab.number}"
    if not catalogue.labs:
        return "there is no lab with tasks yet"
    return "all labs are done; train MNIST on your own code: labs/lab demo --mine"

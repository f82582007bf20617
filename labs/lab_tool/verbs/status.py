"""Lists the labs and your progress in each; for times see labs/lab start --help."""

from lab_tool import report
from lab_tool.screen import say
from lab_tool.verdict import PASSED
from lab_tool.workspace import GUIDED_PERCENT, Workspace

FIVE_WEEKS = ["14", "07", "09", "11", "15", "16"]  # in labs/README.md, for those who know autograd


def run(_):
    workspace = Workspace()
    if lab := workspace.catalogue.lab00:
        begun = "started" if workspace.started("00") else "not started"
        say(f"{report.head(lab)}  {workspace.state.result('00') or begun}")
    for lab in workspace.catalogue.labs:
        started = workspace.started(lab.number)
        passed = [task for task in lab.all_tasks
                  if started and status_of(task, workspace) == PASSED]
        done = sum(not task.is_hunt for task in passed)
        points = sum(map(workspace.points, passed))
        total = len(lab.tasks)
        say(f"{report.head(lab)}  [{'#' * done}{'-' * (total - done)}] {done}/{total}  "
            + (f"{points} of {sum(task.of for task in lab.all_tasks)} points" if started
               else "not started"))
        for task in lab.all_tasks if started else ():
            say(report.task_line(task, status_of(task, workspace), notes(lab, task, workspace)))
    say()
    report.say_wrapped("next: " + advice(workspace), "")
    return 0


def status_of(task, workspace):
    if workspace.untouched(task.name):
        return "not started"
    return workspace.state.result(task.name) or "not checked"


def notes(lab, task, workspace):
    record = workspace.state.of(lab.number)
    hints = record["hints"].get(task.name, 0)
    times = workspace.state.times
    told = [f"{times[task.name] / 60:.0f} min"] if task.name in times else []
    told += [f"{hints} {'hint' if hints == 1 else 'hints'}"] if hints else []
    if task.name in record["solutions"]:
        told.append("solution seen")
    if workspace.is_guided(task.name):
        told.append(f"guided: {GUIDED_PERCENT} %")
    return f" ({', '.join(told)})" if told else ""


def in_order(workspace):
    """Returns the labs; those of the five weeks come first if lab 14 and no other lab is begun."""
    labs, first = workspace.catalogue.labs, FIVE_WEEKS[0]
    begun = {lab.number for lab in labs if workspace.started(lab.number)}
    if workspace.catalogue.course or first not in begun or not begun <= set(FIVE_WEEKS):
        return labs
    return sorted(labs, key=lambda lab: [*FIVE_WEEKS, lab.number].index(lab.number))


def next_step(workspace):
    """Returns the next (lab, task) to do; (lab, None) for a lab to start, (None, None) if all are
    done. Lab 00 comes first; then, from the current lab on, the started labs, and then the others."""
    labs, current, lab00 = in_order(workspace), workspace.state.current, workspace.catalogue.lab00
    if lab00 and current in ("", lab00.number) and workspace.state.result("00") != PASSED:
        return lab00, None
    here = next((place for place, lab in enumerate(labs) if lab.number == current), 0)
    for lab in sorted(labs[here:] + labs[:here], key=lambda lab: not workspace.started(lab.number)):
        if not workspace.started(lab.number):
            return lab, None
        for task in lab.all_tasks:
            if status_of(task, workspace) != PASSED:
                return lab, task
    return None, None


def advice(workspace):
    """Returns the next step, with the command if there is one."""
    lab, task = next_step(workspace)
    if task:
        return f"{task.words}, {task.what} (labs/lab next)"
    if lab:  # lab 00 may have been started
        verb = "check" if workspace.started(lab.number) else "start"
        short = f"; if you know autograd: labs/lab start {FIVE_WEEKS[0]}" * (lab.number == "01")
        return f"{report.head(lab)} (labs/lab {verb} {lab.number}{short})"
    return "all labs are done; train MNIST on your own code: labs/lab demo --mine"

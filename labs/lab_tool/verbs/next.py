"""Shows the next task: what to write, in which file, and when it is done."""

from lab_tool.report import say_wrapped
from lab_tool.screen import say
from lab_tool.verbs.status import advice, next_step
from lab_tool.workspace import Workspace


def run(_):
    workspace = Workspace()
    catalogue, (lab, task) = workspace.catalogue, next_step(workspace)
    if not task:
        say(advice(workspace))
        return 0
    say(f"{task.name} {task.what}")
    say(f"  read   {lab.folder.relative_to(catalogue.root)}/README.md")
    if task.is_hunt:
        say(f"  write  {workspace.shown(lab.hunt)}")
    path = ""
    for region in catalogue.regions_of(task=task.name):
        if region.path != path:
            path = region.path
            say(f"  write  {workspace.shown(path)}")
        if not workspace.is_whole(path):
            say_wrapped(region.title, "         - ")
    say_wrapped(f"done   when {task.done_when}", "  ")
    say(f"  check  labs/lab check {task.words}")
    if not task.is_hunt:
        say(f"  stuck  labs/lab hint {task.name}")
    return 0

"""Resets a lab to its starter. Your old files are kept in work/.backup.

    labs/lab reset 7         all tasks of lab 7, but not its bug hunt
    labs/lab reset 7 hunt    only the bug hunt

A lab begins again as with labs/lab start: with empty files, or with frames if
you add --guided."""

from lab_tool.places import shown
from lab_tool.screen import LabError, say
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("lab", metavar="N", help="the lab's number: 7")
    parser.add_argument("part", metavar="hunt", nargs="?", choices=("hunt",),
                        help="the lab's bug hunt")
    parser.add_argument("--guided", action="store_true", help="with a frame in every file")


def run(options):
    workspace = Workspace()
    lab, state = workspace.catalogue.lab(options.lab), workspace.state
    workspace.chosen([lab.number])
    if options.part:
        if not lab.hunt:
            raise LabError(f"lab {lab.number} has no bug hunt")
        names, texts = [f"{lab.number}.hunt"], {lab.hunt: workspace.reference(lab.hunt)}
        paths, backup = workspace.replace(texts)
    else:
        names = [task.name for task in lab.tasks]
        paths, backup = workspace.reset(lab.number, options.guided)
    for name in names:
        state.of(lab.number)["results"].pop(name, None)
    state.save()
    told = [f"back to the starter: {workspace.shown(path)}" for path in paths]
    say("\n".join(told or ["nothing to reset: this is the starter"]))
    if backup:
        say(f"your files as they were: {shown(backup)}")
    return 0
